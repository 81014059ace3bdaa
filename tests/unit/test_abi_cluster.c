/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several chips behind one library, as in tt-umd's shared mode: found by PCI device number, each with BARs of its own,
 * one clock, links up. A descriptor next to the library, or the environment, describes them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rvasm.h"
#include "ttsim_host.h"

enum { DATA = 0x30000, TXQ = 0xFFB90000, SEND_DATA = 2 };

/* Walks the device numbers until there is no chip. */
static unsigned chips_of(const lib *l)
{
    unsigned n = 0;
    while (n < 32 && (l->config_read(n << 3, 0) & 0xFFFF) == 0x1E52)
        n++;
    for (unsigned i = n; i < 40; i++)
        assert_int_equal(l->config_read(i << 3, 0), UINT32_MAX);
    return n;
}

/* The same library, for another chip. */
static lib chip_of(const lib *l, unsigned device)
{
    lib c = *l;
    c.bar0 = ((uint64_t)l->config_read(device << 3, 0x14) << 32 | l->config_read(device << 3, 0x10)) & ~UINT64_C(15);
    return c;
}

/* Aims at the Ethernet tile of a channel (translated coordinates). */
static void at_channel(lib *c, unsigned channel)
{
    static const uint8_t column[8] = {25, 18, 24, 19, 23, 20, 22, 21};
    c->x = c->arch == WG_ARCH_BH ? 20 + channel : column[channel % 8];
    c->y = c->arch == WG_ARCH_BH ? 25 : channel < 8 ? 16 : 17;
}

/* Sends a line over the link of a channel, by writes of the host. */
static void send_line(lib *c, uint32_t value)
{
    put32(c, DATA, value);
    put32(c, TXQ + 0x14, DATA);
    put32(c, TXQ + 0x18, 16);
    put32(c, TXQ + 0x1C, DATA + 0x100);
    put32(c, TXQ + 4, SEND_DATA);
}

static const char *topology_of(void **state) { return wg_test_arch(state) == WG_ARCH_BH ? "p300" : "n300"; }

static void test_two_chips(void **state)
{
    lib l = load(wg_test_arch(state));
    setenv("WAITGATE_CLUSTER", topology_of(state), 1);
    l.init();
    unsetenv("WAITGATE_CLUSTER");
    assert_int_equal(chips_of(&l), 2);
    lib a = chip_of(&l, 0), b = chip_of(&l, 1);
    assert_int_equal(b.bar0 - a.bar0, UINT64_C(64) << 30);
    put32(&a, 0x20000, 1); /* a Tensix tile of each, at the same place */
    put32(&b, 0x20000, 2);
    assert_int_equal(get32(&a, 0x20000), 1);
    assert_int_equal(get32(&b, 0x20000), 2);
    at_channel(&a, l.arch == WG_ARCH_BH ? 2 : 8);
    at_channel(&b, l.arch == WG_ARCH_BH ? 9 : 0);
    l.clock(10);
    assert_int_equal(get32(&a, l.arch == WG_ARCH_BH ? 0xFFB9800C : 0x1ED4), l.arch == WG_ARCH_BH ? 1 : 6); /* up */
    send_line(&a, 0xA5A5);
    l.clock(300);
    assert_int_equal(get32(&b, DATA + 0x100), 0); /* on its way */
    l.clock(700);
    assert_int_equal(get32(&b, DATA + 0x100), 0xA5A5);
    send_line(&b, 0x5A5A);
    l.clock(1000);
    assert_int_equal(get32(&a, DATA + 0x100), 0x5A5A);
    l.exit();
    l.init(); /* alone again */
    assert_int_equal(chips_of(&l), 1);
    end(&l);
}

/* Writes the descriptor, and a link to the library, into a new folder; returns the path of the link. */
static const char *folder_with(char *folder, const char *descriptor, wg_arch_id arch, char *path, size_t bytes)
{
    char name[512];
    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/cluster_descriptor.yaml", folder);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(descriptor, f);
    fclose(f);
    snprintf(path, bytes, "%s/libttsim.so", folder);
    assert_int_equal(symlink(library_of(arch), path), 0);
    return path;
}

static void remove_folder(const char *folder)
{
    char name[512];
    snprintf(name, sizeof name, "%s/cluster_descriptor.yaml", folder);
    unlink(name);
    snprintf(name, sizeof name, "%s/libttsim.so", folder);
    unlink(name);
    rmdir(folder);
}

