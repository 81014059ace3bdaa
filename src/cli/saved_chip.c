/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/saved.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "engine/state_check.h"

enum { VERSION = 2, NAME = 4096 };
static const char magic[8] = {'w', 'g', 's', 'c', 'h', 'i', 'p', '\n'};

/* A file: this header, then the chip's snapshot, then the host's memory. */
typedef struct header {
    char magic[8];
    uint64_t sum; /* of everything after it */
    uint32_t version, arch, profile, reserved;
    uint64_t cycle, machine_bytes, host_bytes;
    char name[NAME]; /* of the chip file */
} header;

static const header *header_of(const wg_saved_chip *c) { return (const header *)(const void *)c->file; }

static uint64_t sum_of(const header *h, size_t bytes)
{
    const size_t begin = offsetof(header, sum) + sizeof h->sum;
    return wg_checksum((const char *)h + begin, bytes - begin);
}

static bool refuse(wg_text *error, const char *path, const char *why)
{
    wg_textf(error, "waitgate: %s: %s\n", path, why);
    return false;
}

bool wg_saved_is_chip(const char *path)
{
    char begin[sizeof magic];
    FILE *f = fopen(path, "rb");
    const bool is = f && fread(begin, 1, sizeof begin, f) == sizeof begin && memcmp(begin, magic, sizeof magic) == 0;
    if (f)
        fclose(f);
    return is;
}

enum { MOST_MIB = 4096 }; /* a chip with all its tiles takes some 350 */

bool wg_saved_chip_read(wg_saved_chip *c, const char *path, wg_text *error)
{
    char message[512];
    c->path = path;
    if (!(c->file = wg_file_read_mib(path, MOST_MIB, &c->bytes, message, sizeof message))) {
        wg_textf(error, "waitgate: %s\n", message);
        return false;
    }
    const header *h = header_of(c);
    if (c->bytes < sizeof *h || memcmp(h->magic, magic, sizeof magic) != 0)
        return refuse(error, path, "this is not a snapshot of a chip; one of a tile goes with the tile's programs");
    if (h->version != VERSION)
        return refuse(error, path, "the snapshot is from another version of Waitgate");
    const size_t rest = c->bytes - sizeof *h;
    if (h->machine_bytes > rest || h->host_bytes != rest - h->machine_bytes || h->sum != sum_of(h, c->bytes) ||
        !wg_arch_known(h->arch) || h->profile > WG_PROFILE_DOCUMENTED || h->name[NAME - 1])
        return refuse(error, path, "the snapshot is cut short or damaged");
    c->name = h->name;
    return true;
}

bool wg_is_chip_run(const wg_args *args)
{
    const char *resume = args->value[WG_OPT_RESUME];
    for (size_t i = 0; i < args->files; i++)
        if (wg_is_chip_argument(args, args->file[i]) || (wg_is_saved(args->file[i]) && wg_saved_is_chip(args->file[i])))
            return true;
    return !args->files && resume && wg_saved_is_chip(resume);
}

bool wg_saved_chip_files(const wg_args *args, wg_saved_chip *c, const char **chip, wg_text *error)
{
    const char *snapshot = args->value[WG_OPT_RESUME];
    unsigned chips = 0, snapshots = snapshot != NULL;
    *chip = NULL;
    for (size_t i = 0; i < args->files; i++)
        if (wg_is_saved(args->file[i])) {
            snapshot = args->file[i];
            snapshots++;
        } else {
            *chip = args->file[i];
            chips++;
        }
    if (chips > 1 || (*chip && !wg_is_chip_argument(args, *chip))) {
        wg_textf(error, "waitgate: a chip file is the only file of a run\n");
        return false;
    }
    if (snapshots > 1) {
        wg_textf(error, "waitgate: a run resumes from one snapshot\n");
        return false;
    }
    if (snapshot && !wg_saved_chip_read(c, snapshot, error))
        return false;
    *chip = *chip ? *chip : c->name;
    return true;
}

bool wg_saved_chip_fits(const wg_saved_chip *c, const wg_grid_desc *chip, const char *name, wg_text *error)
{
    const header *h = header_of(c);
    if (h->arch != chip->arch) {
        wg_textf(error, "waitgate: %s is from %s, but %s is for %s\n", c->path, wg_arch_title((wg_arch_id)h->arch),
                 name, wg_arch_title(chip->arch));
        return false;
    }
    return h->profile == chip->profile || refuse(error, c->path, "the snapshot is of the other timing profile");
}

bool wg_saved_chip_apply(const wg_saved_chip *c, wg_grid *grid, uint8_t *host, uint64_t host_bytes, wg_text *error)
{
    const header *h = header_of(c);
    if (h->host_bytes != host_bytes)
        return refuse(error, c->path, "the chip file is not the one of the snapshot: its host has other memory");
    if (wg_grid_restore(grid, c->file + sizeof *h, (size_t)h->machine_bytes) != WG_OK)
        return refuse(error, c->path, wg_grid_error(grid));
    if (host_bytes)
        memcpy(host, c->file + sizeof *h + h->machine_bytes, (size_t)host_bytes);
    return true;
}

bool wg_saved_chip_write(wg_grid *grid, const wg_grid_desc *chip, const char *name, const uint8_t *host,
                         uint64_t host_bytes, const char *path, wg_text *error)
{
    char message[512], full[PATH_MAX];
    const size_t machine = wg_grid_snapshot_size(grid), bytes = sizeof(header) + machine + (size_t)host_bytes;
    uint8_t *file = wg_calloc(1, bytes);
    header *h = (header *)(void *)file;
    if (!file || wg_grid_snapshot(grid, file + sizeof *h, machine) != WG_OK) {
        free(file);
        return refuse(error, path, "out of memory");
    }
    *h = (header){.version = VERSION,
                  .arch = chip->arch,
                  .profile = chip->profile,
                  .cycle = wg_grid_cycle(grid),
                  .machine_bytes = machine,
                  .host_bytes = host_bytes};
    memcpy(h->magic, magic, sizeof magic);
    snprintf(h->name, sizeof h->name, "%s", realpath(name, full) ? full : name);
    if (host_bytes)
        memcpy(file + sizeof *h + machine, host, (size_t)host_bytes);
    h->sum = sum_of(h, bytes);
    const bool ok = wg_file_write(path, file, bytes, message, sizeof message);
    if (!ok)
        wg_textf(error, "waitgate: %s\n", message);
    free(file);
    return ok;
}

void wg_saved_chip_free(wg_saved_chip *c) { free(c->file); }
