/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hang behind the libttsim ABI: what is reported to a host when it leaves, on a signal, and while it only waits.
 * Standard error is read from a child.
 */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rvasm.h"
#include "ttsim_host.h"

enum { SEMWAIT = 0xA6FF8009, NOP = 0x02000000, BASE = 0x8000, FLAG = 0x20010 };

typedef enum kernel {
    STUCK, /* thread 1 waits for semaphore 1, which nobody posts */
    POLLS  /* core B waits for a command of the host */
} kernel;

/* The program as a file may have it. */
static rv stuck_at(uint32_t base)
{
    rv p = rv_at(base);
    rv_tt(&p, SEMWAIT);
    rv_tt(&p, NOP);
    rv_done(&p);
    return p;
}

static void prepare(lib *l, kernel which)
{
    rv p = rv_at(which == STUCK ? BASE : 0);
    if (which == STUCK) {
        rv_tt(&p, SEMWAIT);
        rv_tt(&p, NOP);
    } else {
        rv_li(&p, T0, FLAG);
        unsigned loop = (unsigned)p.n;
        rv_lw(&p, A0, 0, T0);
        rv_beq(&p, A0, ZERO, loop);
    }
    rv_done(&p);
    put32(l, SOFT_RESET, CORES_IN_RESET);
    put(l, p.base, p.word, 4 * p.n);
    put32(l, FLAG, 0);
    if (which == POLLS) {
        put32(l, SOFT_RESET, CORES_IN_RESET & ~RESET_B);
        return;
    }
    release_t1(l, BASE);
}

static char said[1 << 16];

/* Runs the host in a child, with its messages in `said`. Returns its status. */
static int host(void **state, void (*run)(lib *), const char *name, const char *value)
{
    int out[2], status = -1;
    assert_int_equal(pipe(out), 0);
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        dup2(out[1], STDERR_FILENO);
        close(out[0]);
        signal(SIGINT, SIG_DFL); /* a shell's background jobs inherit it ignored */
        if (name)
            setenv(name, value, 1);
        lib l = start(state);
        run(&l);
        _exit(7);
    }
    close(out[1]);
    size_t used = 0;
    for (ssize_t n; (n = read(out[0], said + used, sizeof said - 1 - used)) > 0;)
        used += (size_t)n;
    said[used] = 0;
    close(out[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static unsigned times(const char *text, const char *word)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        n++;
    return n;
}

#define SAYS(word) \
    do { \
        if (!strstr(said, word)) \
            fail_msg("no `%s` in\n%s", word, said); \
    } while (0)

static void leaves_stuck(lib *l)
{
    prepare(l, STUCK);
    l->clock(2000);
    end(l);
}

/* Certainly stuck: reported when the host leaves. */
static void test_at_exit(void **state)
{
    assert_int_equal(WEXITSTATUS(host(state, leaves_stuck, NULL, NULL)), 7);
    SAYS("the host exits while something is stuck");
    SAYS(wg_test_arch(state) == WG_ARCH_BH ? "tile 1-2" : "tile 1-1");
    SAYS("Nobody posts semaphore 1 (MATH_PACK)");
    SAYS("SEMPOST it once for each wait");
}

static void leaves_polling(lib *l)
{
    prepare(l, POLLS);
    l->clock(20000);
    end(l);
}

/* Firmware that waits for its next command is no hang. */
static void test_idle_is_no_hang(void **state)
{
    assert_int_equal(WEXITSTATUS(host(state, leaves_polling, NULL, NULL)), 7);
    assert_string_equal(said, "");
}

static void only_waits(lib *l)
{
    prepare(l, POLLS);
    for (unsigned i = 0; i < 3000; i++)
        l->clock(100);
    end(l);
}

/* tt-umd aims a window before each read. */
static void only_reads(lib *l)
{
    uint32_t word;
    prepare(l, POLLS);
    for (unsigned i = 0; i < 3000; i++) {
        l->read(aim(l, 0x20100), &word, 4);
        l->clock(100);
    }
    end(l);
}

static void works_with_it(lib *l)
{
    prepare(l, POLLS);
    for (unsigned i = 0; i < 3000; i++) {
        put32(l, 0x20100, i);
        l->clock(100);
    }
    end(l);
}

/* The host lets time pass and writes nothing, and only polling cores act: reported once. */
static void test_only_waits(void **state)
{
    assert_int_equal(WEXITSTATUS(host(state, only_waits, NULL, NULL)), 7);
    SAYS("only polling cores move, and the host only waits");
    SAYS("polls 0x00020010 until it is no longer 0");
    assert_int_equal(times(said, "waitgate: cycle"), 1);
    assert_int_equal(WEXITSTATUS(host(state, only_reads, NULL, NULL)), 7);
    assert_int_equal(times(said, "waitgate: cycle"), 1);
    assert_int_equal(WEXITSTATUS(host(state, works_with_it, NULL, NULL)), 7);
    assert_string_equal(said, "");
}

static void is_interrupted(lib *l)
{
    prepare(l, POLLS);
    l->clock(1000);
    raise(SIGTERM);
    l->clock(1000);
    end(l);
}

static void is_interrupted_twice(lib *l)
{
    prepare(l, POLLS);
    l->clock(1000);
    raise(SIGTERM);
    raise(SIGTERM);
    l->clock(1000);
    end(l);
}

static void is_interrupted_again(lib *l)
{
    prepare(l, POLLS);
    raise(SIGTERM);
    sleep(2);
    raise(SIGTERM);
    l->clock(1000);
    end(l);
}

static volatile sig_atomic_t handled;
static void own_handler(int number) { handled = number; }

static void handles_it(lib *l)
{
    struct sigaction action = {.sa_handler = own_handler}, now;
    l->exit();
    sigaction(SIGTERM, &action, NULL);
    l->init();
    prepare(l, POLLS);
    raise(SIGTERM);
    l->clock(1000);
    assert_int_equal(handled, SIGTERM);
    assert_int_equal(sigaction(SIGTERM, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, own_handler);
    end(l);
}

static void takes_nothing_along(lib *l)
{
    struct sigaction now;
    end(l);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sigaction(i ? SIGINT : SIGTERM, NULL, &now), 0);
        assert_ptr_equal(now.sa_handler, SIG_DFL);
    }
}

