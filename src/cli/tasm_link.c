/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .tasm: the RISC-V assembler and linker build an ELF image of each core section, in a directory of its own. Their errors
 * become errors of the program's line. Where they are not installed, the small assembler does (tasm_assemble.c).
 */
#include "cli/tasm_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The directory of the core being linked, and the tool running in it. A signal that ends the process and can be caught ends
 * the tool, too, and removes the directory.
 */
enum { SOURCE, OBJECT, IMAGE, ERRORS, FILES };
static struct {
    char directory[160], file[FILES][176];
    volatile sig_atomic_t child;
} work;

static void clear_away(void)
{
    for (unsigned i = 0; i < FILES; i++)
        (void)unlink(work.file[i]);
    (void)rmdir(work.directory);
}

static void on_end(int number)
{
    if (work.child)
        (void)kill((pid_t)work.child, SIGKILL);
    clear_away();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDS = sizeof ends / sizeof *ends };

/* Runs a program with its error output in a file; its exit status, or -1 if it could not be run (errno). */
static int run_tool(char *const argv[], const char *errors)
{
    sigset_t all, before;
    const pid_t parent = getpid();
    int status, fd = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int nothing = fd >= 0 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nothing < 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* until `work.child` is set */
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (unsigned i = 0; i < ENDS; i++)
            (void)signal(ends[i], SIG_DFL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (dup2(fd, STDERR_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0 || getppid() != parent)
            _exit(126);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(fd);
    close(nothing);
    work.child = child > 0 ? child : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    work.child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
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

static bool write_source(const wg_tasm *t, unsigned core, const char *path, char *error, size_t error_bytes)
{
    wg_text all = {0};
    wg_tasm_core_text(t, core, &all);
    snprintf(error, error_bytes, "out of memory");
    bool ok = !all.failed && wg_file_write(path, all.data, all.size, error, error_bytes);
    wg_text_free(&all);
    return ok;
}

static bool link_core(wg_tasm *t, unsigned core)
{
    static const char *const march[2] = {[WG_ARCH_BH] = "-march=rv32imaf_zicsr_zifencei_zba_zbb_zbkb_zfh",
                                         [WG_ARCH_WH] = "-march=rv32im_zicsr_zifencei"};
    const char *prefix = getenv("WAITGATE_RISCV_PREFIX");
    char as[256], ld[256], address[40], error[512];
    char *const source = work.file[SOURCE], *const object = work.file[OBJECT], *const image = work.file[IMAGE];
    const char *const errors = work.file[ERRORS];
    if (!prefix)
        prefix = "riscv64-unknown-elf-";
    if (strlen(prefix) + sizeof "as" > sizeof as) {
        wg_tasm_fail(t, t->core[core].line, 0, "WAITGATE_RISCV_PREFIX is longer than %zu bytes",
                     sizeof as - sizeof "as");
        return false;
    }
    snprintf(as, sizeof as, "%sas", prefix);
    snprintf(ld, sizeof ld, "%sld", prefix);
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
    if (status < 0 || status == 126) {
        wg_tasm_fail(t, t->core[core].line, 0, "`%s` cannot be run: %s", as,
                     status < 0 ? strerror(errno) : "it ended unexpectedly");
        return false;
    }
    if (status == 127 && !getenv("WAITGATE_RISCV_PREFIX"))
        return wg_tasm_assemble(t, core);
    if (status == 127) {
        wg_tasm_fail(t, t->core[core].line, 0, "there is no `%s` and `%s`, which WAITGATE_RISCV_PREFIX names", as, ld);
        return false;
    }
    if (status != 0) {
        tool_errors(t, core, errors);
        return false;
    }
    t->core[core].elf = wg_elf_open_file(image, error, sizeof error);
    if (!t->core[core].elf)
        wg_tasm_fail(t, t->core[core].line, 0, "%s", error);
    else
        t->out_of_memory |= !wg_elf_name_source(t->core[core].elf, t->name);
    return t->core[core].elf != NULL;
}

/* Links a core in a directory of its own. */
static bool link_alone(wg_tasm *t, unsigned core)
{
    static const char *const names[FILES] = {"core.s", "core.o", "core.elf", "errors"};
    enum { LONGEST = 120 };
    const char *base = getenv("TMPDIR");
    struct sigaction action = {.sa_handler = on_end}, before[ENDS];
    sigset_t all, unblocked;
    if (!base || !*base)
        base = "/tmp";
    if (strlen(base) > LONGEST) {
        wg_tasm_fail(t, t->core[core].line, 0, "TMPDIR is longer than %d bytes", LONGEST);
        return false;
    }
    snprintf(work.directory, sizeof work.directory, "%s/waitgate-XXXXXX", base);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &unblocked);
    bool made = mkdtemp(work.directory) != NULL;
    int why = errno;
    for (unsigned i = 0; i < FILES; i++)
        snprintf(work.file[i], sizeof work.file[i], "%s/%s", work.directory, names[i]);
    for (unsigned i = 0; made && i < ENDS; i++) {
        sigaction(ends[i], NULL, &before[i]);
        if (before[i].sa_handler == SIG_DFL)
            sigaction(ends[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &unblocked, NULL);
    if (!made) {
        wg_tasm_fail(t, t->core[core].line, 0, "%s: %s", work.directory, strerror(why));
        return false;
    }
    bool ok = link_core(t, core);
    clear_away();
    for (unsigned i = 0; i < ENDS; i++)
        sigaction(ends[i], &before[i], NULL);
    return ok;
}

bool wg_tasm_link(wg_tasm *t)
{
    bool ok = true;
    for (unsigned i = 0; i < WG_CORES; i++)
        if (t->core[i].present)
            ok = link_alone(t, i) && ok;
    return ok;
}
