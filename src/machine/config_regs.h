/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backend configuration (BackendConfiguration.md): two banks of thread-agnostic words, and 16-bit
 * words per thread. The Configuration Unit decides who may write when, and what a write triggers.
 */
#ifndef WG_CONFIG_H
#define WG_CONFIG_H

#include <stdint.h>

enum { WG_CONFIG_WORDS = 224, WG_THREAD_CONFIG_WORDS = 68 }; /* BH's; WH has fewer, see wg_arch */

typedef struct wg_config {
    uint64_t changes; /* grows with every write: data derived under another value is stale */
    uint32_t bank[2][WG_CONFIG_WORDS];
    uint16_t thread[3][WG_THREAD_CONFIG_WORDS];
    uint8_t unpack_context[2][3]; /* Unpackers[i].ContextCounter[thread]; SETC16 of UNPACK_MISC_CFG clears it */
} wg_config;

#endif
