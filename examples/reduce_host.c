/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of reduce: small integers, whose sums are exact in every step.
 *
 *     reduce_host bh|wh [FOLDER of the ELF files]
 */
#include "host.h"

enum { IN0 = 0x30000, IN1 = 0x31000, OUT = 0x32000 };
enum { ROWS, COLUMNS, ALL };

int main(int argc, char **argv)
{
    static const char *const of[3] = {"rows", "columns", "all elements"}, *const what[2] = {"sums", "greatest"};
    host h = host_begin(argc, argv, "reduce");
    int x[32][32];
    uint16_t tile[1024], ones[1024];
    float out[1024];
    uint32_t state = 7;
    for (unsigned i = 0; i < 32; i++)
        for (unsigned j = 0; j < 32; j++) {
            x[i][j] = (int)(host_random(&state) % 7) - 3;
            tile[in_tile(i, j)] = bf16_of(x[i][j]);
            ones[in_tile(i, j)] = bf16_of(1);
        }
    tile[in_tile(20, 9)] = bf16_of(x[20][9] = 99); /* seven bits, of which the first pass omits two */
    for (unsigned which = 0; which < 3; which++)
        for (unsigned max = 0; max < 2; max++) {
            wg_device *dev = host_device(&h);
            host_write(dev, IN0, tile, sizeof tile);
            host_write(dev, IN1, ones, sizeof ones);
            host_parameter(dev, 0, which);
            host_parameter(dev, 1, max);
            host_run(dev, 100000);
            host_read(dev, OUT, out, sizeof out);
            for (unsigned n = 0; n < (which == ALL ? 1 : 32); n++) {
                int right = max ? -1000 : 0;
                for (unsigned k = 0; k < (which == ALL ? 1024 : 32); k++) {
                    int v = which == ROWS ? x[n][k] : which == COLUMNS ? x[k][n] : x[k / 32][k % 32];
                    right = !max ? right + v : v > right ? v : right;
                }
                float got = out[which == ALL ? in_tile(0, 16) : in_tile(0, n)];
                if (got != (float)right)
                    host_fail("%s of %s, number %u: %g instead of %d", what[max], of[which], n, (double)got, right);
            }
            printf("%s of %s are exact, %llu cycles\n", what[max], of[which], (unsigned long long)wg_cycle(dev));
            wg_destroy(dev);
        }
    return 0;
}
