/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a browser does not have: ELF files, chip files, saved runs, a terminal, other processes. The command line is complete otherwise; a
 * command that needs one of these fails with a sentence.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "cli/chip_yaml.h"
#include "cli/commands.h"
#include "cli/cluster_hang.h"
#include "cli/diff.h"
#include "cli/explore.h"
#include "cli/metal_run.h"
#include "cli/ranks.h"
#include "cli/tasm_internal.h"
#include "elf/elf_internal.h"

/* ---- ELF files (src/elf) ---- */

bool wg_elf_is_elf(const void *bytes, size_t count)
{
    (void)bytes, (void)count;
    return false;
}
wg_elf *wg_elf_open(const char *name, const void *bytes, size_t count, char *error, size_t error_bytes)
{
    (void)bytes, (void)count;
    snprintf(error, error_bytes, "%s: the playground reads no ELF files", name);
    return NULL;
}
wg_elf *wg_elf_open_file(const char *path, char *error, size_t error_bytes)
{
    return wg_elf_open(path, NULL, 0, error, error_bytes);
}
/* All images were made by the small assembler (src/elf/image.c). */
void wg_elf_reader_close(wg_elf *elf) { (void)elf; }
bool wg_elf_section(const wg_elf *elf, const char *name, uint32_t *address, uint32_t *bytes)
{
    return (void)elf, (void)name, (void)address, (void)bytes, false;
}
bool wg_elf_line_at(wg_elf *elf, uint32_t address, wg_elf_line *out) { return wg_elf_mark_at(elf, address, out); }
unsigned wg_elf_inlined_at(wg_elf *elf, uint32_t address, wg_elf_call *call, unsigned most)
{
    return (void)elf, (void)address, (void)call, (void)most, 0;
}
bool wg_elf_kernel_read(const wg_elf *elf, wg_elf_kernel *out, char *error, size_t bytes)
{
    return (void)elf, (void)out, (void)error, (void)bytes, false;
}
void wg_elf_kernel_free(wg_elf_kernel *kernel) { (void)kernel; }

/* ---- Programs of cores: the small assembler instead of the RISC-V binutils (src/cli/tasm_link.c) ---- */

bool wg_tasm_link(wg_tasm *t)
{
    bool ok = true;
    for (unsigned i = 0; i < WG_CORES; i++)
        if (t->core[i].present)
            ok = wg_tasm_assemble(t, i) && ok;
    return ok;
}

/* ---- Chip files (src/cli/chip_yaml.c) ---- */

bool wg_chip_runs(const wg_chip_tiles *t) { return (void)t, false; }
bool wg_chip_parse(wg_chip_file *out, const char *name, const char *text, size_t bytes)
{
    *out = (wg_chip_file){.name = name, .source = text, .source_bytes = bytes, .errors = 1};
    wg_textf(&out->report, "%s: the playground reads no chip files\n", name);
    return false;
}
bool wg_is_chip_argument(const wg_args *args, const char *file) { return (void)args, wg_is_chip_file(file); }
bool wg_is_cluster_argument(const wg_args *args, const char *file) { return (void)args, (void)file, false; }
bool wg_is_cluster_file(const char *path) { return (void)path, false; }
bool wg_cluster_refuse(const wg_args *args, wg_text *error) { return (void)args, (void)error, true; }
int wg_run_cluster(const wg_args *args, wg_run_result *result, wg_text *out, wg_text *error)
{
    (void)result, (void)out;
    wg_textf(error, "waitgate: %s: the playground runs no clusters\n", args->file[0]);
    return WG_EXIT_ERROR;
}
int wg_explore_chip(const wg_args *args, wg_text *out, wg_text *error)
{
    (void)out;
    wg_textf(error, "waitgate: %s: the playground reads no chip files\n", args->file[0]);
    return WG_EXIT_ERROR;
}
bool wg_chip_judge_waits(wg_chip_run *r, wg_text *error) { return (void)r, (void)error, true; }
bool wg_chip_grade_races(wg_chip_run *r, wg_text *error) { return (void)r, (void)error, true; }
void wg_chip_free(wg_chip_file *file) { wg_text_free(&file->report); }
void wg_chip_complain(wg_chip_file *file, wg_chip_mark mark, const char *format, ...)
{
    (void)file, (void)mark, (void)format;
}

/* No chip file was read, so none has programs of tt-metal (src/cli/metal_run.c). */
size_t wg_metal_kernel_tiles(const wg_chip_file *file) { return (void)file, 0; }
bool wg_metal_open(wg_chip_run *r, wg_text *error) { return (void)r, (void)error, false; }
bool wg_metal_start(wg_chip_run *r, wg_text *error) { return (void)r, (void)error, false; }
void wg_metal_close(wg_metal_run *m) { (void)m; }
wg_metal_turn wg_metal_look(wg_chip_run *r, wg_text *error) { return (void)r, (void)error, WG_METAL_FAILED; }
size_t wg_metal_state_bytes(const wg_metal_run *m) { return (void)m, 0; }
void wg_metal_state_save(const wg_metal_run *m, void *to) { (void)m, (void)to; }
void wg_metal_state_load(wg_metal_run *m, const void *from) { (void)m, (void)from; }
bool wg_metal_end(wg_chip_run *r, wg_text *error) { return (void)r, (void)error, true; }
bool wg_metal_as_expected(const wg_metal_run *m) { return (void)m, true; }
void wg_metal_report_text(const wg_metal_run *m, wg_text *out) { (void)m, (void)out; }
void wg_metal_report_json(const wg_metal_run *m, wg_json *j) { (void)m, (void)j; }

/* … nor does one hang (src/cli/cluster_hang.c). */
void wg_chip_verdict(wg_chip_run *r, wg_text *out) { (void)r, (void)out; }
void wg_chip_verdict_json(wg_chip_run *r, wg_json *j) { (void)r, (void)j; }

/* ---- Saved runs (src/cli/diff_read.c), the prompt (src/cli/debug.c) ---- */

bool wg_saved_run_read(wg_saved_run *run, const char *path, wg_text *error)
{
    *run = (wg_saved_run){0};
    wg_textf(error, "waitgate: %s: the playground compares no saved runs\n", path);
    return false;
}
void wg_saved_run_free(wg_saved_run *run) { (void)run; }

int wg_command_debug(const wg_args *args, wg_text *out, wg_text *error)
{
    (void)args, (void)out;
    wg_textf(error, "waitgate: the playground has its debugger beside the program\n");
    return WG_EXIT_ERROR;
}

/* ---- Other processes (src/cli/ranks.c) ---- */

bool wg_ranks_started(void) { return false; }
wg_transport *wg_ranks_open(wg_text *error) { return (void)error, NULL; }
void wg_ranks_close(wg_transport *ranks, const wg_args *args, int status, wg_text *error)
{
    (void)ranks, (void)args, (void)status, (void)error;
}
bool wg_ranks_share(int argc, char **argv, wg_text *out, wg_text *error)
{
    return (void)argc, (void)argv, (void)out, (void)error, true;
}
void wg_ranks_forget(void) {}

static int not_here(void)
{
    errno = ENOSYS;
    return -1;
}
int memfd_create(const char *name, unsigned flags) { return (void)name, (void)flags, not_here(); }
int prctl(int option, ...) { return (void)option, not_here(); }
pid_t wait4(pid_t process, int *status, int options, struct rusage *usage)
{
    return (void)process, (void)status, (void)options, (void)usage, not_here();
}
