/* SPDX-License-Identifier: Apache-2.0 */
/* Auto TTSync: what it orders, the members of its classes, MOP and REPLAY, and its limits. */
#include "ttsync_rig.h"

/* ---- The four scenarios ----------------------------------------------------------------------------- */

static void test_load_then_push(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    access *load = emit(r, &g, WG_PATH_GPR, GPR + 4, false, 20);
    fr_push(r, 0, I_STOREREG); /* reads GPRs: passes */
    fr_push(r, 0, I_LOADREG);  /* writes GPRs: waits for the load */
    fr_run(r, 40);
    assert_int_equal(load->processed, 20);
    assert_int_equal(fr_issued(r, 0, 0), 3);
    assert_int_equal(fr_issued(r, 0, 1), 21); /* E of 20 no longer sees it, and linger 1 is one cycle */
    const wg_event *e = fr_event(r, WG_EV_STALL_BEGIN, WG_AGENT_THREAD0, 0);
    assert_int_equal(e->stall.reason, WG_STALL_AUTO_TTSYNC);
    assert_int_equal(e->stall.resource, WG_TTS_GPR);
    assert_int_equal(e->stall.holder, WG_AGENT_CORE_T0);
    fr_free(r);
}

static void test_store_then_push(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    access *store = emit(r, &g, WG_PATH_GPR, GPR, true, 15);
    fr_push(r, 0, I_STOREREG); /* a reader waits too */
    fr_push(r, 0, I_LOADREG);
    fr_run(r, 40);
    assert_int_equal(store->processed, 15);
    assert_int_equal(fr_issued(r, 0, 0), 16);
    assert_int_equal(fr_issued(r, 0, 1), 17); /* right after it in the gate; its own check finds nothing left */
    fr_free(r);
}

static void test_push_then_store(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    fr_busy(r, WG_UNIT_PACK, 0, 0, true);
    fr_push(r, 0, I_STALLWAIT(WG_B5, 8)); /* holds the Scalar Unit back */
    fr_push(r, 0, I_STOREREG);            /* reads GPRs */
    fr_run(r, 10);
    access *store = emit(r, &g, WG_PATH_GPR, GPR, true, 1);
    access *other = emit(r, &g, WG_PATH_TDMA, TDMA, true, 1); /* no instruction touches that */
    fr_run(r, 20);
    assert_int_equal(other->processed, 11);
    assert_int_equal(store->processed, 0);
    assert_int_equal(store->why.reason, WG_STALL_AUTO_TTSYNC_CORE);
    assert_int_equal(store->why.resource, WG_TTS_GPR);
    assert_int_equal(store->why.holder, WG_AGENT_THREAD0);
    fr_busy(r, WG_UNIT_PACK, 0, 0, false);
    fr_run(r, 20);
    assert_int_equal(fr_issued(r, 0, 1), 31);
    assert_int_equal(store->processed, 32); /* the cycle after it passed the gate */
    fr_free(r);
}

static void test_push_then_load(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    fr_busy(r, WG_UNIT_PACK, 0, 0, true);
    fr_push(r, 0, I_STALLWAIT(WG_B5, 8));
    fr_push(r, 0, I_STOREREG); /* a reader does not hold loads */
    fr_run(r, 10);
    access *early = emit(r, &g, WG_PATH_GPR, GPR, false, 1);
    fr_run(r, 5);
    assert_int_equal(early->processed, 11);
    fr_push(r, 0, I_LOADREG); /* a writer does */
    fr_run(r, 5);
    access *load = emit(r, &g, WG_PATH_GPR, GPR, false, 1);
    fr_run(r, 10);
    assert_int_equal(load->processed, 0);
    fr_busy(r, WG_UNIT_PACK, 0, 0, false);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 2), 32);
    assert_int_equal(load->processed, 33);
    fr_free(r);
}

