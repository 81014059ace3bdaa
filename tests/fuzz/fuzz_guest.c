/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any program: bytes become the contents of L1, words pushed into the threads, and start addresses of cores. No program
 * harms the host.
 */
#include <stdlib.h>
#include <string.h>
#include <waitgate/waitgate.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CYCLES = 400, IMAGE = 0x8000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static wg_device *dev[2];
    static uint8_t image[IMAGE];
    if (size < 8)
        return 0;
    wg_arch_id arch = data[0] & 1 ? WG_ARCH_WH : WG_ARCH_BH;
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    if (!dev[arch] && wg_create(&desc, &dev[arch]) != WG_OK)
        abort();
    wg_device *d = dev[arch];
    wg_reset(d);
    wg_findings_clear(d);
    if (wg_perturb_with(d, data[0] & 2 ? data[1] : 0, NULL, 0) != WG_OK)
        abort();
    /* The image repeats, so that short inputs fill it. */
    for (size_t at = 0; at < IMAGE; at += size - 4)
        memcpy(image + at, data + 4, size - 4 < IMAGE - at ? size - 4 : IMAGE - at);
    wg_write(d, 0, image, IMAGE);
    for (unsigned core = 0; core < 5; core++)
        if (data[2] >> core & 1)
            wg_core_release(d, (wg_core_id)core, (uint32_t)(core * 0x400 + (data[3] & 0xFC)));
    const size_t words = size / 4;
    for (size_t i = 0, at = 0; i < 48; i++, at = (at + 1) % words) {
        uint32_t word;
        memcpy(&word, data + at * 4, 4);
        (void)wg_push(d, (unsigned)(i % 3), word);
        if (i % 8 == 7)
            wg_advance(d, 1 + data[3] % 4);
    }
    wg_advance(d, CYCLES / 2);
    wg_stop stop;
    wg_run(d, CYCLES / 2, &stop);
    if (data[3] % 16 == 0)
        (void)wg_state_hash(d);
    return 0;
}
