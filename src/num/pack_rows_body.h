/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of pack_rows.c, compiled once per kind of host. Expects NAME (of the function it defines), TARGET (its attributes)
 * and, for vectors of 16 words, MIN and MAX.
 */

/* ---- Early --------------------------------------------------------------------------------------------------- */

INLINE TARGET void FN(round_floats)(words16 *x, unsigned drop)
{
    words16 magnitude = MIN(*x & ~SIGN, 0x7F800000);
    if (drop)
        magnitude = ((magnitude >> (drop - 1)) + 1) >> 1 << drop;
    *x = ((*x & SIGN) | magnitude) & WHERE(magnitude >= 0x00800000);
}

INLINE TARGET void FN(descale_row)(words16 *x, unsigned shift, bool is_unsigned)
{
    words16 magnitude = *x & ~SIGN;
    if (shift)
        magnitude = (magnitude + (UINT32_C(1) << (shift - 1))) >> shift;
    magnitude = MIN(magnitude, is_unsigned ? 255u : 127u);
    *x = is_unsigned ? magnitude & ~WHERE((signed16)*x < 0) : (*x >> 31 << 7 | magnitude);
}

INLINE TARGET void FN(to_fp16)(words16 *x) /* of an FP32: wg_fp32_to_fp16_truncate() */
{
    words16 magnitude = *x & ~SIGN, result = (magnitude - (UINT32_C(112) << 23)) >> 13;
    result &= WHERE(magnitude >= UINT32_C(112) << 23);
    result |= WHERE(magnitude >= UINT32_C(144) << 23);
    *x = (*x >> 16 & 0x8000) | (result & 0x7FFF);
}

INLINE TARGET void FN(early_row)(wg_pack_early early, unsigned shift, const uint16_t high[16], const uint16_t low[16],
                                 words16 *to)
{
    words16 h = CONVERT(words16, LOAD(halves16, high)), l = CONVERT(words16, LOAD(halves16, low));
    words16 bf16 = (h & 0x8000) << 16 | (h & 0xFF) << 23 | (h >> 8 & 0x7F) << 16, x = bf16 | l;
    words16 fp16 = (h & 0x8000) | (h & 0x1F) << 10 | (h >> 5 & 0x3FF), magnitude;
    switch (early) {
    case WG_EARLY_32:
    case WG_EARLY_INT32: break;
    case WG_EARLY_TF32: FN(round_floats)(&x, 13); break;
    case WG_EARLY_BF16: FN(round_floats)(&x, 16); break;
    case WG_EARLY_BF16_TRUNCATE: x &= 0xFFFF0000; break;
    case WG_EARLY_E8M6: FN(round_floats)(&x, 17); break;
    case WG_EARLY_INT8: FN(descale_row)(&x, shift & 31, false); break;
    case WG_EARLY_UINT8: FN(descale_row)(&x, shift & 31, true); break;
    case WG_EARLY_INT8_RAW: x = x >> 31 << 7 | (x & 127); break;
    case WG_EARLY_UINT8_RAW: x &= 255; break;
    case WG_EARLY_16_BF16: x = bf16; break;
    case WG_EARLY_16_BF16_ROUND:
        x = bf16;
        FN(round_floats)(&x, 0);
        break;
    case WG_EARLY_16_E8M6:
        x = bf16;
        FN(round_floats)(&x, 0);
        x = (x + 0x10000) & 0xFFFE0000;
        break;
    case WG_EARLY_16_FP16: x = fp16; break;
    case WG_EARLY_16_FP16_ROUND: x = fp16 & WHERE((fp16 & 0x7FFF) >= 0x400); break;
    case WG_EARLY_16_E5M7: x = fp16 & 0xFFF8; break;
    case WG_EARLY_16_E5M6:
        magnitude = MIN(fp16 & 0x7FFF, 0x7FF7);
        magnitude = CHOOSE((fp16 & 0x7FFF) > 0x7FF7, (words16){0} + 0x7FF0, (magnitude + 8) & 0x7FF0);
        x = ((fp16 & 0x8000) | magnitude) & WHERE(magnitude >= 0x400);
        break;
    case WG_EARLY_16_FP8: x = fp16 & 0xFF00; break;
    case WG_EARLY_16_BF16_FP16:
        x = bf16;
        FN(to_fp16)(&x);
        break;
    case WG_EARLY_16_SIGN: x = h >> 15 << 7; break;
    default: x = h; break; /* any 16 bits */
    }
    *to = x;
}

