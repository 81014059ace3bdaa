/* SPDX-License-Identifier: Apache-2.0 */
/* Start of every kernel: copies its initialised data, which the host has put after the code, to the core's own RAM. */
#include "kernel.h"

extern u32 __data_start[], __data_end[], __data_image[];

__attribute__((section(".start"), used)) void _start(void)
{
    const u32 *from = __data_image;
    for (u32 *to = __data_start; to < __data_end; to++)
        *to = *from++;
    kernel_main();
}
