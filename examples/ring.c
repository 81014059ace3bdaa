/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-reduce on a ring of chips: afterwards every chip has the sum of all chips' vectors. On each chip two Ethernet tiles work, one
 * with a link to the next chip and one with a link to the chip before; one program for both.
 *
 *     OUT   cuts the vector into as many parts as there are chips. In each of 2 × (chips − 1) steps it sends one part to the
 *           next chip, and gets one: first it adds what it gets, then it keeps it.
 *     IN    hands each part that arrives on to OUT, over NoC 0.
 *
 * The host says in CONFIG who is who. Every step has its own slot, so nobody waits for a free one. A part is followed by a line
 * with the step's number, which arrives last.
 *
 * With GATHER it is an all-gather: each chip has its own part at first, and all of them afterwards. That is the second half of the
 * steps.
 *
 *     waitgate run ring.yaml        two chips        waitgate run galaxy_ring.yaml        thirty-two
 */
#include "eth.h"
#include "noc.h"

enum { OUT, IN };
enum { PART = 32, LINE = 16, SLOT = PART * 4 + LINE, MOST = 32 }; /* words of a part; bytes */

#ifdef GATHER
enum { GATHERS = 1 };
#else
enum { GATHERS = 0 };
#endif
#define STEPS(chips) ((2 - GATHERS) * ((chips)-1))

#define CONFIG(n) WORD(0x28000 + 4 * (n)) /* role, this chip, chips, channel of OUT */
#define VECTOR ((volatile u32 *)0x2A000)  /* OUT: chips × PART words */
#define SLOTS 0x30000u                    /* arrived parts, by step */
#define SENT 0x38000u                     /* OUT: parts to send, by step */

static u32 number(u32 chip, u32 word) { return (chip + 1) * 2654435761u + word * 40503u; }

/* Waits for the step's line. */
static void await(u32 slot, u32 step)
{
    do {
        fence();
    } while (WORD(slot + PART * 4) != step + 1);
}

static void in(u32 chips, u32 channel)
{
    noc_write_to(0, eth_place(channel), SLOT);
    for (u32 step = 0; step < STEPS(chips); step++) {
        const u32 slot = SLOTS + step * SLOT;
        await(slot, step);
        noc_write(0, slot, slot, 0);
        while (noc_busy(0, WRITER)) {
        }
    }
    while (noc_pending(0, 0)) {
    }
}

static void out(u32 me, u32 chips)
{
    for (u32 i = 0; i < chips * PART; i++)
        VECTOR[i] = GATHERS && i / PART != me ? 0 : number(me, i);
    for (u32 step = 0; step < STEPS(chips); step++) {
        const u32 goes = (me + 2 * chips - step) % chips, comes = (goes + chips - 1) % chips;
        const u32 slot = SLOTS + step * SLOT, sent = SENT + step * SLOT;
        for (u32 i = 0; i < PART; i++)
            WORD(sent + 4 * i) = VECTOR[goes * PART + i];
        WORD(sent + PART * 4) = step + 1;
        stored(&WORD(sent + PART * 4));
        eth_send(0, sent, slot, SLOT);
        await(slot, step);
        for (u32 i = 0; i < PART; i++)
            VECTOR[comes * PART + i] =
                WORD(slot + 4 * i) + (!GATHERS && step < chips - 1 ? VECTOR[comes * PART + i] : 0);
    }
}

int main(void)
{
    const u32 role = CONFIG(0), me = CONFIG(1), chips = CONFIG(2), channel = CONFIG(3);
    if (chips < 2 || chips > MOST)
        return 0;
    if (role == IN) {
        in(chips, channel);
        return 0;
    }
    out(me, chips);
    u32 wrong = 0;
    for (u32 i = 0; i < chips * PART; i++) {
        /* The sum of number(chip, i) over all chips, whose first factors are 1, 2, 3 …; or the number of the part's chip */
        wrong +=
            VECTOR[i] != (GATHERS ? number(i / PART, i) : chips * (chips + 1) / 2 * 2654435761u + chips * i * 40503u);
    }
    RESULT(0) = wrong;
    RESULT(1) = 0x600D; /* the program has ended */
    return 0;
}