static void test_push_then_load_hole(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    fr_busy(r, WG_UNIT_PACK, 0, 0, true);
    fr_push(r, 0, I_STALLWAIT(WG_B5, 8));
    fr_run(r, 10);
    /* The load leaves while the push is still in the store queue: it is not held, which is reported. */
    access *load = emit(r, &g, WG_PATH_GPR, GPR, false, 5);
    wg_ttsync_load_overtakes(r->t, WG_CORE_T0, WG_PATH_GPR, GPR, 0x100, I_STOREREG);
    assert_int_equal(fr_found(r, WG_F_TTSYNC_LOAD_HOLE), 0);
    wg_ttsync_load_overtakes(r->t, WG_CORE_T0, WG_PATH_GPR, GPR, 0x100, I_LOADREG);
    assert_int_equal(fr_found(r, WG_F_TTSYNC_LOAD_HOLE), 1);
    assert_int_equal(fr_finding(r, WG_F_TTSYNC_LOAD_HOLE)->pc, 0x100);
    wg_ttsync_note_emitted(r->t, WG_CORE_T0, WG_PATH_PUSH, 0, true);
    fr_push(r, 0, I_LOADREG);
    fr_run(r, 30);
    assert_int_equal(load->processed, 15);
    /* A push that has been emitted counts, even before it has arrived. */
    wg_ttsync_note_emitted(r->t, WG_CORE_T0, WG_PATH_PUSH, 0, true);
    access *behind = emit(r, &g, WG_PATH_GPR, GPR, false, 1);
    fr_run(r, 3);
    assert_int_equal(behind->processed, 0);
    assert_false(wg_thread_idle(r->t, 0));
    fr_push(r, 0, I_VECTOR); /* arrives, and touches no GPR; but the LOADREG before it does */
    fr_run(r, 5);
    assert_int_equal(behind->processed, 0);
    fr_busy(r, WG_UNIT_PACK, 0, 0, false);
    fr_run(r, 10);
    assert_int_equal(behind->processed, fr_issued(r, 0, 1) + 1);
    fr_free(r);
}

/* ---- On and off ------------------------------------------------------------------------------------- */

static void test_off_until_both_bits(void **state)
{
    static const struct {
        unsigned bits;
        bool held;
    } rows[] = {{0, false},
                {TRACK_INSNS, false},
                {TRACK_GPR, false},
                {TRACK_INSNS | TRACK_TDMA | TRACK_CFG, false},
                {TRACK_INSNS | TRACK_GPR, true}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        fr *r = fr_new(wg_test_arch(state));
        fr_push(r, 0, I_SETC16(0, 0));
        fr_push(r, 0, I_SETC16(56, rows[i].bits));
        fr_run(r, 10);
        region g = {0};
        emit(r, &g, WG_PATH_GPR, GPR, true, 20);
        fr_push(r, 0, I_LOADREG);
        fr_run(r, 40);
        assert_int_equal(fr_issued(r, 0, 2), rows[i].held ? 31 : 13);
        fr_free(r);
    }
    /* Per thread: thread 1's bits do not affect core T0. */
    fr *r = fr_new(wg_test_arch(state));
    track(r, 1, TRACK_ALL);
    region g = {0};
    emit(r, &g, WG_PATH_GPR, GPR, true, 20);
    fr_push(r, 0, I_LOADREG);
    fr_run(r, 40);
    assert_int_equal(fr_issued(r, 0, 0), 3);
    fr_free(r);
}

/* ---- Classes ---------------------------------------------------------------------------------------- */

