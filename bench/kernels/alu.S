# SPDX-License-Identifier: Apache-2.0
# Core B: register arithmetic in a loop of eight instructions. In: passes at 0x1000. Out: 1 at 0x1004.
    .globl _start
_start:
    li      s0, 0x1000
    lw      s1, 0(s0)
    li      t0, 12345
    li      t1, 678
loop:
    xor     t2, t0, t1
    slli    t3, t2, 5
    add     t0, t0, t3
    srli    t4, t0, 7
    and     t5, t4, t2
    sub     t1, t1, t5
    addi    s1, s1, -1
    bnez    s1, loop
    li      t6, 1
    sw      t6, 4(s0)
end:
    j       end
