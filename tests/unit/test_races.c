/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of tests/races: broken ones are reported with the right kind, parties and remedy, fixed ones are silent,
 * under every seed tried. Each program states its expectations (.expect race, noraces, finding, nofindings).
 */
#include "wgtest.h"

#include <dirent.h>
#include <stdio.h>

#include "cli/tasm.h"
#include "explain/race.h"
#include "isa/asm.h"

enum { LIMIT = 20000, SEEDS = 12, SOAK_SEEDS = 1000 };

static bool code_at(void *user, unsigned core, uint32_t pc, uint32_t *word)
{
    (void)core;
    return wg_read(user, pc, word, 4) == WG_OK;
}

/* Unexpected findings fail under any delays; expected ones must occur in the run without delays. */
static void hold_findings(const wg_tasm *t, uint64_t seed, wg_device *dev)
{
    for (size_t i = 0; i < t->expects; i++) {
        const wg_expect *e = &t->expect[i];
        bool found = false;
        for (size_t k = 0; k < wg_finding_count(dev); k++) {
            const char *code = wg_finding_info_at(wg_finding_at(dev, k)->code)->code;
            if (e->kind == WG_EXPECT_NO_FINDINGS)
                fail_msg("%s, seed %llu: %s", t->name, (unsigned long long)seed, code);
            found |= e->kind == WG_EXPECT_FINDING && strcmp(code, e->code) == 0;
        }
        if (e->kind == WG_EXPECT_FINDING && !seed && !found)
            fail_msg("%s: no `%s`", t->name, e->code);
    }
}

static wg_races *races_of(const wg_tasm *t, wg_arch_id arch, uint64_t seed)
{
    wg_device *dev;
    assert_int_equal(
        wg_create(&(wg_device_desc){.struct_size = sizeof(wg_device_desc), .arch = arch, .seed = seed}, &dev), WG_OK);
    wg_races *r = wg_races_new(arch, code_at, dev);
    assert_non_null(r);
    assert_int_equal(wg_observe(dev, WG_RACES_EVENTS, wg_races_event, r, NULL), WG_OK);
    for (size_t i = 0; i < t->blocks; i++)
        assert_int_equal(wg_write(dev, t->block[i].address, t->block[i].bytes.data, t->block[i].bytes.size), WG_OK);
    for (unsigned core = 0; core < WG_CORES; core++) {
        if (!t->core[core].elf)
            continue;
        for (size_t i = 0; i < wg_elf_segments(t->core[core].elf); i++) {
            const wg_elf_segment *s = wg_elf_segment_at(t->core[core].elf, i);
            assert_int_equal(wg_write(dev, s->address, s->data, s->file_bytes), WG_OK);
        }
        assert_int_equal(wg_core_release(dev, (wg_core_id)core, wg_elf_entry(t->core[core].elf)), WG_OK);
    }
    size_t next[WG_THREADS] = {0};
    uint64_t at[WG_THREADS];
    for (unsigned i = 0; i < WG_THREADS; i++)
        at[i] = t->stream[i].words ? t->stream[i].word[0].delay : 0;
    while (wg_cycle(dev) < LIMIT) {
        bool more = false;
        for (unsigned i = 0; i < WG_THREADS; i++) {
            if (next[i] < t->stream[i].words && wg_cycle(dev) >= at[i] &&
                wg_push(dev, i, t->stream[i].word[next[i]].word) == WG_OK) {
                next[i]++;
                at[i] = wg_cycle(dev) + 1 + (next[i] < t->stream[i].words ? t->stream[i].word[next[i]].delay : 0);
            }
            more |= next[i] < t->stream[i].words;
        }
        wg_stop stop = WG_STOP_CYCLES;
        if (more)
            wg_advance(dev, 1);
        else if (wg_run(dev, LIMIT, &stop) != WG_OK || stop != WG_STOP_CYCLES)
            break;
    }
    wg_races_end(r, wg_cycle(dev), true);
    hold_findings(t, seed, dev);
    wg_destroy(dev);
    return r;
}

static void describe(wg_arch_id arch, const wg_race *race, char *room, size_t bytes)
{
    size_t used = 0;
    const wg_race_party *party[2] = {&race->b, &race->a};
    for (unsigned i = 0; i < (race->has_a ? 2 : 1); i++) {
        char text[WG_DIS_MAX] = "", parent[WG_DIS_MAX] = "";
        if (party[i]->thread < WG_THREADS)
            wg_disassemble(arch, party[i]->word, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, text, sizeof text);
        if (party[i]->parent)
            wg_disassemble(arch, party[i]->parent, WG_DIS_SYMBOLIC | WG_DIS_NO_COMMENT, parent, sizeof parent);
        if (party[i]->thread < WG_THREADS)
            used += (size_t)snprintf(room + used, bytes - used, "%s, thread %u: %s made by %s\n",
                                     wg_agent_name(party[i]->agent), party[i]->thread, text, parent);
        else
            used += (size_t)snprintf(room + used, bytes - used, "core %s\n", wg_agent_name(party[i]->agent));
    }
    snprintf(room + used, bytes - used, "%s\n%s\n%s", race->location, race->why, race->remedy);
}