static void test_default_classes(void **state)
{
    enum { RG = WG_TTS_GPR, RT = WG_TTS_TDMA, C = WG_TTS_CFG0, R = WG_TTS_CFG0_REST };
    static const struct {
        const char *name;
        int class_;
        uint8_t reads, writes;
    } rows[] = {{"ADDDMAREG", 0, RG, RG},
                {"SUBDMAREG", 0, RG, RG},
                {"MULDMAREG", 0, RG, RG},
                {"BITWOPDMAREG", 0, RG, RG},
                {"SHIFTDMAREG", 0, RG, RG},
                {"CMPDMAREG", 0, RG, RG},
                {"SETDMAREG", 0, RG, RG},
                {"ATINCGET", 1, RG, RG},
                {"ATINCGETPTR", 1, RG, RG},
                {"ATSWAP", 1, RG, RG},
                {"ATCAS", 1, RG, RG},
                {"REG2FLOP", 2, RG | RT, RG | RT},
                {"LOADIND", 3, RG, RG},
                {"STOREIND", 3, RG, RG},
                {"STREAMWRCFG", 4, C, C},
                {"CFGSHIFTMASK", 4, C, C},
                {"STOREREG", 5, RG, 0},
                {"LOADREG", 6, 0, RG},
                {"FLUSHDMA", 7, 0, RT},
                {"WRCFG", 8, RG, C},
                {"RDCFG", 9, C, RG},
                {"XMOV", 10, RG | C, RG | C},
                {"UNPACR", 11, RT | C, RT},
                {"UNPACR_NOP", 11, RT | C, RT},
                {"PACR", 12, RT | R, RT},
                {"MOP", 13, RG | RT | C, RG | RT | C},
                {"REPLAY", 14, RG | RT | C, RG | RT | C},
                {"SETC16", 15, R, 0},
                {"RMWCIB0", 15, R, 0},
                {"SFPNOP", 15, R, 0},
                {"STALLWAIT", 15, R, 0},
                {"MVMUL", 15, R, 0},
                {"NOP", -1, 0, 0},
                {"MOP_CFG", -1, 0, 0},
                {"RESOURCEDECL", -1, 0, 0}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const wg_isa_insn *record = wg_isa_by_name(WG_ARCH_BH, rows[i].name, strlen(rows[i].name));
        assert_non_null(record);
        assert_int_equal(record->ttsync_class, rows[i].class_ < 0 ? WG_TTSYNC_NONE : rows[i].class_);
        fr *r = tracked(wg_test_arch(state));
        fr_push(r, 0, (uint32_t)record->opcode << 24);
        fr_run(r, 1);
        const wg_auto_ttsync *s = &r->t->frontend[0].ttsync;
        assert_int_equal(s->entries, rows[i].class_ >= 0);
        if (s->entries) {
            const wg_tts_entry *e = &s->entry[s->entry_head];
            if (e->reads != rows[i].reads || e->writes != rows[i].writes)
                fail_msg("%s: reads %02x, writes %02x", rows[i].name, e->reads, e->writes);
            assert_int_equal(e->linger, 1);
        }
        fr_free(r);
    }
}

static void test_unpacr_names_its_part(void **state)
{
    enum { UNPACK1 = 1 << 23 };
    for (unsigned op = 0x42; op <= 0x43; op++) {
        for (unsigned second = 0; second < 2; second++) {
            fr *r = fr_new(wg_test_arch(state));
            track(r, 0, TRACK_ALL | SUBDIVIDE);
            fr_push(r, 0, I_RESOURCEDECL(1, 0x181 | 4u << 2, 11)); /* parts: remainder, which is ignored */
            fr_push(r, 0, op << 24 | (second ? UNPACK1 : 0u));
            fr_run(r, 2);
            const wg_auto_ttsync *s = &r->t->frontend[0].ttsync;
            uint8_t part = second ? WG_TTS_CFG0_UNPACK1 : WG_TTS_CFG0_UNPACK0;
            assert_int_equal(s->entry[s->entry_head].reads, WG_TTS_TDMA | part);
            assert_int_equal(s->entry[s->entry_head].writes, WG_TTS_TDMA);
            fr_free(r);
            r = tracked(wg_test_arch(state)); /* without subdivision: as declared */
            fr_push(r, 0, I_RESOURCEDECL(1, 0x181 | 4u << 2, 11));
            fr_push(r, 0, op << 24 | (second ? UNPACK1 : 0u));
            fr_run(r, 2);
            s = &r->t->frontend[0].ttsync;
            assert_int_equal(s->entry[s->entry_head].reads, WG_TTS_TDMA | WG_TTS_CFG0_REST);
            fr_free(r);
        }
    }
}

static void test_resourcedecl(void **state)
{
    for (unsigned bit = 0; bit < 9; bit++) {
        fr *r = tracked(wg_test_arch(state));
        unsigned parts = bit < 2 ? 7u << 2 : 3u; /* parts are meaningful only with a config read or write */
        fr_push(r, 0, I_RESOURCEDECL(5, 1u << bit | (bit < 5 ? parts : 0u), 15));
        fr_push(r, 0, I_VECTOR);
        fr_push(r, 0, I_VECTOR); /* it persists */
        fr_run(r, 3);
        const wg_auto_ttsync *s = &r->t->frontend[0].ttsync;
        static const uint8_t reads[9] = {7, 0, 1, 2, 4, WG_TTS_GPR, 0, WG_TTS_TDMA, 0};
        static const uint8_t writes[9] = {0, 7, 1, 2, 4, 0, WG_TTS_GPR, 0, WG_TTS_TDMA};
        for (unsigned k = 0; k < 2; k++) {
            assert_int_equal(s->entry[s->entry_head + k].reads, reads[bit]);
            assert_int_equal(s->entry[s->entry_head + k].writes, writes[bit]);
            assert_int_equal(s->entry[s->entry_head + k].linger, 5);
        }
        track(r, 1, TRACK_ALL); /* the issuing thread's only */
        fr_push(r, 1, I_VECTOR);
        fr_run(r, 2);
        assert_int_equal(r->t->frontend[1].ttsync.entry[0].reads, WG_TTS_CFG0_REST);
        assert_int_equal(r->t->frontend[1].ttsync.entry[0].linger, 1);
        /* It never reaches the gate. */
        fr_run(r, 20);
        assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD0), 2);
        assert_int_equal(fr_issued_word(r, 0, 0), I_VECTOR);
        fr_free(r);
    }
}

