/* SPDX-License-Identifier: Apache-2.0 */
/* The Matrix Unit's state between cycles: instructions in flight, hazards, decoded operands. Plain data. */
#ifndef WG_MATRIX_STATE_H
#define WG_MATRIX_STATE_H

#include "machine/insn.h"
#include "machine/dst.h"
#include "machine/src.h"

enum { WG_MATRIX_FLIGHTS = 32 };

/* The state that an instruction changes when it takes effect. */
typedef enum wg_matrix_effect {
    WG_EFFECT_NONE,
    WG_EFFECT_DST16,    /* rows of the 16-bit view: hi */
    WG_EFFECT_DST32,    /* rows of the 32-bit view: hi and lo */
    WG_EFFECT_DST_LOW,  /* low halves of rows of the 32-bit view: lo */
    WG_EFFECT_UNDEFINE, /* marks of the stored rows in `marks` set, or cleared if `flag` */
    WG_EFFECT_SRC,      /* rows of a source bank */
    WG_EFFECT_ZEROSRC,  /* whole banks: `banks` */
    WG_EFFECT_SHIFTXA,
    WG_EFFECT_SHIFTXB,
    WG_EFFECT_TRANSPOSE,
    WG_EFFECT_EXPHIST,
    WG_EFFECT_RESET_BANKS
} wg_matrix_effect;

typedef struct wg_matrix_op {
    wg_insn insn;
    uint64_t effect_at; /* WG_NEVER once it has taken place */
    uint64_t flip_at;   /* bank pointers move; WG_NEVER: none, or done */
    uint64_t give_at;   /* banks return to the unpackers; WG_NEVER: none, or done */
    uint64_t done_at;
    uint8_t effect; /* wg_matrix_effect */
    uint8_t flip;   /* bit 0: SrcA's pointer moves, bit 1: SrcB's */
    uint8_t give;   /* bit 0: the SrcA bank below goes to the unpackers, bit 1: the SrcB bank */
    uint8_t give_bank[2];
    uint8_t rows;       /* of row[], or of source rows from src_row on */
    uint8_t file, bank; /* wg_src_file and bank of source effects */
    uint8_t src_row, from_row;
    uint8_t banks;    /* ZEROSRC: bit 0, 1 SrcA's banks, bit 2, 3 SrcB's */
    bool together;    /* row[] is an aligned block of eight */
    bool flag;        /* meaning by effect: fill with ones, shift in zero, direction, clear marks */
    uint16_t columns; /* bit per column that is written */
    uint16_t row[8];  /* stored rows (of high halves) */
    union {
        struct {
            uint16_t hi[8][16], lo[8][16];
        };
        uint32_t src[8][16];
        uint64_t marks[WG_DST_ROWS / 64];
    };
} wg_matrix_op;

/*
 * Source operands decoded for the host's vector code, one per 16 rows of SrcA and 8 rows of SrcB and
 * fidelity half. Lane 2j holds the datum of k, lane 2j + 1 that of k + 8 (SrcA: column j of rows k and
 * k + 8); SrcB: word k of a row holds columns k and k + 8.
 */
typedef struct wg_matrix_a {
    _Alignas(64) int16_t exponent[8][32]; /* of a zero: WG_MATRIX_NO_EXPONENT */
    int16_t mantissa[8][32]; /* with sign: WG_MATRIX_SCALE_A times the five bits taken, plus 1; integers: the value */
    /* The integers again as bytes, for hosts that multiply bytes: four vectors (matrix_simd_avx512.c). */
    uint8_t bytes[4][64];
    uint8_t places; /* how far they are shifted to the right, */
    bool has_bytes; /* if there are any */
} wg_matrix_a;
typedef struct wg_matrix_b {
    _Alignas(64) int16_t exponent[8][16];
    int16_t mantissa[8][16]; /* with sign: WG_MATRIX_SCALE_B times the seven bits taken; integers: the value */
    int8_t bytes[8][16];     /* likewise */
    int32_t correction[8];   /* of each row, for the bytes' offset */
    uint8_t places;
    bool has_bytes;
} wg_matrix_b;
/*
 * With this scaling, the high 16 bits of the product of two mantissas are twice their product, minus one if that is negative.
 * A rounding multiplication then rounds half away from zero.
 */
