/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the library as a host does: devices and chips, snapshots of both. Every status is checked. */
#include <stdio.h>
#include <stdlib.h>
#include <waitgate/chip.h>
#include <waitgate/waitgate.h>

static int failed(const char *what, wg_status status, const char *error)
{
    fprintf(stderr, "waitgate: %s: %s: %s\n", what, wg_status_text(status), error);
    return 1;
}

static int device(wg_arch_id arch)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = arch};
    wg_device *dev = NULL;
    wg_status status = wg_create(&desc, &dev);
    if (status != WG_OK)
        return failed("create", status, "");
    const uint32_t code[] = {0x00108093, 0x00110113, 0x00000013, 0xFF5FF06F};
    static const wg_delay delay = {
        .struct_size = sizeof delay, .site = WG_SITE_ACCEPT, .agent = WG_AGENT_THREAD0, .event = 1, .cycles = 3};
    wg_write(dev, 0x1000, code, sizeof code);
    wg_core_release(dev, WG_CORE_B, 0x1000);
    wg_push(dev, 0, 0x02000000);
    size_t size = wg_snapshot_size(dev);
    void *snapshot = malloc(size);
    int bad = 0;
    if (!snapshot)
        bad = failed("snapshot", WG_ERR_NO_MEMORY, "");
    else if ((status = wg_perturb_with(dev, 0, &delay, 1)) != WG_OK || (status = wg_advance(dev, 50)) != WG_OK ||
             (status = wg_snapshot(dev, snapshot, size)) != WG_OK || (status = wg_advance(dev, 50)) != WG_OK ||
             (status = wg_restore(dev, snapshot, size)) != WG_OK || (status = wg_advance(dev, 50)) != WG_OK)
        bad = failed("device", status, wg_error(dev));
    else
        printf("%llx\n", (unsigned long long)wg_state_hash(dev));
    free(snapshot);
    wg_destroy(dev);
    return bad;
}

static int chip(wg_arch_id arch)
{
    wg_grid_desc desc = {.struct_size = sizeof desc, .arch = arch, .threads = 2};
    wg_grid *g = NULL;
    wg_status status = wg_grid_create(&desc, &g);
    if (status != WG_OK)
        return failed("create", status, "");
    const uint32_t word = 42;
    void *snapshot = NULL;
    int bad = 0;
    if ((status = wg_grid_write(g, 1, 2, 0x1000, &word, 4)) != WG_OK ||
        (status = wg_grid_write(g, 0, 0, 0x1000, &word, 4)) != WG_OK ||
        (status = wg_grid_write(g, 2, 2, 0x1000, &word, 4)) != WG_OK || (status = wg_grid_advance(g, 20)) != WG_OK) {
        bad = failed("chip", status, wg_grid_error(g));
    } else {
        size_t size = wg_grid_snapshot_size(g);
        if (!(snapshot = malloc(size)))
            bad = failed("snapshot", WG_ERR_NO_MEMORY, "");
        else if ((status = wg_grid_snapshot(g, snapshot, size)) != WG_OK ||
                 (status = wg_grid_restore(g, snapshot, size)) != WG_OK || (status = wg_grid_advance(g, 20)) != WG_OK)
            bad = failed("chip", status, wg_grid_error(g));
        else
            printf("%llx\n", (unsigned long long)wg_grid_state_hash(g));
    }
    free(snapshot);
    wg_grid_destroy(g);
    return bad;
}

int main(void)
{
    for (unsigned arch = 0; arch < 2; arch++)
        if (device((wg_arch_id)arch) || chip((wg_arch_id)arch))
            return 1;
    return 0;
}