/* ---- Late ---------------------------------------------------------------------------------------------------- */

INLINE TARGET void FN(to_e4m3)(words16 *x)
{
    words16 sign = *x >> 8 & 128, exponent = *x >> 10 & 31, result = (exponent - 8) << 3 | (*x >> 7 & 7);
    result |= WHERE(exponent >= 24) & 127;
    *x = sign | (result & 127 & WHERE(exponent > 8));
}

INLINE TARGET void FN(late_row)(wg_pack_late late, words16 *value)
{
    words16 x = *value, widened, denormal;
    if (late.narrow)
        FN(to_fp16)(&x);
    if (late.mid == WG_MID_F8 && late.target < TO_INT32) {
        switch (late.target) {
        case TO_32: break;
        case TO_TF32: x &= 0xFFFFE000; break;
        case TO_BF16:
            if (late.flush)
                x &= WHERE((x & 0x7F800000) != 0);
            x >>= 16;
            break;
        default:
            FN(to_fp16)(&x);
            if (late.target == TO_E4M3)
                FN(to_e4m3)(&x);
            else
                x >>= late.target == TO_E5M2 ? 8 : late.target == TO_E5M7 ? 3 : 0;
            break;
        }
    } else if (late.mid == WG_MID_F5 && late.target < TO_INT32) {
        denormal = WHERE((x & 0x7C00) == 0);
        widened = (x & 0x8000) << 16 | ((x & 0x7FFF) + (~denormal & UINT32_C(112) << 10)) << 13;
        switch (late.target) {
        case TO_32:
        case TO_TF32: x = widened; break;
        case TO_BF16: x = widened >> 16 & ~denormal; break;
        case TO_FP16: break;
        case TO_E5M2: x = x >> 8 & (late.flush ? 128 | ~denormal : (words16){0} - 1); break;
        case TO_E4M3: FN(to_e4m3)(&x); break;
        default: x = x >> 3 & (late.flush ? ~denormal : (words16){0} - 1); break;
        }
    }
    *value = x;
}

/* ---- To L1 --------------------------------------------------------------------------------------------------- */

/*
 * As wg_bfp_block(), without random bits; also narrows the datums. Returns the shared exponent. A magnitude eight places or
 * more below the largest number's becomes 0.
 */
INLINE TARGET uint8_t FN(block)(const halves16 *value, bool five, unsigned bits, uint8_t *to)
{
    halves16 v = *value, exponent = v >> 7 & (uint16_t)(five ? 31 : 255);
    uint16_t shared = LARGEST(exponent);
    halves16 distance = ((halves16){0} + shared) - exponent;
    halves16 magnitude = (v & 127) | ((halves16)(exponent != 0) & 128);
    magnitude = HALVED(magnitude, MIN_HALVES(distance, (halves16){0} + 8));
    magnitude = MIN_HALVES(magnitude, (halves16){0} + 127) & (halves16)(distance < 8);
    magnitude >>= 8 - bits;
    halves16 sign = v >> (five ? 12 : 15) & 1;
    bytes16 narrow = CONVERT(bytes16, (sign << (bits - 1) | magnitude) & (halves16)(magnitude != 0));
    if (bits == 8) {
        STORE(to, narrow);
        return (uint8_t)shared;
    }
    uint64_t x[2];
    memcpy(x, &narrow, sizeof x);
    for (unsigned i = 0; i < 2; i++) { /* neighbours move together until the datums are contiguous */
        x[i] = (x[i] | x[i] >> (8 - bits)) & (bits == 4 ? UINT64_C(0x00FF00FF00FF00FF) : UINT64_C(0x000F000F000F000F));
        x[i] = (x[i] | x[i] >> (16 - 2 * bits)) &
               (bits == 4 ? UINT64_C(0x0000FFFF0000FFFF) : UINT64_C(0x000000FF000000FF));
        x[i] = x[i] | x[i] >> (32 - 4 * bits);
        memcpy(to + i * bits, &x[i], bits);
    }
    return (uint8_t)shared;
}

