/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of matmul_stream: two matrices of small integers, whose product is exact in FP32, go into L1; every element
 * of the result must be right. Prints how long it took and how busy the units were. With a third argument it watches the run, and
 * writes a page with its timeline and the cost of each line.
 *
 *     matmul_stream_host bh|wh [FOLDER of the ELF files [REPORT.html]]
 */
#include <waitgate/tools.h>

#include "host.h"

enum { ROWS = 4, DEPTH = 4, COLUMNS = 4, PASSES = 4, MATRIX_A = 0x60000, MATRIX_B = 0x80000, MATRIX_C = 0xA0000 };

static int a[32 * ROWS][32 * DEPTH], b[32 * DEPTH][32 * COLUMNS];

/* A matrix as tiles, row by row of tiles. */
static void send(wg_device *dev, uint32_t address, const int *matrix, unsigned rows, unsigned columns)
{
    uint16_t tile[1024];
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < columns; c++, address += sizeof tile) {
            for (unsigned i = 0; i < 32; i++)
                for (unsigned j = 0; j < 32; j++)
                    tile[in_tile(i, j)] = bf16_of(matrix[(32 * r + i) * 32 * columns + 32 * c + j]);
            host_write(dev, address, tile, sizeof tile);
        }
}

static void check(wg_device *dev)
{
    float tile[1024];
    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned c = 0; c < COLUMNS; c++) {
            host_read(dev, MATRIX_C + (uint32_t)sizeof tile * (r * COLUMNS + c), tile, sizeof tile);
            for (unsigned i = 0; i < 32; i++)
                for (unsigned j = 0; j < 32; j++) {
                    int right = 0;
                    for (unsigned k = 0; k < 32 * DEPTH; k++)
                        right += a[32 * r + i][k] * b[k][32 * c + j];
                    if (tile[in_tile(i, j)] != (float)right)
                        host_fail("row %u, column %u: %g instead of %d", 32 * r + i, 32 * c + j,
                                  (double)tile[in_tile(i, j)], right);
                }
        }
}

static const struct {
    unsigned unit, opcode;
} stages[] = {{WG_AGENT_UNPACK0, 0x42}, {WG_AGENT_UNPACK1, 0x42}, {WG_AGENT_MATRIX, 0x26}, {WG_AGENT_PACK, 0x41}};
enum { STAGES = sizeof stages / sizeof *stages, SHOWN = 88, CYCLES_PER_COLUMN = 10 };

/* A stage from cycle `from` on. Each tile of C has a letter, and each stage an equal share of its instructions for it.
 */
static void draw(const host_watch *w, unsigned stage, uint64_t from)
{
    char row[SHOWN + 1];
    size_t total = 0, n = 0;
    memset(row, '.', SHOWN);
    row[SHOWN] = 0;
    for (int counting = 1; counting >= 0; counting--)
        for (size_t i = 0; i < w->count; i++) {
            const host_work *x = &w->work[i];
            if (x->unit != stages[stage].unit || x->word >> 24 != stages[stage].opcode)
                continue;
            if (counting) {
                total++;
                continue;
            }
            char letter = (char)('A' + n++ * ROWS * COLUMNS / total);
            for (unsigned column = 0; column < SHOWN; column++) {
                uint64_t middle = from + CYCLES_PER_COLUMN * column + CYCLES_PER_COLUMN / 2;
                if (x->from <= middle && middle < x->to)
                    row[column] = letter;
            }
        }
    printf("  %-12s %s\n", wg_agent_name(stages[stage].unit), row);
}

