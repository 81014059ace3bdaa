/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: why a device does not move, and the results of checks. As text for people, as JSON, and as SARIF 2.1.0 for tools
 * that show results in source code. The command line and the libttsim ABI give the same reports.
 */
#ifndef WAITGATE_REPORT_H
#define WAITGATE_REPORT_H

#include <waitgate/waitgate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The source location of a pc. Unknown members are NULL or 0. The strings live as long as their provider. */
enum { WG_SOURCE_CALLS = 8 };
typedef struct wg_source {
    uint32_t struct_size; /* set by the side that asks to its sizeof(wg_source): no member beyond it is to be set */
    const char *function;
    uint32_t offset; /* of the pc in the function */
    const char *file;
    unsigned line;
    unsigned column; /* from 1 on; 0: not known */
    /* The inlined functions that contain the pc, innermost first, with the location of each call. */
    unsigned calls;
    struct {
        const char *function, *file;
        unsigned line;
    } call[WG_SOURCE_CALLS];
} wg_source;
/* False: nothing is known. A pc from WG_HOST_PC on was given to wg_push_from(). */
typedef bool (*wg_source_fn)(void *user, unsigned core, uint32_t pc, wg_source *out);

typedef enum wg_report_form { WG_REPORT_TEXT, WG_REPORT_JSON, WG_REPORT_SARIF } wg_report_form;
typedef struct wg_report_desc {
    uint32_t struct_size; /* sizeof(wg_report_desc): a caller that knows fewer fields gets 0 for the others */
    wg_report_form form;
    wg_source_fn source; /* NULL: places are addresses */
    void *user;
    unsigned width; /* of lines of text; 0: 100 */
    /* Of a chip: the `user` of `source` for a tile, NULL if its places are addresses. NULL: `user` for all tiles. */
    void *(*of_tile)(void *user, unsigned x, unsigned y);
} wg_report_desc;

/*
 * Why it does not move: the verdict, the waits, the state. For a device that can still move: only the state. Writes at most
 * `bytes`, terminated, and returns the full length of the report; 0: there is no memory, or no room for the terminator.
 * `desc` NULL: text, without places.
 */
WG_API size_t wg_hang_report(wg_device *dev, const wg_report_desc *desc, char *to, size_t bytes);

/*
 * The same for a chip: if several tiles are involved, the verdict over them, then each tile that waits. No tile advances.
 */
struct wg_grid;
WG_API size_t wg_grid_hang_report(struct wg_grid *grid, const wg_report_desc *desc, char *to, size_t bytes);

/* Checks of a run. */
typedef struct wg_check wg_check;
enum {
    WG_CHECK_RACE = 1,   /* touches that nothing orders */
    WG_CHECK_MEMORY = 2, /* accesses to memory that does not belong to the core */
    WG_CHECK_INIT = 4,   /* uninitialised values */
    WG_CHECK_SYNC = 8,   /* leftovers at the end: semaphores, mutexes, mailboxes, requests */
    WG_CHECK_ALL = 15
};
/* Observes the device from now on. Call it before programs are loaded, so that the host's writes count. */
WG_API wg_status wg_check_begin(wg_device *dev, unsigned checks, wg_check **out);
/*
 * Of a chip: it watches no tile yet. A tile is checked from its wg_check_tile() on, which comes before its programs are loaded.
 * Order between tiles comes from the packets that they exchange.
 */
WG_API wg_status wg_grid_check_begin(struct wg_grid *grid, unsigned checks, wg_check **out);
WG_API wg_status wg_check_tile(wg_check *check, unsigned x, unsigned y);
/* The current number of reports of at least this severity. The device must still exist. */
WG_API size_t wg_check_count(wg_check *check, wg_severity at_least);
/* As wg_hang_report(). */
WG_API size_t wg_check_report(wg_check *check, const wg_report_desc *desc, char *to, size_t bytes);
/* Call it before the device is destroyed. */
WG_API void wg_check_end(wg_check *check);

#ifdef __cplusplus
}
#endif
#endif
