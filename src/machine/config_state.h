/* SPDX-License-Identifier: Apache-2.0 */
/* The Configuration Unit's state: the contents of its stages, which src/backend/config.c describes. */
#ifndef WG_CONFIG_STATE_H
#define WG_CONFIG_STATE_H

#include "machine/insn.h"

/* The documentation numbers the stages -4 … +1; stage 0 is where the configuration is accessed. */
typedef enum wg_config_stage {
    WG_CONFIG_STAGE_M4,
    WG_CONFIG_STAGE_M3,
    WG_CONFIG_STAGE_M2,
    WG_CONFIG_STAGE_M1,
    WG_CONFIG_STAGE_0,
    WG_CONFIG_STAGE_P1,
    WG_CONFIG_STAGES
} wg_config_stage;

/* Contents of the pipeline: instructions, and requests from outside that are processed like them. */
typedef enum wg_config_kind {
    WG_CONFIG_NOTHING,
    WG_CONFIG_STREAMWRCFG,
    WG_CONFIG_WRCFG,
    WG_CONFIG_CFGSHIFTMASK,
    WG_CONFIG_RMWCIB,
    WG_CONFIG_RDCFG,
    WG_CONFIG_RISCV_READ,
    WG_CONFIG_RISCV_WRITE,
    WG_CONFIG_MOVER_WRITE,
    WG_CONFIG_KINDS
} wg_config_kind;

enum { WG_CONFIG_BANK_0 = 1, WG_CONFIG_BANK_1 = 2, WG_CONFIG_BOTH_BANKS = 3 };

typedef struct wg_config_op {
    wg_insn insn;        /* instructions only */
    uint64_t entered;    /* the cycle in which it entered its present stage */
    uint64_t issued;     /* the cycle in which it entered the pipeline */
    uint64_t not_before; /* RDCFG: the result is not written before this cycle (perturbation) */
    uint32_t value[4];   /* the values written or read */
    uint16_t word;       /* first configuration word */
    uint8_t words;       /* 1 or 4 */
    uint8_t banks;       /* bit i: Config[i] */
    uint8_t kind;        /* wg_config_kind */
    uint8_t agent;       /* wg_agent that sent it */
    bool second;         /* CFGSHIFTMASK in its second cycle */
} wg_config_op;

typedef struct wg_config_pipeline {
    wg_config_op stage[WG_CONFIG_STAGES];
    wg_insn setc16[3];      /* accepted in the last cycle, per thread; id 0: none */
    uint8_t setc16_pending; /* bit per thread */
    uint8_t instructions;   /* in stage[], of all threads; requests not counted */
    bool thcon_reset;       /* THCON configuration is held in soft reset */
    uint64_t overlay_taken; /* 1 + the last cycle in which another agent read the NoC Overlay */
} wg_config_pipeline;

#endif
