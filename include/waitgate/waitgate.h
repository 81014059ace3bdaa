/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waitgate: an emulator of Tenstorrent's Tensix tile (Blackhole A0, Wormhole B0).
 *
 * The library has no globals, never prints, never exits and never aborts. Every call that can
 * fail returns a wg_status; wg_error() then holds one readable sentence. Devices are independent
 * of each other; one device must not be used from two host threads at the same time.
 *
 * Time is a 64-bit cycle count per device. Between two calls the device is at a cycle boundary:
 * the next cycle sees a call's writes, and a call reads the state after the last cycle.
 */
#ifndef WAITGATE_WAITGATE_H
#define WAITGATE_WAITGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <waitgate/event.h>
#include <waitgate/finding.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WG_API __attribute__((visibility("default")))
#else
#define WG_API
#endif

#define WG_API_VERSION 1

typedef struct wg_device wg_device;

typedef enum wg_status {
    WG_OK = 0,
    WG_ERR_ARGUMENT,    /* a value no device could accept */
    WG_ERR_NO_MEMORY,   /* the host is out of memory */
    WG_ERR_ADDRESS,     /* nothing is mapped there, or the range leaves the region */
    WG_ERR_UNSUPPORTED, /* documented but not implemented; wg_error() names it */
    WG_ERR_SNAPSHOT,    /* not a snapshot, or from another version, architecture or shape */
    WG_ERR_STATE        /* the call does not fit the device's state */
} wg_status;

typedef enum wg_arch_id { WG_ARCH_BH = 0, WG_ARCH_WH = 1 } wg_arch_id;
/* Timing: as measured on silicon where known and as documented elsewhere, or only as documented. */
typedef enum wg_profile {
    WG_PROFILE_SILICON = 0,
    WG_PROFILE_DOCUMENTED = 1,
    WG_PROFILE_DEFAULT = WG_PROFILE_SILICON
} wg_profile;

/* Core indices (PIPE-01). Tensix thread i is fed by core WG_CORE_T0 + i. */
typedef enum wg_core_id {
    WG_CORE_B,
    WG_CORE_NC,
    WG_CORE_T0,
    WG_CORE_T1,
    WG_CORE_T2,
    WG_CORE_E0 = 0, /* of an Ethernet tile; Wormhole's has only this one */
    WG_CORE_E1
} wg_core_id;
enum { WG_CORES = 5, WG_THREADS = 3 };

typedef struct wg_device_desc {
    uint32_t struct_size; /* sizeof(wg_device_desc): a caller that knows fewer fields gets 0 for the others */
    wg_arch_id arch;
    wg_profile profile;
    uint64_t seed;         /* 0: unperturbed; anything else names one repeatable perturbed run */
    bool lockstep;         /* tick every agent in every cycle (also: WAITGATE_LOCKSTEP=1 in the CLI) */
    const char *shortcuts; /* as for wg_shortcuts(); NULL: all (also: WAITGATE_FAST in the CLI) */
    /* The highest level of host vector code: "scalar", "avx2", "avx512" or "vnni"; NULL: the best that the host has. Results are the
     * same (also: WAITGATE_SIMD in the CLI). */
    const char *simd;
} wg_device_desc;

/* Why wg_run() returned. */
typedef enum wg_stop {
    WG_STOP_CYCLES, /* the given number of cycles has passed */
    WG_STOP_DONE,   /* every released core is parked and everything has drained */
    WG_STOP_HUNG,   /* nothing can ever move again, and something is not parked */
    WG_STOP_UNTIL,  /* the watched word has the expected value */
    WG_STOP_FINDING /* a finding at or above the stop level was recorded */
} wg_stop;

/* Life cycle. */
WG_API wg_status wg_create(const wg_device_desc *desc, wg_device **out);
WG_API void wg_destroy(wg_device *dev);
WG_API wg_status wg_reset(wg_device *dev);
WG_API const char *wg_error(const wg_device *dev);
WG_API const char *wg_status_text(wg_status status);
WG_API const char *wg_version(void);

/*
 * Perturbation: points where extra cycles may be added within the freedom of the hardware. An event is a site, an
 * agent and that agent's event number there, as WG_EV_DELAYED reports them.
 */
