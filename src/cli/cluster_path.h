/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of a cluster: cluster_path.c. */
#ifndef WG_CLUSTER_PATH_H
#define WG_CLUSTER_PATH_H

#include "cli/cluster_run.h"

/* Follows the path, all processes together, and adds this one's part of it. False: no memory, or another process has gone. */
bool wg_cluster_path_part(wg_cluster_job *r, wg_message *m);
/* At the first process, of all parts. */
void wg_cluster_path_text(const wg_cluster_job *r, const wg_message *parts, uint64_t top, wg_text *out);
void wg_cluster_path_json(const wg_cluster_job *r, const wg_message *parts, wg_json *j);

#endif