static void test_linger_is_no_count(void **state)
{
    static const unsigned extra[16] = {0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4};
    for (unsigned linger = 0; linger < 16; linger++) {
        fr *r = tracked(wg_test_arch(state));
        region g = {0};
        fr_push(r, 0, I_RESOURCEDECL(linger, 0x60, 0));
        fr_run(r, 5);
        emit(r, &g, WG_PATH_GPR, GPR, true, 20);
        fr_push(r, 0, I_ADDDMAREG(0, 0, 0));
        fr_push(r, 0, I_ADDDMAREG(0, 0, 0)); /* not stalled itself: no linger */
        fr_run(r, 60);
        assert_int_equal(fr_issued(r, 0, 0), 25 + extra[linger]);
        assert_int_equal(fr_issued(r, 0, 1), 26 + extra[linger]);
        fr_free(r);
    }
    /* It also runs while a latched wait holds the instruction. */
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    fr_busy(r, WG_UNIT_PACK, 0, 0, true);
    fr_push(r, 0, I_RESOURCEDECL(8, 0x60, 0));
    fr_push(r, 0, I_STALLWAIT(WG_B5, 8));
    fr_run(r, 10);
    emit(r, &g, WG_PATH_GPR, GPR, true, 20);
    fr_push(r, 0, I_ADDDMAREG(0, 0, 0));
    fr_run(r, 30);
    fr_busy(r, WG_UNIT_PACK, 0, 0, false);
    fr_run(r, 10);
    assert_int_equal(fr_issued(r, 0, 1), 41); /* the access ended in 30, its linger in 34 */
    fr_free(r);
}

/* ---- MOP and REPLAY --------------------------------------------------------------------------------- */

static void test_mop(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    const uint32_t cfg[9] = {3, 0, I_VECTOR, I_NOP, I_NOP, I_NOP, I_NOP, I_NOP, I_NOP};
    memcpy(r->t->frontend[0].mop_cfg, cfg, sizeof cfg);
    /* The first instruction waits under the MOP's declaration (it writes everything), the rest are immune. */
    emit(r, &g, WG_PATH_GPR, GPR, false, 20);
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, 0, 0), 21);
    assert_int_equal(fr_issued(r, 0, 1), 22);
    assert_int_equal(fr_issued(r, 0, 2), 23);
    /* Cores wait for all of it. */
    r->unit[WG_UNIT_VECTOR].interval = 10;
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_run(r, 5);
    access *load = emit(r, &g, WG_PATH_GPR, GPR, false, 1);
    fr_run(r, 60);
    assert_int_equal(fr_issued(r, 0, 5), 53);
    assert_int_equal(load->processed, 54);
    /* Redeclared as touching nothing: no waits. */
    fr_push(r, 0, I_RESOURCEDECL(1, 0, 13));
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_run(r, 4);
    access *free_load = emit(r, &g, WG_PATH_GPR, GPR, false, 1);
    fr_run(r, 60);
    assert_int_equal(free_load->processed, free_load->from - FR_START);
    fr_free(r);
}

