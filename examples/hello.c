/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hello through L1: core B writes a text where the host finds it.
 *
 *     waitgate run --brisc hello.brisc.elf --dump 0x20010:32=hello.txt
 */
#include "tile.h"

static const char text[] = "Hello from a Tensix tile!\n";

int main(void)
{
    volatile u8 *to = (volatile u8 *)&RESULT(1);
    for (u32 i = 0; i < sizeof text; i++)
        to[i] = (u8)text[i];
    RESULT(0) = sizeof text - 1; /* the length last: the text is complete when it is not 0 */
    return 0;
}
