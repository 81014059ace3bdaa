/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wg_kernel.h, as a kernel would use it (Blackhole): its words are the assembler's words, and its constants are the
 * tables'. The stores and the `.ttinsn` themselves are tested by the kernels that use them.
 */
#include "isa/asm.h"
#include "isa/config_fields.h"
#include "wgtest.h"

static uint32_t word_of(const char *text)
{
    uint32_t word = 0;
    wg_asm_error error;
    if (wg_assemble_line(0 /* Blackhole */, text, strlen(text), &word, &error) != WG_ASM_OK)
        fail_msg("%s: %s", text, error.message);
    return word;
}

static const wg_cfg_field *const fields = wg_cfg_fields[0];

/* Below here the architecture names are macros. */
#include "isa/wg_kernel.h"

static void test_words(void **state)
{
    (void)state;
    assert_int_equal(TT_OP_STALLWAIT(WG_STALL_CFG, WG_MATH | WG_WAIT_SFPU), word_of("ttstallwait 128, 2064"));
    assert_int_equal(TT_OP_SEMWAIT(322, 2, 2), word_of("ttsemwait 322, 2, 2"));
    assert_int_equal(TT_OP_SEMINIT(1, 0, 1 << WG_SEM_MATH_PACK), 0xA3100008);
    assert_int_equal(TT_OP_WRCFG(12, 0, 124), word_of("ttwrcfg 12, 0, 124"));
    assert_int_equal(TT_OP_MVMUL(3, 1, 5, 1023), word_of("ttmvmul 3, 1, 5, 1023"));
    assert_int_equal(TT_OP_SFPIADD(-1, 2, 3, 4), word_of("ttsfpiadd -1, 2, 3, 4"));
    assert_int_equal(TT_OP_PACR(3, 7, 1, 3, 3, 1, 15, 1, 1, 3, 1, 1),
                     word_of("ttpacr 3, 7, 1, 3, 3, 1, 15, 1, 1, 3, 1, 1"));
    assert_int_equal(TT_OP_UNPACR(1, 0xA5, 1, 7, 3, 1, 1, 1, 1, 1, 1, 1, 1),
                     word_of("ttunpacr 1, 0xA5, 1, 7, 3, 1, 1, 1, 1, 1, 1, 1, 1"));
    assert_int_equal(TT_OP_NOP, word_of("ttnop"));
    assert_int_equal(TT_OP_STREAMWAIT(0x40, 1023, 1, 3), word_of("ttstreamwait 0x40, 1023, 1, 3"));
    assert_int_equal(TT_OP_STALLWAIT(0x1FF, 0x1FFF) & ~0xA2FF9FFFu, 0); /* operands cannot spill into each other */
    assert_int_equal(WG_TTINSN(TT_OP_SEMPOST(2)), 0x90000022);
}

static void test_constants(void **state)
{
    (void)state;
    assert_int_equal(INSTRN_BUF_BASE, 0xFFE40000);
    assert_int_equal(PC_BUF_BASE, 0xFFE80000);
    assert_int_equal(RISCV_DEBUG_REG_SOFT_RESET_0, 0xFFB121B0);
    assert_int_equal(WG_ALL_THREAD_RES, 0x21F);
    const wg_cfg_field *f = &fields[WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA];
    assert_int_equal(ALU_FORMAT_SPEC_REG0_SrcA_ADDR32, f->word);
    assert_int_equal(ALU_FORMAT_SPEC_REG0_SrcA_SHAMT, f->shift);
    assert_int_equal(ALU_FORMAT_SPEC_REG0_SrcA_MASK, f->mask << f->shift);
}

static const wg_test tests[] = {
    WG_TEST(test_words, WG_BH, ""),
    WG_TEST(test_constants, WG_BH, ""),
};
WG_MAIN("kernel_header", tests)
