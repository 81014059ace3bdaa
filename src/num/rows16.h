/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of sixteen as compiler vectors: shared by reading and packing L1's formats. */
#ifndef WG_ROWS16_H
#define WG_ROWS16_H

#include <stdint.h>
#include <string.h>

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint16_t halves16 __attribute__((vector_size(32)));
typedef uint32_t words16 __attribute__((vector_size(64)));
typedef int32_t signed16 __attribute__((vector_size(64)));
/* L1 data has no alignment. */
#define LOAD(type, from) \
    ({ \
        type loaded_; \
        memcpy(&loaded_, (from), sizeof loaded_); \
        loaded_; \
    })
#define STORE(to, value) \
    ({ \
        __auto_type stored_ = (value); \
        memcpy((to), &stored_, sizeof stored_); \
    })
#define CONVERT(type, value) __builtin_convertvector((value), type)

#endif
