/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the hosts of the examples: a device, or a chip, with an example's ELF files, a run, and the utilisation of units.
 * It needs only the public API and libc.
 *
 *     host h = host_begin(argc, argv, "matmul_stream");      argv: bh|wh [FOLDER of the ELF files]
 *     wg_device *dev = host_device(&h);
 *     host_write(dev, 0x30000, tile, sizeof tile);
 *     host_run(dev, 100000);
 *
 * An error is reported and ends the program with status 1.
 */
#ifndef HOST_H
#define HOST_H

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waitgate/chip.h>
#include <waitgate/waitgate.h>

typedef struct host {
    wg_arch_id arch;
    const char *name;
    const char *report; /* the third argument, of hosts that have one */
    char folder[512];
} host;

static inline _Noreturn __attribute__((format(printf, 1, 2))) void host_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static inline host host_begin(int argc, char **argv, const char *name)
{
    host h = {.name = name};
    bool wh = argc > 1 && !strcmp(argv[1], "wh");
    if (argc < 2 || argc > 4 || (!wh && strcmp(argv[1], "bh")))
        host_fail("usage: %s bh|wh [FOLDER [REPORT.html]]", argv[0]);
    h.arch = wh ? WG_ARCH_WH : WG_ARCH_BH;
    const char *slash = strrchr(argv[0], '/');
    h.report = argc > 3 ? argv[3] : NULL;
    if (argc > 2)
        snprintf(h.folder, sizeof h.folder, "%s", argv[2]);
    else /* next to the program */
        snprintf(h.folder, sizeof h.folder, "%.*s", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
    return h;
}

static inline void host_write(wg_device *dev, uint32_t address, const void *from, size_t bytes)
{
    if (wg_write(dev, address, from, bytes) != WG_OK)
        host_fail("0x%x: %s", address, wg_error(dev));
}
static inline void host_read(wg_device *dev, uint32_t address, void *to, size_t bytes)
{
    if (wg_read(dev, address, to, bytes) != WG_OK)
        host_fail("0x%x: %s", address, wg_error(dev));
}

/* Parameters, as kernels read them: each word has its own line of L1. */
static inline void host_parameter(wg_device *dev, unsigned n, uint32_t value)
{
    host_write(dev, 0x20000 + 16 * n, &value, 4);
}

static const char *const host_core[WG_CORES] = {"brisc", "ncrisc", "trisc0", "trisc1", "trisc2"};

/* The path of a core's ELF file; `name` is part of the file's name. */
static inline void host_path_named(const host *h, const char *name, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s/%s%s.%s.elf", h->folder, h->arch == WG_ARCH_WH ? "wh_" : "", h->name, name);
}
static inline void host_path(const host *h, wg_core_id core, char *path, size_t bytes)
{
    host_path_named(h, host_core[core], path, bytes);
}

/* Puts an ELF file into L1 and starts a core there; false if the example has no program of that name. */
static inline bool host_load_named(const host *h, wg_device *dev, wg_core_id core, const char *name)
{
    static unsigned char file[1 << 18];
    char path[640];
    host_path_named(h, name, path, sizeof path);
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    size_t size = fread(file, 1, sizeof file, f);
    fclose(f);
    Elf32_Ehdr head;
    memcpy(&head, file, sizeof head);
    if (size < sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_machine != EM_RISCV ||
        head.e_phoff + (size_t)head.e_phnum * sizeof(Elf32_Phdr) > size)
        host_fail("%s is no ELF file for RISC-V, or too large", path);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf32_Phdr part;
        memcpy(&part, file + head.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type != PT_LOAD)
            continue;
        if ((size_t)part.p_offset + part.p_filesz > size)
            host_fail("%s ends too early", path);
        host_write(dev, part.p_vaddr, file + part.p_offset, part.p_filesz);
    }
    if (wg_core_release(dev, core, head.e_entry) != WG_OK)
        host_fail("%s: %s", path, wg_error(dev));
    return true;
}
static inline bool host_load(const host *h, wg_device *dev, wg_core_id core)
{
    return host_load_named(h, dev, core, host_core[core]);
}
static inline void host_load_all(const host *h, wg_device *dev)
{
    unsigned loaded = 0;
    for (unsigned core = 0; core < WG_CORES; core++)
        loaded += host_load(h, dev, (wg_core_id)core);
    if (!loaded)
        host_fail("there is no %s.*.elf in %s", h->name, h->folder);
}

