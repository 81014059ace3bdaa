/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions that a thread still has to issue: the words in its queues and their expansions. Used to find the threads
 * that could still post a semaphore or hand over a bank.
 */
#ifndef WG_QUEUED_H
#define WG_QUEUED_H

#include "machine/frontend.h"
#include "machine/tile.h"

/* Words that a host still has to push: a dead end must take them into account. */
typedef struct wg_pending {
    const void *first; /* one uint32_t every `stride` bytes */
    size_t count, stride;
} wg_pending;

typedef bool (*wg_word_test)(const wg_arch *arch, uint32_t word, unsigned argument);
/*
 * Does the thread hold a word that passes the test, or will it get one from the host, a MOP or a REPLAY? Decided here: for an
 * expansion in progress, instructions already issued count, too.
 */
bool wg_thread_will_issue(const wg_tile *t, const wg_pending *pending, unsigned thread, wg_word_test test,
                          unsigned argument);

/* Tests: the argument is a semaphore, or 0 for SrcA and 1 for SrcB. */
bool wg_word_raises(const wg_arch *arch, uint32_t word, unsigned semaphore);
bool wg_word_lowers(const wg_arch *arch, uint32_t word, unsigned semaphore);
/* Without SEMINIT. */
bool wg_word_posts(const wg_arch *arch, uint32_t word, unsigned semaphore);
bool wg_word_gets(const wg_arch *arch, uint32_t word, unsigned semaphore);
bool wg_word_gives_to_matrix(const wg_arch *arch, uint32_t word, unsigned file);
bool wg_word_gives_to_unpackers(const wg_arch *arch, uint32_t word, unsigned file);

#endif
