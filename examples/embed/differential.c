/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiler's differential test: two ELF files of one program, compiled differently, run on core B of two tiles. Their
 * results in the array `result` must be equal, however many cycles they take.
 *
 *     differential ONE.elf OTHER.elf
 */
#include <stdio.h>
#include <stdlib.h>
#include <waitgate/tools.h>

enum { MOST = 4096, CYCLES = 10000000 };

typedef struct outcome {
    uint8_t result[MOST];
    uint32_t bytes;
    uint64_t cycles;
} outcome;

static bool run(const char *path, outcome *o)
{
    char error[512] = "", report[4096];
    uint32_t address = 0;
    wg_elf *elfs[WG_CORES] = {0};
    wg_device *dev = NULL;
    wg_stop stop = WG_STOP_CYCLES;
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .profile = WG_PROFILE_DEFAULT};
    elfs[WG_CORE_B] = wg_elf_open_file(path, error, sizeof error);
    bool ok = elfs[WG_CORE_B] && wg_create(&desc, &dev) == WG_OK &&
              wg_elf_load(elfs[WG_CORE_B], dev, WG_CORE_B, true, error, sizeof error) == WG_OK;
    if (ok && (!wg_elf_find(elfs[WG_CORE_B], "result", &address, &o->bytes) || o->bytes > MOST)) {
        snprintf(error, sizeof error, "%s has no array `result` of at most %d bytes", path, MOST);
        ok = false;
    }
    ok = ok && wg_run(dev, CYCLES, &stop) == WG_OK && wg_read(dev, address, o->result, o->bytes) == WG_OK;
    if (ok && stop != WG_STOP_DONE) {
        wg_report_desc how = {.struct_size = sizeof how, .source = wg_elf_source, .user = elfs};
        wg_hang_report(dev, &how, report, sizeof report);
        fprintf(stderr, "%s does not end:\n%s", path, report);
        ok = false;
    } else if (!ok) {
        fprintf(stderr, "%s\n", dev && !*error ? wg_error(dev) : error);
    } else {
        o->cycles = wg_cycle(dev);
    }
    wg_destroy(dev);
    wg_elf_close(elfs[WG_CORE_B]);
    return ok;
}

int main(int argc, char **argv)
{
    static outcome one, other;
    if (argc != 3 || !run(argv[1], &one) || !run(argv[2], &other))
        return EXIT_FAILURE;
    for (uint32_t i = 0; i < one.bytes || i < other.bytes; i++)
        if (one.bytes != other.bytes || one.result[i] != other.result[i]) {
            printf("they differ at result[%u]: 0x%02x and 0x%02x\n", (unsigned)i, one.result[i], other.result[i]);
            return EXIT_FAILURE;
        }
    printf("the same %u bytes after %llu and %llu cycles\n", (unsigned)one.bytes, (unsigned long long)one.cycles,
           (unsigned long long)other.cycles);
    return EXIT_SUCCESS;
}