typedef enum wg_site {
    WG_SITE_ACCEPT,    /* by thread: an instruction at the Wait Gate; event: its id */
    WG_SITE_COMPLETE,  /* by unit: an instruction's completion; event: its id << 2 | its thread, or a count */
    WG_SITE_TRAVEL,    /* by core, or Scalar Unit: a memory request in transit; event: a count */
    WG_SITE_FIFO_TAKE, /* by thread: an instruction leaves the FIFO; event: its id */
    WG_SITE_NOC_HOP,
    WG_SITE_COUNT
} wg_site;
typedef struct wg_delay {
    uint32_t struct_size; /* sizeof(wg_delay); all of a list have the first one's */
    uint32_t cycles;      /* at most WG_MAX_DELAY */
    uint64_t event;
    uint8_t site, agent;
    uint16_t tile; /* of waitgate's own lists for chips; ignored by wg_perturb_with() */
} wg_delay;
enum { WG_MAX_DELAY = 1 << 20 };
/*
 * Perturbs from now on by exactly these delays, or, with `delays` NULL, by those that the seed draws (0: by none).
 * The list is copied. With a list, the seed still decides everything but delays (such as flushes of an L0 cache).
 */
WG_API wg_status wg_perturb_with(wg_device *dev, uint64_t seed, const wg_delay *delays, size_t count);
WG_API const char *wg_site_name(unsigned site);

/*
 * Shortcuts make a run faster and change neither state nor timing. `names`: NULL for all of them, "none", a list ("rounds,polls":
 * only these, and those that they need), or a list of exceptions ("-bursts": all but these). wg_shortcut_name() lists them.
 */
WG_API wg_status wg_shortcuts(wg_device *dev, const char *names);
WG_API const char *wg_shortcut_name(unsigned index);                    /* NULL after the last */
WG_API uint64_t wg_shortcut_uses(const wg_device *dev, unsigned index); /* number of uses since creation */
/*
 * The number of cycles it covered; those of a core count for each core, and a cycle may belong to several shortcuts. 0 of a
 * shortcut that makes no cycle faster than another, such as not to decode an instruction again.
 */
WG_API uint64_t wg_shortcut_cycles(const wg_device *dev, unsigned index);

/* Time. */
WG_API uint64_t wg_cycle(const wg_device *dev);
/* Runs for at most `cycles`; returns earlier when the run is done, hung or told to stop. */
WG_API wg_status wg_run(wg_device *dev, uint64_t cycles, wg_stop *stop);
/* Advances by exactly `cycles`, even if idle: for a host whose next action may wake an idle device. */
WG_API wg_status wg_advance(wg_device *dev, uint64_t cycles);
/* wg_run() also stops when (word at L1 address & mask) == value. Mask 0 switches the watch off. */
WG_API wg_status wg_until(wg_device *dev, uint32_t address, uint32_t value, uint32_t mask);
/* Stops at the first finding of this severity or above; WG_SEVERITY_NEVER: at none. */
WG_API void wg_stop_on(wg_device *dev, wg_severity at);

/* Cores. Released cores start at their reset vector (or at the entry given here). */
WG_API wg_status wg_core_release(wg_device *dev, wg_core_id core, uint32_t entry);
WG_API wg_status wg_core_hold(wg_device *dev, wg_core_id core);
typedef struct wg_core_info {
    uint32_t pc;
    bool in_reset;
    bool parked; /* in reset, at ebreak/ecall, or at a branch to itself */
    uint64_t instructions;
    wg_stall stall; /* the reason of its stall, if any */
} wg_core_info;
WG_API wg_status wg_core_state(wg_device *dev, wg_core_id core, wg_core_info *out);

/*
 * Memory as the NoC and the host see it: L1 and the tile's NoC-visible registers. These go
 * through the same address map as hardware accesses, at the cycle boundary, taking no time.
 */
WG_API uint32_t wg_l1_bytes(const wg_device *dev);
WG_API wg_status wg_read(wg_device *dev, uint64_t address, void *to, size_t bytes);
WG_API wg_status wg_write(wg_device *dev, uint64_t address, const void *from, size_t bytes);

/*
 * Any architectural state, by space and index, without side effects, for debuggers.
 * `index` counts elements; values are zero-extended into 32 bits.
 */