static inline wg_device *host_device(const host *h)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = h->arch, .profile = WG_PROFILE_DEFAULT};
    wg_device *dev = NULL;
    wg_status status = wg_create(&desc, &dev);
    if (status != WG_OK)
        host_fail("no device: %s", wg_status_text(status));
    host_load_all(h, dev);
    return dev;
}

static inline void host_no_findings(const wg_device *dev)
{
    for (size_t i = 0; i < wg_finding_count(dev); i++)
        fprintf(stderr, "%s: %s\n", wg_finding_info_at(wg_finding_at(dev, i)->code)->code,
                wg_finding_at(dev, i)->detail);
    if (wg_finding_count(dev))
        exit(1);
}

/* Runs to the end, which the example marks with a 1 in L1. */
static inline void host_run(wg_device *dev, uint64_t cycles)
{
    static const char *const how[] = {"the cycles were not enough", "done", "nothing can move any more", "",
                                      "a finding"};
    wg_stop stop;
    uint32_t done = 0;
    if (wg_run(dev, cycles, &stop) != WG_OK)
        host_fail("%s", wg_error(dev));
    host_no_findings(dev);
    host_read(dev, 0x20080, &done, 4);
    if (stop != WG_STOP_DONE || done != 1)
        host_fail("after %llu cycles: %s", (unsigned long long)wg_cycle(dev), how[stop]);
}

/* Numbers. Tiles of 32 x 32 are four faces of 16 x 16: the index of row i, column j. */
static inline unsigned in_tile(unsigned i, unsigned j) { return (i / 16 * 2 + j / 16) * 256 + i % 16 * 16 + j % 16; }
/* A whole number of at most eight bits as BF16. */
static inline uint16_t bf16_of(int value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return (uint16_t)(bits >> 16);
}
static inline uint32_t host_random(uint32_t *state) { return (*state = *state * 1664525 + 1013904223) >> 8; }

/* The work of units: an instruction is in its unit from cycle `from` to cycle `to`. Attach with host_watch(). */
typedef struct host_work {
    uint64_t from, to, id;
    uint8_t unit, thread;
    uint32_t word;
} host_work;
typedef struct host_watch {
    host_work *work;
    size_t count, room;
    int observer;
} host_watch;

static inline void host_event(void *user, const wg_event *e)
{
    host_watch *w = user;
    if (e->kind == WG_EV_ISSUED) {
        if (w->count == w->room) {
            w->room = w->room ? 2 * w->room : 4096;
            w->work = realloc(w->work, w->room * sizeof *w->work);
            if (!w->work)
                host_fail("out of memory");
        }
        w->work[w->count++] = (host_work){.from = e->cycle,
                                          .to = e->cycle + 1,
                                          .id = e->id,
                                          .unit = (uint8_t)e->b,
                                          .thread = e->thread,
                                          .word = e->word};
        return;
    }
    for (size_t i = w->count; i--;)
        if (w->work[i].id == e->id && w->work[i].thread == e->thread && w->work[i].unit == e->agent) {
            w->work[i].to = e->cycle > w->work[i].from ? e->cycle : w->work[i].to;
            return;
        }
}
static inline void host_attach(host_watch *w, wg_device *dev)
{
    *w = (host_watch){0};
    if (wg_observe(dev, WG_EV_BIT(WG_EV_ISSUED) | WG_EV_BIT(WG_EV_COMPLETED), host_event, w, &w->observer) != WG_OK)
        host_fail("%s", wg_error(dev));
}
/* Cycles in which the unit had an instruction of this opcode, the first of them and the cycle after the last. */
static inline uint64_t host_busy(const host_watch *w, unsigned unit, unsigned opcode, uint64_t *first, uint64_t *last)
{
    uint64_t cycles = 0, until = 0;
    *first = *last = 0;
    for (size_t i = 0; i < w->count; i++) {
        const host_work *x = &w->work[i];
        if (x->unit != unit || x->word >> 24 != opcode)
            continue;
        if (!*first)
            *first = x->from;
        if (x->to > until) {
            cycles += x->to - (x->from > until ? x->from : until);
            until = x->to;
        }
    }
    *last = until;
    return cycles;
}

#endif
