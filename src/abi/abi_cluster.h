/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several chips in one library, and their links, as described by cluster_descriptor.yaml next to the library (where
 * tt-umd also looks for it) or by WAITGATE_CLUSTER.
 */
#ifndef WG_ABI_CLUSTER_H
#define WG_ABI_CLUSTER_H

#include <waitgate/cluster.h>

enum { WG_ABI_CHIPS = 32 }; /* a PCI device number has five bits */

typedef struct wg_abi_cluster {
    unsigned chips; /* 1: there is one, without links */
    wg_cluster_link *link;
    unsigned links;
} wg_abi_cluster;

/*
 * `named`: of a topology, or a descriptor's path; NULL: the file next to the library, if any. False, with a message in
 * `error`, if it is invalid. Free it in either case.
 */
bool wg_abi_cluster_read(wg_abi_cluster *out, wg_arch_id arch, const char *named, char *error, size_t bytes);
void wg_abi_cluster_free(wg_abi_cluster *c);

#endif