static void test_replay(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    fr_push(r, 0, I_REPLAY(0, 3, 0, 1));
    for (unsigned i = 0; i < 3; i++)
        fr_push(r, 0, I_VECTOR);
    fr_run(r, 20);
    assert_int_equal(r->t->frontend[0].ttsync.entries, 0); /* recorded and dropped */
    emit(r, &g, WG_PATH_TDMA, TDMA, false, 20);
    fr_push(r, 0, I_REPLAY(0, 3, 0, 0));
    fr_run(r, 40);
    assert_int_equal(fr_issued(r, 0, 0), 41);
    assert_int_equal(fr_issued(r, 0, 2), 43);
    r->unit[WG_UNIT_VECTOR].interval = 10;
    fr_push(r, 0, I_REPLAY(0, 3, 0, 0));
    fr_run(r, 5);
    access *load = emit(r, &g, WG_PATH_TDMA, TDMA, false, 1);
    fr_run(r, 60);
    assert_int_equal(load->processed, fr_issued(r, 0, 5) + 1);
    /* A REPLAY produced by a MOP is under the MOP's declaration. */
    fr_push(r, 0, I_RESOURCEDECL(1, 0, 14));
    const uint32_t cfg[9] = {2, 0, I_REPLAY(0, 3, 0, 0), I_NOP, I_NOP, I_NOP, I_NOP, I_NOP, I_NOP};
    memcpy(r->t->frontend[0].mop_cfg, cfg, sizeof cfg);
    uint64_t at = r->t->sched.now - FR_START;
    emit(r, &g, WG_PATH_TDMA, TDMA, false, 20);
    fr_push(r, 0, I_MOP(1, 0, 0));
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, 0, 6), at + 21);
    access *last = emit(r, &g, WG_PATH_TDMA, TDMA, false, 1);
    fr_run(r, 100);
    assert_int_equal(last->processed, fr_issued(r, 0, 11) + 1);
    assert_int_equal(r->t->frontend[0].ttsync.entries, 0);
    fr_free(r);
}

/* ---- Limits ----------------------------------------------------------------------------------------- */

static void test_not_covered(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    wg_stall why;
    fr_push(r, 0, I_SEMWAIT(0x1FF, 1, 1));
    fr_push(r, 0, I_RESOURCEDECL(1, 0x1FF, 15));
    fr_push(r, 0, I_VECTOR); /* declared to read and write everything, and stuck */
    fr_run(r, 20);
    /* MOP configuration, Dst, semaphores, CSRs (no request at all): not covered by Auto TTSync. */
    static const wg_path paths[] = {WG_PATH_MOP_CFG, WG_PATH_DST, WG_PATH_SYNC, WG_PATH_L1, WG_PATH_TILE_REGS};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        wg_ttsync_note_emitted(r->t, WG_CORE_T0, paths[i], 0, true);
        assert_false(wg_ttsync_core_blocked(r->t, WG_CORE_T0, paths[i], 0, true, &why));
    }
    /* Other cores and threads, B and NC. */
    static const unsigned cores[] = {WG_CORE_B, WG_CORE_NC, WG_CORE_T1, WG_CORE_T2};
    for (unsigned i = 0; i < 4; i++) {
        wg_ttsync_note_emitted(r->t, cores[i], WG_PATH_GPR, GPR, true);
        assert_false(wg_ttsync_core_blocked(r->t, cores[i], WG_PATH_GPR, GPR, true, &why));
    }
    access *own = emit(r, &g, WG_PATH_GPR, GPR, true, 1);
    fr_run(r, 10);
    assert_int_equal(own->processed, 0);
    /* Pushes by B belong to no thread. */
    fr_push_b(r, 1, I_LOADREG);
    track(r, 1, TRACK_ALL);
    fr_run(r, 10);
    assert_int_equal(fr_event_count(r, WG_EV_ISSUED, WG_AGENT_THREAD1), 1);
    assert_int_equal(r->t->frontend[1].ttsync.entries, 0);
    /* One Tensix instruction does not wait for another. */
    fr *q = tracked(wg_test_arch(state));
    q->unit[WG_UNIT_SCALAR].latency = 50;
    fr_push(q, 0, I_LOADREG);
    fr_push(q, 0, I_WRCFG(0, 0));
    fr_run(q, 20);
    assert_int_equal(fr_issued(q, 0, 1), 4);
    fr_free(q);
    fr_free(r);
}

static void test_held_access_is_no_pending_request(void **state)
{
    /* The wait for the core's requests comes before the instruction that the access waits for. */
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    emit(r, &g, WG_PATH_GPR, GPR, true, 12);
    fr_push(r, 0, I_STALLWAIT(WG_B5, 1u << 10));
    fr_push(r, 0, I_ADDDMAREG(0, 0, 0));
    fr_run(r, 8);
    access *later = emit(r, &g, WG_PATH_GPR, GPR, true, 1);
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, 0, 1), 13); /* the first access ends in 12, the block lifts in 13 */
    assert_int_equal(later->processed, 14);
    fr_free(r);
}

