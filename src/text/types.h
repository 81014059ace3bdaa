/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element types of memory contents: conversion of numbers to their layout in L1, and back. Rounding is to nearest,
 * ties to even, in integers; NaN stays NaN, overflow becomes infinity (fp16 as in IEEE 754).
 */
#ifndef WG_TYPES_H
#define WG_TYPES_H

#include "text/text.h"

typedef enum wg_type {
    WG_TYPE_RAW,
    WG_TYPE_UINT8,
    WG_TYPE_INT8,
    WG_TYPE_UINT16,
    WG_TYPE_INT16,
    WG_TYPE_UINT32,
    WG_TYPE_INT32,
    WG_TYPE_FP32,
    WG_TYPE_TF32,
    WG_TYPE_BF16,
    WG_TYPE_FP16,
    WG_TYPE_FP8,     /* five exponent bits */
    WG_TYPE_FP8E4M3, /* four; no infinity: saturates, all ones is NaN */
    WG_TYPE_SM8,     /* sign and magnitude, as in the units */
    WG_TYPE_SM16,
    WG_TYPE_SM32,
    /* Blocks of 16 with a shared exponent; the exponents come first, in whole lines of 16 bytes. */
    WG_TYPE_BFP8,
    WG_TYPE_BFP4,
    WG_TYPE_BFP2,
    WG_TYPE_BFP8A, /* the "a" formats: exponents of five bits */
    WG_TYPE_BFP4A,
    WG_TYPE_BFP2A,
    WG_TYPE_COUNT
} wg_type;

const char *wg_type_name(wg_type type);
/* By name; WG_TYPE_COUNT if there is none. */
wg_type wg_type_find(const char *name, size_t length);
unsigned wg_type_bytes(wg_type type); /* 0 for RAW and the BFP types */
bool wg_type_is_float(wg_type type);  /* not for the BFP types */
bool wg_type_is_sign_magnitude(wg_type type);
bool wg_type_is_blocks(wg_type type); /* one of the BFP types */

/* The bits of an IEEE 754 double (as uint64_t) to the element's bits. Integers: truncated and saturated. */
uint32_t wg_type_encode(wg_type type, uint64_t double_bits);
/* The element's bits to the bits of an IEEE 754 single. */
uint32_t wg_type_decode(wg_type type, uint32_t bits);
uint64_t wg_double_of_single(uint32_t single_bits);

/*
 * `count` singles of a BFP type, padded to whole blocks with zeros: exponents, then datums, the first in the lowest
 * bits. False if memory ran out.
 */
bool wg_blocks_encode(wg_text *out, wg_type type, const uint32_t *singles, size_t count);

/* Tiles of BFP types: their bytes; where element n of an array of tiles is; the single that element n of a tile is worth. */
unsigned wg_block_tile_bytes(wg_type type);
uint64_t wg_block_datum(wg_type type, uint64_t address, size_t n, uint64_t *tile, unsigned *index, uint64_t *exponent);
uint32_t wg_block_single(wg_type type, const uint8_t *tile, unsigned n);

/*
 * Arrays of float32 to L1 bytes and back. BFP types exist only as whole tiles. Tilized: `rows` × `columns` in 32×32 tiles,
 * row-major, of four 16×16 faces each. False if the shape does not fit.
 */
bool wg_array_encode(wg_text *out, wg_type type, bool tilized, const uint32_t *singles, size_t rows, size_t columns);
bool wg_array_decode(uint32_t *singles, wg_type type, bool tilized, const uint8_t *bytes, size_t rows, size_t columns);
enum { WG_TILE_COLUMNS = 32 };
/* The row-major index of element n of a tilized array (in memory order); and the inverse. */
size_t wg_tilized_place(size_t n, size_t columns);
size_t wg_tilized_index(size_t row, size_t column, size_t columns);
/* The number of elements that `bytes` hold; 0 if they do not divide. */
size_t wg_array_elements(wg_type type, size_t bytes);

/* The layout of an array in memory. */
typedef struct wg_image_shape {
    wg_type type;
    bool tilized;
    size_t rows, columns; /* 0: not given */
} wg_image_shape;
/* TYPE[,tilized][=ROWSxCOLUMNS]; if it is not that, false, and a complaint in `why`. */
bool wg_image_shape_read(const char *text, wg_image_shape *out, wg_text *why);

/* An element of an array in memory. One of a BFP type is its datum and the exponent of its block. */
typedef struct wg_element {
    uint64_t address; /* of its first byte */
    wg_type type;
    uint64_t tile;  /* BFP: the address of its tile */
    unsigned index; /* BFP: its number in the tile, in memory order */
} wg_element;
enum { WG_ELEMENT_BYTES = 1088 };
/*
 * `of` as in l1:ADDRESS[ROW,COLUMN]:TYPE[,tilized][=ROWSxCOLUMNS]. If it names an element, *out is the locations of its bytes,
 * as `waitgate why` takes them (freed by the caller); if not, NULL. False, with a complaint in `why`: it names one, but
 * not rightly.
 */
bool wg_element_parse(const char *of, char **out, wg_element *element, wg_text *why);
/* The memory that its value is in: at most WG_ELEMENT_BYTES. */
uint64_t wg_element_memory(const wg_element *element, unsigned *bytes);
/* Its bits, from that memory; a BFP element's as those of a single. */
uint32_t wg_element_bits(const wg_element *element, const uint8_t *memory);
/* "1.5", "NaN", "-infinity". Returns `room`. */
const char *wg_type_value_text(wg_type type, uint32_t bits, char *room, size_t bytes);
const char *wg_element_text(const wg_element *element, uint32_t bits, char *room, size_t bytes);
bool wg_element_is_finite(const wg_element *element, uint32_t bits);

/* .npy files of little-endian float32, C order, up to two dimensions. */
bool wg_npy_read(const uint8_t *file, size_t size, uint32_t **singles, size_t *rows, size_t *columns, char *error,
                 size_t error_bytes);
void wg_npy_write(wg_text *out, const uint32_t *singles, size_t rows, size_t columns);

#endif