/* A signal gives a report and then has its usual effect; a host's own handler stays. */
static void test_signal(void **state)
{
    int status = host(state, is_interrupted, NULL, NULL);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    SAYS("a signal asks");
    SAYS("core B   at 0x0000000");
    assert_true(WIFSIGNALED(host(state, is_interrupted_twice, NULL, NULL)));
    SAYS("a signal asks");
    assert_true(WIFSIGNALED(host(state, is_interrupted_again, NULL, NULL)));
    assert_null(strstr(said, "a signal asks"));
    assert_int_equal(WEXITSTATUS(host(state, handles_it, NULL, NULL)), 7);
    assert_string_equal(said, "");
    assert_int_equal(WEXITSTATUS(host(state, takes_nothing_along, NULL, NULL)), 7);
}

/* WAITGATE_HANG_REPORT: the whole report, as text or JSON. */
static void test_file(void **state)
{
    static const struct {
        const char *suffix, *words[3];
    } forms[] = {{"", {"who waits for whom", "thread 1 -> semaphore 1 (MATH_PACK)", "last 1 that passed"}},
                 {".json", {"\"result\": \"hang\"", "\"story\": \"Nobody posts", "\"x\": 1"}}};
    for (unsigned i = 0; i < 2; i++) {
        char path[64], text[1 << 15] = "";
        snprintf(path, sizeof path, "/tmp/wg_abi_hang_%ld%s", (long)getpid(), forms[i].suffix);
        assert_int_equal(WEXITSTATUS(host(state, leaves_stuck, "WAITGATE_HANG_REPORT", path)), 7);
        assert_null(strstr(said, "waitgate: cycle"));
        take_file(path, text, sizeof text);
        for (unsigned k = 0; k < 3; k++)
            if (!strstr(text, forms[i].words[k]))
                fail_msg("no `%s` in\n%s", forms[i].words[k], text);
    }
    host(state, leaves_stuck, "WAITGATE_HANG_REPORT", "/nowhere/at/all");
    SAYS("WAITGATE_HANG_REPORT: ");
    host(state, leaves_stuck, "WAITGATE_HANG_REPORT", "");
    SAYS("is not the name of a file");
}

