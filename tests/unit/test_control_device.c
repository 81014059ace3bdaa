/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar Unit, Configuration Unit and Mover behind the real gates of a device: the wait conditions for them, with the
 * wait in place (the same result under every delay) and without it (the result depends on the delay).
 */
#include "wgtest.h"

#include "machine/device.h"
#include "isa/config_fields.h"
#include "isa/isa.h"

enum { SEEDS = 24, ENOUGH = 50000 }; /* a delay can be some hundred cycles */

static uint32_t stallwait(unsigned block, unsigned conditions)
{
    return UINT32_C(0xA2) << 24 | block << 15 | conditions;
}
static uint32_t setdmareg(unsigned half, unsigned value) { return UINT32_C(0x45) << 24 | value << 8 | half; }
enum { NOP = 0x02000000, XMOV = 0x40000000, B5 = 32 };

static wg_device *device(wg_arch_id arch, uint64_t seed)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .seed = seed};
    wg_device *dev;
    assert_int_equal(wg_create(&desc, &dev), WG_OK);
    return dev;
}

static void push(wg_device *dev, unsigned thread, const uint32_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        while (wg_push(dev, thread, words[i]) != WG_OK)
            assert_int_equal(wg_run(dev, 1, NULL), WG_OK);
    }
}

static uint32_t gpr(wg_device *dev, unsigned thread, unsigned reg)
{
    uint32_t value = 0;
    assert_int_equal(wg_peek(dev, WG_SPACE_GPR, thread * 64 + reg, &value), WG_OK);
    return value;
}

static bool found(wg_device *dev, const char *code)
{
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        if (!strcmp(wg_finding_info_at(wg_finding_at(dev, i)->code)->code, code))
            return true;
    return false;
}

/* LOADIND to R20, then R21 = R20 + 1, with or without a wait for C0 between them. */
static uint32_t load_and_use(wg_arch_id arch, uint64_t seed, bool wait, unsigned pause, bool *reported)
{
    wg_device *dev = device(arch, seed);
    uint32_t value = 0x1000;
    assert_int_equal(wg_write(dev, 0x40, &value, 4), WG_OK);
    uint32_t words[32], n = 0;
    words[n++] = setdmareg(2, 4); /* R1: address 0x40 */
    words[n++] = UINT32_C(0x49) << 24 | 1u << 22 | 8u << 14 | 20u << 6 | 1;
    if (wait)
        words[n++] = stallwait(B5, 1);
    for (unsigned i = 0; i < pause; i++)
        words[n++] = NOP;
    words[n++] = UINT32_C(0x58) << 24 | 1u << 23 | 21u << 12 | 1u << 6 | 20;
    push(dev, 0, words, n);
    assert_int_equal(wg_run(dev, ENOUGH, NULL), WG_OK);
    uint32_t result = gpr(dev, 0, 21);
    *reported = found(dev, "gpr-used-before-result");
    wg_destroy(dev);
    return result;
}

static void test_wait_for_scalar_memory(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    bool early = false, late = false, reported;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        assert_int_equal(load_and_use(arch, seed, true, 0, &reported), 0x1001);
        assert_false(reported);
        /* Seven cycles are enough if nothing delays the load, but that is luck. */
        uint32_t result = load_and_use(arch, seed, false, 8, &reported);
        assert_true(result == 1 || result == 0x1001);
        assert_int_equal(reported, result == 1);
        early |= result == 1;
        late |= result == 0x1001;
    }
    assert_true(late);
    assert_true(early);
}

/* XMOV of thread 0; `by` waits for the Mover, then loads the last word that it copied. */
static uint32_t move_and_load(wg_arch_id arch, uint64_t seed, unsigned by, bool wait)
{
    wg_device *dev = device(arch, seed);
    const wg_cfg_field *f = wg_cfg_fields[arch];
    uint32_t words[8], n = 0, value = 0x5EED;
    uint32_t config[256] = {0};
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Destination_address], config, 0x200);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Source_address], config, 0x100);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Buffer_size], config, 32);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Transfer_direction], config, 3);
    for (unsigned i = 0; i < 3; i++) {
        unsigned word = f[WG_CFG_THCON_SEC0_REG6_Source_address].word + i;
        assert_int_equal(wg_poke(dev, WG_SPACE_CONFIG, word, config[word]), WG_OK);
    }
    assert_int_equal(wg_write(dev, 0x1000 + 31 * 16, &value, 4), WG_OK);
    push(dev, 0, (uint32_t[]){XMOV}, 1);
    if (by)
        assert_int_equal(wg_run(dev, 4, NULL), WG_OK); /* it has passed its gate */
    words[n++] = setdmareg(2, 0x200 + 31);
    if (wait)
        words[n++] = stallwait(B5, arch == WG_ARCH_BH ? 1u << 9 : 1u << 12);
    words[n++] = UINT32_C(0x49) << 24 | 1u << 22 | 8u << 14 | 20u << 6 | 1;
    push(dev, by, words, n);
    assert_int_equal(wg_run(dev, ENOUGH, NULL), WG_OK);
    uint32_t result = gpr(dev, by, 20);
    wg_destroy(dev);
    return result;
}

