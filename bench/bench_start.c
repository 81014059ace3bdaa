/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to begin: a device created, reset and destroyed, a device used and reset, and a whole process that runs ten lines of
 * assembly. Whoever tests thousands of kernels pays this each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <waitgate/waitgate.h>

#include "clock.h"

static void fail(const char *what)
{
    fprintf(stderr, "bench_start: %s\n", what);
    exit(1);
}

static void devices(wg_arch_id arch, const char *on)
{
    enum { TIMES = 200, PROGRAM = 0x1000, PARKS = 0x6F /* a jump to itself */ };
    const wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev;
    wg_stop stop;
    double from = now();
    for (unsigned i = 0; i < TIMES; i++) {
        if (wg_create(&desc, &dev) != WG_OK || wg_reset(dev) != WG_OK)
            fail("no device");
        wg_destroy(dev);
    }
    printf("start_create_reset_%s %.2f us\n", on, (now() - from) / TIMES * 1e6);
    if (wg_create(&desc, &dev) != WG_OK)
        fail("no device");
    from = now();
    for (unsigned i = 0; i < TIMES; i++) {
        const uint32_t word = PARKS;
        if (wg_write(dev, PROGRAM, &word, 4) != WG_OK || wg_core_release(dev, WG_CORE_B, PROGRAM) != WG_OK ||
            wg_run(dev, 1000, &stop) != WG_OK || stop != WG_STOP_DONE || wg_reset(dev) != WG_OK)
            fail("the program does not end");
    }
    printf("start_run_reset_%s %.2f us\n", on, (now() - from) / TIMES * 1e6);
    wg_destroy(dev);
}

/* The processor time of the processes that have ended. */
static double children(void)
{
    struct rusage r;
    getrusage(RUSAGE_CHILDREN, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
}

int main(void)
{
    enum { TIMES = 20 };
    devices(WG_ARCH_BH, "bh");
    devices(WG_ARCH_WH, "wh");
    (void)fflush(stdout);
    const double from = children();
    for (unsigned i = 0; i < TIMES; i++) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            if (freopen("/dev/null", "w", stdout))
                execl(WG_PROGRAM, "waitgate", "run", WG_HELLO, (char *)NULL);
            _exit(127);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            fail("hello.tasm does not run");
    }
    printf("start_hello %.3f ms\n", (children() - from) / TIMES * 1e3);
    return 0;
}
