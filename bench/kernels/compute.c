/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordinary compiled C on three T cores, each on data of its own: calls, records, strings, lists, sorting with recursion, bitwise CRC,
 * division of 64 bits, an interpreter with a switch, memory cleared and copied in L1 and in own RAM.
 *
 *     out: a sum of everything at 4, 5 and 6. T is the core's number (job.c)
 */
#include "tile.h"

#if defined(CORE_BRISC)
int main(void) { return 0; }
#else
typedef unsigned long long u64;

typedef struct record {
    struct record *next;
    u32 kind, number;
    char name[20];
} record;

/* In L1: a core's own 8 KiB. */
#define HEAP ((u8 *)(0x40000 + 0x2000 * T))

static void clear(void *at, u32 bytes)
{
    for (u32 *word = at; bytes; bytes -= 4)
        *word++ = 0;
}
static void copy(void *to, const void *from, u32 bytes)
{
    for (u32 n = 0; n < bytes / 4; n++)
        ((u32 *)to)[n] = ((const u32 *)from)[n];
}
static __attribute__((noinline)) int compare(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        ;
    return *a - *b;
}
static __attribute__((noinline)) void name_it(record *r, u32 number)
{
    u32 n = 0;
    for (; number; number /= 10)
        r->name[n++] = (char)('0' + number % 10);
    r->name[n] = 0;
}
static __attribute__((noinline)) record *make(record *next, u32 number)
{
    record *r = (record *)HEAP + number;
    r->next = next;
    r->kind = number % 3;
    r->number = number * 2654435761u;
    name_it(r, r->number >> 12);
    return r;
}
static u32 records(void)
{
    record *list = 0, *greatest;
    u32 sum = 0;
    for (u32 n = 0; n < 12; n++)
        list = make(list, n);
    greatest = list;
    for (record *r = list; r; r = r->next) {
        if (compare(r->name, greatest->name) > 0)
            greatest = r;
        switch (r->kind) {
        case 0: sum += r->number; break;
        case 1: sum ^= r->number; break;
        default: sum -= r->number >> 3; break;
        }
    }
    return sum + greatest->number;
}

static __attribute__((noinline)) void sort(int *a, int low, int high)
{
    if (low >= high)
        return;
    const int pivot = a[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            const int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    sort(a, low, j);
    sort(a, i, high);
}
static u32 sorting(int *a, u32 count)
{
    u32 state = 12345 + T, sum = 0;
    for (u32 n = 0; n < count; n++)
        a[n] = (int)(state = state * 1664525 + 1013904223) >> 8;
    sort(a, 0, (int)count - 1);
    for (u32 n = 0; n < count; n++)
        sum = sum * 31 + (u32)a[n];
    return sum;
}

static u32 crc(const u8 *at, u32 bytes)
{
    u32 c = ~0u;
    while (bytes--) {
        c ^= *at++;
        for (u32 bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    }
    return ~c;
}

static u32 interpreter(void)
{
    static const u8 program[] = {1, 5, 2, 3, 4, 0, 3, 1, 5, 2, 4, 0, 6};
    u32 x = T + 3, y = 7;
    for (u32 pass = 0; pass < 8; pass++)
        for (const u8 *p = program; *p != 6; p++)
            switch (*p) {
            case 0: x += y; break;
            case 1: x = x << 3 | x >> 29; break;
            case 2: y ^= x; break;
            case 3: y += x >> 5; break;
            case 4: x -= 17; break;
            default: y = y * 5 + 1; break;
            }
    return x ^ y;
}

int main(void)
{
    int own[40]; /* the stack is in own RAM */
    u64 product = 88172645463325252ull + T;
    u32 sum = records();
    sum += sorting(own, 40);
    sum += sorting((int *)(HEAP + 0x800), 40);
    clear(HEAP + 0x1000, 1024);
    copy(HEAP + 0x1400, HEAP, 256);
    sum += crc(HEAP, 48);
    for (u32 n = 3; n < 9; n++)
        product = product / n + (product % n << 40);
    sum += (u32)product + (u32)(product >> 32) + interpreter();
    RESULT(4 + T) = sum;
    return 0;
}
#endif