static void test_wait_for_mover(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        assert_int_equal(move_and_load(arch, seed, 0, true), 0x5EED);
    assert_int_equal(move_and_load(arch, 0, 0, false), 0);
    assert_int_equal(move_and_load(arch, 0, 1, true), 0x5EED); /* of any thread */
    assert_int_equal(move_and_load(arch, 0, 1, false), 0);
}

/* RDCFG to R20, then R21 = R20 + 1, with or without a wait for C12 between them. */
static uint32_t read_config_and_use(uint64_t seed, bool wait)
{
    wg_device *dev = device(WG_ARCH_BH, seed);
    assert_int_equal(wg_poke(dev, WG_SPACE_CONFIG, 20, 0x2000), WG_OK);
    uint32_t words[8], n = 0;
    words[n++] = UINT32_C(0xB1) << 24 | 20u << 16 | 20;
    if (wait)
        words[n++] = stallwait(B5, 1u << 12);
    words[n++] = UINT32_C(0x58) << 24 | 1u << 23 | 21u << 12 | 1u << 6 | 20;
    push(dev, 2, words, n);
    assert_int_equal(wg_run(dev, ENOUGH, NULL), WG_OK);
    uint32_t result = gpr(dev, 2, 21);
    wg_destroy(dev);
    return result;
}

static void test_wait_for_configuration_unit(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        assert_int_equal(read_config_and_use(seed, true), 0x2001);
    /* Without the wait the next instruction is in time, as kernels rely on, unless something delays the result. */
    assert_int_equal(read_config_and_use(0, false), 0x2001);
    unsigned stale = 0;
    for (uint64_t seed = 1; seed < 200; seed++)
        stale += read_config_and_use(seed, false) == 1;
    assert_true(stale > 0);
}

/* RISCV_IC_INVALIDATE: bit 0 is B, then T0, T1, T2, and NC last. */
static void test_icache_invalidation(void **state)
{
    static const uint8_t order[] = {WG_CORE_B, WG_CORE_T0, WG_CORE_T1, WG_CORE_T2, WG_CORE_NC};
    wg_arch_id arch = wg_test_arch(state);
    unsigned word = wg_cfg_fields[arch][WG_CFG_RISCV_IC_INVALIDATE_InvalidateAll].word;
    for (unsigned mask = 0; mask < 32; mask++) {
        wg_device *dev = device(arch, 0);
        for (unsigned core = 0; core < WG_CORES; core++)
            dev->tile->core[core].icache[0].tag = 0x4000 | WG_LINE_VALID;
        push(dev, 0, (uint32_t[]){setdmareg(4, mask), UINT32_C(0xB0) << 24 | 2u << 16 | word}, 2);
        assert_int_equal(wg_run(dev, ENOUGH, NULL), WG_OK);
        for (unsigned i = 0; i < WG_CORES; i++)
            assert_int_equal(dev->tile->core[order[i]].icache[0].tag & WG_LINE_VALID, !(mask >> i & 1));
        wg_destroy(dev);
    }
}

/* A program over all four units in lockstep and skipping gives the same state in every cycle. */
static void test_lockstep(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    for (uint64_t seed = 0; seed < 4; seed++) {
        wg_device *devs[2];
        for (unsigned i = 0; i < 2; i++) {
            wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch, .seed = seed, .lockstep = i};
            assert_int_equal(wg_create(&desc, &devs[i]), WG_OK);
        }
        wg_rng rng = {seed + 77};
        for (unsigned round = 0; round < 400; round++) {
            unsigned thread = wg_rng_below(&rng, 3), a = wg_rng_below(&rng, 8), b = 16 + wg_rng_below(&rng, 48);
            uint32_t word;
            switch (wg_rng_below(&rng, 8)) {
            case 0: word = setdmareg(wg_rng_below(&rng, 16), wg_rng_below(&rng, 64)); break;
            case 1: word = UINT32_C(0x58) << 24 | b << 12 | b << 6 | a; break;
            case 2: word = UINT32_C(0x49) << 24 | 1u << 22 | 4u << 14 | b << 6 | a; break;
            case 3: word = UINT32_C(0x66) << 24 | 5u << 21 | 4u << 14 | b << 6 | a; break;
            case 4: word = UINT32_C(0xB0) << 24 | b << 16 | (8 + b); break;
            case 5: word = UINT32_C(0xB1) << 24 | b << 16 | (8 + a); break;
            case 6: word = UINT32_C(0x52) << 24 | 1u << 21 | a << 6; break;
            default: word = stallwait(0x1FF, 1); break;
            }
            bool taken[2];
            for (unsigned i = 0; i < 2; i++) {
                taken[i] = wg_push(devs[i], thread, word) == WG_OK;
                assert_int_equal(wg_run(devs[i], 1 + round % 5, NULL), WG_OK);
            }
            assert_int_equal(taken[0], taken[1]);
            if (round % 20 == 19)
                assert_true(wg_state_hash(devs[0]) == wg_state_hash(devs[1]));
        }
        wg_destroy(devs[0]);
        wg_destroy(devs[1]);
    }
}

