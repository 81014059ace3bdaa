/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of gelu: a tile of numbers from -6 to 6 with ten bits of mantissa (as SrcA has), and the distance of the
 * results from x * (1 + erf(x / sqrt 2)) / 2.
 *
 *     gelu_host bh|wh [FOLDER of the ELF files]
 */
#include <math.h>

#include "host.h"

enum { IN0 = 0x30000, OUT = 0x32000 };

int main(int argc, char **argv)
{
    host h = host_begin(argc, argv, "gelu");
    float in[1024], out[1024];
    uint32_t state = 11;
    for (unsigned i = 0; i < 1024; i++)
        in[i] = (float)((int)(host_random(&state) % 1537) - 768) / 128;
    wg_device *dev = host_device(&h);
    host_write(dev, IN0, in, sizeof in);
    host_run(dev, 100000);
    host_read(dev, OUT, out, sizeof out);
    double worst = 0;
    for (unsigned i = 0; i < 1024; i++) {
        double x = (double)in[i], right = x * erfc(-x / sqrt(2)) / 2, error = fabs((double)out[i] - right);
        worst = error > worst ? error : worst;
        if (!(error < 1.3e-4)) /* the error of the example's polynomial and at its limits */
            host_fail("of %g: %g instead of %g", x, (double)out[i], right);
    }
    printf("1024 values, the worst is off by %.2g, %llu cycles\n", worst, (unsigned long long)wg_cycle(dev));
    wg_destroy(dev);
    return 0;
}
