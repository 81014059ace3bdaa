/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The differences between the architectures, as data: sizes, depths, masks, latencies. Code asks the descriptor, not which
 * architecture it emulates.
 */
#ifndef WG_ARCH_H
#define WG_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waitgate/waitgate.h>
#include "arch/tile_spec.h"
#include "isa/waits.h"

/* STALLWAIT's conditions, by meaning; the bit numbers are in each architecture's table. */
typedef enum wg_wait_condition {
    WG_WAIT_NOTHING,
#define ROW(id, holder, wakes, text) WG_WAIT_##id,
    WG_EACH_WAIT(ROW)
#undef ROW
        WG_WAIT_COUNT
} wg_wait_condition;

/* The path of a memory request: its region and distance. */
typedef enum wg_path {
    WG_PATH_L1,
    WG_PATH_OWN_RAM,  /* private: never leaves the core */
    WG_PATH_SLOW_RAM, /* a core's RAM by its slow address (BH) */
    WG_PATH_SYNC,     /* PC buffers, manual TTSync, semaphores */
    WG_PATH_MAILBOX_READ,
    WG_PATH_MAILBOX_WRITE,
    WG_PATH_GPR,
    WG_PATH_CONFIG,
    WG_PATH_TDMA,
    WG_PATH_PUSH, /* Tensix instruction buffers */
    WG_PATH_MOP_CFG,
    WG_PATH_DST,
    WG_PATH_TILE_REGS, /* tile control, debug, status, PIC, pc snapshots */
    WG_PATH_NIU0,
    WG_PATH_NIU1,
    WG_PATH_OVERLAY,
    WG_PATH_ETH,      /* Ethernet tiles: queues, header table, RX classifier, control, MAC */
    WG_PATH_UNMAPPED, /* loads never return */
    WG_PATH_HANG,     /* documented to hang the core (PIPE-12) */
    WG_PATH_COUNT
} wg_path;

typedef struct wg_path_timing {
    uint8_t travel; /* emission (phase I) to the earliest cycle the region sees it (phase C) */
    uint8_t back;   /* processed (phase C) to the value being usable in EX1 (phase J) */
} wg_path_timing;

typedef struct wg_timing {
    wg_path_timing path[WG_PATH_COUNT];
    uint8_t atomic_extra; /* further cycles until an L1 atomic's response */
    uint8_t sync_extra;   /* further cycles until a value of a PC buffer or manual TTSync arrives */
    uint8_t mispredict_bubble;
    uint8_t csr_refill;        /* from the retirement of a CSR instruction or fence to the next one in EX1 */
    uint8_t mul_result;        /* EX1 entry to result */
    uint8_t mul_occupies;      /* cycles a multiply occupies EX1 */
    uint8_t push_fuse;         /* `.ttinsn` pushed per cycle, at most */
    uint8_t push_credit;       /* cycles until a T core knows of a freed place in its first FIFO */
    uint8_t mop_gap;           /* idle cycles after an expansion unless a MOP follows */
    uint8_t matrix_latency;    /* of arithmetic, by insns.def */
    uint8_t matrix_stages;     /* least time of an instruction in the Matrix Unit */
    uint8_t arithmetic_stages; /* … of an arithmetic one */
    uint8_t bank_return;       /* least time until the unpackers own a source bank that it hands back */
    uint8_t dst_block_cycles;  /* a Dst block written by arithmetic cannot be read for this long, by insns.def */
    bool writers_wait;         /* ELWADD and ELWSUB stall on it even if they do not accumulate */
    bool waits_in_unit;        /* an instruction stalled on it blocks other threads from the Matrix Unit */
    bool store_reads_late;     /* SFPSTORE reads its LReg a cycle later than other instructions read operands */
    uint8_t unpack_clear;      /* after a clear of a source bank, an unpacker fetches nothing for this long */
    uint8_t scalar_alu;        /* ADDDMAREG and similar; one more if the registers are in two groups of four */
    uint8_t fetch_in_flight;   /* most lines in flight to an instruction cache */
    uint8_t narrow_write;      /* cycles for which an L1 read-modify-write holds its port and bank */
    uint8_t noc_niu;           /* NIU to its router, and router to its NIU */
    uint8_t noc_hop;           /* router to router, in tenths of a cycle */
    uint8_t noc_reserve;       /* reservation of a broadcast's path, per hop and direction, in tenths of a cycle */
    uint8_t noc_pause;         /* a link pauses for one cycle after this many flits of a packet; 0: never */
    uint8_t noc_data_pause;    /* NIU 1 pauses for one cycle after this many flits of a read's data; 0: never */
    uint8_t noc_read;          /* NIU 1 sends at most one read in this many cycles */
    uint8_t noc_serve;         /* a tile serves at most one read of L1 per NoC in this many cycles */
    uint8_t noc_data;          /* arrival of a read to departure of its data */
    uint8_t noc_ack;           /* arrival of another request to departure of its answer */
    uint16_t dram_rate;        /* bytes read from one DRAM channel in ten cycles */
    uint16_t dram_write_rate;  /* … and written */
    uint16_t dram_latency;     /* request at the DRAM tile to its data */
    uint16_t dram_request;     /* a channel begins at most one read in this many tenths of a cycle */
    uint16_t dram_partial;     /* tenths of a cycle that a channel takes for a write below noc.dram_line; 0: as for others */
    uint8_t dram_queue;        /* requests that a DRAM tile's NIU accepts before a channel begins them; 0: all */
    uint16_t dram_answer;      /* start of a write in a channel to its answer */
    uint16_t eth_rate;         /* bytes on an Ethernet link in ten cycles */
    uint16_t eth_latency;      /* of a frame's last bit from one end of the link to the other */
} wg_timing;

