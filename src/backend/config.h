/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Configuration Unit, and read access to backend configuration for all other units.
 *
 * Config has two banks; a thread's CFG_STATE_ID chooses the one its instructions use. Words from
 * wg_arch.config_global_from on are the same in both banks. ThreadConfig has one set per thread.
 */
#ifndef WG_CONFIG_UNIT_H
#define WG_CONFIG_UNIT_H

#include "isa/config_fields.h"
#include "report/touch.h"
#include "machine/tile.h"

extern const wg_unit_ops wg_config_unit;
bool wg_config_implements(wg_insn_id id, wg_arch_id arch);

/* The bank that this thread's instructions use now. */
static inline unsigned wg_config_bank(const wg_tile *t, unsigned thread)
{
    return t->regs.config.thread[thread][0] & 1u; /* CFG_STATE_ID_StateID: word 0, bit 0 on both */
}

/* Slow path of the readers below: is an older write of the thread to this word still in flight? */
void wg_config_check_pending(wg_tile *t, unsigned thread, unsigned word);

/* The instruction that acts reads these bits of its thread's bank. */
void wg_config_touched(wg_tile *t, unsigned how, unsigned thread, unsigned word, uint32_t mask);

/*
 * A word of the thread's bank, as an instruction that starts now reads it. Call it in phase E for the
 * instruction being accepted: an older write of the same thread that has not reached the
 * configuration yet is then reported (WRCFG.md, CFGSHIFTMASK.md, STREAMWRCFG.md, "Instruction scheduling").
 */
static inline uint32_t wg_config_word(wg_tile *t, unsigned thread, unsigned word)
{
    if (__builtin_expect(t->backend.config.instructions != 0 && t->sched.phase == WG_PHASE_GATES, 0))
        wg_config_check_pending(t, thread, word);
    return t->regs.config.bank[wg_config_bank(t, thread)][word < WG_CONFIG_WORDS ? word : 0];
}

/* A field of Config in the thread's bank; 0 where this architecture has no such field. */
static inline uint32_t wg_config_get(wg_tile *t, unsigned thread, wg_cfg_id id)
{
    const wg_cfg_field *f = &wg_cfg_fields[t->arch->id][id];
    if (wg_touch_watched(t))
        wg_config_touched(t, WG_TOUCH_READ, thread, f->word, f->mask << f->shift);
    return wg_config_word(t, thread, f->word) >> f->shift & f->mask;
}

/* A field of the thread's ThreadConfig; 0 where this architecture has no such field. */
static inline uint32_t wg_thread_config_get(const wg_tile *t, unsigned thread, wg_tcfg_id id)
{
    return wg_tcfg_get(t->arch->id, id, t->regs.config.thread[thread]);
}

/*
 * RISC-V requests to TENSIX_CFG_BASE (phase C), by word offset from it: Config[0], Config[1], on BH
 * ConfigDualWrite, ThreadConfig. They share the pipeline with instructions: WG_REGION_WAIT while a stage is occupied. Only
 * full words can be written.
 */
wg_region_answer wg_config_riscv_read(wg_tile *t, unsigned core, uint32_t word_offset, uint32_t *value, wg_stall *why);
wg_region_answer wg_config_riscv_write(wg_tile *t, unsigned core, uint32_t word_offset, uint32_t value, unsigned bytes,
                                       wg_stall *why);
/* The banks of Config (bit per bank) and the word behind a word offset; no bank: it is not Config. */
unsigned wg_config_window_banks(const wg_tile *t, uint32_t word_offset);
unsigned wg_config_window_word(const wg_tile *t, uint32_t word_offset);
/* The thread whose ThreadConfig is there; 3: it is not ThreadConfig. */
unsigned wg_config_window_thread(const wg_tile *t, uint32_t word_offset);
/* Reads the same map without entering the pipeline (RISCV_DEBUG_REG_CFGREG_RDDATA). */
uint32_t wg_config_debug_read(const wg_tile *t, uint32_t word_offset);

/* The Mover's 16 bytes to TENSIX_CFG_BASE; false: the pipeline is busy, retry in the next cycle. */
bool wg_config_mover_write(wg_tile *t, uint32_t word_offset, const uint32_t value[4]);

/*
 * REG2FLOP writes THCON configuration bypassing the pipeline, unless the pipeline wrote there in the cycle that has just
 * ended. Call it in phase B before the Configuration Unit's tick.
 */
bool wg_config_thcon_contended(const wg_tile *t);
void wg_config_scalar_write(wg_tile *t, unsigned bank, unsigned word, const uint32_t *value, unsigned words);
/* The first THCON word (THCON_CFGREG_BASE_ADDR32). */
unsigned wg_config_thcon_base(const wg_tile *t);

/* The value that an RDCFG of the thread writes to GPR `reg` in this cycle, if one does and the port is free. */
void wg_config_result(const wg_tile *t, unsigned thread, unsigned reg, uint32_t *value);

/* The RDCFG of this thread that has yet to write its GPR; NULL: none. */
const wg_insn *wg_config_gpr_writer(const wg_tile *t, unsigned thread);

/* A NoC Overlay register is read in this cycle: a STREAMWRCFG that is about to read one stalls. */
static inline void wg_config_overlay_busy(wg_tile *t) { t->backend.config.overlay_taken = t->sched.now + 1; }

/* THCON configuration soft reset (SoftReset.md): entering clears it, and holding discards writes. */
void wg_config_thcon_reset(wg_tile *t, bool held);

#endif
