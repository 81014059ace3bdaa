/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensix instructions as text, and back. One line is one instruction:
 *
 *     ttstallwait 128, 2064                    numbers, in the public toolchain's operand order
 *     ttstallwait STALL_CFG, MATH|SFPU1        the same, symbolic
 *     ttsetadcxy 1, 0, 0, 0, 0, 3, ThreadOverride=2    a field the public syntax has no operand for
 *     .word 0xA2400810                         any word; .ttinsn likewise, below 0xC0000000 (PIPE-09)
 *
 * Nothing here allocates, prints or keeps state. Operand order and mnemonics: GATE-24.
 */
#ifndef WAITGATE_ASM_H
#define WAITGATE_ASM_H

#include <waitgate/waitgate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- words to text ---- */

enum {
    WG_DIS_SYMBOLIC = 1,  /* names instead of numbers where the operand has names */
    WG_DIS_NO_COMMENT = 2 /* omit the trailing "; spare bits 0x…" */
};
enum { WG_DIS_MAX = 512 }; /* no line is longer, including the terminator */

/*
 * Writes one line without a newline, always terminated if size > 0, and returns its full length even if it did not fit.
 * Fastest with size >= WG_DIS_MAX. An unknown opcode gives ".word 0x…".
 */
WG_API size_t wg_disassemble(wg_arch_id arch, uint32_t word, unsigned flags, char *out, size_t size);

/* ---- text to words ---- */

typedef enum wg_asm_code {
    WG_ASM_OK,
    WG_ASM_BLANK,  /* nothing but space or a comment; no word */
    WG_ASM_SYNTAX, /* everything from here on is an error */
    WG_ASM_UNKNOWN_MNEMONIC,
    WG_ASM_UNKNOWN_SYMBOL,
    WG_ASM_OPERAND_COUNT,
    WG_ASM_RANGE,   /* the value does not fit its field, or a number does not fit 64 bits */
    WG_ASM_TOO_DEEP /* nested too deep */
} wg_asm_code;

typedef struct wg_asm_error {
    wg_asm_code code;
    uint32_t column;     /* 1 is the first character */
    char message[240];   /* one sentence, including the suggestion */
    char suggestion[64]; /* the nearest known name, or "" */
} wg_asm_error;

/* Constants and labels of the caller; called only for names that are not in the instruction set. */
typedef struct wg_asm_env {
    uint32_t struct_size; /* sizeof(wg_asm_env): a caller that knows fewer fields gets 0 for the others */
    bool (*resolve)(void *user, const char *name, size_t length, int64_t *value);
    void *user;
} wg_asm_env;

/*
 * Comments start with ';', '#' or "//". `error` and `env` may be NULL. On anything but WG_ASM_OK the word is unchanged.
 */
WG_API wg_asm_code wg_assemble_line(wg_arch_id arch, const char *text, size_t length, uint32_t *word,
                                    wg_asm_error *error);
WG_API wg_asm_code wg_assemble_line_env(wg_arch_id arch, const char *text, size_t length, const wg_asm_env *env,
                                        uint32_t *word, wg_asm_error *error);

#ifdef __cplusplus
}
#endif
#endif