/* In both styles, with everything else that hosts read. */
static void test_descriptor(void **state)
{
    const bool bh = wg_test_arch(state) == WG_ARCH_BH;
    const char *arch = bh ? "blackhole" : "wormhole_b0";
    char text[2][1024];
    snprintf(
        text[0], sizeof text[0],
        "# chips\narch:\n  0: %s\n  1: %s # the second\n  2: %s\nchips:\n  0: [0, 0, 0, 0]\nethernet_connections:\n"
        "  -\n    - chip: 0\n      chan: 3\n    - chip: 2\n      chan: 4\n  -\n    - chan: 5\n      chip: 2\n"
        "    - chan: 6\n      chip: 1\n    - routing_enabled: true\nchips_with_mmio:\n  - 0: 0\n  - 1: 1\n  - 2: 2\n",
        arch, arch, arch);
    snprintf(text[1], sizeof text[1],
             "arch: {0: %s, 1: %s, 2: %s}\nethernet_connections: [[{chip: 0, chan: 3}, {chip: 2, chan: 4}], [{chip: 2, "
             "chan: 5}, "
             "{chip: 1, chan: 6}]]\nharvesting: {0: {noc_translation: true, harvest_mask: 0}}",
             arch, arch, arch);
    for (unsigned i = 0; i < 2; i++) {
        char folder[] = "/tmp/waitgate-XXXXXX", path[512];
        lib l = load_from(wg_test_arch(state), folder_with(folder, text[i], wg_test_arch(state), path, sizeof path));
        l.init();
        assert_int_equal(chips_of(&l), 3);
        lib a = chip_of(&l, 0), b = chip_of(&l, 2), c = chip_of(&l, 1);
        at_channel(&a, 3);
        send_line(&a, 7);
        l.clock(2000);
        at_channel(&b, 4);
        assert_int_equal(get32(&b, DATA + 0x100), 7);
        at_channel(&b, 5);
        send_line(&b, 8);
        l.clock(2000);
        at_channel(&c, 6);
        assert_int_equal(get32(&c, DATA + 0x100), 8);
        end(&l);
        remove_folder(folder);
    }
}

