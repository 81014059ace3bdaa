/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state of a device to which it returns many times, as `explore` does for each timing. Unlike a snapshot it belongs to this
 * process and this device: it is not checked, and pages that are zero in it and untouched since are skipped.
 */
#ifndef WG_RETURN_POINT_H
#define WG_RETURN_POINT_H

#include "machine/device.h"

typedef struct wg_return_point wg_return_point;

wg_return_point *wg_return_point_new(wg_device *dev); /* at the present state; NULL: out of memory */
void wg_return_to(wg_device *dev, const wg_return_point *p);
void wg_return_point_free(wg_return_point *p);

/* A copy of a part of L1, for later comparison. */
typedef struct wg_l1_copy wg_l1_copy;

wg_l1_copy *wg_l1_copy_new(wg_device *dev, uint32_t address, uint32_t bytes); /* within L1; NULL: no memory */
void wg_l1_copy_renew(wg_device *dev, wg_l1_copy *copy);                      /* the same part, as it is now */
bool wg_l1_is(wg_device *dev, const wg_l1_copy *copy);
const uint8_t *wg_l1_copy_bytes(const wg_l1_copy *copy);
uint64_t wg_l1_copy_hash(const wg_l1_copy *copy);
void wg_l1_copy_free(wg_l1_copy *copy);

#endif
