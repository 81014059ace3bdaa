/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The triple-buffered matrix product on real units: the trace shows T0 unpacking tile n + 1 while T1 multiplies tile n
 * and T2 packs tile n - 1, and the products are those of the tiles in the buffers.
 */
#include <stdio.h>

#include "elf/elf.h"
#include "wgtest.h"

enum { RESULTS = 12, SLOTS = 3, LEFT = 0x40000, RIGHT = 0x42000, OUT = 0x44000, PARAMETERS = 0x20000, DONE = 0x20080 };
enum { UNPACR = 0x42, MVMUL = 0x26, PACR = 0x41 };

/* When a tile's first instruction entered a stage, and when its last left it. */
typedef struct stage {
    unsigned unit, opcode, per_tile, issued, completed;
    uint64_t from[RESULTS], to[RESULTS];
} stage;
typedef struct watch {
    stage unpack[2], matrix, pack;
} watch;

static void note(stage *s, const wg_event *e)
{
    if (e->word >> 24 != s->opcode)
        return;
    if (e->kind == WG_EV_ISSUED && e->b == s->unit) {
        if (s->issued % s->per_tile == 0 && s->issued / s->per_tile < RESULTS)
            s->from[s->issued / s->per_tile] = e->cycle;
        s->issued++;
    } else if (e->kind == WG_EV_COMPLETED && e->agent == s->unit) {
        s->completed++;
        if (s->completed % s->per_tile == 0 && s->completed / s->per_tile <= RESULTS)
            s->to[s->completed / s->per_tile - 1] = e->cycle;
    }
}
static void event(void *user, const wg_event *e)
{
    watch *w = user;
    note(&w->unpack[0], e);
    note(&w->unpack[1], e);
    note(&w->matrix, e);
    note(&w->pack, e);
}

static wg_device *load(void **state)
{
    static const char *const names[WG_CORES] = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2"};
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = wg_test_arch(state)};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    for (unsigned core = 0; core < WG_CORES; core++) {
        char path[512], error[512];
        snprintf(path, sizeof path, "%s/%smatmul_resident.%s.elf", WG_EXAMPLES, desc.arch == WG_ARCH_WH ? "wh_" : "",
                 names[core]);
        wg_elf *elf = wg_elf_open_file(path, error, sizeof error);
        if (!elf)
            fail_msg("%s", error);
        for (size_t k = 0; k < wg_elf_segments(elf); k++) {
            const wg_elf_segment *s = wg_elf_segment_at(elf, k);
            assert_int_equal(wg_write(dev, s->address, s->data, s->file_bytes), WG_OK);
        }
        assert_int_equal(wg_core_release(dev, (wg_core_id)core, wg_elf_entry(elf)), WG_OK);
        wg_elf_close(elf);
    }
    return dev;
}

/* Fills a BF16 tile with v. */
static void fill(wg_device *dev, uint32_t address, uint16_t v)
{
    uint16_t tile[1024];
    for (unsigned i = 0; i < 1024; i++)
        tile[i] = v;
    assert_int_equal(wg_write(dev, address, tile, sizeof tile), WG_OK);
}

/* All three at work at once: on tile n + 1, tile n and tile n - 1. */
static bool overlap(const stage *unpack, const stage *matrix, const stage *pack, unsigned n)
{
    uint64_t from = unpack->from[n + 1], to = unpack->to[n + 1];
    from = matrix->from[n] > from ? matrix->from[n] : from;
    to = matrix->to[n] < to ? matrix->to[n] : to;
    from = pack->from[n - 1] > from ? pack->from[n - 1] : from;
    to = pack->to[n - 1] < to ? pack->to[n - 1] : to;
    return from < to;
}

static void test_triple_buffered(void **state)
{
    static const uint16_t left[SLOTS] = {0x3F80, 0x4000, 0x4040}; /* 1, 2, 3 */
    bool wh = wg_test_arch(state) == WG_ARCH_WH;
    wg_device *dev = load(state);
    for (unsigned i = 0; i < SLOTS; i++) {
        fill(dev, LEFT + 2048 * i, left[i]);
        fill(dev, RIGHT + 2048 * i, 0x40A0); /* 5 */
    }
    uint32_t parameters[4][4] = {{4}, {1}, {RESULTS}, {1}};
    assert_int_equal(wg_write(dev, PARAMETERS, parameters, sizeof parameters), WG_OK);
    watch w = {.unpack = {{.unit = WG_AGENT_UNPACK0, .opcode = UNPACR, .per_tile = 1},
                          {.unit = WG_AGENT_UNPACK1, .opcode = UNPACR, .per_tile = 1}},
               .matrix = {.unit = WG_AGENT_MATRIX, .opcode = MVMUL, .per_tile = 4 * 16},
               .pack = {.unit = WG_AGENT_PACK, .opcode = PACR, .per_tile = wh ? 1 : 16}};
    int observer;
    assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_COMPLETED), event, &w, &observer),
                     WG_OK);
    wg_stop stop;
    assert_int_equal(wg_run(dev, 100000, &stop), WG_OK);
    assert_int_equal(stop, WG_STOP_DONE);
    assert_int_equal(wg_finding_count(dev), 0);
    for (unsigned i = 0; i < SLOTS; i++) {
        float tile[1024];
        assert_int_equal(wg_read(dev, OUT + 4096 * i, tile, sizeof tile), WG_OK);
        for (unsigned k = 0; k < 1024; k++)
            assert_true(tile[k] == (float)(32 * 5 * (i + 1)));
    }
    assert_int_equal(w.unpack[0].completed, RESULTS);
    assert_int_equal(w.unpack[1].completed, RESULTS);
    assert_int_equal(w.matrix.completed, RESULTS * w.matrix.per_tile);
    assert_int_equal(w.pack.completed, RESULTS * w.pack.per_tile);
    for (unsigned n = 2; n + 2 < RESULTS; n++)
        for (unsigned i = 0; i < 2; i++)
            if (!overlap(&w.unpack[i], &w.matrix, &w.pack, n))
                fail_msg("unpacker %u has tile %u in cycles %d to %d, the Matrix Unit tile %u in %d to %d, the packers "
                         "tile %u in %d to %d",
                         i, n + 1, (int)w.unpack[i].from[n + 1], (int)w.unpack[i].to[n + 1], n, (int)w.matrix.from[n],
                         (int)w.matrix.to[n], n - 1, (int)w.pack.from[n - 1], (int)w.pack.to[n - 1]);
    /* Each tile takes one stage's time, not the sum of three: the Matrix Unit's 64 cycles, and a few in between. */
    assert_in_range(w.pack.to[RESULTS - 2] - w.pack.to[1], 64 * (RESULTS - 3), 85 * (RESULTS - 3));
    wg_destroy(dev);
}

static const wg_test tests[] = {
    WG_TEST(test_triple_buffered, WG_BH | WG_WH, "PIPE-22"),
};
WG_MAIN("pipeline", tests)
