# SPDX-License-Identifier: Apache-2.0
# Core B: two loads and a store of L1 in a loop of six instructions. In: passes at 0x1000. Out: 1 at 0x1004.
    .globl _start
_start:
    li      s0, 0x1000
    lw      s1, 0(s0)
    li      s2, 0x40000
loop:
    lw      t0, 0(s2)
    lw      t1, 16(s2)
    sub     t0, t1, t0
    sw      t0, 32(s2)
    addi    s1, s1, -1
    bnez    s1, loop
    li      t6, 1
    sw      t6, 4(s0)
end:
    j       end