/* An ELF file with nothing but one function, and the mark of a kernel: that its relocations are there. */
static void write_elf_of(const char *path, const rv *code, const char *function)
{
    char names[] = "\0.symtab\0.strtab\0waits_for_ever";
    snprintf(names + 17, sizeof names - 17, "%s", function);
    const uint32_t base = code->base, bytes = (uint32_t)(4 * code->n);
    struct {
        Elf32_Ehdr head;
        Elf32_Phdr segment;
        Elf32_Shdr section[4];
        Elf32_Sym symbol[2];
        char names[sizeof names];
        uint32_t code[8];
    } file = {0};
    memcpy(file.head.e_ident, ELFMAG, SELFMAG);
    file.head.e_ident[EI_CLASS] = ELFCLASS32;
    file.head.e_ident[EI_DATA] = ELFDATA2LSB;
    file.head.e_ident[EI_VERSION] = EV_CURRENT;
    file.head.e_type = ET_EXEC;
    file.head.e_machine = EM_RISCV;
    file.head.e_version = EV_CURRENT;
    assert_true(bytes <= sizeof file.code);
    file.head.e_entry = base;
    file.head.e_phoff = (Elf32_Off)((char *)&file.segment - (char *)&file);
    file.head.e_shoff = (Elf32_Off)((char *)file.section - (char *)&file);
    file.head.e_ehsize = sizeof file.head;
    file.head.e_phentsize = sizeof file.segment;
    file.head.e_phnum = 1;
    file.head.e_shentsize = sizeof *file.section;
    file.head.e_shnum = 4;
    file.head.e_shstrndx = 2;
    file.segment = (Elf32_Phdr){.p_type = PT_LOAD,
                                .p_offset = (Elf32_Off)((char *)file.code - (char *)&file),
                                .p_vaddr = base,
                                .p_paddr = base,
                                .p_filesz = bytes,
                                .p_memsz = bytes,
                                .p_flags = PF_R | PF_X,
                                .p_align = 4};
    file.section[1] = (Elf32_Shdr){.sh_name = 1,
                                   .sh_type = SHT_SYMTAB,
                                   .sh_offset = (Elf32_Off)((char *)file.symbol - (char *)&file),
                                   .sh_size = sizeof file.symbol,
                                   .sh_link = 2,
                                   .sh_info = 1,
                                   .sh_entsize = sizeof *file.symbol};
    file.section[2] = (Elf32_Shdr){.sh_name = 9,
                                   .sh_type = SHT_STRTAB,
                                   .sh_offset = (Elf32_Off)((char *)file.names - (char *)&file),
                                   .sh_size = sizeof names};
    file.symbol[1] = (Elf32_Sym){.st_name = 17,
                                 .st_value = base,
                                 .st_size = bytes,
                                 .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC),
                                 .st_shndx = SHN_ABS};
    file.section[3] =
        (Elf32_Shdr){.sh_name = 9, .sh_type = SHT_RELA, .sh_link = 1, .sh_info = 1, .sh_entsize = sizeof(Elf32_Rela)};
    memcpy(file.names, names, sizeof names);
    memcpy(file.code, code->word, bytes);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(&file, sizeof file, 1, out), 1);
    fclose(out);
}

static void write_elf(const char *path, const rv *code) { write_elf_of(path, code, "waits_for_ever"); }

/* A host has its own function of this name, as tt-metal's library has libdwarf's: the library's symbols do not take it. */
__attribute__((visibility("default"))) void *dwarf_begin_elf(void);
void *dwarf_begin_elf(void)
{
    fputs("the host's function was called", stderr);
    return NULL;
}

/* WAITGATE_ELF: functions in the verdict; an unusable entry is reported. */
static void test_symbols(void **state)
{
    char path[64], list[80];
    snprintf(path, sizeof path, "/tmp/wg_abi_symbols_%ld", (long)getpid());
    const rv code = stuck_at(BASE);
    write_elf(path, &code);
    snprintf(list, sizeof list, "t1=%s", path);
    assert_int_equal(WEXITSTATUS(host(state, leaves_stuck, "WAITGATE_ELF", list)), 7);
    SAYS("thread 1 waits at waits_for_ever");
    if (!dlsym(RTLD_DEFAULT, "__asan_init"))
        assert_null(strstr(said, "the host's function"));
    host(state, leaves_stuck, "WAITGATE_ELF", path);
    SAYS("which core is");
    unlink(path);
    static const char *const bad[] = {"", "b=/nowhere/at/all", "/nowhere/brisc.elf", "t9=/nowhere"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        host(state, leaves_stuck, "WAITGATE_ELF", bad[i]);
        SAYS("WAITGATE_ELF=");
        SAYS("is ignored: ");
    }
}

/* Where a kernel is launched, and where its file says that it is. */
enum { CONFIG = 0xB000, TEXT = 0x400, LINKED = 0x6000 };