static void test_store_the_table_gives_to_the_remainder(void **state)
{
    /* THCON_SEC1_REG5_Tile_x_dim_cntx: read by the unpacker, tracked as remainder (TTS-19). */
    fr *r = fr_new(wg_test_arch(state));
    track(r, 0, TRACK_ALL | SUBDIVIDE);
    region g = {0};
    fr_push(r, 0, I_SETC16(0, 0));
    fr_run(r, 10);
    unsigned word = wg_cfg_fields[WG_ARCH_BH][WG_CFG_THCON_SEC1_REG5_Tile_x_dim_cntx0].word;
    emit(r, &g, WG_PATH_CONFIG, CFG + 4 * word, true, 20);
    fr_push(r, 0, I_UNPACK | 1 << 23);
    fr_run(r, 40);
    assert_int_equal(fr_issued(r, 0, 1), 13); /* not held back */
    /* Likewise the upper words of a TileDescriptor, but not its first word. */
    word = wg_cfg_fields[WG_ARCH_BH][WG_CFG_THCON_SEC1_REG0_TileDescriptor].word;
    emit(r, &g, WG_PATH_CONFIG, CFG + 4 * (word + 1), true, 20);
    fr_push(r, 0, I_UNPACK | 1 << 23);
    fr_run(r, 40);
    assert_int_equal(fr_issued(r, 0, 2), 53);
    emit(r, &g, WG_PATH_CONFIG, CFG + 4 * word, true, 20);
    fr_push(r, 0, I_UNPACK | 1 << 23);
    fr_run(r, 40);
    assert_int_equal(fr_issued(r, 0, 3), 111);
    fr_free(r);
}

/* ---- SETC16 ----------------------------------------------------------------------------------------- */

static void test_state_id_follows_the_pushes(void **state)
{
    fr *r = tracked(wg_test_arch(state));
    fr_push(r, 0, I_SEMWAIT(0x1FF, 1, 1)); /* nothing executes */
    fr_push(r, 0, I_WRCFG(0, 0));
    fr_push(r, 0, I_SETC16(0, 1));
    fr_push(r, 0, I_WRCFG(0, 0));
    fr_run(r, 20);
    const wg_auto_ttsync *s = &r->t->frontend[0].ttsync;
    assert_int_equal(s->entry[1].writes, WG_TTS_CFG0);
    assert_int_equal(s->entry[2].reads, WG_TTS_CFG0_REST); /* SETC16 itself: class 15, the old bank */
    assert_int_equal(s->entry[3].writes, WG_TTS_CFG1);
    region g = {0};
    access *load = emit(r, &g, WG_PATH_CONFIG, CFG + 4 * 224, false, 1);
    fr_run(r, 10);
    assert_int_equal(load->processed, 0);
    fr_free(r);
}

static void test_tracking_bits_settle(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    region g = {0};
    r->t->frontend[0].ttsync.state_known = true;
    fr_push(r, 0, I_SEMWAIT(0x1FF, 1, 1));
    fr_push(r, 0, I_SETC16(56, TRACK_ALL));
    fr_push(r, 0, I_LOADREG); /* relies on bits that are not set yet */
    fr_run(r, 20);
    access *load = emit(r, &g, WG_PATH_GPR, GPR, false, 1);
    fr_run(r, 10);
    assert_int_equal(load->processed, 21); /* not held: the old bits */
    assert_int_equal(fr_found(r, WG_F_TTSYNC_UNSETTLED), 1);
    r->t->backend.sync.value[0] = 1;
    wg_wake_threads(&r->t->sched);
    fr_run(r, 20);
    /* After it has executed and a wait for it, the bits are in effect. */
    fr_push(r, 0, I_SEMWAIT(0x1FF, 2, 1));
    fr_push(r, 0, I_LOADREG);
    fr_run(r, 20);
    access *held = emit(r, &g, WG_PATH_GPR, GPR, false, 1);
    fr_run(r, 10);
    assert_int_equal(held->processed, 0);
    assert_int_equal(fr_found(r, WG_F_TTSYNC_UNSETTLED), 1);
    fr_free(r);
}

