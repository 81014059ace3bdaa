/* SPDX-License-Identifier: Apache-2.0 */
/* Facts: IEEE 754; FloatBitPatterns.md; the tile layout and the BFP types (64 shared exponents, then 1024 datums of sign
 * and magnitude): Unpackers/FormatConversion.md. */
#include "text/types.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t bytes, exponent, fraction, shift;
    uint8_t block_bits, bias; /* BFP types: bits per datum, bias of the shared exponent */
} types[WG_TYPE_COUNT] = {
    [WG_TYPE_RAW] = {"raw", 0, 0, 0, 0, 0, 0},         [WG_TYPE_UINT8] = {"uint8", 1, 0, 0, 0, 0, 0},
    [WG_TYPE_INT8] = {"int8", 1, 0, 0, 0, 0, 0},       [WG_TYPE_UINT16] = {"uint16", 2, 0, 0, 0, 0, 0},
    [WG_TYPE_INT16] = {"int16", 2, 0, 0, 0, 0, 0},     [WG_TYPE_UINT32] = {"uint32", 4, 0, 0, 0, 0, 0},
    [WG_TYPE_INT32] = {"int32", 4, 0, 0, 0, 0, 0},     [WG_TYPE_FP32] = {"fp32", 4, 8, 23, 0, 0, 0},
    [WG_TYPE_TF32] = {"tf32", 4, 8, 10, 13, 0, 0},     [WG_TYPE_BF16] = {"bf16", 2, 8, 7, 0, 0, 0},
    [WG_TYPE_FP16] = {"fp16", 2, 5, 10, 0, 0, 0},      [WG_TYPE_FP8] = {"fp8", 1, 5, 2, 0, 0, 0},
    [WG_TYPE_FP8E4M3] = {"fp8e4m3", 1, 4, 3, 0, 0, 0}, [WG_TYPE_SM8] = {"sm8", 1, 0, 0, 0, 0, 0},
    [WG_TYPE_SM16] = {"sm16", 2, 0, 0, 0, 0, 0},       [WG_TYPE_SM32] = {"sm32", 4, 0, 0, 0, 0, 0},
    [WG_TYPE_BFP8] = {"bfp8", 0, 0, 0, 0, 8, 127},     [WG_TYPE_BFP4] = {"bfp4", 0, 0, 0, 0, 4, 127},
    [WG_TYPE_BFP2] = {"bfp2", 0, 0, 0, 0, 2, 127},     [WG_TYPE_BFP8A] = {"bfp8a", 0, 0, 0, 0, 8, 15},
    [WG_TYPE_BFP4A] = {"bfp4a", 0, 0, 0, 0, 4, 15},    [WG_TYPE_BFP2A] = {"bfp2a", 0, 0, 0, 0, 2, 15}};

enum {
    TILE = WG_TILE_COLUMNS,
    FACE = 16,
    TILE_ELEMENTS = TILE * TILE,
    BLOCK = 16,
    LINE = 16, /* bytes; the exponents take whole lines */
    TILE_EXPONENTS = TILE_ELEMENTS / BLOCK
};

const char *wg_type_name(wg_type type) { return types[type].name; }
unsigned wg_type_bytes(wg_type type) { return types[type].bytes; }
bool wg_type_is_float(wg_type type) { return types[type].exponent != 0; }
bool wg_type_is_sign_magnitude(wg_type type) { return type >= WG_TYPE_SM8 && type <= WG_TYPE_SM32; }
bool wg_type_is_blocks(wg_type type) { return types[type].block_bits != 0; }

