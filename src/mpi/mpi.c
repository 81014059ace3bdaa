/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport between processes that mpirun has started (cluster/transport.h), a separate library that is loaded only
 * then, so that nothing else needs MPI.
 *
 *     exchange   one message to and from each neighbour, and one reduction over all, concurrently
 *     gather     a message of each process to the first
 */
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster/transport.h"

enum { FRAMES = 1, PARTS = 2 }; /* tags */

typedef struct ranks {
    wg_transport t;
    MPI_Request *sending; /* a request per process, and one more; … */
    MPI_Status *status;   /* … and their outcomes */
} ranks;

static bool room_for(wg_message *m, size_t bytes)
{
    if (m->room >= bytes)
        return true;
    uint8_t *more = realloc(m->data, bytes * 2);
    if (!more)
        return false;
    m->data = more;
    m->room = bytes * 2;
    return true;
}

/*
 * MPI waits at full speed. With more processes than processors, the awaited process needs this one's processor: after a
 * number of unsuccessful polls, yield it.
 */
enum { ATTEMPTS = 500 };
static void offer(unsigned *attempts)
{
    if (++*attempts > ATTEMPTS)
        (void)sched_yield();
}

/* Receives the next message from a process, whatever its length. */
static bool receive(int from, int tag, wg_message *m)
{
    MPI_Message message;
    MPI_Status status;
    int bytes = 0, there = 0;
    for (unsigned attempts = 0; !there; offer(&attempts))
        if (MPI_Improbe(from, tag, MPI_COMM_WORLD, &there, &message, &status) != MPI_SUCCESS)
            return false;
    if (MPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0 || !room_for(m, (size_t)bytes + 1))
        return false;
    m->bytes = (size_t)bytes;
    return MPI_Mrecv(m->data, bytes, MPI_BYTE, &message, &status) == MPI_SUCCESS;
}

/* Waits until all of them are complete. */
static bool finish(ranks *r, int count)
{
    int done = 0;
    for (unsigned attempts = 0; !done; offer(&attempts))
        if (MPI_Testall(count, r->sending, &done, r->status) != MPI_SUCCESS)
            return false;
    return true;
}

static bool send(int to, int tag, const wg_message *m, MPI_Request *request)
{
    static uint8_t nothing;
    return m->bytes <= INT32_MAX && MPI_Isend(m->bytes ? m->data : &nothing, (int)m->bytes, MPI_BYTE, to, tag,
                                              MPI_COMM_WORLD, request) == MPI_SUCCESS;
}

static bool exchange(wg_transport *t, const bool *peers, const wg_message *out, wg_message *in, uint64_t *value,
                     unsigned values)
{
    ranks *r = t->self;
    int sending = 0;
    bool ok = true;
    uint64_t least[16];
    if (values > sizeof least / sizeof *least)
        return false;
    for (unsigned i = 0; peers && ok && i < t->ranks; i++)
        if (peers[i])
            ok = send((int)i, FRAMES, &out[i], &r->sending[sending++]);
    ok = ok && MPI_Iallreduce(value, least, (int)values, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD,
                              &r->sending[sending++]) == MPI_SUCCESS;
    for (unsigned i = 0; peers && ok && i < t->ranks; i++)
        if (peers[i])
            ok = receive((int)i, FRAMES, &in[i]);
    ok = ok && finish(r, sending);
    if (ok)
        memcpy(value, least, values * sizeof *value);
    return ok;
}

static bool gather(wg_transport *t, const wg_message *mine, wg_message *in)
{
    ranks *r = t->self;
    bool ok = send(0, PARTS, mine, &r->sending[0]);
    for (unsigned i = 0; ok && !t->rank && i < t->ranks; i++)
        ok = receive((int)i, PARTS, &in[i]);
    return ok && finish(r, 1);
}

static void abort_all(wg_transport *t, int status)
{
    (void)t;
    (void)MPI_Abort(MPI_COMM_WORLD, status);
}

static void close_ranks(wg_transport *t)
{
    ranks *r = t->self;
    (void)MPI_Finalize();
    free(r->sending);
    free(r->status);
    free(r);
}

/*
 * When a process dies, mpirun sends SIGTERM to the others. The first process reports it; if that is the one that died, the
 * second does. The line comes before the end, so that mpirun can pass it on.
 */
static pid_t first; /* the second process: the first one; 0: this is the first */
static void ended(int number)
{
    static const char text[] = "waitgate: the run has ended: another process died, or mpirun was told to end it\n";
    const struct timespec moment = {.tv_nsec = 200000000};
    const bool reports = !first || kill(first, 0) != 0;
    if (reports && write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(1);
    if (reports)
        (void)nanosleep(&moment, NULL);
    _exit(128 + number);
}

/* MPI takes a while to start: the first process listens before. */
static void listen_early(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank && strcmp(rank, "0") == 0)
            (void)signal(SIGTERM, ended);
    }
}

/* Looked up by name: WG_TRANSPORT_OPEN. */
__attribute__((visibility("default"))) wg_transport *wg_transport_open(unsigned version, char *error, size_t room);
wg_transport *wg_transport_open(unsigned version, char *error, size_t room)
{
    int rank, size, level, has = 0;
    ranks *r = version == WG_TRANSPORT_VERSION ? calloc(1, sizeof *r) : NULL;
    if (!r) {
        (void)snprintf(error, room, "it is of another version of Waitgate");
        return NULL;
    }
    listen_early();
    if (MPI_Initialized(&has) != MPI_SUCCESS || has ||
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        (void)snprintf(error, room, "MPI does not start");
        free(r);
        return NULL;
    }
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
    r->sending = calloc((size_t)size + 1, sizeof *r->sending);
    r->status = calloc((size_t)size + 1, sizeof *r->status);
    r->t = (wg_transport){.struct_size = sizeof r->t,
                          .rank = (unsigned)rank,
                          .ranks = (unsigned)size,
                          .self = r,
                          .exchange = exchange,
                          .gather = gather,
                          .abort = abort_all,
                          .close = close_ranks};
    if (!r->sending || !r->status) {
        (void)snprintf(error, room, "out of memory");
        close_ranks(&r->t);
        return NULL;
    }
    int64_t process = getpid();
    (void)MPI_Bcast(&process, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    first = rank == 0 ? 0 : (pid_t)process;
    if (rank < 2)
        (void)signal(SIGTERM, ended);
    return &r->t;
}
