/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line's additions to the core library: ELF files with their symbols and source lines, arrays of numbers in L1's
 * formats, and the commands themselves.
 *
 * These functions are in libwaitgate_tools, which contains all of libwaitgate: link only one of the two. It needs
 * libelf, libdw, libyaml, libedit, libzstd and libopcodes.
 */
#ifndef WAITGATE_TOOLS_H
#define WAITGATE_TOOLS_H

#include <waitgate/asm.h>
#include <waitgate/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- ELF files ---- */

typedef struct wg_elf wg_elf;

/* On failure NULL, and a message in `error`, without a newline, that names the file. The bytes are copied. */
WG_API wg_elf *wg_elf_open_file(const char *path, char *error, size_t error_bytes);
WG_API wg_elf *wg_elf_open(const char *name, const void *bytes, size_t count, char *error, size_t error_bytes);
WG_API void wg_elf_close(wg_elf *elf);
WG_API uint32_t wg_elf_entry(const wg_elf *elf);
/* False: there is no such symbol. */
WG_API bool wg_elf_find(const wg_elf *elf, const char *name, uint32_t *address, uint32_t *bytes);
/*
 * Loads it into the device, like loaders for the real tile: segments go to L1, to the core's own RAM, on Wormhole to NC's
 * instruction RAM. With `release` the core leaves reset first and starts at the entry. On failure there is a sentence in
 * `error`.
 */
WG_API wg_status wg_elf_load(wg_elf *elf, wg_device *dev, wg_core_id core, bool release, char *error,
                             size_t error_bytes);
/* A wg_source_fn (report.h): `elfs` is an array of WG_CORES pointers, NULL for a core without a file. */
WG_API bool wg_elf_source(void *elfs, unsigned core, uint32_t pc, wg_source *out);

/* ---- RISC-V ---- */

/*
 * An instruction of a core as text, always terminated if size > 0: the Tensix instruction that a `.ttinsn` word pushes, or a
 * RISC-V instruction, with branch targets as addresses. Returns the full length.
 */
WG_API size_t wg_core_disassemble(wg_arch_id arch, uint32_t pc, uint32_t word, char *out, size_t size);
/*
 * Assembles and links RISC-V assembly, with Tensix mnemonics in it, as in a `.core` section of a .tasm program: its first
 * instruction is at `address`. `name` stands in messages and source lines. The RISC-V binutils do it, in TMPDIR or
 * /tmp; where they are not installed, a small assembler without floating point does. One thread at a time. NULL: *errors has the messages, as waitgate prints them; wg_free() it. `errors` may be NULL.
 */
WG_API wg_elf *wg_core_assemble(wg_arch_id arch, const char *name, const char *source, uint32_t address, char **errors);

/* ---- Arrays ---- */

/*
 * Numbers to L1's bytes and back. `type` is a name as for --load: "bf16", "fp32", "bfp8", "int32" … Rounding is to nearest,
 * ties to even. Tilized: rows × columns in 32 × 32 tiles of four 16 × 16 faces. wg_encode_array() writes at most `bytes` and
 * returns the full size; 0: there is no such type, the shape does not fit it, or there is no memory. wg_decode_array()
 * requires exactly that many bytes.
 */
WG_API size_t wg_encode_array(const char *type, bool tilized, const float *from, size_t rows, size_t columns, void *to,
                              size_t bytes);
WG_API bool wg_decode_array(const char *type, bool tilized, const void *from, size_t bytes, float *to, size_t rows,
                            size_t columns);

/* ---- Programs ---- */

/*
 * A run whose time the caller advances: a .tasm program, ELF files, a chip file or a cluster file, loaded as by the commands run,
 * check, trace, profile and report, with their options. Meanwhile everything can be observed, read and changed.
 *
 *     open ──device, chip or cluster──► wg_program_run() … ──► wg_program_end() ──► the command's exit status, files and report
 */
typedef struct wg_program wg_program;

/*
 * Loads what `waitgate WORDS…` would run; no time passes. `tasm` is the text of the program that is called "-" in the words; NULL: it
 * is standard input. Options that save snapshots are refused: take them with wg_snapshot(). NULL: *errors has the messages, as
 * waitgate prints them; wg_free() it. `errors` may be NULL.
 */
WG_API wg_program *wg_program_open(size_t count, const char *const *words, const char *tasm, char **errors);
/* The tile, the chip, or the cluster: the others are NULL. They belong to the program. Advance their time by wg_program_run() alone. */
WG_API wg_device *wg_program_device(wg_program *program);
WG_API struct wg_grid *wg_program_chip(wg_program *program);
WG_API struct wg_cluster *wg_program_cluster(wg_program *program);
WG_API wg_arch_id wg_program_arch(const wg_program *program);
/* The file that a core begins with; `chip`: of a cluster; x and y: of a chip or cluster. NULL: none. */
WG_API wg_elf *wg_program_elf(wg_program *program, unsigned chip, unsigned x, unsigned y, wg_core_id core);
/* A wg_source_fn (report.h) with a program of one tile as its user; it also knows the lines of a .tasm program. */
WG_API bool wg_program_source(void *program, unsigned core, uint32_t pc, wg_source *out);
/*
 * As wg_run(), and pushes the streams of a .tasm program. Conditions in the file and options such as --until and --max-cycles end
 * the run, too. WG_ERR_STATE: there is a sentence in wg_program_error().
 */
