/* SPDX-License-Identifier: Apache-2.0 */
/* B writes DATA and then FLAG; T0 reads FLAG in one of many ways and then DATA. Idioms from 100 on do not wait. */
#include <stdint.h>

#define DATA ((volatile uint32_t *)0x80000)
#define FLAG ((volatile uint32_t *)0x80100)
#define FLAG8 ((volatile uint8_t *)0x80100)
static inline void fence(void) { __asm__ volatile("fence" ::: "memory"); }
static inline uint32_t load(volatile uint32_t *p) { return *p; }
volatile uint32_t *volatile where = FLAG;
__attribute__((noinline)) static void until(volatile uint32_t *p, uint32_t n)
{
    while (*p < n)
        fence();
}
__attribute__((noinline)) static uint32_t poll(volatile uint32_t *p)
{
    uint32_t v;
    while ((v = *p) != 1)
        fence();
    return v;
}
int main(void)
{
#ifdef CORE_BRISC
    for (volatile int i = 0; i < 20; i++)
        ;
    *DATA = 42;
    uint32_t got = *DATA;
    __asm__ volatile("andi %0, %0, 0" : "+r"(got));
    FLAG[0x40] = 1;
    *FLAG = 1;
#else
#if IDIOM == 0
    while (*FLAG != 1)
        fence();
#elif IDIOM == 1
    while (*FLAG != 1)
        ;
#elif IDIOM == 2
    do
        fence();
    while (*FLAG != 1);
#elif IDIOM == 3
    for (;;) {
        if (*FLAG == 1)
            break;
        fence();
    }
#elif IDIOM == 4
    while (load(FLAG) != 1)
        fence();
#elif IDIOM == 5
    until(FLAG, 1);
#elif IDIOM == 6
    while (*FLAG8 != 1)
        fence();
#elif IDIOM == 7
    while (!(FLAG[0] == 1 && FLAG[1] == 0))
        fence();
#elif IDIOM == 8
    (void)poll(FLAG);
#elif IDIOM == 9
    volatile uint32_t *p = where;
    while (*p != 1)
        fence();
#elif IDIOM == 10
    while ((*FLAG & 1) == 0) {
        fence();
        for (int i = 0; i < 3; i++)
            __asm__ volatile("nop");
    }
#elif IDIOM == 11
    uint32_t v = *FLAG;
    while (v != 1) {
        fence();
        v = *FLAG;
    }
#elif IDIOM == 12
    while (*FLAG == 0 || *FLAG > 5)
        fence();
#elif IDIOM == 13
    for (uint32_t i = 0; i < 2; i++)
        do
            fence();
        while (FLAG8[0x100 * i] != 1);
#elif IDIOM == 14
    while (!(FLAG[0x40] == 1 && *FLAG == 1 && FLAG[1] == 0))
        fence();
#elif IDIOM == 100
    if (*FLAG != 1)
        fence();
#elif IDIOM == 101
    if (*FLAG != 1) {
        fence();
        if (*FLAG != 1)
            fence();
    }
#elif IDIOM == 102
    for (volatile uint32_t *p = FLAG; *p != 1 && p < FLAG + 4;) /* looks at another word each time */
        p++;
#elif IDIOM == 103
    for (uint32_t i = 0; FLAG[i] != 1 && i < 4; i++)
        fence();
#elif IDIOM == 104
    while (*FLAG != 1) { /* counts each failed attempt */
        *(volatile uint32_t *)0x80200 += 1;
        if (*(volatile uint32_t *)0x80200 > 3)
            break;
    }
#elif IDIOM == 105
    while (FLAG[0x40] != 1) /* looks at FLAG, but waits for another word */
        (void)*FLAG, fence();
#endif
    uint32_t got = *DATA;
    __asm__ volatile("andi %0, %0, 0" : "+r"(got));
#endif
    for (;;)
        ;
}
