/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of wg_snapshot() and of wg_restore(). */
#ifndef WG_SNAPSHOT_H
#define WG_SNAPSHOT_H

#include "machine/device.h"

/* Validates a snapshot; the device does not change. */
wg_status wg_snapshot_check(wg_device *dev, const void *from, size_t bytes);
/* Applies a validated snapshot. */
void wg_snapshot_apply(wg_device *dev, const void *from);
/* The tile's state and L1 have been replaced: replaces packets, loops (poll_saved.c) and derived data. */
void wg_snapshot_taken_over(wg_device *dev, const wg_noc_box *box, const void *poll); /* box may be NULL: no packets */
/* In this order: brings the device to a point where a snapshot can be taken; returns its size; writes it. */
void wg_snapshot_prepare(wg_device *dev);
size_t wg_snapshot_bytes(const wg_device *dev);
void wg_snapshot_write(const wg_device *dev, void *to);

/* poll_saved.c: the size of a snapshot's part about loops: at most, and now. */
size_t wg_poll_saved_most(const wg_device *dev);
size_t wg_poll_saved_bytes(const wg_device *dev);
void wg_poll_save(const wg_device *dev, void *to);
bool wg_poll_saved_holds(const wg_device *dev, const void *from, size_t bytes);
void wg_poll_load(wg_device *dev, const void *from);

#endif
