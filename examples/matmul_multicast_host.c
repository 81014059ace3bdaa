/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of matmul_multicast: a chip, a rectangle of its tiles, the same five programs on each. The first tile
 * of each row gets its tiles of A, the first of each column those of B.
 *
 *     matmul_multicast_host bh|wh [FOLDER of the ELF files]
 */
#include "host.h"

enum { ROWS = 2, COLUMNS = 3, DEPTH = 8, PASSES = 2, X = 1, Y = 2, MINE = 0x60000, RESULT = 0x44000, TILE = 2048 };

static int a[ROWS][DEPTH][32][32], b[DEPTH][COLUMNS][32][32];

static void send(wg_device *dev, uint32_t address, int (*matrix)[32])
{
    uint16_t tile[1024];
    for (unsigned i = 0; i < 32; i++)
        for (unsigned j = 0; j < 32; j++)
            tile[in_tile(i, j)] = bf16_of(matrix[i][j]);
    host_write(dev, address, tile, sizeof tile);
}

static void check(wg_device *dev, unsigned row, unsigned column)
{
    float tile[1024];
    uint32_t done;
    host_no_findings(dev);
    host_read(dev, 0x20080, &done, 4);
    host_read(dev, RESULT, tile, sizeof tile);
    if (done != 1)
        host_fail("the tile in row %u and column %u is not done", row, column);
    for (unsigned i = 0; i < 32; i++)
        for (unsigned j = 0; j < 32; j++) {
            int right = 0;
            for (unsigned k = 0; k < 32 * DEPTH; k++)
                right += a[row][k / 32][i][k % 32] * b[k / 32][column][k % 32][j];
            if (tile[in_tile(i, j)] != (float)right)
                host_fail("row %u, column %u: %g instead of %d", 32 * row + i, 32 * column + j,
                          (double)tile[in_tile(i, j)], right);
        }
}

int main(int argc, char **argv)
{
    host h = host_begin(argc, argv, "matmul_multicast");
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = h.arch, .profile = WG_PROFILE_DEFAULT};
    wg_grid *chip = NULL;
    wg_status status = wg_grid_create(&desc, &chip);
    if (status != WG_OK)
        host_fail("no chip: %s", wg_status_text(status));
    uint32_t state = 5;
    for (unsigned i = 0; i < sizeof a / sizeof(int); i++)
        (&a[0][0][0][0])[i] = (int)(host_random(&state) % 31) - 15;
    for (unsigned i = 0; i < sizeof b / sizeof(int); i++)
        (&b[0][0][0][0])[i] = (int)(host_random(&state) % 127) - 63;
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned column = 0; column < COLUMNS; column++) {
            const uint32_t parameters[] = {PASSES, DEPTH, 1, COLUMNS, ROWS, row, column};
            const unsigned counts[] = {18, 21, 22}; /* INPUTS_OUT, LEFT_IN, RIGHT_IN */
            wg_device *dev = wg_grid_tile(chip, X + column, Y + row);
            if (!dev)
                host_fail("there is no tile at (%u, %u)", X + column, Y + row);
            for (unsigned i = 0; i < sizeof parameters / sizeof *parameters; i++)
                host_parameter(dev, i, parameters[i]);
            for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) /* others read or write them */
                host_parameter(dev, counts[i], 0);
            for (unsigned k = 0; k < DEPTH; k++) {
                if (column == 0)
                    send(dev, MINE + TILE * k, a[row][k]);
                if (row == 0)
                    send(dev, MINE + TILE * (DEPTH + k), b[k][column]);
            }
            host_load_all(&h, dev);
        }
    wg_stop stop;
    if (wg_grid_run(chip, 1000000, &stop) != WG_OK || stop != WG_STOP_DONE)
        host_fail("it does not end: %s", wg_grid_error(chip));
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned column = 0; column < COLUMNS; column++)
            check(wg_grid_tile(chip, X + column, Y + row), row, column);
    printf("%d x %d times %d x %d on %d tiles of a %s chip: all %d results are exact, %llu cycles\n", 32 * ROWS,
           32 * DEPTH, 32 * DEPTH, 32 * COLUMNS, ROWS * COLUMNS, h.arch == WG_ARCH_WH ? "Wormhole" : "Blackhole",
           1024 * ROWS * COLUMNS, (unsigned long long)wg_grid_cycle(chip));
    wg_grid_destroy(chip);
    return 0;
}
