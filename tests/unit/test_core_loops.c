/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops through L1 whose rounds repeat themselves (src/riscv/loop.c): random bodies of arithmetic, loads and stores, with
 * pointers that stand still or move, run once skipping, once in small steps and once with every agent ticked in every cycle.
 * Registers, memory, cycles and instruction counts must be identical at every look.
 *
 * WG_RANDOM_LOOPS says how many programs per architecture, WG_RANDOM_FIRST where to begin.
 */
#include "rvasm.h"
#include "wgtest.h"

enum { SKIPPING, STEPPING, LOCKSTEP, MODES };
enum { CODE = 0x10000, CODE_STRIDE = 0x1000, DATA = 0x40000, DATA_STRIDE = 0x10000 };
enum { FROM = S2, TO = S3, COUNT = S4 };

static wg_rng g;
static uint32_t below(uint32_t n) { return wg_rng_below(&g, n); }
static unsigned any_reg(void) { return T0 + below(11); } /* x5 to x15 */

static unsigned number(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 0) : otherwise;
}

static void body(rv *p, unsigned stores)
{
    switch (below(8)) {
    case 0:
    case 1:
    case 2:
    case 3: {
        unsigned base = below(2) ? FROM : TO, size = below(3) ? 2 : below(3);
        int offset = (int)below(24) * 4 - 32;
        if (size < 2)
            offset += (int)(below(4) & ~((1u << size) - 1));
        if (below(100) < stores)
            rv_word(p, rv_s(offset, any_reg(), base, size, 0x23));
        else
            rv_word(p, rv_i(offset, base, size | (size < 2 ? below(2) * 4 : 0), below(15) ? any_reg() : ZERO, 0x03));
        break;
    }
    case 4: rv_word(p, 1u << 25 | any_reg() << 20 | any_reg() << 15 | below(4) << 12 | any_reg() << 7 | 0x33); break;
    case 5: rv_word(p, rv_i((int)below(0x1000), any_reg(), 4, any_reg(), 0x13)); break;
    default: rv_add(p, any_reg(), any_reg(), any_reg()); break;
    }
}

static void loop(rv *p, unsigned core)
{
    static const int strides[] = {0, 0, 0, 16, 16, -16, 4, 8, 32, 48, -4, 2, 512};
    uint32_t data = DATA + core * DATA_STRIDE + 0x4000;
    int stride = strides[below(13)], other = below(8) ? stride : strides[below(13)];
    unsigned ops = 1 + below(14), stores = below(2) ? below(100) : below(20);
    rv_li(p, FROM, data + below(64) * 4);
    rv_li(p, TO, data + (below(3) ? 0x2000 : below(32) * 4) + below(64) * 4);
    if (stride & 3)
        rv_li(p, TO, data); /* unaligned sooner or later: words are reported, and go their own way */
    rv_li(p, COUNT, 1 + below(below(4) ? 250 : 12));
    unsigned label = p->n;
    for (unsigned i = 0; i < ops; i++)
        body(p, stores);
    if (stride)
        rv_addi(p, FROM, FROM, stride);
    if (other)
        rv_addi(p, TO, TO, other);
    if (below(20) == 0)
        rv_lw(p, FROM, 0, TO); /* an address that is no sum */
    if (below(20) == 0)
        rv_fence(p);
    rv_addi(p, COUNT, COUNT, -1);
    rv_bne(p, COUNT, ZERO, label);
}

static rv program(unsigned core)
{
    rv p = rv_at(CODE + core * CODE_STRIDE);
    for (unsigned r = T0; r < T0 + 11; r++)
        rv_li(&p, r, (uint32_t)wg_rng_next(&g));
    for (unsigned i = 0; i < 6; i++)
        loop(&p, core);
    rv_done(&p);
    return p;
}

static wg_device *make(wg_arch_id arch, unsigned mode, unsigned profile)
{
    wg_device_desc desc = {
        .struct_size = sizeof desc, .arch = arch, .profile = (wg_profile)profile, .lockstep = mode == LOCKSTEP};
    wg_device *dev = NULL;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    return dev;
}

static void step(wg_device *dev, unsigned mode, uint64_t cycles)
{
    for (uint64_t left = cycles, n; left; left -= n) {
        n = mode == STEPPING ? 1 + below(below(4) ? 1500 : 9) : left;
        n = n < left ? n : left;
        wg_advance(dev, n);
    }
}

static void test_random_loops(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    unsigned first = number("WG_RANDOM_FIRST", 0), count = number("WG_RANDOM_LOOPS", 15);
    for (unsigned seed = first; seed < first + count; seed++) {
        g.s = seed * UINT64_C(88887) + arch;
        unsigned cores = below(6) ? 1u << below(5) : 1 + below(31), profile = below(2);
        wg_device *dev[MODES];
        rv code[WG_CORES];
        for (unsigned c = 0; c < WG_CORES; c++)
            code[c] = program(c);
        for (unsigned i = 0; i < MODES; i++) {
            dev[i] = make(arch, i, profile);
            for (unsigned c = 0; c < WG_CORES; c++)
                if (cores >> c & 1) {
                    assert_true(rv_load(dev[i], &code[c]));
                    assert_int_equal(wg_core_release(dev[i], (wg_core_id)c, code[c].base), WG_OK);
                }
        }
        for (unsigned look = 0; look < 5; look++) {
            uint64_t cycles = 1 + below(6000), hash = 0;
            for (unsigned i = 0; i < MODES; i++) {
                step(dev[i], i, cycles);
                uint64_t h = wg_state_hash(dev[i]);
                if (i && h != hash)
                    fail_msg("program %u: mode %u differs by cycle %llu", seed, i,
                             (unsigned long long)wg_cycle(dev[i]));
                hash = h;
                for (unsigned c = 0; c < WG_CORES; c++) {
                    wg_core_info a, b;
                    wg_core_state(dev[0], (wg_core_id)c, &a);
                    wg_core_state(dev[i], (wg_core_id)c, &b);
                    if (a.instructions != b.instructions)
                        fail_msg("program %u: core %u has executed %llu in mode %u, not %llu", seed, c,
                                 (unsigned long long)b.instructions, i, (unsigned long long)a.instructions);
                }
            }
        }
        for (unsigned i = 0; i < MODES; i++)
            wg_destroy(dev[i]);
    }
}

static const wg_test tests[] = {
    WG_TEST(test_random_loops, WG_BH | WG_WH, ""),
};
WG_MAIN("core_loops", tests)
