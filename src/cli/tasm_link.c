/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .tasm: the RISC-V assembler and linker make an ELF image of each core section, in a directory of its own. What they
 * complain about becomes an error of the program's line.
 */
#include "cli/tasm_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

/* Runs a program with its error output in a file; its exit status, or -1 if it could not be run. */
static int run_tool(char *const argv[], const char *errors)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child;
    int failed = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    int status;
    if (failed)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* "prog.tasm:12: Error: …" lines become errors of that line. */
static void tool_errors(wg_tasm *t, unsigned core, const char *path)
{
    char ignored[64];
    size_t size, found = t->errors;
    uint8_t *text = wg_file_read(path, &size, ignored, sizeof ignored);
    size_t name = strlen(t->name);
    for (char *line = text ? strtok((char *)text, "\n") : NULL; line; line = strtok(NULL, "\n")) {
        char *error = strstr(line, "rror: ");
        uint64_t number;
        if (error && strncmp(line, t->name, name) == 0 && line[name] == ':' &&
            wg_parse_number(line + name + 1, strspn(line + name + 1, "0123456789"), &number))
            wg_tasm_fail(t, (uint32_t)number, 0, "%s", error + 6);
        else if (strstr(line, "undefined reference") || strstr(line, "overlaps"))
            wg_tasm_fail(t, t->core[core].line, 0, "core %s: %s", wg_tasm_core_names[core],
                         strstr(line, ": ") ? strstr(line, ": ") + 2 : line);
    }
    if (t->errors == found)
        wg_tasm_fail(t, t->core[core].line, 0, "core %s cannot be assembled", wg_tasm_core_names[core]);
    free(text);
}

static bool is_identifier(const char *name) { return strspn(name, ".") == 0; }

static bool write_source(const wg_tasm *t, unsigned core, const char *path, char *error, size_t error_bytes)
{
    wg_text all = {0};
    wg_textf(&all, ".file 1 \"%s\"\n.option norelax\n.option norvc\n.text\n.globl _start\n_start:\n", t->name);
    for (size_t i = 0; i < t->symbols; i++)
        if (!t->symbol[i].label && is_identifier(t->symbol[i].name))
            wg_textf(&all, ".set %s, %lld\n", t->symbol[i].name, (long long)t->symbol[i].value);
    wg_text_add(&all, t->core[core].source.data, t->core[core].source.size);
    bool ok = !all.failed && wg_file_write(path, all.data, all.size, error, error_bytes);
    wg_text_free(&all);
    return ok;
}

static bool link_core(wg_tasm *t, unsigned core, const char *directory)
{
    static const char *const march[2] = {[WG_ARCH_BH] = "-march=rv32imaf_zicsr_zifencei_zba_zbb_zbkb_zfh",
                                         [WG_ARCH_WH] = "-march=rv32im_zicsr_zifencei"};
    const char *prefix = getenv("WAITGATE_RISCV_PREFIX");
    char as[256], ld[256], source[256], object[256], image[256], errors[256], address[40], error[512];
    if (!prefix)
        prefix = "riscv64-unknown-elf-";
    snprintf(as, sizeof as, "%sas", prefix);
    snprintf(ld, sizeof ld, "%sld", prefix);
    snprintf(source, sizeof source, "%s/core.s", directory);
    snprintf(object, sizeof object, "%s/core.o", directory);
    snprintf(image, sizeof image, "%s/core.elf", directory);
    snprintf(errors, sizeof errors, "%s/errors", directory);
    snprintf(address, sizeof address, "-Ttext=0x%x", t->core[core].address);
    if (!write_source(t, core, source, error, sizeof error)) {
        wg_tasm_fail(t, t->core[core].line, 0, "%s", error);
        return false;
    }
    char *assemble[] = {
        as, (char *)march[t->arch], (char *)"-mabi=ilp32", (char *)"--gdwarf-4", (char *)"-o", object, source, NULL};
    char *link[] = {ld,
                    (char *)"-m",
                    (char *)"elf32lriscv",
                    (char *)"-N",
                    (char *)"--no-relax",
                    (char *)"--no-warn-rwx-segments",
                    address,
                    (char *)"-e",
                    (char *)"_start",
                    (char *)"-o",
                    image,
                    object,
                    NULL};
    int status = run_tool(assemble, errors);
    if (status == 0)
        status = run_tool(link, errors);
    if (status == 127 || status < 0) {
        wg_tasm_fail(t, t->core[core].line, 0,
                     "core sections need `%s` and `%s`; install the RISC-V binutils "
                     "(binutils-riscv64-unknown-elf), or set WAITGATE_RISCV_PREFIX",
                     as, ld);
        return false;
    }
    if (status != 0) {
        tool_errors(t, core, errors);
        return false;
    }
    t->core[core].elf = wg_elf_open_file(image, error, sizeof error);
    if (!t->core[core].elf)
        wg_tasm_fail(t, t->core[core].line, 0, "%s", error);
    return t->core[core].elf != NULL;
}

bool wg_tasm_link(wg_tasm *t)
{
    bool ok = true;
    for (unsigned i = 0; i < WG_CORES; i++) {
        if (!t->core[i].present)
            continue;
        const char *base = getenv("TMPDIR");
        char directory[160];
        snprintf(directory, sizeof directory, "%s/waitgate-XXXXXX", base && strlen(base) < 120 ? base : "/tmp");
        if (!mkdtemp(directory)) {
            wg_tasm_fail(t, t->core[i].line, 0, "%s: %s", directory, strerror(errno));
            return false;
        }
        ok = link_core(t, i, directory) && ok;
        nftw(directory, remove_entry, 4, FTW_DEPTH | FTW_PHYS);
    }
    return ok;
}