enum { WG_MATRIX_NO_EXPONENT = -4096, WG_MATRIX_SCALE_A = 1024, WG_MATRIX_SCALE_B = 128 };

typedef struct wg_matrix_cache {
    wg_matrix_a a[2][4][2];              /* [bank][row / 16][fidelity phase bit 0] */
    wg_matrix_b b[2][8][2];              /* [bank][row / 8][fidelity phase bit 1] */
    uint8_t a_valid[2], b_valid[2][2];   /* bits: row / 16 * 2 + phase bit; [bank][phase bit]: row / 8 */
    uint8_t a_kind[2], b_kind[2];        /* how the bank was decoded */
    uint32_t a_changes[2], b_changes[2]; /* the bank's change count when it was */
} wg_matrix_cache;

/* A thread's decoded configuration (matrix_settings.c). */
typedef struct wg_matrix_settings {
    uint64_t changes; /* of configuration when it was last checked, + 1; 0: never */
    uint64_t key[5];  /* the words it depends on */
    wg_dst_access access;
    uint8_t fmt[2];  /* [wg_src_file]: format codes by configuration */
    bool implied[2]; /* … unless the bank's own format applies */
    bool keep[2];    /* CLR_DVALID_Src?_Disable */
    bool wide, force_fp16, int8, flush, stochastic;
    uint8_t phase;     /* FIDELITY_BASE */
    uint16_t dst_base; /* added to every Dst row */
} wg_matrix_settings;

typedef struct wg_matrix {
    wg_matrix_settings settings[3];  /* per thread */
    uint64_t due[WG_MATRIX_FLIGHTS]; /* cycle of flight[i]'s next step; WG_NEVER: it has none left */
    wg_matrix_op flight[WG_MATRIX_FLIGHTS];
    uint32_t head, tail;  /* flight[head … tail - 1], modulo WG_MATRIX_FLIGHTS, in order of acceptance */
    uint64_t last_accept; /* 1 + cycle of the last acceptance; 0: none */
    uint8_t last_thread;
    uint8_t in_flight[3]; /* per thread */

    /* Issue gaps: first cycle at which each class is accepted again, and who caused it. */
    uint64_t all_from;           /* anything (SHIFTXB) */
    uint64_t not_src_moves_from; /* anything but MOVD2A and MOVB2A */
    uint64_t not_movd2b_from;    /* anything but MOVD2B */
    uint64_t dst_readers_from;   /* the readers that wait after MOVA2D and MOVB2D, whatever row they read */

    /* The thread that waits inside the unit for a block of Dst, and the first cycle at which another may enter. */
    uint64_t others_from;
    uint8_t waiting_thread;

    uint64_t block_ready[WG_DST_BLOCKS]; /* first cycle at which an 8-row block of Dst may be read */
    uint64_t blocks_ready;               /* … at which any of them may be */
    uint64_t block_lands[WG_DST_BLOCKS]; /* when the last write accepted for the block takes effect */
    uint64_t last_lands;                 /* the last of these */
    uint64_t src_lands;                  /* when the last write accepted for SrcA or SrcB takes effect */

    /* Banks at the head of the pipeline, ahead of the flips still in flight. */
    uint8_t flips;         /* in flight */
    uint8_t issue_bank[2]; /* valid while flips != 0 */
    uint8_t giving[2][2];  /* [file][bank]: handovers whose flip is in flight */
    uint64_t last_flip[2]; /* when the last flip accepted takes place: they stay in order */
    uint64_t last_give[2]; /* … and when the last bank given away changes hands */

    uint32_t prng[16];     /* per column: ALU_ROUNDING_MODE_Fpu_srnd_en */
    uint8_t last_srca_row; /* what SHIFTXA reads (its hardware bug) */
    wg_matrix_cache cache;
} wg_matrix;

#endif
