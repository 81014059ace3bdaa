/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The latencies in insns.def are those of the units: from passing the gate to completion, for every instruction that
 * has one.
 */
#include "unpack_rig.h"

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

static void test_records(void **state)
{
    wg_arch_id arch = wg_test_arch(state);
    unsigned tested = 0;
    for (unsigned id = 1; id < WG_I_COUNT; id++) {
        const wg_isa_insn *insn = wg_isa_by_id(arch, (wg_insn_id)id);
        if (!insn || !insn->latency[WG_PROFILE_DOCUMENTED] || insn->unit == WG_UNIT_NONE || insn->unit == WG_UNIT_SYNC)
            continue; /* instructions without a unit and the Sync Unit's complete in the cycle that takes them */
        ur *r = ur_new(arch);
        for (unsigned file = 0; file < 2; file++)
            wg_src_give_to_matrix(r->t, (wg_src_file)file, 0, WG_AGENT_UNPACK0);
        unsigned agent = wg_units[insn->unit]->agent;
        ur_push(r, 1, word_of(insn));
        ur_run(r, 30);
        uint64_t issued = ur_cycle(r, WG_EV_ISSUED, WG_AGENT_THREAD1, 0);
        uint64_t completed = ur_cycle(r, WG_EV_COMPLETED, agent, 0);
        if (completed - issued != insn->latency[WG_PROFILE_DOCUMENTED]) {
            print_error("%s: issued in %llu, completed in %llu; its record says %u\n", insn->name,
                        (unsigned long long)issued, (unsigned long long)completed, insn->latency[0]);
            fail();
        }
        ur_free(r);
        tested++;
    }
    assert_true(tested > 90);
}

static const wg_test tests[] = {WG_TEST(test_records, WG_BH | WG_WH, "")};
WG_MAIN("latency", tests)