static void report(const host_watch *w, uint64_t cycles)
{
    uint64_t first, last, start = 0, end = 0, busy[STAGES];
    for (unsigned i = 0; i < STAGES; i++) {
        busy[i] = host_busy(w, stages[i].unit, stages[i].opcode, &first, &last);
        if (i == 0)
            start = first;
        end = last;
    }
    printf("%llu cycles; from the first tile unpacked to the last one packed, %llu:\n", (unsigned long long)cycles,
           (unsigned long long)(end - start));
    for (unsigned i = 0; i < STAGES; i++)
        printf("  %-12s busy for %5.1f %%\n", wg_agent_name(stages[i].unit),
               100.0 * (double)busy[i] / (double)(end - start));
    printf("  %.0f multiply-adds per cycle and pass, of 2048 that the Matrix Unit can do\n",
           32.0 * ROWS * 32 * DEPTH * 32 * COLUMNS * PASSES / (double)(end - start));
    printf("From cycle %llu on, %d cycles per column, a letter for each tile of the result:\n",
           (unsigned long long)start, CYCLES_PER_COLUMN);
    for (unsigned i = 0; i < STAGES; i++)
        draw(w, i, start);
}

/* Watches the run from here on, with the lines of its programs. */
static wg_watch *watch_begin(const host *h, wg_device *dev, wg_elf *elf[WG_CORES])
{
    char error[256];
    const wg_watch_desc desc = {.struct_size = sizeof desc, .device = dev, .title = h->name, .profile = true};
    wg_watch *w = wg_watch_begin(&desc, error, sizeof error);
    if (!w)
        host_fail("%s", error);
    for (unsigned core = 0; core < WG_CORES; core++) {
        char path[640];
        host_path(h, (wg_core_id)core, path, sizeof path);
        elf[core] = wg_elf_open_file(path, error, sizeof error);
        if (!elf[core] || !wg_watch_elf(w, 0, 0, (wg_core_id)core, elf[core]))
            host_fail("%s: %s", path, elf[core] ? "out of memory" : error);
    }
    return w;
}

static void watch_end(wg_watch *w, wg_elf *elf[WG_CORES], const char *path)
{
    char error[256];
    if (!wg_watch_end(w, error, sizeof error) || !wg_watch_report(w, path, error, sizeof error))
        host_fail("%s", error);
    printf("The report is %s: open it in a browser.\n", path);
    wg_watch_free(w);
    for (unsigned core = 0; core < WG_CORES; core++)
        wg_elf_close(elf[core]);
}

int main(int argc, char **argv)
{
    host h = host_begin(argc, argv, "matmul_stream");
    wg_device *dev = host_device(&h);
    uint32_t state = 1;
    /* SrcA uses 5 bits of a mantissa in a pass, SrcB 7: six bits of B need the second pass. Products below 1024 are
     * exact. */
    for (unsigned i = 0; i < sizeof a / sizeof **a; i++)
        (&a[0][0])[i] = (int)(host_random(&state) % 31) - 15;
    for (unsigned i = 0; i < sizeof b / sizeof **b; i++)
        (&b[0][0])[i] = (int)(host_random(&state) % 127) - 63;
    send(dev, MATRIX_A, &a[0][0], ROWS, DEPTH);
    send(dev, MATRIX_B, &b[0][0], DEPTH, COLUMNS);
    host_parameter(dev, 0, PASSES);
    host_parameter(dev, 1, DEPTH);
    host_parameter(dev, 2, ROWS * COLUMNS);
    host_parameter(dev, 3, COLUMNS);

    host_watch watch;
    wg_elf *elf[WG_CORES];
    wg_watch *page = h.report ? watch_begin(&h, dev, elf) : NULL;
    host_attach(&watch, dev);
    host_run(dev, 1000000);
    check(dev);
    printf("%d x %d times %d x %d on %s: all %d results are exact\n", 32 * ROWS, 32 * DEPTH, 32 * DEPTH, 32 * COLUMNS,
           h.arch == WG_ARCH_WH ? "Wormhole" : "Blackhole", 32 * ROWS * 32 * COLUMNS);
    report(&watch, wg_cycle(dev));
    if (page)
        watch_end(page, elf, h.report);
    free(watch.work);
    wg_destroy(dev);
    return 0;
}