/* A wrong descriptor gives an error message and a single chip. */
static void test_wrong(void **state)
{
    const bool bh = wg_test_arch(state) == WG_ARCH_BH;
    const struct {
        const char *text, *says;
    } cases[] = {
        {"ethernet_connections: []\n", "`arch` is missing"},
        {"arch: {}\n", "names no chip"},
        {"arch: {0: quasar}\n", "other than wormhole_b0 and blackhole"},
        {bh ? "arch: {0: wormhole_b0}\n" : "arch: {0: blackhole}\n", "another architecture than the library's"},
        {bh ? "arch: {32: blackhole}\n" : "arch: {32: wormhole_b0}\n", "chips from 0 to 31"},
        {bh ? "arch: {0: blackhole}\nethernet_connections: [[{chip: 0, chan: 1}]]\n"
            : "arch: {0: wormhole_b0}\nethernet_connections: [[{chip: 0, chan: 1}]]\n",
         "a connection has two ends"},
        {bh ? "arch: {0: blackhole}\nethernet_connections: [[{chip: 0, chip: 1}, {chan: 0}]]\n"
            : "arch: {0: wormhole_b0}\nethernet_connections: [[{chip: 0, chip: 1}, {chan: 0}]]\n",
         "one end of a connection has"}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[] = "/tmp/waitgate-XXXXXX", path[512], said[256], text[4096];
        snprintf(said, sizeof said, "/tmp/waitgate-said-%ld", (long)getpid());
        folder_with(folder, cases[i].text, wg_test_arch(state), path, sizeof path);
        fflush(NULL);
        const pid_t child = fork();
        if (!child) {
            assert_non_null(freopen(said, "w", stderr));
            lib l = load_from(wg_test_arch(state), path);
            l.init();
            const unsigned chips = chips_of(&l);
            l.exit();
            fflush(NULL);
            _exit(chips == 1 ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        take_file(said, text, sizeof text);
        if (!strstr(text, cases[i].says) || !strstr(text, "cluster_descriptor.yaml is ignored, there is one chip"))
            fail_msg("%s: %s", cases[i].text, text);
        remove_folder(folder);
    }
}

/* Random changes to a descriptor: the library starts with some chips or refuses, and never crashes. */
static void test_hostile(void **state)
{
    static const char *const pieces[] = {
        "chip", "chan", ":", "{", "]", "arch:", "\n", "99999999999", "-1", "#", "ethernet_connections:", ""};
    const bool bh = wg_test_arch(state) == WG_ARCH_BH;
    char good[512];
    snprintf(good, sizeof good,
             "arch: {0: %s, 1: %s}\nethernet_connections:\n  -\n    - chip: 0\n      chan: 3\n    - chip: 1\n      "
             "chan: 4\n",
             bh ? "blackhole" : "wormhole_b0", bh ? "blackhole" : "wormhole_b0");
    uint64_t seed = 11;
    fflush(NULL);
    const pid_t child = fork();
    if (!child) {
        assert_non_null(freopen("/dev/null", "w", stderr));
        for (unsigned i = 0; i < 60; i++) {
            char folder[] = "/tmp/waitgate-XXXXXX", path[512], text[1024];
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            const size_t at = (seed >> 33) % strlen(good), gone = (seed >> 20) % 4;
            snprintf(text, sizeof text, "%.*s%s%s", (int)at, good, pieces[(seed >> 40) % 12],
                     good + (at + gone < strlen(good) ? at + gone : at));
            lib l = load_from(wg_test_arch(state), folder_with(folder, text, wg_test_arch(state), path, sizeof path));
            l.init();
            l.clock(1000);
            l.exit();
            dlclose(l.handle);
            remove_folder(folder);
        }
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A link to a chip that does not exist: the library reports it and does not start. */
static void test_no_such_chip(void **state)
{
    const bool bh = wg_test_arch(state) == WG_ARCH_BH;
    char folder[] = "/tmp/waitgate-XXXXXX", path[512];
    lib l =
        load_from(wg_test_arch(state), folder_with(folder,
                                                   bh ? "arch: {0: blackhole, 1: blackhole}\nethernet_connections: "
                                                        "[[{chip: 0, chan: 1}, {chip: 2, chan: 1}]]\n"
                                                      : "arch: {0: wormhole_b0, 1: wormhole_b0}\nethernet_connections: "
                                                        "[[{chip: 0, chan: 1}, {chip: 2, chan: 1}]]\n",
                                                   wg_test_arch(state), path, sizeof path));
    l.init();
    assert_int_equal(l.config_read(0, 0), UINT32_MAX);
    dlclose(l.handle);
    remove_folder(folder);
}

/* Each chip's report has the chip's number in its name. */
static void test_files(void **state)
{
    char name[2][256], text[1 << 14];
    for (unsigned i = 0; i < 2; i++)
        snprintf(name[i], sizeof name[i], "/tmp/waitgate-check-%ld-%u.json", (long)getpid(), i);
    char pattern[256];
    snprintf(pattern, sizeof pattern, "/tmp/waitgate-check-%%p-%%c.json");
    lib l = load(wg_test_arch(state));
    setenv("WAITGATE_CLUSTER", topology_of(state), 1);
    setenv("WAITGATE_CHECK", pattern, 1);
    l.init();
    lib a = chip_of(&l, 0), b = chip_of(&l, 1);
    put32(&a, 0x20000, 1);
    put32(&b, 0x20000, 1);
    l.clock(100);
    l.exit();
    for (unsigned i = 0; i < 2; i++)
        take_file(name[i], text, sizeof text);
    setenv("WAITGATE_CHECK", "/tmp/waitgate-check-one.json", 1); /* one name for two chips */
    l.init();
    l.exit();
    assert_int_equal(access("/tmp/waitgate-check-one.json", F_OK), -1);
    unsetenv("WAITGATE_CHECK");
    unsetenv("WAITGATE_CLUSTER");
    dlclose(l.handle);
}

static const wg_test tests[] = {
    WG_TEST(test_two_chips, WG_BH | WG_WH, ""),    WG_TEST(test_descriptor, WG_BH | WG_WH, ""),
    WG_TEST(test_hostile, WG_BH | WG_WH, ""),      WG_TEST(test_wrong, WG_BH | WG_WH, ""),
    WG_TEST(test_no_such_chip, WG_BH | WG_WH, ""), WG_TEST(test_files, WG_BH | WG_WH, ""),
};
WG_MAIN("abi_cluster", tests)
