/* SPDX-License-Identifier: Apache-2.0 */
/* Auto TTSync's map: which resource an address belongs to, row by row, and that the eight are tracked separately. */
#include "ttsync_rig.h"

static void test_address_to_resource(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    static const struct {
        wg_path path;
        uint32_t address;
        unsigned bit;
        uint8_t resource;
    } rows[] = {{WG_PATH_GPR, GPR + 0x20, TRACK_GPR, WG_TTS_GPR},
                {WG_PATH_TDMA, TDMA + 4, TRACK_TDMA, WG_TTS_TDMA},
                {WG_PATH_CONFIG, CFG + 8, TRACK_CFG, WG_TTS_CFG0}};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned bits = 0; bits < 32; bits++) {
            track(r, 0, bits & ~(unsigned)SUBDIVIDE);
            uint8_t want = (bits & TRACK_INSNS) && (bits & rows[i].bit) ? rows[i].resource : 0;
            assert_int_equal(wg_ttsync_access_resources(r->t, 0, rows[i].path, rows[i].address), want);
        }
    }
    track(r, 0, 31);
    assert_int_equal(wg_ttsync_access_resources(r->t, 0, WG_PATH_L1, 0), 0);
    assert_int_equal(wg_ttsync_access_resources(r->t, 0, WG_PATH_MOP_CFG, 0), 0);
    fr_free(r);
}

static uint8_t config(fr *r, unsigned offset)
{
    return wg_ttsync_access_resources(r->t, 0, WG_PATH_CONFIG, CFG + 4 * offset);
}

static void test_config_map_whole(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    for (unsigned word = 0; word < 224; word++) {
        assert_int_equal(config(r, word), word < 180 ? WG_TTS_CFG0 : WG_TTS_CFG);
        assert_int_equal(config(r, 224 + word), word < 180 ? WG_TTS_CFG1 : WG_TTS_CFG);
        assert_int_equal(config(r, 448 + word), WG_TTS_CFG);
    }
    for (unsigned word = 0; word < 3 * 68; word++)
        assert_int_equal(config(r, 672 + word), WG_TTS_CFG);
    fr_free(r);
}

static void test_config_map_subdivided(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    track(r, 0, TRACK_ALL | SUBDIVIDE);
    enum { U0 = 1, U1 = 2, REST = 4 };
    /* By word, derived by hand from the document's table; words not listed are remainder. */
    static const uint8_t parts[180] = {[44] = U0,
                                       [45] = U0 | U1,
                                       [46] = U1,
                                       [47] = U1,
                                       [48] = U0 | U1 | REST,
                                       [49] = U0 | U1 | REST,
                                       [50] = U0 | U1 | REST,
                                       [51] = U0,
                                       [52] = U0,
                                       [53] = U0,
                                       [56] = REST,
                                       [57] = REST,
                                       [58] = U1,
                                       [59] = U1,
                                       [60] = U1,
                                       [61] = U1,
                                       [62] = U1,
                                       [63] = U1,
                                       [64] = U0 /* TileDescriptor's first word */,
                                       [65] = REST,
                                       [66] = REST,
                                       [67] = REST,
                                       [72] = U0,
                                       [73] = U0,
                                       [74] = U0,
                                       [75] = U0,
                                       [76] = U0,
                                       [77] = U0,
                                       [78] = U0,
                                       [79] = U0,
                                       [80] = U0,
                                       [81] = U0,
                                       [82] = U0,
                                       [83] = U0,
                                       [84] = U0,
                                       [85] = U0,
                                       [86] = U0,
                                       [87] = U0,
                                       [92] = U0,
                                       [93] = U0,
                                       [94] = U0,
                                       [95] = U0,
                                       [104] = U0,
                                       [105] = U0,
                                       [112] = U1,
                                       [113] = REST,
                                       [114] = REST,
                                       [115] = REST,
                                       [120] = U1,
                                       [121] = U1,
                                       [122] = REST,
                                       [123] = REST,
                                       [124] = U1,
                                       [125] = U1,
                                       [126] = REST,
                                       [127] = REST,
                                       [128] = REST,
                                       [131] = REST,
                                       [132] = REST,
                                       [133] = REST,
                                       [134] = REST,
                                       [135] = REST,
                                       [140] = U1,
                                       [141] = U1,
                                       [142] = REST,
                                       [143] = REST};
    const uint8_t remainders = WG_TTS_CFG0_REST | WG_TTS_CFG1_REST;
    for (unsigned word = 0; word < 224; word++) {
        uint8_t want = word < 180 && parts[word] ? parts[word] : REST;
        assert_int_equal(wg_ttsync_config_parts(r->t->arch, word), word < 180 ? want : REST);
        assert_int_equal(config(r, word), word < 180 ? want : remainders);
        assert_int_equal(config(r, 224 + word), word < 180 ? want << 3 : remainders);
        assert_int_equal(config(r, 448 + word), remainders);
    }
    unsigned math_offset = wg_tcfg_fields[WG_ARCH_BH][WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset].word;
    for (unsigned word = 0; word < 3 * 68; word++)
        assert_int_equal(config(r, 672 + word), word == math_offset ? WG_TTS_CFG & ~remainders : remainders);
    fr_free(r);
}

