/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forged snapshots with a correct checksum: refused, or run without harm. The first byte chooses the device of the
 * snapshot, the rest the changes.
 */
#include "forge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Replaces src/engine/checksum.c: every forged snapshot is correct anyway, and checksums would take most of the time.
 */
uint64_t wg_checksum(const void *data, size_t bytes)
{
    (void)data;
    return bytes;
}

/* Devices are large: freed memory is reused soon, else the kernel spends most of the time clearing pages. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "quarantine_size_mb=1:malloc_context_size=1"; }

enum { DEVICES = 16, CYCLES = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *snapshot[DEVICES], *forged[DEVICES];
    static size_t whole[DEVICES];
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
        if (!(forged[i] = malloc(whole[i])))
            abort();
        memcpy(forged[i], snapshot[i], whole[i]);
    }
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    if (!dev[arch] && wg_create(&desc, &dev[arch]) != WG_OK)
        abort();
    forge f = {data + 1, size - 1 > 400 ? 400 : size - 1};
    const size_t l1 = FORGE_HEADER + forge_part(snapshot[i], 0), behind = l1 + forge_part(snapshot[i], 1);
    memcpy(forged[i], snapshot[i], l1); /* L1 is never forged */
    memcpy(forged[i] + behind, snapshot[i] + behind, whole[i] - behind);
    forge_snapshot(&f, forged[i]);
    wg_status status = wg_restore(dev[arch], forged[i], whole[i]);
    if (status == WG_OK)
        wg_advance(dev[arch], CYCLES);
    else if (status != WG_ERR_SNAPSHOT)
        abort();
    return 0;
}