typedef enum wg_space {
    WG_SPACE_L1,            /* bytes */
    WG_SPACE_CORE_X,        /* core * 32 + register */
    WG_SPACE_CORE_F,        /* core * 32 + register */
    WG_SPACE_CORE_PC,       /* core */
    WG_SPACE_CORE_CSR,      /* core << 12 | csr */
    WG_SPACE_CORE_RAM,      /* core << 16 | byte offset */
    WG_SPACE_GPR,           /* thread * 64 + register */
    WG_SPACE_CONFIG,        /* bank << 16 | word */
    WG_SPACE_THREAD_CONFIG, /* thread << 16 | word */
    WG_SPACE_SEM_VALUE,     /* semaphore */
    WG_SPACE_SEM_MAX,       /* semaphore */
    WG_SPACE_MUTEX,         /* mutex index; 0 free, else holder thread + 1 */
    WG_SPACE_DST,           /* row * 16 + column, the 16-bit view */
    WG_SPACE_DST32,         /* row * 16 + column, the 32-bit view */
    WG_SPACE_SRCA,          /* (bank * 64 + row) * 16 + column */
    WG_SPACE_SRCB,
    WG_SPACE_SRC_OWNER, /* 0 SrcA bank 0, 1 SrcA bank 1, 2 SrcB bank 0, 3 SrcB bank 1: 0 unpackers, 1 Matrix Unit */
    WG_SPACE_LREG,      /* register * 32 + lane */
    WG_SPACE_ADC,       /* (thread * 3 + unit) * 16 + counter; see docs/api.md */
    WG_SPACE_RWC,       /* thread * 16 + counter; see docs/api.md */
    WG_SPACE_MOP_CFG,   /* thread * 9 + word */
    WG_SPACE_CORE_V,    /* (core * 32 + register) * 4 + word */
    WG_SPACE_COUNT
} wg_space;
WG_API wg_status wg_peek(wg_device *dev, wg_space space, uint32_t index, uint32_t *value);
WG_API wg_status wg_poke(wg_device *dev, wg_space space, uint32_t index, uint32_t value);

/* Pushes a Tensix word as core T<thread> would, if its FIFO has room; WG_ERR_STATE if it is full. */
WG_API wg_status wg_push(wg_device *dev, unsigned thread, uint32_t word);
/*
 * As wg_push(), with a number that replaces the pc of the push in events, findings and reports, such as WG_HOST_PC + a line
 * of the host's program. No core executes from there.
 */
#define WG_HOST_PC UINT32_C(0xE0000000)
#define WG_IS_HOST_PC(pc) ((pc) >> 28 == WG_HOST_PC >> 28)
WG_API wg_status wg_push_from(wg_device *dev, unsigned thread, uint32_t word, uint32_t pc);

/* Observers: called in the order (cycle, phase, agent, sequence). Attaching one changes no state. */
typedef void (*wg_observer_fn)(void *user, const wg_event *event);
WG_API wg_status wg_observe(wg_device *dev, uint64_t kinds, wg_observer_fn fn, void *user, int *id);
WG_API void wg_unobserve(wg_device *dev, int id);

/* As wg_agent_name(), of this device: the cores of an Ethernet tile are E0 and E1 (Blackhole) or E (Wormhole). NULL: of a
 * Tensix tile. */
WG_API const char *wg_agent_name_of(const wg_device *dev, unsigned agent);

/* Findings, oldest first; equal ones (code, agent, pc, word) are one record with a count. */
WG_API size_t wg_finding_count(const wg_device *dev);
WG_API const wg_finding *wg_finding_at(const wg_device *dev, size_t index);
WG_API void wg_findings_clear(wg_device *dev);

/*
 * Snapshots: a copy of all state with a version and a checksum. One that is damaged, forged or from another build is refused,
 * and the device is unchanged.
 */
WG_API size_t wg_snapshot_size(const wg_device *dev);
WG_API wg_status wg_snapshot(wg_device *dev, void *to, size_t bytes);
WG_API wg_status wg_restore(wg_device *dev, const void *from, size_t bytes);
/* A hash of all architectural state, equal for equal states whatever the host, threads or observers. */
WG_API uint64_t wg_state_hash(wg_device *dev);

#ifdef __cplusplus
}
#endif
#endif
