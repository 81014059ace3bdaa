/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libraries that are loaded on demand. They are in the folder of this library; tt-umd loads a copy of it that is in none, and
 * then in the folder of the simulator that TT_METAL_SIMULATOR names; else on the loader's path.
 */
#ifndef WG_ABI_BESIDE_H
#define WG_ABI_BESIDE_H

/* As dlopen() returns it; NULL: dlerror() says why not. */
void *wg_abi_load_beside(const char *name);

#endif