struct wg_arch {
    wg_arch_id id;
    const char *name;           /* "bh" */
    const char *long_name;      /* "Blackhole A0" */
    const char *metal_names[2]; /* in tt-metal's files, the usual one first: "BLACKHOLE" */

    wg_tile_spec tensix, ethernet;
    uint8_t l1_banks;
    uint16_t ram_clear_cycles; /* after reset, while own RAM zeroes itself */
    uint8_t icache_ways;
    uint8_t l0_lines;            /* 16-byte L0 data cache lines, 0: no cache */
    uint8_t l0_flush_period;     /* the L0 flushes itself after this many requests */
    uint16_t predictor_branches; /* size of the table of last directions: a power of two, at most WG_BRANCHES */
    bool store_coalescing;
    bool debug_steps_twice;     /* the debug interface executes one instruction for two commands to step */
    bool fence_orders;          /* WH executes fence as a no-op */
    bool overlap_conflicts;     /* a load waits for queued stores that overlap it; WH: only for equal addresses */
    bool load_needs_store_slot; /* a load waits while the store queue is full */
    uint8_t forward_writers;    /* unretired writers of a register that still allow forwarding from the last */

    uint8_t fifo_depth[WG_THREADS]; /* first instruction FIFO (PIPE-03) */
    uint8_t fifo_resume;            /* once above this, it must drain to it before it accepts more (PIPE-05) */
    bool fifo_counts_downstream;    /* ordinary pushes stop at the first FIFO's capacity (PIPE-04) */

    uint8_t wait_conditions[16]; /* STALLWAIT condition bit -> wg_wait_condition */
    uint8_t wait_condition_bits;
    uint16_t wait_default; /* condition mask 0 means this */
    uint16_t mutex_valid;  /* bit i: mutex i exists */
    bool auto_ttsync;

