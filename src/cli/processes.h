/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that share work: copies of this one, which communicate by memory that was shared before. */
#ifndef WG_CLI_PROCESSES_H
#define WG_CLI_PROCESSES_H

#include <stdbool.h>

enum { WG_PROCESSES_MOST = 64 };

typedef struct wg_processes {
    unsigned count;
    void (*work)(void *user);
    void (*progress)(void *user); /* called from time to time meanwhile; may be NULL */
    void *user;
    double busiest; /* out: the processor seconds of the one that used most */
} wg_processes;

/*
 * Runs `work` in `count` processes at once, and returns when all have ended; without processes it runs in this one. They die with this one,
 * ignore Ctrl-C, and other children of this process are left alone. False: one of them crashed.
 */
bool wg_processes_run(wg_processes *w);

#endif
