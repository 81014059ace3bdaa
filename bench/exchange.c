/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of the end of a window with several processes: an exchange with both neighbours in a ring and a reduction
 * over all, with messages of some sizes. Under mpirun; the first process prints microseconds.
 *
 *     mpirun -n 4 build/bench/exchange build/libwaitgate_mpi.so
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/transport.h"

enum { TIMES = 2000, VALUES = 6 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 1024, 16384, 131072};
    char error[256] = "";
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL,
         *symbol = library ? dlsym(library, WG_TRANSPORT_OPEN) : NULL;
    wg_transport_open_fn open;
    memcpy(&open, &symbol, sizeof open);
    wg_transport *t = open ? open(WG_TRANSPORT_VERSION, error, sizeof error) : NULL;
    if (!t) {
        fprintf(stderr, "exchange: %s\n", error[0] ? error : dlerror());
        return 1;
    }
    bool *peers = calloc(t->ranks, sizeof *peers);
    wg_message *out = calloc(t->ranks, sizeof *out), *in = calloc(t->ranks, sizeof *in);
    if (!peers || !out || !in)
        return 1;
    for (unsigned i = 0; i < 2; i++)
        peers[(t->rank + (i ? 1 : t->ranks - 1)) % t->ranks] = true;
    peers[t->rank] = false;
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (unsigned i = 0; i < t->ranks; i++) {
            out[i].data = realloc(out[i].data, sizes[s] + 1);
            memset(out[i].data, 1, sizes[s] + 1);
            out[i].bytes = out[i].room = sizes[s];
        }
        double began = 0;
        for (int n = -TIMES / 4; n < TIMES; n++) {
            uint64_t value[VALUES] = {0};
            if (n == 0)
                began = seconds();
            if (!t->exchange(t, peers, out, in, value, VALUES))
                return 1;
        }
        if (!t->rank)
            printf("exchange_%u_%zu %.3f us\n", t->ranks, sizes[s], 1e6 * (seconds() - began) / TIMES);
    }
    t->close(t);
    return 0;
}
