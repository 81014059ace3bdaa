/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/saved.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "engine/state_check.h"

enum { VERSION = 2, NAMES = 4096 };
static const char magic[8] = {'w', 'g', 's', 'a', 'v', 'e', 'd', '\n'};

/* A file: this header, then the device's snapshot. */
typedef struct header {
    char magic[8];
    uint64_t sum; /* of everything after it */
    uint32_t version, arch, profile, feeds;
    uint64_t cycle, machine_bytes;
    struct {
        uint64_t next, not_before;
    } feed[WG_THREADS];
    char names[NAMES]; /* a line for each program: core, space, path */
} header;

static uint64_t sum_of(const header *h, size_t bytes)
{
    const size_t begin = offsetof(header, sum) + sizeof h->sum;
    return wg_checksum((const char *)h + begin, bytes - begin);
}

bool wg_is_saved(const char *path)
{
    size_t n = strlen(path);
    return n > 9 && strcmp(path + n - 9, ".snapshot") == 0;
}

static bool refuse(wg_text *error, const char *path, const char *why)
{
    wg_textf(error, "waitgate: %s: %s\n", path, why);
    return false;
}

static bool other_program(const wg_session *s, wg_text *error)
{
    const header *h = (const header *)(const void *)s->saved;
    wg_textf(error, "waitgate: %s is from %s, but the program is for %s\n", s->saved_path,
             wg_arch_title((wg_arch_id)h->arch), wg_arch_title(s->desc.arch));
    return false;
}

bool wg_saved_read(wg_session *s, const char *path, wg_text *error)
{
    char message[512];
    if (s->saved)
        return refuse(error, path, "a run resumes from one snapshot");
    s->saved = wg_file_read(path, &s->saved_bytes, message, sizeof message);
    s->saved_path = path;
    if (!s->saved) {
        wg_textf(error, "waitgate: %s\n", message);
        return false;
    }
    const header *h = (const header *)(const void *)s->saved;
    if (wg_saved_is_chip(path))
        return refuse(error, path, "this is a snapshot of a chip, which goes with its chip file alone");
    if (s->saved_bytes < sizeof *h || memcmp(h->magic, magic, sizeof magic) != 0)
        return refuse(error, path, "this is not a snapshot that `waitgate run` wrote");
    if (h->version != VERSION)
        return refuse(error, path, "the snapshot is from another version of Waitgate");
    if (h->machine_bytes != s->saved_bytes - sizeof *h || h->sum != sum_of(h, s->saved_bytes) ||
        !wg_arch_known(h->arch) || h->profile > WG_PROFILE_DOCUMENTED || h->names[NAMES - 1])
        return refuse(error, path, "the snapshot is cut short or damaged");
    const bool arch_given = s->args->value[WG_OPT_ARCH], profile_given = s->args->value[WG_OPT_PROFILE];
    if (arch_given && h->arch != s->desc.arch) {
        wg_textf(error, "waitgate: %s is from %s, but --arch is %s\n", path, wg_arch_title((wg_arch_id)h->arch),
                 wg_arch_title(s->desc.arch));
        return false;
    }
    if (s->has_tasm && h->arch != s->desc.arch)
        return other_program(s, error);
    if (profile_given && h->profile != s->desc.profile)
        return refuse(error, path, "the snapshot is of the other timing profile");
    s->desc.arch = (wg_arch_id)h->arch;
    s->desc.profile = (wg_profile)h->profile;
    return true;
}

const char *wg_saved_program(const wg_session *s, unsigned index, unsigned *core)
{
    static char path[NAMES];
    const header *h = (const header *)(const void *)s->saved;
    for (const char *line = h->names; *line;) {
        size_t length = strcspn(line, "\n");
        if (index-- == 0 && length > 2) {
            memcpy(path, line + 2, length - 2);
            path[length - 2] = 0;
            *core = (unsigned)(line[0] - '0');
            return *core <= WG_CORES ? path : NULL;
        }
        line += length + (line[length] == '\n');
    }
    return NULL;
}

bool wg_saved_apply(wg_session *s, wg_text *error)
{
    const header *h = (const header *)(const void *)s->saved;
    if (h->arch != s->desc.arch)
        return other_program(s, error);
    for (unsigned i = 0; i < WG_THREADS; i++) {
        size_t words = s->has_tasm ? s->tasm.stream[i].words : 0;
        if (h->feed[i].next > words || (h->feeds >> i & 1 && !s->has_tasm))
            return refuse(error, s->saved_path,
                          "the program is not the one of the snapshot: it has fewer words to push");
        s->feed[i] = (wg_feed){.next = (size_t)h->feed[i].next, .not_before = h->feed[i].not_before};
    }
    if (wg_restore(s->dev, s->saved + sizeof *h, (size_t)h->machine_bytes) == WG_OK)
        return true;
    return refuse(error, s->saved_path, wg_error(s->dev));
}

