/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debugger of a device or of a chip: breakpoints, watchpoints, steps, forwards and backwards.
 *
 * Everything stops between two cycles, all tiles at once. Going back is going forward again: the machine is
 * deterministic, so a checkpoint and the cycles after it give the state of any earlier cycle exactly. While a debugger is
 * open, only it may advance time; a caller that changes the machine by other functions must call wg_debug_changed().
 */
#ifndef WAITGATE_DEBUG_H
#define WAITGATE_DEBUG_H

#include <waitgate/chip.h>
#include <waitgate/report.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wg_debug wg_debug;

/* The agent to step or inspect: a core (WG_AGENT_CORE_B …) or a Tensix thread (WG_AGENT_THREAD0 …) of a tile. */
typedef struct wg_who {
    uint8_t x, y; /* of a chip's tile; 0 for a single device */
    uint8_t agent;
} wg_who;
enum { WG_WHO_OF_TILE = WG_CORES + WG_THREADS }; /* agents from WG_AGENT_CORE_B on */

/*
 * A host that acts on the machine while time advances: pushes words, writes memory. Its actions must depend only on its own
 * state and the machine's. `advance` runs up to `cycle` and sets *stop to WG_STOP_CYCLES; otherwise *stop is the reason to
 * stop earlier (WG_STOP_CYCLES before `cycle`: a limit). `save` and `load` copy its state, `bytes` long.
 */
typedef struct wg_debug_host {
    uint32_t struct_size; /* sizeof(wg_debug_host): a caller that knows fewer fields gets 0 for the others */
    size_t bytes;
    wg_status (*advance)(void *user, uint64_t cycle, wg_stop *stop);
    void (*save)(void *user, void *to);
    void (*load)(void *user, const void *from);
} wg_debug_host;

typedef struct wg_debug_desc {
    uint32_t struct_size; /* sizeof(wg_debug_desc): a caller that knows fewer fields gets 0 for the others */
    wg_device *device;    /* one of these two */
    wg_grid *grid;
    uint64_t history;                /* bytes of host memory for going back; 0: going back is impossible */
    const wg_debug_host *host;       /* NULL: nobody */
    void *user;                      /* of `host` and `interrupted` */
    bool (*interrupted)(void *user); /* called now and then while time advances; true: stop. May be NULL */
    wg_source_fn source;             /* NULL: places are addresses */
    void *source_user;
    void *(*of_tile)(void *source_user, unsigned x,
                     unsigned y); /* `user` argument of `source` for a tile; NULL: source_user */
} wg_debug_desc;

/* Why it has stopped. */
typedef enum wg_pause {
    WG_PAUSE_STEP,      /* the requested step is done */
    WG_PAUSE_BREAK,     /* `who` is about to execute a breakpoint's instruction */
    WG_PAUSE_WATCH,     /* `who` has touched a watched location; going back: is about to */
    WG_PAUSE_UNTIL,     /* a condition of wg_debug_until() holds */
    WG_PAUSE_INTERRUPT, /* the user asked */
    WG_PAUSE_ENDED,     /* the run has ended; `stop` says how */
    WG_PAUSE_BEGIN,     /* going back reached the start of the history */
    WG_PAUSE_FAILED     /* wg_debug_error() */
} wg_pause;
typedef struct wg_debug_state {
    wg_pause pause;
    wg_stop stop;
    wg_who who;       /* agent: WG_AGENT_NONE if no particular one */
    uint8_t watch;    /* WG_WATCH_READ, WG_WATCH_WRITE or both, as the watch was set */
    uint32_t address; /* of the watch */
    uint32_t pc;      /* of the access that a watch has seen: the core has gone on since; 0: not known */
    uint64_t cycle;
    uint64_t begins; /* the earliest cycle that going back can reach */
} wg_debug_state;

WG_API wg_status wg_debug_open(const wg_debug_desc *desc, wg_debug **out);
WG_API void wg_debug_close(wg_debug *d);
WG_API const char *wg_debug_error(const wg_debug *d);
WG_API void wg_debug_state_get(const wg_debug *d, wg_debug_state *out);
/* The device behind a tile; NULL if there is none. */
WG_API wg_device *wg_debug_device(wg_debug *d, wg_who who);
/* Tiles with their agents, in order; false after the last. */
WG_API bool wg_debug_tile(wg_debug *d, unsigned index, wg_who *out);
/* The first core that is not held in reset; if there is none, the first Tensix thread. */
WG_API wg_who wg_debug_first(wg_debug *d);

/* Time. Each returns why it stopped; wg_debug_state_get() has the details. */
WG_API wg_pause wg_debug_continue(wg_debug *d);
WG_API wg_pause wg_debug_back(wg_debug *d);
/*
 * Runs until a core has executed an instruction, or a Tensix thread's instruction has passed the Wait Gate; back: to before
 * the last one. Other agents move as well: all share one clock; a breakpoint or watch of theirs that comes first stops the run.
 */
