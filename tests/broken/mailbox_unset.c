// SPDX-License-Identifier: Apache-2.0
// cores: BRISC TRISC0
// says: uninitialised-value
// says: mailbox_unset.c:
#include "tile.h"
typedef struct job {
    u32 first, count;
} job;
#ifdef CORE_BRISC
static __attribute__((noinline)) void prepare(volatile job *j)
{
    j->first = 3;
#ifdef FIXED
    j->count = 4;
#endif
}
int main(void)
{
    volatile job j;
    prepare(&j);
    MAILBOX(1) = j.first;
    MAILBOX(1) = j.count;
    return 0;
}
#else
int main(void)
{
    u32 first = MAILBOX(0), count = MAILBOX(0), sum = 0;
    if (count > 100)
        count = 100;
    for (u32 i = first; i < first + count; i++)
        sum += i;
    RESULT(0) = sum;
    return 0;
}
#endif