/* ---- Which instruction reads which configuration ------------------------------------------------------ */

typedef struct config_reads {
    uint64_t id; /* of the instruction; ids count from 1 per thread */
    uint32_t word[64];
    unsigned count;
} config_reads;

static void see_read(void *user, const wg_event *e)
{
    config_reads *s = user;
    if (e->a != WG_TOUCH_CONFIG || !(e->how & WG_TOUCH_READ) || e->id != s->id || e->thread != 1)
        return;
    uint32_t word = (uint32_t)e->b % 256;
    for (unsigned i = 0; i < s->count; i++)
        if (s->word[i] == word)
            return;
    if (s->count < sizeof s->word / sizeof *s->word)
        s->word[s->count++] = word;
}

/* Thread 1 executes `words`, its sources ready; which configuration does the last word read, and is it reported? */
static bool read_config(wg_arch_id arch, uint64_t seed, const uint32_t *words, unsigned count, bool matrix,
                        config_reads *reads)
{
    wg_device *dev = device(arch, seed);
    *reads = (config_reads){.id = count};
    for (unsigned bank = 0; bank < 4; bank++)
        assert_int_equal(wg_poke(dev, WG_SPACE_SRC_OWNER, bank, matrix), WG_OK);
    assert_int_equal(wg_observe(dev, WG_EV_BIT(WG_EV_TOUCH), see_read, reads, NULL), WG_OK);
    push(dev, 1, words, count);
    wg_advance(dev, 300);
    bool reported = found(dev, "config-read-before-write");
    wg_destroy(dev);
    return reported;
}

/*
 * For every configuration word that an instruction of another unit reads, a WRCFG of that word directly before it is
 * reported; one of a word that no such instruction reads is not. The units' own touches tell which words are read.
 */
static void test_every_reader(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    unsigned readers = 0;
    for (unsigned opcode = 0; opcode < 256; opcode++)
        for (unsigned variant = 0; variant < 2; variant++) {
            uint32_t word = opcode << 24 | variant << 23;
            const wg_isa_insn *isa = wg_isa_decode(arch, word);
            bool matrix = isa && isa->unit == WG_UNIT_MATRIX;
            if (!isa || (!matrix && isa->unit != WG_UNIT_VECTOR && isa->unit != WG_UNIT_PACK &&
                         isa->unit != WG_UNIT_UNPACK && isa->unit != WG_UNIT_MOVER && isa->unit != WG_UNIT_SCALAR))
                continue;
            config_reads alone, again;
            assert_false(read_config(arch, 0, &word, 1, matrix, &alone));
            readers += alone.count != 0;
            for (unsigned i = 0; i < alone.count; i++) {
                uint32_t pair[2] = {UINT32_C(0xB0) << 24 | alone.word[i], word};
                if (!read_config(arch, 0, pair, 2, matrix, &again))
                    fail_msg("%s 0x%08x reads word %u: not reported", isa->name, word, alone.word[i]);
            }
            /* A read in front of the writes is never reported, however late it takes place. */
            for (unsigned i = 0; i < alone.count; i++) {
                uint32_t behind[17] = {word};
                for (unsigned k = 1; k < 17; k++)
                    behind[k] = UINT32_C(0xB0) << 24 | alone.word[i];
                for (uint64_t seed = 0; seed < 6; seed++)
                    if (read_config(arch, seed, behind, 17, matrix, &again))
                        fail_msg("%s 0x%08x before a write of word %u: reported", isa->name, word, alone.word[i]);
            }
            uint32_t apart[2] = {UINT32_C(0xB0) << 24 | (wg_arch_of(arch)->config_words - 1), word};
            assert_false(read_config(arch, 0, apart, 2, matrix, &again));
        }
    assert_true(readers >= 15);
}

static const wg_test tests[] = {
    WG_TEST(test_every_reader, WG_BH | WG_WH, ""),
    WG_TEST(test_wait_for_scalar_memory, WG_BH | WG_WH, "GATE-10"),
    WG_TEST(test_wait_for_mover, WG_BH | WG_WH, "GATE-16"),
    WG_TEST(test_wait_for_configuration_unit, WG_BH, "GATE-19"),
    WG_TEST(test_icache_invalidation, WG_BH | WG_WH, ""),
    WG_TEST(test_lockstep, WG_BH | WG_WH, ""),
};
WG_MAIN("control_device", tests)
