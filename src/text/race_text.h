/* SPDX-License-Identifier: Apache-2.0 */
/* A race as text in the style of ThreadSanitizer and as JSON: for the command line and for the libttsim ABI. */
#ifndef WG_RACE_TEXT_H
#define WG_RACE_TEXT_H

#include <waitgate/report.h>

#include "elf/elf.h"
#include "explain/race.h"
#include "text/excerpt.h"
#include "text/text.h"

/* Information that only the caller that runs the programs has; any of the functions may be NULL. */
typedef struct wg_race_words {
    wg_arch_id arch;
    void *user;
    unsigned width; /* of the chip: tile i is at x = i % width, y = i / width; 0: there is no chip */
    void *(*of_tile)(void *user, unsigned tile); /* the `user` for parties on that tile; NULL: it is not known */
    wg_source_fn source;
    const wg_device *dev; /* whose agents findings name; NULL: those of a Tensix tile */
    bool (*core_word)(void *user, uint32_t pc, uint32_t *word); /* code of the cores */
    const char *delays; /* what precedes the delays of a witness; NULL: the option of the command line */
} wg_race_words;

/* The party's location; false: not known. */
bool wg_race_source(const wg_race_words *w, const wg_race_party *p, wg_source *out);
/* From an ELF file's information about a pc; symbol and line may be NULL. */
wg_source wg_source_of(uint32_t pc, const wg_elf_symbol *symbol, const wg_elf_line *line, const wg_elf_call *call,
                       unsigned calls);
/* "main+0x1c (kernel.c:42)", "post (sync.h:7), inlined into main+0x1c (kernel.c:42)"; "" if nothing is known. Returns `room`. */
const char *wg_source_text(const wg_source *source, char *room, size_t bytes);
/* The members of an object that is open: function, file, line, column, snippet, the calls that are inlined. */
void wg_source_json(const wg_source *source, wg_excerpts *excerpts, wg_json *j);
/* The array "inlined"; omitted if empty. */
void wg_source_calls_json(const wg_source *source, wg_json *j);
/* "core B", "NIU 0, request of core B of tile 3-2". Returns `room`. */
const char *wg_race_who(const wg_race_words *w, const wg_race_party *p, char *room, size_t bytes);
/* The party's instruction; "" if it is not known. Both return `room`. */
const char *wg_race_insn_text(const wg_race_words *w, const wg_race_party *p, char *room, size_t bytes);
const char *wg_race_place_text(const wg_race_words *w, const wg_race_party *p, char *room, size_t bytes);
/* The short form, for a race that is graded unordered: both parties and the location in a line, the remedy in another. */
void wg_race_line(const wg_race_words *w, const wg_race *race, wg_text *out);
void wg_race_text(const wg_race_words *w, const wg_race *race, wg_text *out);
/* The members of an object that the caller opens and closes. */
void wg_race_json(const wg_race_words *w, const wg_race *race, wg_json *j);

#endif