WG_API wg_pause wg_debug_step(wg_debug *d, wg_who who);
WG_API wg_pause wg_debug_step_back(wg_debug *d, wg_who who);
/* Goes to a cycle, forwards or backwards. Forwards, breakpoints and watches stop it. */
WG_API wg_pause wg_debug_go(wg_debug *d, uint64_t cycle);
/* As wg_debug_continue(), up to a cycle; WG_PAUSE_STEP there. */
WG_API wg_pause wg_debug_continue_to(wg_debug *d, uint64_t cycle);

/*
 * From now on, forwards, only this agent moves: the other cores that run are held as the debug interface holds them (of a
 * Tensix thread: all of them), while Tensix threads, units and the NoC work on. Going back repeats what was held when. NULL, and
 * wg_debug_changed(): everybody moves.
 */
WG_API wg_status wg_debug_alone(wg_debug *d, const wg_who *who);

/* Breakpoints apply to all cores that execute there. They do not change memory. */
WG_API wg_status wg_debug_break(wg_debug *d, uint32_t pc, bool set);
/*
 * Watches: bytes at an address as cores see it. L1: touches by any agent, including units and the NoC. A core's own RAM and
 * memory-mapped registers: loads and stores of cores, and every change of what any core sees there, whoever makes it. A store to
 * configuration counts once it has taken effect. `bytes` is 64 at most.
 */
enum { WG_WATCH_READ = 1, WG_WATCH_WRITE = 2 };
WG_API wg_status wg_debug_watch(wg_debug *d, uint32_t address, uint32_t bytes, unsigned how, bool set);

/* Conditions at which wg_debug_continue() and wg_debug_back() stop, in addition to breakpoints and watches. */
typedef enum wg_until_kind {
    WG_UNTIL_NOTHING,
    WG_UNTIL_FINDING,   /* any finding, even if equal to an earlier one */
    WG_UNTIL_SEMAPHORE, /* semaphore `index` gets `value` */
    WG_UNTIL_GATE,      /* an instruction `name` passes a Wait Gate, or is latched there; "": any */
    WG_UNTIL_UNIT,      /* one enters unit `index` (wg_agent) */
    WG_UNTIL_BANK,      /* source bank `index` (0 SrcA0, SrcA1, SrcB0, SrcB1) changes hands */
    WG_UNTIL_NOC        /* a packet leaves this tile, or arrives */
} wg_until_kind;
typedef struct wg_condition {
    uint32_t struct_size; /* sizeof(wg_condition): a caller that knows fewer fields gets 0 for the others */
    wg_until_kind kind;
    uint32_t index, value;
    char name[24]; /* mnemonic, with or without tt; "": any */
} wg_condition;
/* One at a time; WG_UNTIL_NOTHING removes it. */
WG_API wg_status wg_debug_until(wg_debug *d, const wg_condition *condition);

/* State was changed from outside: earlier cycles cannot be replayed. */
WG_API wg_status wg_debug_changed(wg_debug *d);

/* Registers and memory of an agent. A Tensix thread has only a pc: that of the push of the instruction at its gate. */
WG_API bool wg_debug_pc(wg_debug *d, wg_who who, uint32_t *pc);
WG_API wg_status wg_debug_read(wg_debug *d, wg_who who, uint32_t address, void *to, size_t bytes);
WG_API wg_status wg_debug_write(wg_debug *d, wg_who who, uint32_t address, const void *from, size_t bytes);

/*
 * Text. Each writes at most `bytes`, terminated, and returns the full length of the text.
 * A command of the debugger's prompt and of gdb's `monitor`; "help" lists them. `who` is its subject.
 */
WG_API size_t wg_debug_command(wg_debug *d, wg_who who, const char *command, char *to, size_t bytes);
/*
 * The writers of a location of this tile and the origin of their data, found by replaying the history. `of` as for `waitgate
 * why`: "l1:0x3000+4", "dst:5", "srca:0:3", "lreg:2", "gpr:1:8", "config:0:12", "semaphore:1". 0: wg_debug_error().
 */
WG_API size_t wg_debug_why(wg_debug *d, wg_who who, const char *of, wg_report_form form, char *to, size_t bytes);

/*
 * A server of the gdb remote protocol on two file descriptors, which may be the same. wg_gdb_serve() returns when the
 * debugger detaches or disconnects.
 */
typedef struct wg_gdb wg_gdb;
WG_API wg_status wg_gdb_open(wg_debug *d, int in, int out, wg_gdb **server);
/*
 * Before it serves: an ELF file that the cores execute, by its absolute path, and the address of its first segment. gdb reads its symbols, as
 * those of a shared library, when it connects.
 */
WG_API wg_status wg_gdb_symbols(wg_gdb *server, const char *path, uint32_t address);
WG_API void wg_gdb_serve(wg_gdb *server);
/*
 * For a host that advances time itself: advances up to `cycle`, or as far as gdb allows; waits while gdb has stopped the
 * machine. False: the debugger has left before `cycle`.
 */
WG_API bool wg_gdb_advance(wg_gdb *server, uint64_t cycle);
WG_API void wg_gdb_close(wg_gdb *server);

#ifdef __cplusplus
}
#endif
#endif
