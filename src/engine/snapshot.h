/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of wg_snapshot() and of wg_restore(). */
#ifndef WG_SNAPSHOT_H
#define WG_SNAPSHOT_H

#include "machine/device.h"

/* Looks a snapshot through; the device stays as it is. */
wg_status wg_snapshot_check(wg_device *dev, const void *from, size_t bytes);
/* Takes over one that has been looked through. */
void wg_snapshot_apply(wg_device *dev, const void *from);
/* The tile's state and L1 have been replaced: packets, loops (poll_saved.c) and whatever is derived follow. */
void wg_snapshot_taken_over(wg_device *dev, const wg_noc_box *box, const void *poll); /* box may be NULL: no packets */
/* First, the device comes to where a snapshot can be taken; then, how many bytes one has; then, here it is. */
void wg_snapshot_prepare(wg_device *dev);
size_t wg_snapshot_bytes(const wg_device *dev);
void wg_snapshot_write(const wg_device *dev, void *to);

/* poll_saved.c: what a snapshot holds of how loops are looked for; at most, and now. */
size_t wg_poll_saved_most(const wg_device *dev);
size_t wg_poll_saved_bytes(const wg_device *dev);
void wg_poll_save(const wg_device *dev, void *to);
bool wg_poll_saved_holds(const wg_device *dev, const void *from, size_t bytes);
void wg_poll_load(wg_device *dev, const void *from);

#endif