WG_API wg_status wg_program_run(wg_program *program, uint64_t cycles, wg_stop *stop);
WG_API const char *wg_program_error(const wg_program *program);
/*
 * Once, after the last wg_program_run(): expectations are checked and files written. A program that could still run ended at a
 * limit. Returns the exit status of the command. What it ran on can be read until wg_program_close().
 */
WG_API int wg_program_end(wg_program *program, char **errors);
/* Of a program that has ended: the command's report, as text or as --json has it; wg_free() it. NULL: its end has failed. */
WG_API char *wg_program_report(wg_program *program, bool json);
WG_API void wg_program_close(wg_program *program);

/* ---- Watching ---- */

/*
 * Traces, logs, profiles, timelines and reports of a run that the caller drives: a device, or tiles of a chip.
 *
 *     begin ──tiles, programs──► wg_run() … ──end──► profile, timeline, report
 *
 * A watch changes nothing of the run. It takes up to seven of a device's eight observers until it ends. The device or chip must
 * outlive it.
 */
typedef struct wg_watch wg_watch;
typedef struct wg_watch_desc {
    uint32_t struct_size; /* sizeof(wg_watch_desc) */
    wg_device *device;    /* a tile alone … */
    struct wg_grid *grid; /* … or a chip, whose tiles are named by wg_watch_tile() */
    const char *title;    /* what reports call the run; NULL: "host" */
    const char *trace; /* files as for --trace and --log, by their names .json, .pftrace, .kanata, .zst; NULL: none */
    const char *log;
    bool profile; /* wg_watch_profile(), wg_watch_report() */
    bool timeline;
    bool stats;          /* wg_watch_statistics() */
    const char *what_if; /* WHAT=FACTOR,… as for `waitgate profile --what-if`: the run has these costs; NULL: its own */
    const char *from,
        *to; /* the profile's part of the run, as for --from and --to, of each tile by itself; NULL: all of it */
} wg_watch_desc;
/* NULL: there is a sentence in `error`. */
WG_API wg_watch *wg_watch_begin(const wg_watch_desc *desc, char *error, size_t error_bytes);
/* Watches a tile of the chip, too. */
WG_API bool wg_watch_tile(wg_watch *watch, unsigned x, unsigned y, char *error, size_t error_bytes);
/* Functions and lines of a core: of one tile, or of all if both coordinates are WG_ANYWHERE. The file must outlive the watch. */
enum { WG_ANYWHERE = 0xFF };
WG_API bool wg_watch_elf(wg_watch *watch, unsigned x, unsigned y, wg_core_id core, wg_elf *elf);
/*
 * Of a chip: asked when a core begins to execute code that no given file has, and again when it returns to code that was found: the file of
 * that code, and in *address where in the file `pc` is; NULL: unknown. Set it before the first wg_watch_tile(). Kernels at the
 * same place one after the other share their cycles, under the lines of the last one.
 */
typedef wg_elf *(*wg_watch_finder)(void *user, unsigned x, unsigned y, wg_core_id core, uint32_t pc, uint32_t *address);
WG_API void wg_watch_find(wg_watch *watch, wg_watch_finder find, void *user);
/* Ends it at the present cycle; the files are complete. False: there is a sentence in `error`. */
WG_API bool wg_watch_end(wg_watch *watch, char *error, size_t error_bytes);
/* Of a watch that has ended: tables, or JSON as `waitgate profile --json` prints it; wg_free() it. NULL: none, or no memory. */
WG_API char *wg_watch_profile(wg_watch *watch, bool json);
WG_API char *wg_watch_timeline_text(wg_watch *watch);
/* As `waitgate run --stats` prints them; as JSON, with --json. */
WG_API char *wg_watch_statistics(wg_watch *watch, bool json);
/* The page of `waitgate report`. */
WG_API bool wg_watch_report(wg_watch *watch, const char *path, char *error, size_t error_bytes);
WG_API void wg_watch_free(wg_watch *watch);

/* ---- Commands ---- */

/*
 * `waitgate WORDS…`: run, check, explore, profile, test and all others, with --json for programs. Returns the exit status.
 * The command's output is returned in *out and *error; free them with wg_free(). NULL: there is no memory. While a
 * command runs, SIGINT ends it with the report of its state.
 */
WG_API int wg_run_command(size_t count, const char *const *words, char **out, char **error);
WG_API void wg_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
