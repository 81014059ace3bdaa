/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of wg_restore(). */
#ifndef WG_SNAPSHOT_H
#define WG_SNAPSHOT_H

#include "machine/device.h"

/* Looks a snapshot through; the device stays as it is. */
wg_status wg_snapshot_check(wg_device *dev, const void *from, size_t bytes);
/* Takes over one that has been looked through. */
void wg_snapshot_apply(wg_device *dev, const void *from);

#endif
