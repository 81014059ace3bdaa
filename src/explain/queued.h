/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread has still to issue: not only the words in its queues, but also what its expanders will
 * make of them. Who could still post a semaphore or hand over a bank is found here.
 */
#ifndef WG_QUEUED_H
#define WG_QUEUED_H

#include "machine/frontend.h"
#include "machine/tile.h"

/* Words that a host has still to push: what a dead end must not overlook. */
typedef struct wg_pending {
    const void *first; /* uint32_t, and so every `stride` bytes */
    size_t count, stride;
} wg_pending;

typedef bool (*wg_word_test)(const wg_arch *arch, uint32_t word, unsigned argument);
/*
 * Does a word that passes the test wait in the thread, or come to it from the host or out of a MOP or REPLAY?
 * Decided here: of an expansion under way, what it has already made counts, too.
 */
bool wg_thread_will_issue(const wg_tile *t, const wg_pending *pending, unsigned thread, wg_word_test test,
                          unsigned argument);

/* Tests: the argument is a semaphore, or 0 for SrcA and 1 for SrcB. */
bool wg_word_raises(const wg_arch *arch, uint32_t word, unsigned semaphore);
bool wg_word_lowers(const wg_arch *arch, uint32_t word, unsigned semaphore);
bool wg_word_gives_to_matrix(const wg_arch *arch, uint32_t word, unsigned file);
bool wg_word_gives_to_unpackers(const wg_arch *arch, uint32_t word, unsigned file);

#endif
