/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of matmul_cluster: clusters of two to eight chips, a ring through each, and every result compared.
 *
 *     matmul_cluster_host bh|wh [FOLDER of the ELF files]
 */
#include "cluster_host.h"

enum {
    DEPTH = 2,
    PASSES = 2,
    MOST = 8,
    X = 1,
    Y = 2,
    MATRIX_A = 0x60000,
    COLUMNS = 0x80000,
    MATRIX_C = 0xC0000,
    TILE = 2048
};
enum { CONFIG = 0x28000, DONE = 0x20080 };

static int a[MOST][DEPTH][32][32], b[DEPTH][MOST][32][32];

static void send(wg_device *dev, uint32_t address, int (*matrix)[32])
{
    uint16_t tile[1024];
    for (unsigned i = 0; i < 32; i++)
        for (unsigned j = 0; j < 32; j++)
            tile[in_tile(i, j)] = bf16_of(matrix[i][j]);
    host_write(dev, address, tile, sizeof tile);
}

static void load_eth(const host *h, wg_device *dev, uint32_t role, uint32_t chips, uint32_t tensix)
{
    const uint32_t config[] = {role, chips, DEPTH, tensix};
    host_write(dev, CONFIG, config, sizeof config);
    host_load_named(h, dev, WG_CORE_B, "erisc0");
}

static void load_chip(const host *h, const cluster *c, unsigned i)
{
    const hop *at = &c->hop[i];
    wg_device *dev = cluster_device(c, at->chip, X, Y);
    const uint32_t parameters[] = {PASSES, DEPTH, c->chips, i, cluster_place(h, at->out)}, first = 1;
    const uint32_t tensix = h->arch == WG_ARCH_WH ? 18 | 19 << 6 : X | Y << 6; /* in kernels' coordinates */
    for (unsigned k = 0; k < sizeof parameters / sizeof *parameters; k++)
        host_parameter(dev, k, parameters[k]);
    for (unsigned k = 0; k < DEPTH; k++) {
        send(dev, MATRIX_A + TILE * k, a[i][k]);
        send(dev, COLUMNS + TILE * k, b[k][i]);
    }
    host_write(dev, COLUMNS + TILE * DEPTH, &first, 4); /* its own column is the first one */
    host_load_all(h, dev);
    load_eth(h, cluster_eth(c, at->chip, at->out), 0, c->chips, tensix);
    load_eth(h, cluster_eth(c, at->chip, at->in), 1, c->chips, tensix);
}

static void check(const cluster *c, unsigned i)
{
    wg_device *dev = cluster_device(c, c->hop[i].chip, X, Y);
    uint32_t done;
    host_no_findings(dev);
    host_read(dev, DONE, &done, 4);
    if (done != 1)
        host_fail("chip %u is not done", c->hop[i].chip);
    for (unsigned column = 0; column < c->chips; column++) {
        float tile[1024];
        host_read(dev, MATRIX_C + column * (uint32_t)sizeof tile, tile, sizeof tile);
        for (unsigned y = 0; y < 32; y++)
            for (unsigned x = 0; x < 32; x++) {
                int right = 0;
                for (unsigned k = 0; k < 32 * DEPTH; k++)
                    right += a[i][k / 32][y][k % 32] * b[k / 32][column][k % 32][x];
                if (tile[in_tile(y, x)] != (float)right)
                    host_fail("row %u, column %u: %g instead of %d", 32 * i + y, 32 * column + x,
                              (double)tile[in_tile(y, x)], right);
            }
    }
}

static void product_on(const host *h, const char *topology)
{
    cluster c = cluster_begin(h, topology);
    cluster_ring(&c);
    uint32_t state = 7;
    for (unsigned i = 0; i < sizeof a / sizeof(int); i++)
        (&a[0][0][0][0])[i] = (int)(host_random(&state) % 31) - 15;
    for (unsigned i = 0; i < sizeof b / sizeof(int); i++)
        (&b[0][0][0][0])[i] = (int)(host_random(&state) % 127) - 63;
    for (unsigned i = 0; i < c.chips; i++)
        load_chip(h, &c, i);
    const uint64_t cycles = cluster_run(&c, 1000000);
    for (unsigned i = 0; i < c.chips; i++)
        check(&c, i);
    printf("%u x %d times %d x %u on the %u chips of %s: all %u results are exact, %llu cycles\n", 32 * c.chips,
           32 * DEPTH, 32 * DEPTH, 32 * c.chips, c.chips, c.topology->what, 1024 * c.chips * c.chips,
           (unsigned long long)cycles);
    wg_cluster_destroy(c.all);
}

int main(int argc, char **argv)
{
    const host h = host_begin(argc, argv, "matmul_cluster");
    product_on(&h, h.arch == WG_ARCH_WH ? "n300" : "p300");
    product_on(&h, h.arch == WG_ARCH_WH ? "t3000" : "p150x4");
    return 0;
}
