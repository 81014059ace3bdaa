/* SPDX-License-Identifier: Apache-2.0 */
#include "num/simd.h"

#include <stddef.h>
#include <string.h>

static const char *const names[WG_SIMD_LEVELS] = {"scalar", "avx2", "avx512", "vnni"};

wg_simd wg_simd_best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2"))
        return WG_SIMD_SCALAR;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
        return __builtin_cpu_supports("avx512vnni") ? WG_SIMD_VNNI : WG_SIMD_AVX512;
    return WG_SIMD_AVX2;
#else
    return WG_SIMD_SCALAR;
#endif
}

const char *wg_simd_name(wg_simd level) { return level < WG_SIMD_LEVELS ? names[level] : NULL; }

bool wg_simd_parse(const char *name, wg_simd *level)
{
    const wg_simd best = wg_simd_best();
    *level = best;
    if (!name || !*name)
        return true;
    for (unsigned i = 0; i <= (unsigned)best; i++)
        if (strcmp(name, names[i]) == 0) {
            *level = (wg_simd)i;
            return true;
        }
    return false;
}
