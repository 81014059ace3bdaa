/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forged snapshots with a right checksum: refused, or run without harm. The first byte chooses the device whose snapshot
 * it was, the rest what is changed in it.
 */
#include "forge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEVICES = 16, CYCLES = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *snapshot[DEVICES], *forged;
    static size_t whole[DEVICES], room;
    static wg_device *dev[2];
    if (size < 2)
        return 0;
    unsigned i = data[0] % DEVICES;
    wg_arch_id arch = i & 1 ? WG_ARCH_WH : WG_ARCH_BH;
    if (!snapshot[i]) {
        wg_device *from = forge_device(arch, i);
        size_t bytes = wg_snapshot_size(from);
        if (!(snapshot[i] = malloc(bytes)) || wg_snapshot(from, snapshot[i], bytes) != WG_OK)
            abort();
        wg_destroy(from);
        whole[i] = forge_bytes(snapshot[i]);
        if (bytes > room && !(forged = realloc(forged, room = bytes)))
            abort();
    }
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    if (!dev[arch] && wg_create(&desc, &dev[arch]) != WG_OK)
        abort();
    forge f = {data + 1, size - 1 > 400 ? 400 : size - 1};
    memcpy(forged, snapshot[i], whole[i]);
    forge_snapshot(&f, forged);
    wg_status status = wg_restore(dev[arch], forged, whole[i]);
    if (status == WG_OK)
        wg_advance(dev[arch], CYCLES);
    else if (status != WG_ERR_SNAPSHOT)
        abort();
    return 0;
}