/* Maxima by column start from `lanes`. */
INLINE TARGET void FN(rows_out)(wg_pack_route r, unsigned rows, wg_pack_rows *at)
{
    wg_mid mid = wg_pack_early_mid((wg_pack_early)r.early);
    unsigned shift = wg_pack_exponent_shift(mid), bits = wg_l1_bits(r.out_format);
    words16 most = {0}, mask = most + (wg_pack_exponent_mask(mid) << shift);
    bool five = wg_pack_mid_of(r.out_format) == WG_MID_F5, blocks = wg_l1_shares_exponent(r.out_format);
    uint8_t *data = at->data;
    for (unsigned row = 0; row < rows; row++) {
        words16 value;
        FN(early_row)((wg_pack_early)r.early, r.shift, at->high[row], at->low[row], &value);
        most = MAX(most, value & mask);
        FN(late_row)(r.late, &value);
        halves16 narrow = CONVERT(halves16, value);
        if (blocks && bits == 8)
            at->exponents[row] = FN(block)(&narrow, five, 8, data);
        else if (blocks && bits == 4)
            at->exponents[row] = FN(block)(&narrow, five, 4, data);
        else if (blocks)
            at->exponents[row] = FN(block)(&narrow, five, 2, data);
        else if (bits == 32)
            STORE(data, value);
        else if (bits == 16)
            STORE(data, narrow);
        else
            STORE(data, CONVERT(bytes16, narrow));
        data += 2 * bits;
    }
    halves16 lanes = LOAD(halves16, at->lanes);
    STORE(at->lanes, MAX_HALVES(lanes, CONVERT(halves16, most >> shift)));
}

/* BF16 as it is stored, to BF16 or to blocks (`six`: of six bits of mantissa): in half the width. */
INLINE TARGET void FN(rows_bf16)(unsigned rows, wg_pack_rows *at, bool six, unsigned block_bits)
{
    unsigned row = PAIRS(rows, at, six, block_bits), row_bytes = block_bits ? 2 * block_bits : 32;
    halves16 most = {0}, lanes = LOAD(halves16, at->lanes);
    uint8_t *data = at->data + row * row_bytes;
    for (; row < rows; row++) {
        halves16 h = LOAD(halves16, wg_pack_high(at, row)), magnitude = (h & 0xFF) << 7 | (h >> 8 & 0x7F);
        magnitude = MIN_HALVES(magnitude, (halves16){0} + 0x7F80);
        halves16 value = ((h & 0x8000) | magnitude) & (halves16)(magnitude > 0x7F);
        if (six) {
            value = (value + 1) & 0xFFFE;
            magnitude = value & 0x7FFF;
        }
        most = MAX_HALVES(most, magnitude);
        if (block_bits)
            at->exponents[row] = FN(block)(&value, false, block_bits, data);
        else
            STORE(data, value);
        data += row_bytes;
    }
    STORE(at->lanes, MAX_HALVES(lanes, most >> 7));
}

/* Calls the above if the route permits it. */
INLINE TARGET bool FN(rows_from_bf16)(const wg_pack_route *r, unsigned rows, wg_pack_rows *at)
{
    if (r->late.mid != WG_MID_F8 || r->late.target != TO_BF16 || r->late.flush)
        return false;
    switch (r->early << 4 | r->out_format) {
    case WG_EARLY_16_BF16_ROUND << 4 | WG_FMT_BF16: FN(rows_bf16)(rows, at, false, 0); return true;
    case WG_EARLY_16_BF16_ROUND << 4 | WG_FMT_BFP8: FN(rows_bf16)(rows, at, false, 8); return true;
    case WG_EARLY_16_BF16_ROUND << 4 | WG_FMT_BFP4: FN(rows_bf16)(rows, at, false, 4); return true;
    case WG_EARLY_16_E8M6 << 4 | WG_FMT_BFP8: FN(rows_bf16)(rows, at, true, 8); return true;
    case WG_EARLY_16_E8M6 << 4 | WG_FMT_BFP4: FN(rows_bf16)(rows, at, true, 4); return true;
    default: return false;
    }
}

