/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of the Matrix Unit's instructions: formats, width of Dst, row addressing. With the shortcut `decoding` it is
 * decoded once, until one of its words changes. Facts: MatrixUnit.md, SrcASrcB.md, Dst.md, the instruction pages.
 */
#include "backend/matrix_internal.h"

#include <string.h>

#include "isa/tile_regs.h"
#include "machine/fast.h"

/* The thread's words of which one bit each is used, per architecture; words 0 to 3 are the same on both. */
static const struct words {
    uint8_t clear_valid, fidelity, force_fp16;
    uint8_t dst_access; /* of Config; WH has none: any word */
} words_of[] = {
    [WG_ARCH_BH] = {.clear_valid = 7, .fidelity = 11, .force_fp16 = 55, .dst_access = 220},
    [WG_ARCH_WH] = {.clear_valid = 5, .fidelity = 6, .force_fp16 = 56, .dst_access = 0},
};
enum { DEST_REGW_BASE = 6 };

static void work_out(const wg_matrix_ctx *c, wg_matrix_settings *s)
{
    s->access = wg_dst_access_now(c->t);
    s->force_fp16 = wg_matrix_tcfg(c, WG_TCFG_FP16A_FORCE_Enable);
    s->int8 = wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_INT8_math_enabled);
    s->wide = !s->force_fp16 && (s->int8 || wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_Fp32_enabled));
    s->flush = !wg_matrix_cfg(c, WG_CFG_ALU_ACC_CTRL_Zero_Flag_disabled_src);
    s->stochastic = wg_matrix_cfg(c, WG_CFG_ALU_ROUNDING_MODE_Fpu_srnd_en);
    s->fmt[WG_SRCA] = (uint8_t)(wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_override)
                                    ? wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG_SrcA_val)
                                    : wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA));
    /* Decided here: SrcB's override works like SrcA's; no source uses it. */
    s->fmt[WG_SRCB] = (uint8_t)(wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_override)
                                    ? wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG_SrcB_val)
                                    : wg_matrix_cfg(c, WG_CFG_ALU_FORMAT_SPEC_REG1_SrcB));
    s->implied[WG_SRCA] = c->layout->implied_formats && !wg_matrix_tcfg(c, WG_TCFG_DISABLE_IMPLIED_SRCA_FMT_Base);
    s->implied[WG_SRCB] = c->layout->implied_formats && !wg_matrix_tcfg(c, WG_TCFG_DISABLE_IMPLIED_SRCB_FMT_Base);
    s->keep[WG_SRCA] = wg_matrix_tcfg(c, WG_TCFG_CLR_DVALID_SrcA_Disable);
    s->keep[WG_SRCB] = wg_matrix_tcfg(c, WG_TCFG_CLR_DVALID_SrcB_Disable);
    s->phase = (uint8_t)wg_matrix_tcfg(c, WG_TCFG_FIDELITY_BASE_Phase);
    s->dst_base = (uint16_t)(wg_matrix_tcfg(c, WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset) +
                             wg_matrix_cfg(c, WG_CFG_DEST_REGW_BASE_Base));
}

const wg_matrix_settings *wg_matrix_settings_now(const wg_matrix_ctx *c, unsigned thread, wg_matrix_settings *into)
{
    const struct words *w = &words_of[c->arch];
    const wg_matrix_settings *s = &c->t->backend.matrix.settings[thread];
    const uint32_t debug = c->t->regions.control.word[WG_MATRIX_DEBUG];
    if (!wg_fast_decoded(c->t)) {
        into->changes = into->key[3] = 0; /* matches no configuration */
        work_out(c, into);
        return into;
    }
    if (__builtin_expect(s->changes == c->t->regs.config.changes + 1 && (uint32_t)(s->key[4] >> 32) == debug, 1)) {
        if (c->to)
            wg_fast_decoded_again(c->to);
        return s;
    }
    uint64_t thread_words, formats;
    memcpy(&thread_words, c->tcfg, sizeof thread_words);
    memcpy(&formats, c->cfg, sizeof formats);
    uint64_t flags = c->cfg[2] | (uint64_t)c->cfg[DEST_REGW_BASE] << 32;
    uint64_t modes = c->tcfg[w->clear_valid] | (uint64_t)c->tcfg[w->fidelity] << 16 |
                     (uint64_t)c->tcfg[w->force_fp16] << 32 | UINT64_C(1) << 48; /* differs from a new tile's key */
    uint64_t places = c->t->regs.config.bank[0][w->dst_access] | (uint64_t)debug << 32;
    /* Compared as scalars: vector loads of an array just written word by word would miss store forwarding. */
    if (__builtin_expect(((thread_words ^ s->key[0]) | (formats ^ s->key[1]) | (flags ^ s->key[2]) |
                          (modes ^ s->key[3]) | (places ^ s->key[4])) != 0,
                         0)) {
        const uint64_t key[5] = {thread_words, formats, flags, modes, places};
        memcpy(into->key, key, sizeof key);
        work_out(c, into);
        s = into;
    }
    if (c->to)
        into->changes = c->t->regs.config.changes + 1;
    return s;
}

void wg_matrix_formats(wg_matrix_ctx *c)
{
    c->wide = c->set->wide;
    if (c->set->force_fp16) {
        c->style = WG_STYLE_FP16;
    } else if (c->set->int8) {
        c->style = WG_STYLE_INT8;
    } else {
        c->style = (uint8_t)wg_format_style(c->fmt[WG_SRCA]);
    }
    /*
     * Ruling: SrcA's format determines how SrcB is read (documents), except that without TF32 as its own format
     * SrcB loses the three mantissa bits that only TF32 has (ttsim; the documents do not say).
     */
    c->style_b = c->style;
    if (c->style == WG_STYLE_BF16 || c->style == WG_STYLE_TF32)
        c->style_b = wg_format_style(c->fmt[WG_SRCB]) == WG_STYLE_TF32 ? WG_STYLE_TF32 : WG_STYLE_BF16;
}

void wg_matrix_check_settings(wg_matrix_ctx *c)
{
    if (c->style == WG_STYLE_INT8)
        return;
    if (!wg_format_known(c->fmt[WG_SRCA]) && !c->set->force_fp16)
        wg_matrix_report(c, WG_F_MATRIX_FORMAT, c->fmt[WG_SRCA], 0);
}
