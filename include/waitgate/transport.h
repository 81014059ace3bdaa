/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the processes (ranks) of a cluster communicate (wg_cluster_desc.ranks). A cluster needs only two operations: an exchange of
 * bytes between neighbours together with a reduction over all, and the bytes of all ranks at rank 0. A plug-in library implements
 * them, as libwaitgate_mpi.so does with MPI; a cluster in one process has no transport.
 */
#ifndef WAITGATE_TRANSPORT_H
#define WAITGATE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wg_message {
    uint8_t *data;
    size_t bytes, room;
} wg_message;

typedef struct wg_transport wg_transport;
struct wg_transport {
    uint32_t struct_size; /* sizeof(wg_transport) */
    unsigned rank, ranks;
    void *self;
    /*
     * Sends out[i] to every rank i with peers[i], and receives in[i] from it; both sides name each other. Then every
     * value[k] is the minimum over all ranks. False: the run cannot continue.
     */
    bool (*exchange)(wg_transport *t, const bool *peers, const wg_message *out, wg_message *in, uint64_t *value,
                     unsigned values);
    /* At rank 0, in[i] holds the bytes of rank i. */
    bool (*gather)(wg_transport *t, const wg_message *mine, wg_message *in);
    /* Ends all processes, after this one has reported why. */
    void (*abort)(wg_transport *t, int status);
    void (*close)(wg_transport *t);
};

enum { WG_TRANSPORT_VERSION = 2 };
/* Exported by a plug-in. NULL: it cannot start. */
typedef wg_transport *(*wg_transport_open_fn)(unsigned version, char *error, size_t room);
#define WG_TRANSPORT_OPEN "wg_transport_open"

#ifdef __cplusplus
}
#endif
#endif
