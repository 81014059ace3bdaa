# SPDX-License-Identifier: Apache-2.0
# Start of every example: a stack at the top of the core's own RAM, then main, then stop.
    .section .init, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la    gp, __global_pointer$
    .option pop
    la    sp, __stack_top
    call  main
1:  j     1b            # a branch to itself: the core is parked
