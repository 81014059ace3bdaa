/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_signals.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

volatile sig_atomic_t wg_abi_signalled;

/*
 * SIGINT and SIGTERM, unless the host handles or ignores them: the report is made in the host's next call, and then the
 * signal takes its normal effect. A second one ends the process at once.
 */
static const int signals[] = {SIGINT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct timespec came_at;

/* timeout(1) sends its signal twice, to the process and to its group: what follows within a second is the same signal. */
static void note_signal(int number)
{
    static const char said[] =
        "\nwaitgate: the report follows in the host's next call; a second signal ends the process\n";
    const int before = errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!wg_abi_signalled) {
        wg_abi_signalled = number;
        came_at = now;
        ssize_t written = write(STDERR_FILENO, said, sizeof said - 1);
        (void)written;
    } else if (now.tv_sec - came_at.tv_sec + (now.tv_nsec >= came_at.tv_nsec) > 1) {
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = before;
}

static bool is_ours(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == note_signal;
}

void wg_abi_take_signals(void)
{
    struct sigaction now, ours = {.sa_handler = note_signal};
    sigemptyset(&ours.sa_mask);
    wg_abi_signalled = 0;
    for (unsigned i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
}

void wg_abi_give_signals_back(void)
{
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigemptyset(&normal.sa_mask);
    for (unsigned i = 0; i < SIGNALS; i++)
        if (is_ours(signals[i]))
            sigaction(signals[i], &normal, NULL);
}
