/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read/write counters of the Matrix and Vector Units, per thread, and how instructions move them.
 *
 *     SrcA, SrcB, Dst     where the instruction reads and writes; each with a copy (…_cr), the place a
 *                         counter can be set back to and stepped on from
 *     FidelityPhase       which part of the operands a multiplication takes
 *     ExtraAddrModBit     selects the upper four address modifiers
 *
 * An instruction names one of the address modifiers of its thread's configuration (ADDR_MOD_AB,
 * ADDR_MOD_DST, ADDR_MOD_BIAS); SETRWC and INCRWC carry their values in the word.
 *
 * Facts: RWCs.md, SETRWC.md, INCRWC.md.
 */
#ifndef WG_RWC_H
#define WG_RWC_H

#include <stdbool.h>
#include <stdint.h>
#include <waitgate/waitgate.h>

typedef struct wg_rwc_thread {
    uint16_t dst, dst_cr;   /* 10 bits */
    uint8_t srca, srca_cr;  /* 6 bits */
    uint8_t srcb, srcb_cr;  /* 6 bits */
    uint8_t fidelity;       /* 2 bits */
    uint8_t extra_addr_mod; /* 1 bit: ExtraAddrModBit */
    uint16_t sp;            /* 10 bits; BH: the stack pointer of SFPLOAD and SFPSTORE INT32_ALL */
} wg_rwc_thread;

typedef struct wg_rwc {
    wg_rwc_thread thread[3];
} wg_rwc;

/* The section (0…7) that an instruction's AddrMod bits select now: two bits on WH, three on BH. */
unsigned wg_rwc_section(const wg_rwc_thread *r, wg_arch_id arch, const uint16_t *thread_config, unsigned addr_mod);
/*
 * ApplyAddrMod: moves the counters after an instruction with these AddrMod bits. thread_config are the
 * thread's configuration words. SFPLOAD, SFPSTORE and SFPLOADMACRO leave the fidelity phase alone.
 */
void wg_rwc_apply(wg_rwc_thread *r, wg_arch_id arch, const uint16_t *thread_config, unsigned addr_mod,
                  bool update_fidelity);
/* The counters' part of SETRWC (the bank flips are the Matrix Unit's matter) and of INCRWC. */
void wg_rwc_set(wg_rwc_thread *r, uint32_t word);
void wg_rwc_increment(wg_rwc_thread *r, uint32_t word);
/* SETIBRWC: sets or moves ExtraAddrModBit. */
void wg_rwc_bias(wg_rwc_thread *r, uint32_t word);

#endif
