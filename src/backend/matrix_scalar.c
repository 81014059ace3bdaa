/* SPDX-License-Identifier: Apache-2.0 */
/* The Matrix Unit's kernels in scalar C: the reference for the vector kernels. See matrix_alu.h for the arithmetic. */
#include "backend/matrix_internal.h"
#include "num/simd.h"

static void decode_a(const uint32_t *first, const uint32_t *second, wg_style style, unsigned phase, wg_matrix_a *out)
{
    out->has_bytes = false;
    for (unsigned k = 0; k < 8; k++)
        for (unsigned j = 0; j < 32; j++) {
            uint32_t x = wg_src_of_style((j & 1 ? second : first)[k * 16 + j / 2], style);
            bool zero = !(x & 0xFF); /* also of integers (MatrixUnit.md, ReadSrcInt8) */
            int32_t mantissa = wg_alu_mantissa_a(x, phase), value = mantissa ? mantissa * WG_MATRIX_SCALE_A + 1 : 0;
            if (x & WG_SRC_SIGN)
                value = -value;
            if (style == WG_STYLE_INT8)
                value = wg_alu_int_a(x, phase);
            out->exponent[k][j] = zero ? WG_MATRIX_NO_EXPONENT : (int16_t)(x & 0xFF);
            out->mantissa[k][j] = zero ? 0 : (int16_t)value;
        }
}

static void decode_b(const uint32_t *rows, unsigned count, wg_style style, bool flush, unsigned phase, wg_matrix_b *out)
{
    out->has_bytes = false;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < 16; k++) {
            uint32_t x = wg_src_of_style(rows[i * 16 + k / 2 + (k & 1) * 8], style);
            bool zero = flush && !(x & 0xFF); /* Decided here: products keep such datums as ELWMUL does */
            int32_t value = wg_alu_mantissa_b(x, phase) * WG_MATRIX_SCALE_B;
            if (x & WG_SRC_SIGN)
                value = -value;
            if (style == WG_STYLE_INT8)
                value = wg_alu_int_b(x, phase);
            out->exponent[i][k] = zero ? WG_MATRIX_NO_EXPONENT : (int16_t)(x & 0xFF);
            out->mantissa[i][k] = zero ? 0 : (int16_t)value;
        }
}

/* Eight products of column j (group 0: k, group 1: k + 8) with a row of SrcB: sum and exponent. */
static int32_t sum_of_products(const wg_mul_args *m, unsigned row, unsigned lane, unsigned group, int *exponent)
{
    const int16_t *eb = m->b->exponent[row], *mb = m->b->mantissa[row];
    int largest = m->alu.lowest - m->alu.adjust;
    for (unsigned k = 0; k < 8; k++) {
        int e = m->a->exponent[k][lane] + eb[2 * k + group];
        largest = e > largest ? e : largest;
    }
    *exponent = largest + m->alu.adjust;
    if (*exponent <= 0) {
        *exponent = 0;
        return 0;
    }
    int32_t sum = 0;
    for (unsigned k = 0; k < 8; k++) {
        int32_t p = m->a->mantissa[k][lane] / WG_MATRIX_SCALE_A * (mb[2 * k + group] / WG_MATRIX_SCALE_B);
        int places = largest - m->a->exponent[k][lane] - eb[2 * k + group];
        if (places > 14)
            continue; /* all twelve bits are shifted out */
        int32_t magnitude = wg_alu_align(p < 0 ? -p : p, places);
        sum += p < 0 ? -magnitude : magnitude;
    }
    return sum * 8192;
}

static void mul_float(const wg_mul_args *m)
{
    for (unsigned i = 0; i < m->rows; i++)
        for (unsigned j = 0; j < 16; j++) {
            int exp0, exp1;
            int32_t sum0 = sum_of_products(m, i * m->b_step, 2 * j, 0, &exp0);
            int32_t sum1 = sum_of_products(m, i * m->b_step, 2 * j + 1, 1, &exp1);
            uint32_t dst = wg_alu_from_dst(&m->alu, m->from_hi[i][j], m->from_lo[i][j]);
            uint32_t result = wg_alu_accumulate(&m->alu, sum0, exp0, sum1, exp1, dst, wg_alu_threshold(&m->alu, j));
            m->hi[i][j] = wg_alu_to_dst_hi(&m->alu, result);
            if (m->alu.wide)
                m->lo[i][j] = (uint16_t)result;
        }
}

static void store_int(uint16_t *hi, uint16_t *lo, int32_t value)
{
    uint32_t x = wg_dst32_from_int(value);
    *hi = (uint16_t)(x >> 16);
    *lo = (uint16_t)x;
}

static void mul_int(const wg_mul_args *m)
{
    for (unsigned i = 0; i < m->rows; i++)
        for (unsigned j = 0; j < 16; j++) {
            int32_t sum = 0;
            for (unsigned k = 0; k < 16; k++)
                sum += m->a->mantissa[k / 2][2 * j + (k & 1)] * m->b->mantissa[i * m->b_step][k];
            int32_t dst = wg_dst32_to_int((uint32_t)m->from_hi[i][j] << 16 | m->from_lo[i][j]);
            store_int(&m->hi[i][j], &m->lo[i][j], wg_alu_saturate((int64_t)dst + sum));
        }
}