static void put_launch(lib *l, const rv *p, uint32_t enables)
{
    const bool bh = l->arch == WG_ARCH_BH;
    const uint32_t message = bh ? 0x70 : 0x20, go = bh ? 0x4F0 : 0x4A0, t1 = 3;
    put32(l, SOFT_RESET, CORES_IN_RESET);
    put(l, p->base, p->word, 4 * p->n);
    put32(l, bh ? 0x6C : 0x1C, 0);
    put32(l, message, CONFIG);
    put32(l, message + 52 + 4 * t1, TEXT);
    put32(l, message + 72 + 4 * t1, (uint32_t)(4 * p->n));
    put32(l, message + 120, enables);
    put32(l, go, 0x80u << 24);
    release_t1(l, p->base);
}

static void launch_kernel(lib *l)
{
    const rv p = stuck_at(CONFIG + TEXT);
    put_launch(l, &p, 1 << 3);
    l->clock(2000);
    end(l);
}

/* Does the cost profile of the same run name this function? */
static bool profile_names(void **state, const char *folder, const char *function)
{
    char path[96], text[1 << 16];
    snprintf(path, sizeof path, "%s/profile.txt", folder);
    setenv("WAITGATE_COST_PROFILE", path, 1);
    host(state, launch_kernel, "WAITGATE_ELF", folder);
    unsetenv("WAITGATE_COST_PROFILE");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    unlink(path);
    return strstr(text, function);
}

/*
 * WAITGATE_ELF names a folder: the file of each kernel is found in it by its code, wherever it was launched; so is a program's that
 * stays where it was linked. A file with other code is not taken for it.
 */
static void test_folder(void **state)
{
    char folder[64], deep[80], path[96], *made[] = {folder, deep};
    snprintf(folder, sizeof folder, "/tmp/wg_abi_cache_%ld", (long)getpid());
    snprintf(deep, sizeof deep, "%s/kernels", folder);
    snprintf(path, sizeof path, "%s/trisc1.elf", deep);
    host(state, launch_kernel, "WAITGATE_ELF", "/tmp/wg_abi_cache_that_is_not_there_yet/");
    assert_null(strstr(said, "ignored"));
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(mkdir(made[i], 0700), 0);
    host(state, launch_kernel, "WAITGATE_ELF", folder);
    assert_null(strstr(said, "waits_for_ever"));
    rv code = stuck_at(LINKED);
    write_elf(path, &code);
    assert_int_equal(WEXITSTATUS(host(state, launch_kernel, "WAITGATE_ELF", folder)), 7);
    SAYS("thread 1 waits at waits_for_ever");
    assert_true(profile_names(state, folder, "waits_for_ever"));
    code.word[1] ^= 1 << 20;
    write_elf(path, &code);
    host(state, launch_kernel, "WAITGATE_ELF", folder);
    assert_null(strstr(said, "waits_for_ever"));
    assert_false(profile_names(state, folder, "waits_for_ever"));
    code = stuck_at(BASE);
    write_elf(path, &code);
    host(state, leaves_stuck, "WAITGATE_ELF", folder);
    SAYS("thread 1 waits at waits_for_ever");
    unlink(path);
    for (unsigned i = 2; i-- > 0;)
        rmdir(made[i]);
}

static void launch_two_kernels(lib *l)
{
    const bool bh = l->arch == WG_ARCH_BH;
    const uint32_t message = bh ? 0x70 : 0x20, t0 = 2, t1 = 3;
    rv p = stuck_at(CONFIG + TEXT), other = rv_at(CONFIG + TEXT + 0x100);
    rv_done(&other);
    put(l, other.base, other.word, 4 * other.n);
    put32(l, message + 52 + 4 * t0, TEXT + 0x100);
    put32(l, message + 72 + 4 * t0, (uint32_t)(4 * other.n));
    put_launch(l, &p, 1 << t0 | 1 << t1);
    l->clock(2000);
    end(l);
}

