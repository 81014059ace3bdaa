/* SPDX-License-Identifier: Apache-2.0 */
#include "num/simd.h"

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
