/* SPDX-License-Identifier: Apache-2.0 */
/* For the differential test: a checksum and a sort, which leave their results in `result`. BROKEN leaves a different one. */
volatile unsigned result[16];

static unsigned mix(unsigned x)
{
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

int main(void)
{
    unsigned values[16], x = 1;
    for (int i = 0; i < 16; i++)
        values[i] = x = mix(x);
    for (int i = 1; i < 16; i++)
        for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
            unsigned held = values[k];
            values[k] = values[k - 1];
            values[k - 1] = held;
        }
    for (int i = 0; i < 16; i++)
        result[i] = values[i] / (unsigned)(i + 1);
#ifdef BROKEN
    result[3]++;
#endif
    return 0;
}