static void hold_against(const wg_tasm *t, wg_arch_id arch, uint64_t seed, const wg_races *r)
{
    static char text[4096];
    for (size_t i = 0; i < t->expects; i++) {
        const wg_expect *e = &t->expect[i];
        for (size_t k = 0; e->kind == WG_EXPECT_NO_RACES && k < wg_races_count(r); k++) {
            const wg_race *race = wg_races_at(r, k);
            if (wg_race_severity(race->kind) == WG_SEVERITY_NOTE)
                continue;
            describe(arch, race, text, sizeof text);
            fail_msg("%s, seed %llu: %s\n%s", t->name, (unsigned long long)seed, wg_race_kind_name(race->kind), text);
        }
        if (e->kind != WG_EXPECT_RACE || (seed && strcmp(e->code, "data-race") == 0))
            continue; /* consequences of the bug may depend on time */
        bool found = false;
        for (size_t k = 0; k < wg_races_count(r); k++) {
            const wg_race *race = wg_races_at(r, k);
            describe(arch, race, text, sizeof text);
            if (strcmp(wg_race_kind_name(race->kind), e->code) == 0 && strstr(text, wg_text_of(&e->bytes)))
                found = true;
        }
        if (!found)
            fail_msg("%s, seed %llu: no `%s` (%zu races)\n%s", t->name, (unsigned long long)seed, e->text,
                     wg_races_count(r), wg_races_count(r) ? text : "");
    }
}

/* Every program of a folder whose name begins with `begins`, under several seeds. */
static void each(wg_arch_id arch, const char *folder, const char *begins)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    unsigned programs = 0;
    for (struct dirent *f; (f = readdir(d)) != NULL;) {
        char path[512];
        if (strncmp(f->d_name, begins, strlen(begins)) || !strstr(f->d_name, ".tasm"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        static char source[1 << 16];
        size_t size = fread(source, 1, sizeof source, file);
        fclose(file);
        wg_tasm t;
        if (!wg_tasm_parse(&t, f->d_name, source, size, arch) || !wg_tasm_link(&t))
            fail_msg("%s does not assemble", path);
        if (!t.has_arch || t.arch == arch) {
            programs++;
            for (uint64_t seed = 0; seed <= wg_test_rounds(SEEDS, SOAK_SEEDS); seed++) {
                wg_races *r = races_of(&t, arch, seed);
                hold_against(&t, arch, seed, r);
                wg_races_free(r);
            }
        }
        wg_tasm_free(&t);
    }
    closedir(d);
    assert_true(programs > 0);
}

static void test_rows(void **state)
{
    for (unsigned row = 1; row <= 16; row++) {
        char begins[8];
        snprintf(begins, sizeof begins, "%02u_", row);
        if (row == 11 && wg_test_arch(state) == WG_ARCH_WH)
            continue; /* Wormhole has no Auto TTSync */
        each(wg_test_arch(state), WG_SOURCE_ROOT "/tests/races", begins);
    }
}

/* The usage patterns, with and without their wait. */
static void test_patterns(void **state)
{
    each(wg_test_arch(state), WG_SOURCE_ROOT "/tests/tasm", "pattern_");
    each(wg_test_arch(state), WG_SOURCE_ROOT "/tests/races", "pattern_");
}

static void test_ttsync(void **state) { each(wg_test_arch(state), WG_SOURCE_ROOT "/tests/races", "ttsync_"); }

/* The rules of the pages' "instruction scheduling" that concern timing: kept by luck (broken), or by a wait (fixed). */
static void test_scheduling(void **state) { each(wg_test_arch(state), WG_SOURCE_ROOT "/tests/races", "sched_"); }

static void test_silent(void **state) { each(wg_test_arch(state), WG_SOURCE_ROOT "/tests/races", "silent_"); }

/* Configuration written as a whole, or unnoticed by the Matrix Unit; the Mover for TDMA-RISC. */
static void test_further(void **state)
{
    each(wg_test_arch(state), WG_SOURCE_ROOT "/tests/races", "tdma_");
    each(wg_test_arch(state), WG_SOURCE_ROOT "/tests/races", "next_");
    each(wg_test_arch(state), WG_SOURCE_ROOT "/tests/races", "note_");
    if (wg_test_arch(state) == WG_ARCH_BH) {
        each(WG_ARCH_BH, WG_SOURCE_ROOT "/tests/races", "kept_");
        each(WG_ARCH_BH, WG_SOURCE_ROOT "/tests/races", "again_");
    }
}

/* What docs/races.md counts as order, each row at its limit: apparent order that is only luck. */
static void test_edges(void **state)
{
    static const char *const families[] = {"late_",        "same_value_", "wait_",  "sem_read_",
                                           "two_pushers_", "bank_",       "rdcfg_", "in_flight_"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        each(wg_test_arch(state), WG_SOURCE_ROOT "/tests/races", families[i]);
}

static const wg_test tests[] = {
    WG_TEST(test_rows, WG_BH | WG_WH, ""),
    WG_TEST(test_patterns, WG_BH | WG_WH, "GATE-23"),
    WG_TEST(test_ttsync, WG_BH | WG_WH, "TTS-18 TTS-19 TTS-21"),
    WG_TEST(test_scheduling, WG_BH | WG_WH, ""),
    WG_TEST(test_silent, WG_BH | WG_WH, ""),
    WG_TEST(test_further, WG_BH | WG_WH, ""),
    WG_TEST(test_edges, WG_BH | WG_WH, ""),
};
WG_MAIN("races", tests)