/* 32 bits unchanged: the high halves are reordered before they are widened. */
INLINE TARGET void FN(row_32)(const uint16_t *high, const uint16_t *low, halves16 *most, uint8_t *data)
{
    halves16 h = LOAD(halves16, high), exponent = h & 0xFF;
    *most = MAX_HALVES(*most, exponent);
    words16 wide = CONVERT(words16, (h & 0x8000) | exponent << 7 | (h >> 8 & 0x7F));
    STORE(data, wide << 16 | CONVERT(words16, LOAD(halves16, low)));
}

INLINE TARGET void FN(rows_32)(unsigned rows, wg_pack_rows *at)
{
    unsigned row = PAIRS_32(rows, at);
    halves16 most = {0}, lanes = LOAD(halves16, at->lanes);
    uint8_t *data = at->data + 64 * row;
    if (at->fours)
        for (; row < rows; row += 4)
            for (unsigned i = 0; i < 4; i++, data += 64)
                FN(row_32)(at->high[row] + 16 * i, at->low[row] + 16 * i, &most, data);
    for (; row < rows; row++, data += 64)
        FN(row_32)(at->high[row], at->low[row], &most, data);
    STORE(at->lanes, MAX_HALVES(lanes, most));
}

/* 32-bit integers to eight bits, without a shift: they saturate unless the upper halves are zero. */
INLINE TARGET void FN(rows_int8)(unsigned rows, wg_pack_rows *at, bool is_unsigned)
{
    halves16 most = {0}, lanes = LOAD(halves16, at->lanes), limit = most + (uint16_t)(is_unsigned ? 255 : 127);
    uint8_t *data = at->data;
    for (unsigned row = 0; row < rows; row++, data += 16) {
        halves16 h = LOAD(halves16, at->high[row]), l = LOAD(halves16, at->low[row]);
        halves16 magnitude = MIN_HALVES(l, limit) | ((halves16)((h & 0x7FFF) != 0) & limit), sign = h >> 15;
        halves16 value = is_unsigned ? magnitude & (sign - 1) : (sign << 7 | magnitude);
        most = MAX_HALVES(most, value);
        STORE(data, CONVERT(bytes16, value));
    }
    STORE(at->lanes, MAX_HALVES(lanes, most));
}

TARGET static void FN(rows)(const wg_pack_route *r, unsigned rows, wg_pack_rows *at)
{
    if (!r->late.narrow && ((r->early == WG_EARLY_32 && r->late.mid == WG_MID_F8 && r->late.target == TO_32 &&
                             r->out_format == WG_FMT_FP32) ||
                            (r->early == WG_EARLY_INT32 && r->late.mid == WG_MID_INT32 && r->late.target == TO_INT32 &&
                             r->out_format == WG_FMT_INT32))) {
        FN(rows_32)(rows, at);
        return;
    }
    if (!r->late.narrow && FN(rows_from_bf16)(r, rows, at))
        return;
    wg_pack_rows_apart(at, rows);
    if (!r->late.narrow) {
        if ((r->early == WG_EARLY_INT8 || r->early == WG_EARLY_UINT8) && !(r->shift & 31) &&
            r->late.mid == WG_MID_INT8 && r->late.target == TO_INT8 && r->out_format == WG_FMT_INT8) {
            FN(rows_int8)(rows, at, r->early == WG_EARLY_UINT8);
            return;
        }
        switch (KEY(r->early, r->late.mid, r->late.target, r->late.flush, r->out_format)) {
            ROUTES
        default: break;
        }
    }
    FN(rows_out)(*r, rows, at);
}
