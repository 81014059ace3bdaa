/* SPDX-License-Identifier: Apache-2.0 */
/* The bit layout of a format code. Facts: MVMUL.md (data formats), SrcASrcB.md. */
#include "num/formats.h"

bool wg_format_known(unsigned format) { return format < 16 && format != 12 && format != 13; }

/* Decided here: the two undefined codes select TF32, the last case of the documented choice. */
wg_style wg_format_style(unsigned format)
{
    static const uint8_t styles[16] = {
        [WG_FMT_FP32] = WG_STYLE_BF16,  [WG_FMT_FP16] = WG_STYLE_FP16, [WG_FMT_BFP8A] = WG_STYLE_FP16,
        [WG_FMT_BFP4A] = WG_STYLE_FP16, [WG_FMT_TF32] = WG_STYLE_TF32, [WG_FMT_BF16] = WG_STYLE_BF16,
        [WG_FMT_BFP8] = WG_STYLE_BF16,  [WG_FMT_BFP4] = WG_STYLE_BF16, [WG_FMT_INT32] = WG_STYLE_BF16,
        [WG_FMT_INT16] = WG_STYLE_BF16, [WG_FMT_FP8] = WG_STYLE_FP16,  [WG_FMT_BFP2A] = WG_STYLE_FP16,
        [12] = WG_STYLE_TF32,           [13] = WG_STYLE_TF32,          [WG_FMT_INT8] = WG_STYLE_FP16,
        [WG_FMT_BFP2] = WG_STYLE_BF16,
    };
    return (wg_style)styles[format & 15];
}