/* Kernels that differ in another core's code: the folder tells whose code it is. */
static void test_company(void **state)
{
    enum { HOMES = 4, RIGHT = 2 };
    const rv code = stuck_at(LINKED);
    char folder[64], made[1 + 3 * HOMES][96], file[2 * HOMES][128];
    unsigned folders = 0, files = 0;
    snprintf(folder, sizeof folder, "/tmp/wg_abi_company_XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(made[folders++], sizeof *made, "%s", folder);
    for (unsigned i = 0; i < HOMES; i++) {
        rv other = rv_at(LINKED);
        if (i != RIGHT)
            rv_word(&other, NOP + i);
        rv_done(&other);
        snprintf(made[folders++], sizeof *made, "%s/%u", folder, i);
        for (unsigned t = 0; t < 2; t++) {
            snprintf(made[folders++], sizeof *made, "%s/%u/trisc%u", folder, i, t);
            snprintf(file[files++], sizeof *file, "%s/%u/trisc%u/trisc%u.elf", folder, i, t, t);
        }
        for (unsigned k = folders - 3; k < folders; k++)
            assert_int_equal(mkdir(made[k], 0700), 0);
        write_elf_of(file[files - 2], &other, "other");
        write_elf_of(file[files - 1], &code, i == RIGHT ? "right" : "wrong");
    }
    host(state, launch_two_kernels, "WAITGATE_ELF", folder);
    while (files-- > 0)
        unlink(file[files]);
    while (folders-- > 0)
        rmdir(made[folders]);
    SAYS("thread 1 waits at right");
}

/* Firmware of tt-metal that was given no kernel waits for one: that is no hang. */
static void is_unused(lib *l)
{
    const bool bh = l->arch == WG_ARCH_BH;
    prepare(l, POLLS);
    put32(l, bh ? 0x4F0 : 0x4A0, 0);
    put32(l, (bh ? 0xAD0 : 0xA00) + 240, 0x50EC09A3);
    put32(l, (bh ? 0x70 : 0x20) + 120, 0);
    for (unsigned i = 0; i < 3000; i++)
        l->clock(100);
    end(l);
}

/* A kernel that waits on one tile, and another tile that polls: the verdict is about the kernel. */
static void launch_beside_polls(lib *l)
{
    const rv p = stuck_at(CONFIG + TEXT);
    lib other = *l;
    prepare(l, POLLS);
    other.x++;
    put_launch(&other, &p, 1 << 3);
    for (unsigned i = 0; i < 3000; i++)
        l->clock(100);
    end(l);
}

static void test_kernels_first(void **state)
{
    host(state, launch_beside_polls, NULL, NULL);
    SAYS(wg_test_arch(state) == WG_ARCH_BH ? "  tile 2-2\n" : "  tile 2-1\n");
    SAYS("  and 1 more tiles");
    assert_null(strstr(said, "polls 0x00020010"));
}

static void test_unused(void **state)
{
    assert_int_equal(WEXITSTATUS(host(state, is_unused, NULL, NULL)), 7);
    assert_string_equal(said, "");
}

static void copy_file(const char *from, const char *to)
{
    static char room[1 << 16];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t n; (n = fread(room, 1, sizeof room, in)) > 0;)
        assert_int_equal(fwrite(room, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void leaves_a_copy_stuck(lib *l)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/wg_abi_copy_%ld.so", (long)getpid());
    copy_file(library_of(l->arch), path);
    l->exit();
    lib copy = load_from(l->arch, path);
    unlink(path);
    copy.bar0 = l->bar0;
    copy.init();
    leaves_stuck(&copy);
}

/* tt-umd loads a copy: what belongs to the library is beside the one that TT_METAL_SIMULATOR names. */
static void test_copy(void **state)
{
    char path[64], list[80];
    const rv code = stuck_at(BASE);
    snprintf(path, sizeof path, "/tmp/wg_abi_symbols_%ld", (long)getpid());
    snprintf(list, sizeof list, "t1=%s", path);
    write_elf(path, &code);
    setenv("TT_METAL_SIMULATOR", library_of(wg_test_arch(state)), 1);
    host(state, leaves_a_copy_stuck, "WAITGATE_ELF", list);
    SAYS("thread 1 waits at waits_for_ever");
    unsetenv("TT_METAL_SIMULATOR");
    host(state, leaves_a_copy_stuck, "WAITGATE_ELF", list);
    if (!getenv("LD_LIBRARY_PATH"))
        SAYS("is ignored: libwaitgate_symbols.so");
    unlink(path);
}

static const wg_test tests[] = {
    WG_TEST(test_at_exit, WG_BH | WG_WH, ""),       WG_TEST(test_idle_is_no_hang, WG_BH | WG_WH, ""),
    WG_TEST(test_only_waits, WG_BH | WG_WH, ""),    WG_TEST(test_signal, WG_BH | WG_WH, ""),
    WG_TEST(test_file, WG_BH | WG_WH, ""),          WG_TEST(test_symbols, WG_BH | WG_WH, ""),
    WG_TEST(test_folder, WG_BH | WG_WH, ""),        WG_TEST(test_copy, WG_BH | WG_WH, ""),
    WG_TEST(test_company, WG_BH | WG_WH, ""),       WG_TEST(test_unused, WG_BH | WG_WH, ""),
    WG_TEST(test_kernels_first, WG_BH | WG_WH, ""),
};
WG_MAIN("abi_hang", tests)
