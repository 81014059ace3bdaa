/* SPDX-License-Identifier: Apache-2.0 */
/* The tiles of a chip, or of a cluster, whose run has hung: each process describes its own, the first one finds the cause. */
#ifndef WG_CLUSTER_HANG_H
#define WG_CLUSTER_HANG_H

#include "cli/chip_internal.h"
#include "cluster/transport.h"
#include "text/chip_hang.h"

/* Adds the parties of this chip, whose run has hung. False: no memory. */
bool wg_cluster_parties(wg_chip_run *chip, wg_message *out);
/* The verdict over one chip, whose run has ended; nothing unless several tiles are involved. */
void wg_chip_verdict(wg_chip_run *chip, wg_text *out);
void wg_chip_verdict_json(wg_chip_run *chip, wg_json *j);

#endif
