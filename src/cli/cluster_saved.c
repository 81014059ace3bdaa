/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of a cluster in files: a header, the snapshots of all chips, then, for each chip with host memory, its
 * number, the size of the memory, and its contents. The first process writes the file; every process reads it and takes
 * its chips, so the number of processes may change.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cluster_run.h"
#include "engine/state_check.h"

enum { VERSION = 2 };
static const char magic[8] = {'w', 'g', 's', 'c', 'l', 'u', 's', '\n'};

typedef struct header {
    char magic[8];
    uint64_t sum; /* of everything after it */
    uint32_t version, arch, profile, chips;
    uint64_t cycle, machine_bytes, host_bytes;
} header;

static uint64_t sum_of(const void *file, size_t bytes)
{
    const size_t begin = offsetof(header, sum) + sizeof(uint64_t);
    return wg_checksum((const char *)file + begin, bytes - begin);
}

static bool refuse(wg_text *error, const char *path, const char *why)
{
    wg_textf(error, "waitgate: %s: %s\n", path, why);
    return false;
}

/* ---- Writing ---- */

/* This process's part: the snapshot of its chips; the memory of their hosts. */
static bool write_part(wg_cluster_job *r, wg_message *machine, wg_message *hosts)
{
    const size_t bytes = wg_cluster_snapshot_size(r->cluster);
    uint8_t *copy = wg_malloc(bytes);
    bool ok = copy && wg_cluster_snapshot(r->cluster, copy, bytes) == WG_OK && wg_message_add(machine, copy, bytes);
    free(copy);
    for (unsigned i = 0; ok && i < r->file.chips; i++)
        if (r->chip[i] && r->chip[i]->file.host_bytes) {
            const uint64_t entry[2] = {i, r->chip[i]->file.host_bytes};
            ok =
                wg_message_add(hosts, entry, sizeof entry) && wg_message_add(hosts, r->chip[i]->host, (size_t)entry[1]);
        }
    return ok;
}

/* The parts of all processes, at the first one. */
static bool gather(wg_cluster_job *r, const wg_message *mine, wg_message *all)
{
    return r->ranks ? r->ranks->gather(r->ranks, mine, all) : wg_message_add(&all[0], mine->data, mine->bytes);
}

static bool write_file(wg_cluster_job *r, const wg_message *machines, const wg_message *hosts, const char *path,
                       wg_text *error)
{
    const unsigned ranks = r->ranks ? r->ranks->ranks : 1;
    char message[512];
    wg_message machine = {0}, file = {0};
    header h = {.version = VERSION,
                .arch = r->file.base.grid.arch,
                .profile = r->file.base.grid.profile,
                .chips = r->file.chips,
                .cycle = wg_cluster_cycle(r->cluster)};
    memcpy(h.magic, magic, sizeof magic);
    bool ok = wg_cluster_join(machines, ranks, &machine);
    for (unsigned i = 0; i < ranks; i++)
        h.host_bytes += hosts[i].bytes;
    h.machine_bytes = machine.bytes;
    ok = ok && wg_message_add(&file, &h, sizeof h) && wg_message_add(&file, machine.data, machine.bytes);
    for (unsigned i = 0; ok && i < ranks; i++)
        ok = wg_message_add(&file, hosts[i].data, hosts[i].bytes);
    if (ok) {
        h.sum = sum_of(file.data, file.bytes);
        memcpy(file.data + offsetof(header, sum), &h.sum, sizeof h.sum);
        ok = wg_file_write(path, file.data, file.bytes, message, sizeof message);
        if (!ok)
            wg_textf(error, "waitgate: %s\n", message);
    } else {
        refuse(error, path, "out of memory");
    }
    wg_message_free(&machine);
    wg_message_free(&file);
    return ok;
}

bool wg_cluster_save(void *job, const char *path, wg_text *error)
{
    wg_cluster_job *r = job;
    const unsigned ranks = r->ranks ? r->ranks->ranks : 1;
    wg_message machine = {0}, host = {0}, *machines = wg_calloc(ranks, sizeof *machines),
               *hosts = wg_calloc(ranks, sizeof *hosts);
    bool ok =
        machines && hosts && write_part(r, &machine, &host) && gather(r, &machine, machines) && gather(r, &host, hosts);
    if (!ok)
        refuse(error, path, "the snapshot could not be put together");
    else if (!r->ranks || r->ranks->rank == 0)
        ok = write_file(r, machines, hosts, path, error);
    for (unsigned i = 0; machines && hosts && i < ranks; i++) {
        wg_message_free(&machines[i]);
        wg_message_free(&hosts[i]);
    }
    wg_message_free(&machine);
    wg_message_free(&host);
    free(machines);
    free(hosts);
    return ok;
}

/* ---- Reading ---- */

static bool apply_hosts(wg_cluster_job *r, const uint8_t *from, uint64_t bytes)
{
    uint64_t entry[2], found = 0, own = 0;
    for (unsigned i = 0; i < r->file.chips; i++)
        own += r->chip[i] && r->chip[i]->file.host_bytes;
    for (uint64_t at = 0; at < bytes; at += entry[1]) {
        if (bytes - at < sizeof entry)
            return false;
        memcpy(entry, from + at, sizeof entry);
        at += sizeof entry;
        if (entry[0] >= r->file.chips || entry[1] > bytes - at)
            return false;
        const wg_chip_run *chip = r->chip[entry[0]];
        if (!chip)
            continue;
        if (chip->file.host_bytes != entry[1])
            return false;
        memcpy(chip->host, from + at, (size_t)entry[1]);
        found++;
    }
    return found == own;
}

static bool apply(wg_cluster_job *r, const uint8_t *file, size_t bytes, const char *path, wg_text *error)
{
    header h;
    if (bytes < sizeof h || memcmp(file, magic, sizeof magic) != 0)
        return refuse(error, path, "this is not a snapshot of a cluster");
    memcpy(&h, file, sizeof h);
    if (h.version != VERSION)
        return refuse(error, path, "the snapshot is from another version of Waitgate");
    if (h.machine_bytes > bytes - sizeof h || h.host_bytes != bytes - sizeof h - h.machine_bytes ||
        h.sum != sum_of(file, bytes))
        return refuse(error, path, "the snapshot is cut short or damaged");
    if (h.arch != r->file.base.grid.arch || h.profile != r->file.base.grid.profile || h.chips != r->file.chips)
        return refuse(error, path, "the snapshot is of another architecture, timing profile or number of chips");
    if (wg_cluster_restore(r->cluster, file + sizeof h, (size_t)h.machine_bytes) != WG_OK)
        return refuse(error, path, wg_cluster_error(r->cluster));
    if (!apply_hosts(r, file + sizeof h + h.machine_bytes, h.host_bytes))
        return refuse(error, path, "the cluster file is not the one of the snapshot: its hosts have other memory");
    uint64_t *limit = &r->file.base.max_cycles; /* the limit counts from the snapshot, as for chip files */
    const uint64_t now = wg_cluster_cycle(r->cluster);
    *limit = *limit < UINT64_MAX - now ? *limit + now : UINT64_MAX;
    return true;
}

bool wg_cluster_resume(wg_cluster_job *r, const char *path, wg_text *error)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return refuse(error, path, strerror(errno));
    /* Mapped, since the file may be larger than a process should read: each takes a part. */
    const bool whole = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    void *bytes = whole ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (bytes == MAP_FAILED)
        return refuse(error, path, "this is not a snapshot of a cluster");
    const bool ok = apply(r, bytes, (size_t)about.st_size, path, error);
    munmap(bytes, (size_t)about.st_size);
    return ok;
}