wg_type wg_type_find(const char *name, size_t length)
{
    for (unsigned i = 0; i < WG_TYPE_COUNT; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
            return (wg_type)i;
    return WG_TYPE_COUNT;
}

/* Right shift with rounding to nearest, ties to even. */
static uint64_t round_shift(uint64_t value, unsigned shift)
{
    if (shift == 0)
        return value;
    if (shift > 63)
        return 0;
    uint64_t kept = value >> shift, rest = value & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

/* A finite number without its sign, as exponent and fraction; it may be too large for the type. */
static uint64_t encode_magnitude(unsigned exponent_bits, unsigned fraction_bits, uint64_t d)
{
    int exponent = (int)(d >> 52 & 0x7FF);
    if (exponent == 0)
        return 0; /* a double's denormal is far below every type's */
    uint64_t fraction = (d & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int biased = exponent - 1023 + (1 << (exponent_bits - 1)) - 1;
    unsigned shift = 52 - fraction_bits;
    if (biased < 1) {
        shift += (unsigned)(1 - biased);
        biased = 1;
    }
    /* The implicit one carries into the exponent automatically; a denormal has none. */
    return ((uint64_t)(unsigned)(biased - 1) << fraction_bits) + round_shift(fraction, shift);
}

static uint32_t encode_float(unsigned exponent_bits, unsigned fraction_bits, uint64_t d)
{
    uint32_t sign = (uint32_t)(d >> 63) << (exponent_bits + fraction_bits);
    uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    if ((d >> 52 & 0x7FF) == 0x7FF)
        return sign | infinity | (d << 12 ? 1u << (fraction_bits - 1) : 0);
    uint64_t value = encode_magnitude(exponent_bits, fraction_bits, d);
    return sign | (value < infinity ? (uint32_t)value : infinity);
}

/* No infinity: exponent 15 is also used by numbers, but all ones is NaN. */
static uint32_t encode_e4m3(uint64_t d)
{
    enum { MOST = 0x7E, NOT_A_NUMBER = 0x7F };
    uint32_t sign = (uint32_t)(d >> 63) << 7;
    if ((d >> 52 & 0x7FF) == 0x7FF)
        return sign | (d << 12 ? NOT_A_NUMBER : MOST);
    uint64_t value = encode_magnitude(4, 3, d);
    return sign | (value < MOST ? (uint32_t)value : MOST);
}

static uint32_t encode_integer(unsigned bits, bool is_signed, uint64_t d)
{
    bool negative = d >> 63;
    int exponent = (int)(d >> 52 & 0x7FF) - 1023;
    uint64_t most = is_signed ? (UINT64_C(1) << (bits - 1)) - (negative ? 0 : 1) : (UINT64_C(1) << bits) - 1;
    uint64_t magnitude = 0;
    if (exponent >= 0 && exponent < 52)
        magnitude = ((d & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52) >> (52 - exponent);
    else if (exponent >= 52)
        magnitude = most;
    if (negative && !is_signed)
        magnitude = 0;
    if (magnitude > most)
        magnitude = most;
    uint32_t mask = (uint32_t)((UINT64_C(1) << bits) - 1);
    return (negative ? 0u - (uint32_t)magnitude : (uint32_t)magnitude) & mask;
}

static uint32_t encode_sign_magnitude(unsigned bits, uint64_t d)
{
    uint32_t magnitude = encode_integer(bits, true, d & ~(UINT64_C(1) << 63));
    return magnitude ? (uint32_t)(d >> 63) << (bits - 1) | magnitude : 0;
}

uint32_t wg_type_encode(wg_type type, uint64_t d)
{
    if (type == WG_TYPE_FP8E4M3)
        return encode_e4m3(d);
    if (wg_type_is_sign_magnitude(type))
        return encode_sign_magnitude(types[type].bytes * 8u, d);
    if (types[type].exponent)
        return encode_float(types[type].exponent, types[type].fraction, d) << types[type].shift;
    if (!types[type].bytes)
        return 0;
    return encode_integer(types[type].bytes * 8u,
                          type == WG_TYPE_INT8 || type == WG_TYPE_INT16 || type == WG_TYPE_INT32, d);
}

/* The single nearest to an integer of up to 32 bits. */
static uint32_t single_of_integer(uint32_t magnitude, bool negative)
{
    if (magnitude == 0)
        return 0;
    unsigned top = 31 - (unsigned)__builtin_clz(magnitude);
    uint64_t d = (uint64_t)(1023 + top) << 52 | ((uint64_t)magnitude << (52 - top) & ((UINT64_C(1) << 52) - 1));
    return encode_float(8, 23, d | (negative ? UINT64_C(1) << 63 : 0));
}

static uint32_t decode_float(unsigned exponent_bits, unsigned fraction_bits, uint32_t bits)
{
    uint32_t sign = bits >> (exponent_bits + fraction_bits) & 1;
    uint32_t top = (1u << exponent_bits) - 1, exponent = bits >> fraction_bits & top;
    uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    if (exponent_bits == 8)
        return sign << 31 | exponent << 23 | fraction << (23 - fraction_bits);
    if (exponent == top && exponent_bits != 4)
        return sign << 31 | 0x7F800000u | fraction << (23 - fraction_bits);
    if (exponent == 0 && fraction == 0)
        return sign << 31;
    if (exponent == 0) {
        unsigned up = fraction_bits - (31 - (unsigned)__builtin_clz(fraction));
        fraction = fraction << up & ((1u << fraction_bits) - 1);
        return sign << 31 | (127 - (top >> 1) + 1 - up) << 23 | fraction << (23 - fraction_bits);
    }
    return sign << 31 | (exponent + 127 - (top >> 1)) << 23 | fraction << (23 - fraction_bits);
}

uint32_t wg_type_decode(wg_type type, uint32_t bits)
{
    if (type == WG_TYPE_FP8E4M3 && (bits & 0x7F) == 0x7F)
        return (bits & 0x80) << 24 | 0x7FC00000u;
    if (types[type].exponent)
        return decode_float(types[type].exponent, types[type].fraction, bits >> types[type].shift);
    bool negative = false;
    if (wg_type_is_sign_magnitude(type) && types[type].bytes) {
        unsigned sign = types[type].bytes * 8u - 1;
        return single_of_integer(bits & ((1u << sign) - 1), bits >> sign & 1);
    }
    if (type == WG_TYPE_INT8)
        negative = bits >> 7 & 1, bits = negative ? 256 - (bits & 255) : bits;
    else if (type == WG_TYPE_INT16)
        negative = bits >> 15 & 1, bits = negative ? 65536 - (bits & 65535) : bits;
    else if (type == WG_TYPE_INT32)
        negative = bits >> 31, bits = negative ? 0u - bits : bits;
    return single_of_integer(bits, negative);
}

uint64_t wg_double_of_single(uint32_t s)
{
    uint64_t sign = (uint64_t)(s >> 31) << 63;
    uint32_t exponent = s >> 23 & 255, fraction = s & 0x7FFFFF;
    if (exponent == 255)
        return sign | UINT64_C(0x7FF) << 52 | (uint64_t)fraction << 29;
    if (exponent == 0 && fraction == 0)
        return sign;
    if (exponent == 0) {
        unsigned up = 23 - (31 - (unsigned)__builtin_clz(fraction));
        return sign | (uint64_t)(1023 - 126 - up) << 52 | ((uint64_t)(fraction << up & 0x7FFFFF) << 29);
    }
    return sign | (uint64_t)(exponent + 1023 - 127) << 52 | (uint64_t)fraction << 29;
}

size_t wg_tilized_index(size_t row, size_t column, size_t columns)
{
    size_t tile = row / TILE * (columns / TILE) + column / TILE;
    size_t face = row % TILE / FACE * 2 + column % TILE / FACE;
    return tile * TILE_ELEMENTS + face * FACE * FACE + row % FACE * FACE + column % FACE;
}

size_t wg_tilized_place(size_t n, size_t columns)
{
    size_t tile = n / TILE_ELEMENTS, in_tile = n % TILE_ELEMENTS, tiles_across = columns / TILE;
    size_t face = in_tile / (FACE * FACE), in_face = in_tile % (FACE * FACE);
    size_t row = tile / tiles_across * TILE + face / 2 * FACE + in_face / FACE;
    size_t column = tile % tiles_across * TILE + face % 2 * FACE + in_face % FACE;
    return row * columns + column;
}

static bool shape_fits(wg_type type, bool tilized, size_t rows, size_t columns)
{
    if (type == WG_TYPE_RAW || (wg_type_is_blocks(type) && !tilized))
        return false;
    return !tilized || (rows % TILE == 0 && columns % TILE == 0 && columns != 0);
}

static unsigned magnitude_bits_of(wg_type type) { return types[type].block_bits ? types[type].block_bits - 1u : 1; }

/* Sixteen singles to one shared exponent (the largest) and datums of sign and magnitude, which saturate. A sign without
 * a magnitude is minus infinity. */
static uint8_t encode_block(wg_type type, uint8_t datums[BLOCK], const uint32_t singles[BLOCK])
{
    unsigned magnitude_bits = magnitude_bits_of(type), most = (1u << magnitude_bits) - 1;
    int lowest = 127 - types[type].bias, highest = lowest + (types[type].bias == 127 ? 255 : 31), shared = lowest;
    for (unsigned i = 0; i < BLOCK; i++)
        if ((int)(singles[i] >> 23 & 255) > shared && (singles[i] >> 23 & 255) < 255)
            shared = (int)(singles[i] >> 23 & 255);
    if (shared > highest)
        shared = highest;
    for (unsigned i = 0; i < BLOCK; i++) {
        int exponent = (int)(singles[i] >> 23 & 255);
        uint64_t magnitude = most;
        if (exponent == 0)
            magnitude = 0;
        else if (exponent <= shared)
            magnitude =
                round_shift((singles[i] & 0x7FFFFF) | 0x800000, 24 - magnitude_bits + (unsigned)(shared - exponent));
        if (magnitude > most)
            magnitude = most;
        datums[i] = (uint8_t)(magnitude ? (singles[i] >> 31) << magnitude_bits | magnitude : 0);
        if (singles[i] == 0xFF800000)
            datums[i] = (uint8_t)(1u << magnitude_bits);
    }
    return (uint8_t)(shared - lowest);
}

static uint32_t block_value(wg_type type, uint8_t exponent, unsigned datum)
{
    unsigned magnitude_bits = magnitude_bits_of(type);
    uint32_t magnitude = datum & ((1u << magnitude_bits) - 1), sign = (uint32_t)(datum >> magnitude_bits) << 31;
    if (magnitude == 0)
        return sign ? 0xFF800000 : 0;
    unsigned up = magnitude_bits - 1 - (31 - (unsigned)__builtin_clz(magnitude));
    int single = exponent + 127 - types[type].bias - (int)up;
    if (single < 1)
        return sign;
    uint32_t fraction = magnitude << up & ((1u << (magnitude_bits - 1)) - 1);
    return sign | (uint32_t)single << 23 | fraction << (23 - (magnitude_bits - 1));
}

bool wg_blocks_encode(wg_text *out, wg_type type, const uint32_t *singles, size_t count)
{
    size_t blocks = (count + BLOCK - 1) / BLOCK, start = out->size;
    static const uint8_t zeros[LINE] = {0};
    for (size_t i = 0; i < blocks; i += LINE)
        wg_text_add(out, zeros, LINE);
    for (size_t i = 0; i < blocks && !out->failed; i++) {
        uint32_t values[BLOCK] = {0};
        uint8_t datums[BLOCK], packed[BLOCK] = {0};
        unsigned bits = types[type].block_bits;
        for (size_t k = 0; k < BLOCK && i * BLOCK + k < count; k++)
            values[k] = singles[i * BLOCK + k];
        out->data[start + i] = (char)encode_block(type, datums, values);
        for (unsigned k = 0; k < BLOCK; k++)
            packed[k * bits / 8] |= (uint8_t)(datums[k] << k * bits % 8);
        wg_text_add(out, packed, BLOCK * bits / 8);
    }
    return !out->failed;
}

unsigned wg_block_tile_bytes(wg_type type) { return TILE_EXPONENTS + TILE_ELEMENTS * types[type].block_bits / 8u; }

uint64_t wg_block_datum(wg_type type, uint64_t address, size_t n, uint64_t *tile, unsigned *index, uint64_t *exponent)
{
    *tile = address + n / TILE_ELEMENTS * wg_block_tile_bytes(type);
    *index = (unsigned)(n % TILE_ELEMENTS);
    *exponent = *tile + *index / BLOCK;
    return *tile + TILE_EXPONENTS + *index * types[type].block_bits / 8u;
}

uint32_t wg_block_single(wg_type type, const uint8_t *tile, unsigned n)
{
    const size_t bit = (size_t)n * types[type].block_bits;
    unsigned datum = tile[TILE_EXPONENTS + bit / 8] >> bit % 8 & ((1u << types[type].block_bits) - 1);
    return block_value(type, tile[n / BLOCK], datum);
}

bool wg_array_encode(wg_text *out, wg_type type, bool tilized, const uint32_t *singles, size_t rows, size_t columns)
{
    if (!shape_fits(type, tilized, rows, columns))
        return false;
    size_t count = rows * columns;
    if (wg_type_is_blocks(type)) {
        for (size_t tile = 0; tile < count / TILE_ELEMENTS; tile++) {
            uint32_t values[TILE_ELEMENTS];
            for (size_t i = 0; i < TILE_ELEMENTS; i++)
                values[i] = singles[wg_tilized_place(tile * TILE_ELEMENTS + i, columns)];
            wg_blocks_encode(out, type, values, TILE_ELEMENTS);
        }
        return !out->failed;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t single = singles[tilized ? wg_tilized_place(i, columns) : i];
        uint32_t bits = wg_type_encode(type, wg_double_of_single(single));
        uint8_t bytes[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
        wg_text_add(out, bytes, types[type].bytes);
    }
    return !out->failed;
}

bool wg_array_decode(uint32_t *singles, wg_type type, bool tilized, const uint8_t *bytes, size_t rows, size_t columns)
{
    if (!shape_fits(type, tilized, rows, columns))
        return false;
    size_t count = rows * columns;
    for (size_t i = 0; i < count; i++) {
        uint32_t *to = &singles[tilized ? wg_tilized_place(i, columns) : i];
        if (wg_type_is_blocks(type)) {
            *to = wg_block_single(type, bytes + i / TILE_ELEMENTS * wg_block_tile_bytes(type),
                                  (unsigned)(i % TILE_ELEMENTS));
            continue;
        }
        const uint8_t *p = bytes + i * types[type].bytes;
        uint32_t bits = 0;
        for (unsigned k = 0; k < types[type].bytes; k++)
            bits |= (uint32_t)p[k] << 8 * k;
        *to = wg_type_decode(type, bits);
    }
    return true;
}

size_t wg_array_elements(wg_type type, size_t bytes)
{
    if (wg_type_is_blocks(type))
        return bytes % wg_block_tile_bytes(type) ? 0 : bytes / wg_block_tile_bytes(type) * TILE_ELEMENTS;
    return types[type].bytes && bytes % types[type].bytes == 0 ? bytes / types[type].bytes : 0;
}

/* The text after a key of the header, which is a Python dictionary. */
static const char *npy_value(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    at = at ? strchr(at + strlen(key), ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

bool wg_npy_read(const uint8_t *file, size_t size, uint32_t **singles, size_t *rows, size_t *columns, char *error,
                 size_t error_bytes)
{
    char header[1024];
    size_t start = size >= 10 && file[6] >= 2 ? 12 : 10;
    if (size < start || memcmp(file, "\x93NUMPY", 6) != 0) {
        snprintf(error, error_bytes, "it is not a .npy file");
        return false;
    }
    size_t length =
        file[8] | (size_t)file[9] << 8 | (start == 12 ? (size_t)file[10] << 16 | (size_t)file[11] << 24 : 0);
    if (length >= sizeof header || size - start < length) {
        snprintf(error, error_bytes, "its .npy header is damaged");
        return false;
    }
    memcpy(header, file + start, length);
    header[length] = 0;
    const char *descr = npy_value(header, "'descr'"), *order = npy_value(header, "'fortran_order'");
    const char *shape = npy_value(header, "'shape'");
    if (!descr || strncmp(descr, "'<f4'", 5) != 0 || !order || strncmp(order, "False", 5) != 0 || !shape ||
        *shape != '(') {
        snprintf(error, error_bytes, "only little-endian float32 arrays in C order can be read");
        return false;
    }
    uint64_t dims[2] = {1, 1};
    unsigned count = 0;
    for (const char *p = shape + 1; *p && *p != ')';) {
        size_t digits = strspn(p, "0123456789");
        if (digits == 0) {
            p++;
        } else if (count == 2 || !wg_parse_number(p, digits, &dims[count++]) || dims[count - 1] > UINT32_MAX) {
            snprintf(error, error_bytes, "only arrays of one or two dimensions can be read");
            return false;
        } else {
            p += digits;
        }
    }
    if (count == 1) {
        dims[1] = dims[0];
        dims[0] = 1;
    }
    size_t total = (size_t)(dims[0] * dims[1]);
    if (total == 0 || (size - start - length) / 4 < total) {
        snprintf(error, error_bytes, "the file is shorter than its shape says");
        return false;
    }
    if (!(*singles = wg_malloc(total * sizeof **singles))) {
        snprintf(error, error_bytes, "out of memory");
        return false;
    }
    memcpy(*singles, file + start + length, total * sizeof **singles);
    *rows = (size_t)dims[0];
    *columns = (size_t)dims[1];
    return true;
}

void wg_npy_write(wg_text *out, const uint32_t *singles, size_t rows, size_t columns)
{
    char header[128];
    int n = snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }", rows,
                     columns);
    /* Magic, version and length are 10 bytes; the whole is padded to a multiple of 64 and ends in a newline. */
    while ((n + 10 + 1) % 64)
        header[n++] = ' ';
    header[n++] = '\n';
    const uint8_t lead[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)n, (uint8_t)(n >> 8)};
    wg_text_add(out, lead, sizeof lead);
    wg_text_add(out, header, (size_t)n);
    wg_text_add(out, singles, rows * columns * sizeof *singles);
}
