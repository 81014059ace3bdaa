/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: why a device does not move, and what checks beside a run have found. As text for people, as JSON, and as SARIF
 * 2.1.0 for tools that show results in source code. The command line and the libttsim ABI say the same.
 */
#ifndef WAITGATE_REPORT_H
#define WAITGATE_REPORT_H

#include <waitgate/waitgate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a pc is in the source. What is not known is NULL or 0. The texts live as long as whoever knows them. */
enum { WG_SOURCE_CALLS = 8 };
typedef struct wg_source {
    const char *function;
    uint32_t offset; /* of the pc in the function */
    const char *file;
    unsigned line;
    unsigned column; /* from 1 on; 0: not known */
    /* The inlined functions that the pc is in, innermost first, and where each is called. */
    unsigned calls;
    struct {
        const char *function, *file;
        unsigned line;
    } call[WG_SOURCE_CALLS];
} wg_source;
/* False: nothing is known. A pc from WG_HOST_PC on is what wg_push_from() was told. */
typedef bool (*wg_source_fn)(void *user, unsigned core, uint32_t pc, wg_source *out);

typedef enum wg_report_form { WG_REPORT_TEXT, WG_REPORT_JSON, WG_REPORT_SARIF } wg_report_form;
typedef struct wg_report_desc {
    uint32_t struct_size; /* sizeof(wg_report_desc): a caller that knows fewer fields gets 0 for the others */
    wg_report_form form;
    wg_source_fn source; /* NULL: places are addresses */
    void *user;
    unsigned width; /* of lines of text; 0: 100 */
} wg_report_desc;

/*
 * Why it does not move: the verdict, who waits for whom, the state. Of a device that can still move, the state. Writes at
 * most `bytes`, terminated, and returns the length of the whole report; 0: there is no memory, or no room for its end.
 * `desc` NULL: text, without places.
 */
WG_API size_t wg_hang_report(wg_device *dev, const wg_report_desc *desc, char *to, size_t bytes);

/* Checks beside a run. */
typedef struct wg_check wg_check;
enum {
    WG_CHECK_RACE = 1,   /* touches that nothing orders */
    WG_CHECK_MEMORY = 2, /* accesses outside of what a core was given */
    WG_CHECK_INIT = 4,   /* values that nobody has written */
    WG_CHECK_SYNC = 8,   /* what is left over at the end: semaphores, mutexes, mailboxes, requests */
    WG_CHECK_ALL = 15
};
/* Watches the device from now on; before its programs are loaded, so that what the host writes counts as written. */
WG_API wg_status wg_check_begin(wg_device *dev, unsigned checks, wg_check **out);
/* How many reports of at least this severity there are by now. The device must be there still. */
WG_API size_t wg_check_count(wg_check *check, wg_severity at_least);
/* As wg_hang_report(). */
WG_API size_t wg_check_report(wg_check *check, const wg_report_desc *desc, char *to, size_t bytes);
/* Before the device is destroyed. */
WG_API void wg_check_end(wg_check *check);

#ifdef __cplusplus
}
#endif
#endif