    struct {
        bool wide_rows;         /* input rows of 32 datums, of 16 for formats of at most 8 bits; else always 16 */
        bool fp8_keeps_top;     /* FP8: all ones become an FP16 of all ones */
        bool throttle_override; /* Throttle_mode applies only with ovrd_default_throttle_mode */
        uint8_t lines[2][4];    /* of 16 bytes per cycle, by Throttle_mode: datums below 16 bits, others; 0: none */
        bool shares_ports;      /* unpackers that fetch simultaneously slow each other down */
        bool srcb_broadcast;    /* UNPACR's bit 5 broadcasts a row of SrcB */
        bool records_format;    /* a bank given to the Matrix Unit carries the format it was unpacked to */
        bool nop_in_fields;     /* UNPACR_NOP has fields; else one number of 23 bits */
        uint16_t message_clear; /* STREAM_MSG_DATA_CLEAR_REG_INDEX of the public overlay parameters */
        bool dst_wants_srca;    /* unpacking to Dst must be followed by an unpack to SrcA (TEN-3868) */
    } unpack;

    struct {
        uint8_t count;           /* packers */
        bool interfaces;         /* one packer with four Dst read interfaces: PACR names rows */
        uint8_t rows_per_cycle;  /* of Dst, by each packer */
        uint8_t lines_per_cycle; /* of 16 bytes, to L1, by each packer */
        uint8_t accumulate;      /* accumulating a line in L1 takes as long as writing this many */
        bool output_in_bytes;    /* channel 1's strides count bytes; else units of 16 bytes, in multiples of 16 */
        bool fp16_from_f8;       /* Round_10b_mant converts FP32 and BF16 to FP16 */
        bool setreg_data;        /* PACR_SETREG writes 32 bits set by an earlier one */
    } pack;

    bool rdcfg_holds_thread;     /* until its result is written */
    uint16_t config_words;       /* per bank */
    uint16_t config_global_from; /* GLOBAL_CFGREG_BASE_ADDR32 */
    uint16_t thread_config_words;
    uint16_t config_prefetch; /* word of RISC_PREFETCH_CTRL */

    struct {
        bool streams_done_level;  /* streams that are done raise a level; else an edge */
        uint8_t streams_done_irq; /* the interrupt raised by them */
        bool stream_phases;       /* phases of streams to DRAM raise edges, too */
    } interrupts;
    bool array_read_blanks; /* the debug registers show undefined rows of Dst as zero; else their bits (ttsim) */

    struct {
        uint16_t flit_bytes;    /* a packet is one flit of header and up to 256 of data */
        uint16_t stride;        /* between the NIU's request initiators */
        uint8_t buffer_flits;   /* of one packet in one router */
        uint8_t dram_line;      /* a DRAM channel writes this many bytes at once; 0: any */
        uint8_t dram_alignment; /* addresses in DRAM and L1 must be equal modulo this */
        bool wide_addresses;    /* coordinates have separate words, addresses 64 bits */
        bool inline_to_l1;      /* inline writes to L1 are safe */
        bool posted_atomics;    /* atomic requests without acknowledgement are safe */
        bool writes_back;       /* translated coordinates replace those that software wrote */
        bool zaamo;             /* the atomic operations of Zaamo, and additions in many formats */
    } noc;

    struct {
        uint8_t frame;    /* bytes on the wire besides what a raw frame carries: header, CRC, gap */
        uint8_t header;   /* … and of a TT-link packet's own header */
        uint8_t l1_bytes; /* read or written per cycle */
    } eth;

    wg_timing timing[2]; /* per wg_profile */
};
typedef struct wg_arch wg_arch;

enum { WG_ARCHS = 2 };
extern const wg_arch wg_arch_bh, wg_arch_wh;
extern const wg_arch *const wg_archs[WG_ARCHS]; /* by wg_arch_id */
static inline const wg_arch *wg_arch_of(wg_arch_id id) { return wg_archs[id]; }
static inline bool wg_arch_known(unsigned id) { return id < WG_ARCHS; }

/* Find an architecture by `name`, or by the name in tt-metal's files; upper and lower case are the same. */
bool wg_arch_by_name(const char *name, size_t length, wg_arch_id *id);
bool wg_arch_by_metal_name(const char *name, size_t length, wg_arch_id *id);

/* STALLWAIT's condition mask, which begins at bit 0 and is as wide as the architecture has conditions. */
static inline uint32_t wg_wait_conditions(const wg_arch *arch, uint32_t word)
{
    return word & ((1u << arch->wait_condition_bits) - 1u);
}

#endif
