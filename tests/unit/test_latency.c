/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The latencies in insns.def are those of the units: from passing the gate to completion, for every instruction that
 * has one. On silicon, an instruction stays in the Matrix Unit for as long as `waitgate explain` says.
 */
#include "unpack_rig.h"

#include "backend/matrix.h"
#include "machine/src.h"

/* Zero operands, except where the instruction needs others to be valid. */
static uint32_t word_of(const wg_isa_insn *insn)
{
    uint32_t word = (uint32_t)insn->opcode << 24;
    switch (insn->id) {
    case WG_I_SHIFTXA: return word | 2; /* to the right; 0 and 1 are reserved */
    default: return word;
    }
}

/* The cycles from passing the gate to completion, alone in the machine. */
static unsigned measured(wg_arch_id arch, wg_profile profile, const wg_isa_insn *insn)
{
    ur *r = ur_new(arch);
    r->t->timing = &r->t->arch->timing[profile];
    for (unsigned file = 0; file < 2; file++)
        wg_src_give_to_matrix(r->t, (wg_src_file)file, 0, WG_AGENT_UNPACK0);
    unsigned agent = wg_units[insn->unit]->agent;
    ur_push(r, 1, word_of(insn));
    ur_run(r, 40);
    uint64_t issued = ur_cycle(r, WG_EV_ISSUED, WG_AGENT_THREAD1, 0);
    uint64_t completed = ur_cycle(r, WG_EV_COMPLETED, agent, 0);
    ur_free(r);
    return (unsigned)(completed - issued);
}

static unsigned compare(wg_arch_id arch, wg_profile profile)
{
    unsigned tested = 0;
    for (unsigned id = 1; id < WG_I_COUNT; id++) {
        const wg_isa_insn *insn = wg_isa_by_id(arch, (wg_insn_id)id);
        if (!insn || !insn->latency[profile] || insn->unit == WG_UNIT_NONE || insn->unit == WG_UNIT_SYNC)
            continue; /* instructions without a unit and the Sync Unit's complete in the cycle that takes them */
        unsigned expected = insn->latency[profile], found = measured(arch, profile, insn);
        if (insn->unit == WG_UNIT_MATRIX && profile == WG_PROFILE_SILICON)
            expected = wg_matrix_occupies(wg_arch_of(arch), profile, insn->id);
        if (found != expected) {
            print_error("%s: completed after %u cycles; %u were expected\n", insn->name, found, expected);
            fail();
        }
        tested++;
    }
    return tested;
}

static void test_records(void **state) { assert_true(compare(wg_test_arch(state), WG_PROFILE_DOCUMENTED) > 90); }

static void test_silicon(void **state)
{
    const wg_arch *arch = wg_arch_of(wg_test_arch(state));
    assert_true(compare(arch->id, WG_PROFILE_SILICON) > 90);
    assert_int_equal(wg_matrix_occupies(arch, WG_PROFILE_SILICON, WG_I_MVMUL), 7);
    assert_int_equal(wg_matrix_occupies(arch, WG_PROFILE_SILICON, WG_I_SETRWC), 6);
    assert_int_equal(wg_matrix_occupies(arch, WG_PROFILE_DOCUMENTED, WG_I_SETRWC), 1);
}

static const wg_test tests[] = {WG_TEST(test_records, WG_BH | WG_WH, ""), WG_TEST(test_silicon, WG_BH | WG_WH, "")};
WG_MAIN("latency", tests)