static void add_name(header *h, size_t *used, unsigned core, const char *path)
{
    char full[NAMES];
    if (path[0] == '/' || !getcwd(full, sizeof full / 2))
        *full = 0;
    int n = snprintf(h->names + *used, NAMES - 1 - *used, "%u %s%s%s\n", core, full, *full ? "/" : "", path);
    if (n < 0 || *used + (size_t)n >= NAMES - 1)
        h->names[*used] = 0; /* it does not fit: the programs must be named again on opening */
    else
        *used += (size_t)n;
}

bool wg_saved_write(void *session, const char *path, wg_text *error)
{
    wg_session *s = session;
    char message[512];
    size_t machine = wg_snapshot_size(s->dev), used = 0;
    uint8_t *file = wg_calloc(1, sizeof(header) + machine);
    header *h = (header *)(void *)file;
    if (!file || wg_snapshot(s->dev, file + sizeof *h, machine) != WG_OK) {
        free(file);
        return refuse(error, path, "out of memory");
    }
    *h = (header){.version = VERSION,
                  .arch = s->desc.arch,
                  .profile = s->desc.profile,
                  .cycle = wg_cycle(s->dev),
                  .machine_bytes = machine};
    memcpy(h->magic, magic, sizeof magic);
    for (unsigned i = 0; i < WG_THREADS; i++) {
        h->feed[i].next = s->feed[i].next;
        h->feed[i].not_before = s->feed[i].not_before;
        if (s->has_tasm && s->feed[i].next < s->tasm.stream[i].words)
            h->feeds |= 1u << i;
    }
    for (unsigned i = 0; i <= WG_CORES; i++)
        if (s->program[i])
            add_name(h, &used, i, s->program[i]);
    h->sum = sum_of(h, sizeof *h + machine);
    bool ok = wg_file_write(path, file, sizeof *h + machine, message, sizeof message);
    if (!ok)
        wg_textf(error, "waitgate: %s\n", message);
    free(file);
    return ok;
}

void wg_saved_free(wg_session *s) { free(s->saved); }

/* ---- --save-at CYCLE=FILE ---- */

static bool parse(const char *text, uint64_t *cycle, const char **path)
{
    size_t equals = strcspn(text, "=");
    *path = text + equals + 1;
    return text[equals] && **path && wg_parse_number(text, equals, cycle);
}

/* --save-every: 0 if it was not given. */
static uint64_t every(const wg_args *args, const char **path)
{
    uint64_t cycles = 0;
    const char *text = args->value[WG_OPT_SAVE_EVERY];
    return text && parse(text, &cycles, path) ? cycles : 0;
}

bool wg_save_check(const wg_args *args, wg_text *error)
{
    uint64_t cycle;
    const char *path;
    if (args->value[WG_OPT_SAVE_EVERY] && !every(args, &path)) {
        wg_textf(error, "waitgate: --save-every: `%s` is not CYCLES=FILE\n", args->value[WG_OPT_SAVE_EVERY]);
        return false;
    }
    for (size_t i = 0; i < args->givens; i++)
        if (args->given[i].option == WG_OPT_SAVE_AT && !parse(args->given[i].value, &cycle, &path)) {
            wg_textf(error, "waitgate: --save-at: `%s` is not CYCLE=FILE\n", args->given[i].value);
            return false;
        }
    return true;
}

static uint64_t next_at(const wg_args *args, uint64_t from)
{
    uint64_t next = UINT64_MAX, cycle;
    const char *path;
    for (size_t i = 0; i < args->givens; i++)
        if (args->given[i].option == WG_OPT_SAVE_AT && parse(args->given[i].value, &cycle, &path) && cycle >= from &&
            cycle < next)
            next = cycle;
    return next;
}

uint64_t wg_save_next(const wg_args *args, uint64_t from)
{
    const char *path;
    const uint64_t cycles = every(args, &path), at = next_at(args, from),
                   round = !cycles ? UINT64_MAX
                           : from  ? (from + cycles - 1) / cycles * cycles
                                   : cycles;
    return round < at ? round : at;
}

bool wg_save_due(const wg_args *args, uint64_t at, bool (*write)(void *user, const char *path, wg_text *error),
                 void *user, wg_text *error)
{
    uint64_t cycle;
    const char *path;
    bool ok = true;
    for (size_t i = 0; i < args->givens; i++)
        if (args->given[i].option == WG_OPT_SAVE_AT && parse(args->given[i].value, &cycle, &path) && cycle == at)
            ok = write(user, path, error) && ok;
    if (at && (cycle = every(args, &path)) && at % cycle == 0)
        ok = write(user, path, error) && ok;
    return ok;
}

bool wg_save_missed(const wg_args *args, uint64_t ended, uint64_t due, wg_text *error)
{
    const uint64_t cycle = next_at(args, due);
    if (cycle == UINT64_MAX)
        return true;
    wg_textf(error, "waitgate: --save-at: the run ended at cycle %llu, before cycle %llu\n", (unsigned long long)ended,
             (unsigned long long)cycle);
    return false;
}
