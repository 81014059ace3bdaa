/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the processes (ranks) of a cluster communicate. The cluster needs only two operations: an exchange of bytes
 * between neighbours together with a reduction over all, and the bytes of all ranks at rank 0. A plug-in library
 * implements them (src/mpi); a cluster in one process has no transport.
 */
#ifndef WG_TRANSPORT_H
#define WG_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wg_cluster;

typedef struct wg_message {
    uint8_t *data;
    size_t bytes, room;
} wg_message;

typedef struct wg_transport wg_transport;
struct wg_transport {
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

enum { WG_TRANSPORT_VERSION = 1 };
/* Exported by a plug-in. NULL: it cannot start. */
typedef wg_transport *(*wg_transport_open_fn)(unsigned version, char *error, size_t room);
#define WG_TRANSPORT_OPEN "wg_transport_open"

/* For the code that runs a cluster: replaces every value[k] by its minimum over all ranks. */
bool wg_cluster_least(struct wg_cluster *c, uint64_t *value, unsigned values);

/*
 * A chip changes its rank, between two runs: the old rank gives up its grid, the new rank creates one and restores it,
 * and every rank records the move.
 */
struct wg_grid;
unsigned wg_cluster_rank(const struct wg_cluster *c, unsigned chip);
uint64_t wg_cluster_load(struct wg_cluster *c, unsigned chip); /* of ours: nanoseconds since the last call */
void wg_cluster_leaves(struct wg_cluster *c, unsigned chip);
bool wg_cluster_comes(struct wg_cluster *c, unsigned chip, struct wg_grid *grid); /* false: no memory */
void wg_cluster_moved(struct wg_cluster *c, unsigned chip, unsigned rank);

/*
 * Joins the snapshots of all processes, in the order of their chips: a snapshot that any number of processes can
 * restore.
 */
bool wg_cluster_join(const wg_message *part, unsigned parts, wg_message *out);

bool wg_message_add(wg_message *m, const void *data, size_t bytes); /* false: no memory */
void wg_message_free(wg_message *m);

#endif
