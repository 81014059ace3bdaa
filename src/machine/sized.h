/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structures that a caller fills in begin with struct_size. A caller compiled against an earlier version knows fewer members and
 * gets 0 for the others; one compiled against a later version is refused.
 */
#ifndef WG_SIZED_H
#define WG_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The size of the caller's structure. */
static inline uint32_t wg_size_given(const void *given)
{
    uint32_t bytes;
    memcpy(&bytes, given, sizeof bytes);
    return bytes;
}

/* Copies element `index` of the caller's array, all of the first one's size; false: it has fewer bytes than `least`, or more. */
static inline bool wg_take_sized(void *own, size_t bytes, const void *given, size_t index, size_t least)
{
    const uint32_t size = wg_size_given(given);
    if (size < least || size > bytes)
        return false;
    memset(own, 0, bytes);
    memcpy(own, (const char *)given + index * size, size);
    return true;
}

#endif
