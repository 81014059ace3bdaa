/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waitgate explain`: the meaning of a term, from the tables. A topic has rows; text and JSON are generated from them.
 */
#ifndef WG_CLI_EXPLAIN_H
#define WG_CLI_EXPLAIN_H

#include "cli/options.h"

enum { WG_TOPIC_ROWS = 16 };
typedef struct wg_topic {
    const char *kind; /* "instruction", "block bit" … */
    wg_text title;
    unsigned rows;
    const char *label[WG_TOPIC_ROWS];
    wg_text text[WG_TOPIC_ROWS];
} wg_topic;

/*
 * An instruction (STALLWAIT, ttmvmul), a bit of the block mask (B3, STALL_MATH), a condition of STALLWAIT (C4, SRCA_VLD), a
 * reason to wait (latched-wait), a semaphore (MATH_PACK, or `semaphore` and its number). False: none of these; similar names
 * have been collected in `near`.
 */
bool wg_topic_find(wg_topic *topic, wg_arch_id arch, const char *word, wg_near *near);
/* explain_terms.c: a term, "wait-gate". */
bool wg_topic_term(wg_topic *topic, const char *word);
/* explain_terms.c: what several words mean together, "wait gate"; how many it takes, 0: nothing. */
size_t wg_topic_joined(wg_topic *topic, wg_arch_id arch, const char *const *word, size_t count);
void wg_topic_term_words(wg_text *out);
void wg_topic_term_near(wg_near *near);
/* explain_terms.c: an instruction word, "0xA2400810". False: it is no number of 32 bits. */
bool wg_topic_word(wg_topic *topic, wg_arch_id arch, const char *text);
/* A new row; all findings and races whose codes begin like this, as a row. */
wg_text *wg_topic_row(wg_topic *topic, const char *label);
void wg_topic_rules(wg_topic *topic, const char *begin);
bool wg_topic_semaphore(wg_topic *topic, wg_arch_id arch, unsigned index);
/* All words that `explain` knows, findings and races included, separated by spaces; `insns_only`: instructions alone. */
void wg_topic_words(wg_text *out, bool insns_only);
void wg_topic_text(const wg_topic *topic, wg_text *out);
void wg_topic_json(const wg_topic *topic, wg_json *j);
void wg_topic_free(wg_topic *topic);

#endif
