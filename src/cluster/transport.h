/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code that runs a cluster over several processes needs besides their transport (waitgate/transport.h).
 */
#ifndef WG_TRANSPORT_H
#define WG_TRANSPORT_H

#include <waitgate/transport.h>

struct wg_cluster;

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