static void test_eight_resources(void **state)
{
    /* Each resource alone: an instruction declared to write it and only it, against a load of each. */
    static const struct {
        wg_path path;
        uint32_t address;
    } load[8] = {{WG_PATH_CONFIG, CFG + 4 * 44},
                 {WG_PATH_CONFIG, CFG + 4 * 46},
                 {WG_PATH_CONFIG, CFG},
                 {WG_PATH_CONFIG, CFG + 4 * (224 + 44)},
                 {WG_PATH_CONFIG, CFG + 4 * (224 + 46)},
                 {WG_PATH_CONFIG, CFG + 4 * 224},
                 {WG_PATH_GPR, GPR},
                 {WG_PATH_TDMA, TDMA}};
    for (unsigned written = 0; written < 8; written++) {
        for (unsigned loaded = 0; loaded < 8; loaded++) {
            fr *r = fr_new(wg_test_arch(state));
            track(r, 0, TRACK_ALL | SUBDIVIDE);
            region g = {0};
            unsigned decl = written == 6 ? 1u << 6 : written == 7 ? 1u << 8 : 2u | 4u << written % 3;
            fr_push(r, 0, I_SETC16(0, written / 3 == 1));
            fr_push(r, 0, I_RESOURCEDECL(1, decl, 15));
            fr_push(r, 0, I_SEMWAIT(0x1FF, 1, 1));
            fr_push(r, 0, I_VECTOR);
            fr_run(r, 20);
            access *a = emit(r, &g, load[loaded].path, load[loaded].address, false, 1);
            fr_run(r, 10);
            if ((a->processed == 0) != (written == loaded))
                fail_msg("written %u, loaded %u", written, loaded);
            fr_free(r);
        }
    }
}

static void test_no_finer_tracking(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    emit(r, &g, WG_PATH_GPR, GPR + 4 * 60, true, 20);
    fr_push(r, 0, I_ADDDMAREG(1, 2, 3)); /* other registers: stalled nevertheless */
    fr_run(r, 40);
    assert_int_equal(fr_issued(r, 0, 0), 21);
    assert_int_equal(r->t->frontend[0].ttsync.gate_stalls, 1);
    assert_int_equal(r->t->frontend[0].ttsync.spurious_stalls, 1);
    emit(r, &g, WG_PATH_GPR, GPR + 4 * 2, true, 20);
    fr_push(r, 0, I_ADDDMAREG(1, 2, 3)); /* stalled for a reason */
    fr_run(r, 40);
    assert_int_equal(r->t->frontend[0].ttsync.gate_stalls, 2);
    assert_int_equal(r->t->frontend[0].ttsync.spurious_stalls, 1);
    fr_free(r);
}

static const wg_test tests[] = {
    WG_TEST(test_eight_resources, WG_BH, "TTS-02"),       WG_TEST(test_no_finer_tracking, WG_BH, "TTS-03"),
    WG_TEST(test_address_to_resource, WG_BH, "TTS-11"),   WG_TEST(test_config_map_whole, WG_BH, "TTS-12"),
    WG_TEST(test_config_map_subdivided, WG_BH, "TTS-13"),
};
WG_MAIN("ttsync_map", tests)
