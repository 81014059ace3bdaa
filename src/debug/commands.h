/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the prompt: their arguments, and those that show something (show.c, show_registers.c). */
#ifndef WG_DEBUG_COMMANDS_H
#define WG_DEBUG_COMMANDS_H

#include "debug/debug.h"

typedef struct wg_command {
    const char *name, *arguments, *help;
    void (*run)(wg_debug *d, wg_who who, const char *rest, wg_text *out);
} wg_command;

#define WG_BLANKS " \t\r\n"
/* The next word of a line; advances past it. */
const char *wg_word(const char **rest, size_t *length);
bool wg_number(const char **rest, uint64_t *value); /* false: there is none, and *rest is unchanged */
bool wg_is_word(const char *word, size_t length, const char *name);

void wg_show_where(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_pipelines(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_registers(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_memory(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_code(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_semaphores(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_gprs(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_dst(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_srca(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_srcb(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_lreg(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_config(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_noc(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_buffers(wg_debug *d, wg_who who, const char *rest, wg_text *out);
void wg_show_findings(wg_debug *d, wg_who who, const char *rest, wg_text *out);

#endif