static void test_state_id_doubts(void **state)
{
    /* Before the first SETC16 of it after reset. */
    fr *r = tracked(wg_test_arch(state));
    region g = {0};
    r->t->frontend[0].ttsync.state_known = false;
    fr_push(r, 0, I_SEMWAIT(0x1FF, 1, 1));
    fr_push(r, 0, I_WRCFG(0, 0));
    fr_run(r, 20);
    emit(r, &g, WG_PATH_GPR, GPR, true, 1); /* no config: nothing depends on it */
    fr_run(r, 5);
    assert_int_equal(fr_found(r, WG_F_TTSYNC_STATE_ID), 0);
    emit(r, &g, WG_PATH_CONFIG, CFG + 4 * 224, false, 1); /* bank 1: not held, though it might have to be */
    fr_run(r, 5);
    assert_int_equal(fr_found(r, WG_F_TTSYNC_STATE_ID), 1);
    fr_free(r);
    /* Within a fused bundle the rest uses the old value. */
    for (unsigned fused = 0; fused < 2; fused++) {
        r = tracked(wg_test_arch(state));
        g.count = 0;
        const uint32_t words[3] = {I_SEMWAIT(0x1FF, 1, 1), I_SETC16(0, 1), I_WRCFG(0, 0)};
        if (fused)
            fr_push_fused(r, 0, words, 3);
        else
            for (unsigned i = 0; i < 3; i++)
                fr_push(r, 0, words[i]);
        fr_run(r, 20);
        assert_int_equal(r->t->frontend[0].ttsync.entry[2].writes, fused ? WG_TTS_CFG0 : WG_TTS_CFG1);
        access *load = emit(r, &g, WG_PATH_CONFIG, CFG + 4 * 224, false, 1);
        fr_run(r, 5);
        assert_int_equal(load->processed, fused ? 21 : 0);
        assert_int_equal(fr_found(r, WG_F_TTSYNC_STATE_ID), fused);
        fr_free(r);
    }
}

static void test_wormhole_has_none(void **state)
{
    fr *r = fr_new(wg_test_arch(state));
    memset(r->t->regs.config.thread, 0xFF, sizeof r->t->regs.config.thread);
    region g = {0};
    emit(r, &g, WG_PATH_GPR, GPR, true, 20);
    fr_push(r, 0, I_LOADREG);
    fr_push(r, 0, I_SEMWAIT(0x1FF, 1, 1));
    fr_push(r, 0, I_LOADREG);
    fr_run(r, 30);
    assert_int_equal(fr_issued(r, 0, 0), 3); /* before the store is processed */
    access *store = emit(r, &g, WG_PATH_GPR, GPR, true, 1);
    fr_run(r, 5);
    assert_int_equal(store->processed, 31); /* while the instruction still waits */
    fr_push(r, 1, I_RESOURCEDECL(1, 0, 0));
    fr_run(r, 5);
    assert_int_equal(fr_found(r, WG_F_INVALID_OPCODE), 1);
    fr_free(r);
}

static const wg_test tests[] = {
    WG_TEST(test_off_until_both_bits, WG_BH, "TTS-01"),
    WG_TEST(test_load_then_push, WG_BH, "TTS-04"),
    WG_TEST(test_store_then_push, WG_BH, "TTS-05"),
    WG_TEST(test_push_then_store, WG_BH, "TTS-06"),
    WG_TEST(test_push_then_load, WG_BH, "TTS-07"),
    WG_TEST(test_push_then_load_hole, WG_BH, "TTS-07"),
    WG_TEST(test_mop, WG_BH, "TTS-08"),
    WG_TEST(test_replay, WG_BH, "TTS-09"),
    WG_TEST(test_not_covered, WG_BH, "TTS-10"),
    WG_TEST(test_default_classes, WG_BH, "TTS-14"),
    WG_TEST(test_unpacr_names_its_part, WG_BH, "TTS-15"),
    WG_COVERS(test_resourcedecl, WG_BH, "TTS-16", "RESOURCEDECL:value"),
    WG_COVERS(test_linger_is_no_count, WG_BH, "TTS-16", "RESOURCEDECL:timing"),
    WG_TEST(test_tracking_bits_settle, WG_BH, "TTS-17"),
    WG_TEST(test_state_id_follows_the_pushes, WG_BH, "TTS-17"),
    WG_TEST(test_wormhole_has_none, WG_WH, "TTS-18"),
    WG_TEST(test_store_the_table_gives_to_the_remainder, WG_BH, "TTS-19"),
    WG_TEST(test_state_id_doubts, WG_BH, "TTS-20"),
    WG_TEST(test_held_access_is_no_pending_request, WG_BH, ""),
};
WG_MAIN("ttsync", tests)
