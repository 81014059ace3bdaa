# SPDX-License-Identifier: Apache-2.0
# A T core: one Tensix instruction, or two in turn, again and again, in MOPs of 64 of each. In, at the parameters' address p,
# which is the word before the code: p+0 MOPs, p+8 the instruction, p+12 the second or zero, p+16… words to push first,
# ended by zero. Out: 1 at p+4.
    .globl _start
_start:
    auipc   s0, 0
    lw      s0, -4(s0)
    li      s1, 0xFFE40000          # the thread's instruction buffer
    li      s2, 0xFFB80000          # MOP configuration
    li      s3, 0xFFE80000          # a load of +4 waits for the thread
    addi    t0, s0, 16
first:
    lw      t1, 0(t0)
    beqz    t1, configure
    sw      t1, 0(s1)
    addi    t0, t0, 4
    j       first
configure:
    lw      t1, 4(s3)
    add     t1, t1, zero
    li      t1, 1
    sw      t1, 0(s2)               # template 1: one pass of 64
    li      t1, 64
    sw      t1, 4(s2)
    li      t2, 0x02000000          # NOP: nothing before, nothing after
    sw      t2, 8(s2)
    sw      t2, 12(s2)
    sw      t2, 16(s2)
    lw      t1, 8(s0)
    sw      t1, 20(s2)
    lw      t3, 12(s0)
    beqz    t3, alone
    mv      t2, t3
    mv      t1, t3
alone:
    sw      t2, 24(s2)
    sw      t1, 28(s2)              # the last of a pass
    sw      t1, 32(s2)
    lw      t0, 0(s0)
loop:
    .word   0x06000000              # .ttinsn of 0x01800000: MOP, template 1
    addi    t0, t0, -1
    bnez    t0, loop
    lw      t1, 4(s3)
    add     t1, t1, zero
    li      t6, 1
    sw      t6, 4(s0)
end:
    j       end
