/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SrcA and SrcB: two banks each of 64 rows of 16 columns of 19 bits (layouts: num/formats.h), and who
 * owns which bank.
 *
 *     Unpackers --fill--> bank --wg_src_give_to_matrix()--> Matrix Unit reads, moves, clears
 *         ^                                                       |
 *         +---------------- wg_src_give_to_unpackers() -----------+
 *
 * The Matrix Unit is done with a bank when its pointer moves; the bank returns to the unpackers some cycles later. In between
 * the Matrix Unit still owns it, and it is `leaving`.
 *
 * Each side has a pointer to the bank it uses next. Code that changes rows takes them with wg_src_rows() (or calls
 * wg_src_touched()): the Matrix Unit keeps decoded copies. An instruction that has written rows says so with
 * wg_src_wrote(): columns may be held in soft reset.
 *
 * Facts: SrcASrcB.md, SETDVALID.md, CLEARDVALID.md, SoftReset.md, GATE-29.
 */
#ifndef WG_SRC_H
#define WG_SRC_H

#include <stdbool.h>
#include <stdint.h>

struct wg_tile;

typedef enum wg_src_owner { WG_SRC_UNPACKERS = 0, WG_SRC_MATRIX = 1 } wg_src_owner;
typedef enum wg_src_file { WG_SRCA = 0, WG_SRCB = 1 } wg_src_file;
enum { WG_SRC_ROWS = 64 };

typedef struct wg_src {
    uint32_t a[2][64][16], b[2][64][16];      /* 19 bits each */
    uint8_t owner_a[2], owner_b[2];           /* wg_src_owner */
    uint8_t matrix_bank_a, matrix_bank_b;     /* the bank the Matrix Unit reads next */
    uint8_t unpack_bank_a, unpack_bank_b;     /* the bank the unpacker writes next */
    uint8_t unpack_row_a[3], unpack_row_b[3]; /* Unpackers[0 or 1].SrcRow[thread]: 0, 16, 32 or 48 */
    uint8_t format_a[2], format_b[2];         /* BH: the format each bank was unpacked to ("implied" format) */
    uint32_t changes_a[2], changes_b[2];      /* counts changes of a bank's rows, for holders of derived copies */
    uint16_t held[2];                         /* [wg_src_file]: columns held in soft reset, which are zero */
    uint8_t leaving[2]; /* [wg_src_file]: bit per bank that the Matrix Unit is done with, see below */
    uint8_t frozen[2];  /* [wg_src_file]: owners and bank pointers are held in soft reset */
} wg_src;

static inline void wg_src_touched(wg_src *s, wg_src_file file, unsigned bank)
{
    if (file == WG_SRCA)
        s->changes_a[bank & 1]++;
    else
        s->changes_b[bank & 1]++;
}
/* The 64 rows of a bank, for writing. Do not keep the pointer: call again for a later write. */
static inline uint32_t (*wg_src_rows(wg_src *s, wg_src_file file, unsigned bank))[16]
{
    wg_src_touched(s, file, bank);
    return file == WG_SRCA ? s->a[bank & 1] : s->b[bank & 1];
}
void wg_src_clear_held(wg_src *s, wg_src_file file, unsigned bank);
/* An instruction has written rows of the bank: clears the columns that are held in soft reset. */
static inline void wg_src_wrote(wg_src *s, wg_src_file file, unsigned bank)
{
    if (__builtin_expect(s->held[file & 1], 0))
        wg_src_clear_held(s, file, bank);
}
static inline bool wg_src_is_matrix(const wg_src *s, wg_src_file file, unsigned bank)
{
    return (file == WG_SRCA ? s->owner_a : s->owner_b)[bank & 1] == WG_SRC_MATRIX;
}
/* May the Matrix Unit use it? */
static inline bool wg_src_is_valid(const wg_src *s, wg_src_file file, unsigned bank)
{
    return wg_src_is_matrix(s, file, bank) && !(s->leaving[file] >> (bank & 1) & 1);
}

/* Changes the owner, unless owners are held in soft reset; wakes the waiting agents and emits WG_EV_BANK for `agent`. */
void wg_src_give_to_matrix(struct wg_tile *t, wg_src_file file, unsigned bank, unsigned agent);
void wg_src_give_to_unpackers(struct wg_tile *t, wg_src_file file, unsigned bank, unsigned agent);
/*
 * Ends an unpack (SETDVALID, UNPACR with SetDatValid …): gives the unpacker's bank to the Matrix Unit. The unpacker continues
 * with the other bank, at the row given by the thread's SRCA_SET or SRCB_SET.
 */
void wg_src_unpacked(struct wg_tile *t, wg_src_file file, unsigned thread, unsigned agent);
/* All banks to the unpackers, every pointer to bank 0 (CLEARDVALID's Reset). */
void wg_src_reset_owners(struct wg_tile *t, unsigned agent);

#endif
