/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line's additions to the core library: ELF files with their symbols and source lines, arrays of numbers in L1's
 * formats, and the commands themselves.
 *
 * These functions are in libwaitgate_tools, which contains all of libwaitgate: link only one of the two. It needs
 * libelf, libdw and libyaml.
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
