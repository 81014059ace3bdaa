/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/processes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MICROSECONDS = 20000 };

static double seconds_of(const struct timeval *t) { return (double)t->tv_sec + 1e-6 * (double)t->tv_usec; }

static pid_t start(const wg_processes *w)
{
    const pid_t parent = getpid(), child = fork();
    if (child)
        return child;
    signal(SIGINT, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the parent dies, nothing collects the results */
    if (getppid() != parent)
        _exit(1);
    w->work(w->user);
    _exit(0);
}

bool wg_processes_run(wg_processes *w)
{
    pid_t child[WG_PROCESSES_MOST];
    unsigned children = 0;
    bool crashed = false;
    w->busiest = 0;
    fflush(NULL);
    while (children < w->count && children < WG_PROCESSES_MOST && (child[children] = start(w)) > 0)
        children++;
    if (!children)
        w->work(w->user);
    for (unsigned i = 0; i < children;) {
        int status = 0;
        struct rusage usage = {0};
        const pid_t ended = wait4(child[i], &status, w->progress ? WNOHANG : 0, &usage);
        if (ended == 0) {
            w->progress(w->user);
            usleep(LOOK_MICROSECONDS);
        } else if (ended > 0 || errno != EINTR) { /* its own child, unless somebody else has waited for it */
            const double own = seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
            w->busiest = own > w->busiest ? own : w->busiest;
            crashed |= ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status);
            i++;
        }
    }
    return !crashed;
}