static uint32_t multiply(const wg_elw_args *e, uint32_t a, uint32_t b, uint32_t dst, uint32_t threshold)
{
    const wg_alu *m = &e->alu;
    int exp = (int)(a & 0xFF) + (int)(b & 0xFF) + m->adjust;
    int32_t sum = wg_alu_mantissa_a(a, e->phase) * wg_alu_mantissa_b(b, e->phase) * 8192;
    if ((a ^ b) & WG_SRC_SIGN)
        sum = -sum;
    if (!(a & 0xFF) || (e->flush && !(b & 0xFF)) || exp <= 0) {
        exp = m->lowest;
        sum = 0;
    }
    return wg_alu_accumulate(m, sum, exp, 0, 0, dst, threshold);
}

/* Ruling: zero plus a zero of SrcB that is kept (no flush) is 2^-126 of its sign; ttsim's unsigned difference wraps. */
static uint32_t add(const wg_elw_args *e, uint32_t a, uint32_t b, uint32_t dst, uint32_t threshold)
{
    a = a & 0xFF ? wg_src_to_cpu19(a) : 0;
    b = b & 0xFF || !e->flush ? wg_src_to_cpu19(b) : 0;
    if ((a & 0x3FFFF) < (b & 0x3FFFF)) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    int exp = (int)(a >> 10 & 0xFF);
    int32_t larger = a ? (int32_t)((a & 0x3FF) | 0x400) : 0;
    int32_t smaller = b ? (int32_t)((b & 0x3FF) | 0x400) : 0;
    smaller = wg_alu_align(smaller, exp - (int)(b >> 10 & 0xFF));
    int32_t sum = ((a ^ b) & WG_SRC_SIGN ? larger - smaller : larger + smaller) * 8192;
    if (a & WG_SRC_SIGN)
        sum = -sum;
    if (e->alu.wide && !e->alu.exp8)
        exp = exp ? exp + 127 - 15 : 127 - 30;
    /* Decided here: the division by 32, 128 or both in a fidelity phase other than 0 is one of the exponent. */
    exp -= (e->phase & 1 ? 5 : 0) + (e->phase & 2 ? 7 : 0);
    return wg_alu_accumulate(&e->alu, sum, exp, 0, 0, e->accumulate ? dst : 0, threshold);
}

static void elw_float(const wg_elw_args *e)
{
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 16; j++) {
            uint32_t a = wg_src_of_style(e->a[i * 16 + j], (wg_style)e->style);
            uint32_t b = wg_src_of_style(e->b[i * 16 + j], (wg_style)e->style_b);
            if (e->op == WG_ELW_SUB)
                b ^= WG_SRC_SIGN;
            uint32_t dst = wg_alu_from_dst(&e->alu, e->hi[i][j], e->lo[i][j]);
            uint32_t threshold = wg_alu_threshold(&e->alu, j);
            uint32_t result = e->op == WG_ELW_MUL ? multiply(e, a, b, dst, threshold) : add(e, a, b, dst, threshold);
            e->hi[i][j] = wg_alu_to_dst_hi(&e->alu, result);
            if (e->alu.wide)
                e->lo[i][j] = (uint16_t)result;
        }
}

static void elw_int(const wg_elw_args *e)
{
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 16; j++) {
            uint32_t a = e->a[i * 16 + j], b = e->b[i * 16 + j];
            bool zero_a = !(a & 0xFF), zero_b = e->flush && !(b & 0xFF);
            int32_t result;
            if (e->op == WG_ELW_MUL) {
                result = zero_a || zero_b ? 0 : wg_alu_int_a(a, e->phase) * wg_alu_int_b(b, e->phase);
            } else {
                int32_t x = zero_a ? 0 : wg_src_to_int(a), y = zero_b ? 0 : wg_src_to_int(b);
                result = e->op == WG_ELW_SUB ? x - y : x + y;
            }
            if (e->accumulate)
                result = wg_alu_saturate(wg_dst32_to_int((uint32_t)e->hi[i][j] << 16 | e->lo[i][j]) + (int64_t)result);
            store_int(&e->hi[i][j], &e->lo[i][j], result);
        }
}

const wg_matrix_kernels wg_matrix_scalar = {decode_a, decode_b, mul_float, mul_int, elw_float, elw_int};

const wg_matrix_kernels *wg_matrix_kernels_for(unsigned simd)
{
#if defined(__x86_64__)
    if (simd >= WG_SIMD_VNNI)
        return &wg_matrix_vnni;
    if (simd == WG_SIMD_AVX512)
        return &wg_matrix_avx512;
    if (simd == WG_SIMD_AVX2)
        return &wg_matrix_avx2;
#else
    (void)simd;
#endif
    return &wg_matrix_scalar;
}
