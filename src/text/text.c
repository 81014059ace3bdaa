/* SPDX-License-Identifier: Apache-2.0 */
#include "text/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const wg_severity_names[WG_SEVERITY_NEVER + 1] = {"note", "warning", "undefined", "unimplemented", "never"};

/* A limit for the files of a command: a device may never end. */
enum { MOST_MIB = 256 };

static bool reserve(wg_text *t, size_t more)
{
    if (t->failed)
        return false;
    if (t->room - t->size > more)
        return true;
    size_t room = t->room ? t->room : 256;
    while (room - t->size <= more)
        room *= 2;
    char *data = wg_realloc(t->data, room);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->room = room;
    return true;
}

void wg_text_add(wg_text *t, const void *bytes, size_t count)
{
    if (!reserve(t, count))
        return;
    if (count)
        memcpy(t->data + t->size, bytes, count);
    t->size += count;
    t->data[t->size] = 0;
}

void wg_textf(wg_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !reserve(t, (size_t)n))
        return;
    va_start(args, format);
    vsnprintf(t->data + t->size, t->room - t->size, format, args);
    va_end(args);
    t->size += (size_t)n;
}

void wg_text_free(wg_text *t)
{
    free(t->data);
    *t = (wg_text){0};
}

const char *wg_text_of(const wg_text *t) { return t->data ? t->data : ""; }

size_t wg_text_give(wg_text *text, char *to, size_t bytes)
{
    size_t size = text->failed ? 0 : text->size;
    if (bytes) {
        size_t fits = size < bytes ? size : bytes - 1;
        if (fits)
            memcpy(to, text->data, fits);
        to[fits] = 0;
    }
    wg_text_free(text);
    return size;
}

/* Bytes of the UTF-8 character at the beginning; 0: not UTF-8. */
static unsigned utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned more = *p < 0x80                 ? 0
                    : *p >= 0xC2 && *p < 0xE0 ? 1
                    : *p >= 0xE0 && *p < 0xF0 ? 2
                    : *p >= 0xF0 && *p < 0xF5 ? 3
                                              : 4;
    if (more == 4)
        return 0;
    for (unsigned i = 1; i <= more; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    /* Not in the shortest form, half of a surrogate pair, or beyond the last one. */
    if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) || (*p == 0xF0 && p[1] < 0x90) ||
        (*p == 0xF4 && p[1] > 0x8F))
        return 0;
    return more + 1;
}

void wg_text_utf8(wg_text *t)
{
    wg_text clean = {0};
    for (size_t at = 0, bytes; at < t->size; at += bytes ? bytes : 1) {
        bytes = utf8(t->data + at);
        wg_text_add(&clean, bytes ? t->data + at : "\xEF\xBF\xBD", bytes ? bytes : 3);
    }
    t->failed |= clean.failed;
    free(t->data);
    t->data = clean.data;
    t->size = clean.size;
    t->room = clean.room;
}

/* File names may contain any bytes, JSON may not: bytes that are not UTF-8 become U+FFFD. */
static void quoted(wg_text *out, const char *text)
{
    wg_text_add(out, "\"", 1);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        unsigned bytes = utf8(text);
        if (c == '"' || c == '\\')
            wg_textf(out, "\\%c", c);
        else if (c == '\n')
            wg_text_add(out, "\\n", 2);
        else if (c < 0x20)
            wg_textf(out, "\\u%04x", c);
        else if (!bytes)
            wg_text_add(out, "\\ufffd", 6);
        else
            wg_text_add(out, text, bytes);
        text += bytes ? bytes - 1 : 0;
    }
    wg_text_add(out, "\"", 1);
}

static void lead(wg_json *j, const char *key)
{
    if (j->depth && j->filled[j->depth])
        wg_text_add(j->out, ",", 1);
    if (j->depth && !j->dense)
        wg_textf(j->out, "\n%*s", (int)j->depth * 2, "");
    j->filled[j->depth] = true;
    if (key) {
        quoted(j->out, key);
        wg_text_add(j->out, ": ", j->dense ? 1 : 2);
    }
}

void wg_json_open(wg_json *j, const char *key, char bracket)
{
    lead(j, key);
    wg_text_add(j->out, &bracket, 1);
    if (j->depth + 1 < sizeof j->filled / sizeof *j->filled)
        j->filled[++j->depth] = false;
}

void wg_json_close(wg_json *j, char bracket)
{
    bool filled = j->filled[j->depth];
    j->depth--;
    if (filled && !j->dense)
        wg_textf(j->out, "\n%*s", (int)j->depth * 2, "");
    wg_text_add(j->out, &bracket, 1);
    if (j->depth == 0)
        wg_text_add(j->out, "\n", 1);
}

void wg_json_text(wg_json *j, const char *key, const char *value)
{
    lead(j, key);
    quoted(j->out, value);
}

void wg_json_textf(wg_json *j, const char *key, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    wg_json_text(j, key, text);
}

void wg_json_uint(wg_json *j, const char *key, uint64_t value)
{
    lead(j, key);
    wg_textf(j->out, "%llu", (unsigned long long)value);
}

void wg_json_hex(wg_json *j, const char *key, uint32_t value) { wg_json_textf(j, key, "0x%08x", value); }

void wg_json_bool(wg_json *j, const char *key, bool value)
{
    lead(j, key);
    wg_textf(j->out, "%s", value ? "true" : "false");
}

void wg_json_one_line(wg_text *json)
{
    size_t to = 0;
    for (size_t from = 0; from < json->size; from++) {
        const bool breaks = json->data[from] == '\n';
        if (!breaks)
            json->data[to++] = json->data[from];
        while (breaks && from + 1 < json->size && json->data[from + 1] == ' ')
            from++;
    }
    json->size = to;
    wg_text_add(json, "\n", 1);
}

void wg_json_raw(wg_json *j, const char *key, const char *json)
{
    lead(j, key);
    wg_text_add(j->out, json, strlen(json));
}

uint8_t *wg_file_read(const char *path, size_t *size, char *error, size_t error_bytes)
{
    return wg_file_read_mib(path, MOST_MIB, size, error, error_bytes);
}

uint8_t *wg_file_read_mib(const char *path, unsigned most, size_t *size, char *error, size_t error_bytes)
{
    const size_t limit = (size_t)most << 20;
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    wg_text all = {0};
    struct stat info;
    if (!f || (!standard && fstat(fileno(f), &info) == 0 && S_ISDIR(info.st_mode))) {
        snprintf(error, error_bytes, "%s: %s", path, f ? "is a directory" : strerror(errno));
        if (f)
            fclose(f);
        return NULL;
    }
    char piece[65536];
    for (size_t n; all.size <= limit && !all.failed && (n = fread(piece, 1, sizeof piece, f)) > 0;)
        wg_text_add(&all, piece, n);
    bool bad = ferror(f) || all.failed;
    int why = bad && !all.failed ? errno : 0;
    if (!standard)
        fclose(f);
    if (all.size > limit) {
        snprintf(error, error_bytes, "%s: this is longer than %u MiB", standard ? "standard input" : path, most);
        wg_text_free(&all);
        return NULL;
    }
    if (!bad && !all.data)
        wg_text_add(&all, "", 0);
    if (bad || !all.data) {
        snprintf(error, error_bytes, "%s: %s", standard ? "standard input" : path,
                 all.failed || !why ? "out of memory" : strerror(why));
        wg_text_free(&all);
        return NULL;
    }
    *size = all.size;
    return (uint8_t *)all.data;
}

/*
 * A file in the same directory, unnamed while it is written, so that nothing is left behind if the process ends; if the file
 * system has no such files, one with a temporary name. -1 with errno.
 */
static int open_beside(wg_file_out *f, const char *path)
{
    size_t room = strlen(path) + 16;
    const char *slash = strrchr(path, '/');
    f->path = wg_strdup(path);
    f->temporary = wg_malloc(room);
    if (!f->path || !f->temporary)
        return -1;
    snprintf(f->temporary, room, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    int fd = access("/proc/self/fd", X_OK) == 0 ? open(f->temporary, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    f->nameless = fd >= 0;
    snprintf(f->temporary, room, "%s.XXXXXX", path);
    if (fd < 0) {
        mode_t mask = umask(0);
        umask(mask);
        fd = mkstemp(f->temporary);
        if (fd >= 0 && fchmod(fd, 0666 & ~mask) != 0) {
            close(fd);
            unlink(f->temporary);
            fd = -1;
        }
    }
    return fd;
}

/* Gives the complete file its name; if that name exists, which only a rename can replace, a temporary name. */
static bool name_it(wg_file_out *f)
{
    char from[64];
    size_t length = strlen(f->path);
    snprintf(from, sizeof from, "/proc/self/fd/%d", fileno(f->stream));
    if (linkat(AT_FDCWD, from, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW) == 0) {
        memcpy(f->temporary, f->path, length + 1);
        return true;
    }
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(f->temporary + length, 16, ".%06x", ((unsigned)getpid() * 1000u + i) & 0xFFFFFF);
        if (linkat(AT_FDCWD, from, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    return false;
}

/*
 * Resolves symbolic links, even if the target does not exist yet: the file is written there, and the links are kept. False:
 * errno.
 */
static bool follow(const char *path, char *to, size_t room)
{
    enum { LINKS = 40 };
    char target[PATH_MAX];
    if ((size_t)snprintf(to, room, "%s", path) >= room) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (unsigned i = 0; i < LINKS; i++) {
        ssize_t length = readlink(to, target, sizeof target - 1);
        if (length < 0)
            return true; /* not a link: opening it reports any other error */
        target[length] = 0;
        char *slash = strrchr(to, '/');
        size_t keep = target[0] == '/' || !slash ? 0 : (size_t)(slash - to) + 1;
        if ((size_t)snprintf(to + keep, room - keep, "%s", target) >= room - keep) {
            errno = ENAMETOOLONG;
            return false;
        }
    }
    errno = ELOOP;
    return false;
}

bool wg_file_begin(wg_file_out *f, const char *name, char *error, size_t error_bytes)
{
    char path[PATH_MAX];
    *f = (wg_file_out){0};
    if (strcmp(name, "-") == 0) {
        f->stream = stdout;
        return true;
    }
    if (!follow(name, path, sizeof path)) {
        snprintf(error, error_bytes, "%s: %s", name, strerror(errno));
        return false;
    }
    /* A pipe or a device cannot be replaced; it is written in place. */
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        f->stream = fopen(path, "wb");
        f->path = f->stream ? wg_strdup(path) : NULL;
    } else {
        int fd = open_beside(f, path);
        if (fd >= 0 && !(f->stream = fdopen(fd, "wb"))) {
            close(fd);
            if (!f->nameless)
                unlink(f->temporary);
        }
    }
    if (!f->stream) {
        snprintf(error, error_bytes, "%s: %s", name, strerror(errno));
        free(f->path);
        free(f->temporary);
        *f = (wg_file_out){0};
        return false;
    }
    return true;
}

bool wg_file_add(wg_file_out *f, const void *bytes, size_t count)
{
    if (count && fwrite(bytes, 1, count, f->stream) != count && !f->failure)
        f->failure = errno ? errno : EIO;
    return !f->failure;
}

bool wg_file_commit(wg_file_out *f, char *error, size_t error_bytes)
{
    if (wg_memory_failed() && !f->failure) /* a part of it may be missing */
        f->failure = ENOMEM;
    bool ok = fflush(f->stream) == 0 && !f->failure;
    if (f->failure)
        errno = f->failure;
    if (ok && f->nameless) {
        ok = name_it(f);
        f->nameless = !ok;
    }
    if (f->path) {
        int before = errno;
        ok = fclose(f->stream) == 0 && ok;
        errno = ok ? errno : before;
    }
    if (ok && f->temporary)
        ok = rename(f->temporary, f->path) == 0;
    if (!ok) {
        snprintf(error, error_bytes, "%s: %s", f->path ? f->path : "standard output", strerror(errno));
        if (f->temporary && !f->nameless)
            unlink(f->temporary);
    }
    free(f->path);
    free(f->temporary);
    *f = (wg_file_out){0};
    return ok;
}

void wg_file_abandon(wg_file_out *f)
{
    if (f->stream && f->path)
        fclose(f->stream);
    if (f->temporary && !f->nameless)
        unlink(f->temporary);
    free(f->path);
    free(f->temporary);
    *f = (wg_file_out){0};
}

bool wg_file_write(const char *path, const void *bytes, size_t size, char *error, size_t error_bytes)
{
    wg_file_out f;
    if (!wg_file_begin(&f, path, error, error_bytes))
        return false;
    wg_file_add(&f, bytes, size);
    return wg_file_commit(&f, error, error_bytes);
}

/* Edit distance with adjacent swaps, over at most 40 characters; case does not count. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
    enum { MOST = 40 };
    if (n > MOST || m > MOST)
        return UINT32_MAX;
    unsigned row[3][MOST + 1];
    for (size_t k = 0; k <= m; k++)
        row[0][k] = (unsigned)k;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *older = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t k = 1; k <= m; k++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[k - 1]);
            unsigned least = before[k - 1] + (x != y);
            if (before[k] + 1 < least)
                least = before[k] + 1;
            if (now[k - 1] + 1 < least)
                least = now[k - 1] + 1;
            if (i > 1 && k > 1 && x == tolower((unsigned char)b[k - 2]) && y == tolower((unsigned char)a[i - 2]) &&
                older[k - 2] + 1 < least)
                least = older[k - 2] + 1;
            now[k] = least;
        }
    }
    return row[n % 3][m];
}

void wg_near_begin(wg_near *n, const char *word, size_t length) { *n = (wg_near){word, length, NULL, UINT32_MAX}; }

void wg_near_offer(wg_near *n, const char *candidate)
{
    unsigned d = distance(n->word, n->length, candidate, strlen(candidate));
    if (d < n->distance) {
        n->distance = d;
        n->best = candidate;
    }
}

const char *wg_near_best(const wg_near *n)
{
    size_t allowed = n->length < 4 ? 1 : n->length < 8 ? 2 : 3;
    return n->best && n->distance <= allowed ? n->best : NULL;
}

/* COLUMNS, else the width of the terminal that the file is; 0: neither. */
static unsigned width_of(int file)
{
    const char *columns = getenv("COLUMNS");
    uint64_t value;
    if (columns && wg_parse_number(columns, strlen(columns), &value) && value >= 20 && value <= 1000)
        return (unsigned)value;
    struct winsize size;
    return isatty(file) && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20 ? size.ws_col : 0;
}

unsigned wg_terminal_width(void)
{
    unsigned width = width_of(STDOUT_FILENO);
    return width ? width : 100;
}

unsigned wg_fold_width(FILE *file) { return isatty(fileno(file)) ? width_of(fileno(file)) : 0; }

bool wg_terminal_colour(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

const char *wg_mark_of(const wg_text *t, wg_mark mark)
{
    static const char *const sequences[] = {"\033[0m", "\033[1;31m", "\033[32m"};
    return t->colour ? sequences[mark] : "";
}

void wg_text_wrap(wg_text *out, const char *text, unsigned indent, unsigned at)
{
    unsigned width = out->width ? out->width : wg_terminal_width();
    width = width < 40 ? 40 : width;
    while (*text) {
        size_t n = strcspn(text, " ");
        unsigned columns = 0;
        for (size_t i = 0; i < n; i++)
            columns += ((unsigned char)text[i] & 0xC0) != 0x80;
        if (at > indent && at + 1 + columns > width) {
            wg_textf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            wg_text_add(out, " ", 1);
            at++;
        }
        wg_text_add(out, text, n);
        at += columns;
        text += n;
        text += strspn(text, " ");
    }
    wg_text_add(out, "\n", 1);
}

/* Columns of a terminal; escape sequences have none. */
static unsigned columns_of(const char *text, size_t bytes)
{
    unsigned n = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\033') {
            while (i < bytes && text[i] != 'm')
                i++;
            continue;
        }
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return n;
}

/* A line of source, or the mark under it. */
static bool is_excerpt(const char *line, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && (line[i] == ' ' || (line[i] >= '0' && line[i] <= '9')))
        i++;
    return i > 1 && i < bytes && line[i] == '|' && line[i - 1] == ' ';
}

/* Further lines are indented by four more columns. */
static void fold_line(wg_text *out, const char *line, size_t bytes, unsigned width)
{
    size_t lead = 0;
    while (lead < bytes && line[lead] == ' ')
        lead++;
    unsigned indent = lead + 4 < width / 2 ? (unsigned)lead + 4 : width / 2, at = 0;
    for (size_t i = 0, next; i < bytes; i = next) {
        size_t gap = i;
        while (gap < bytes && line[gap] == ' ')
            gap++;
        next = gap;
        while (next < bytes && line[next] != ' ')
            next++;
        unsigned columns = columns_of(line + i, next - i);
        if (i && at > indent && at + columns > width) {
            wg_textf(out, "\n%*s", (int)indent, "");
            at = indent + columns - (unsigned)(gap - i);
            i = gap;
        } else {
            at += columns;
        }
        wg_text_add(out, line + i, next - i);
    }
}

void wg_text_fold(wg_text *t, unsigned width, const char *prefix)
{
    wg_text folded = {.failed = t->failed, .width = t->width, .colour = t->colour, .prose = t->prose};
    const char *end = t->data + t->size;
    if (!width || !t->size)
        return;
    for (const char *line = t->data, *next; line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t bytes = (size_t)((stop ? stop : end) - line);
        bool ours = !prefix || (bytes >= strlen(prefix) && memcmp(line, prefix, strlen(prefix)) == 0);
        next = stop ? stop + 1 : end;
        if (ours && columns_of(line, bytes) > width && !is_excerpt(line, bytes))
            fold_line(&folded, line, bytes, width);
        else
            wg_text_add(&folded, line, bytes);
        if (stop)
            wg_text_add(&folded, "\n", 1);
    }
    if (folded.failed && !t->failed) { /* long lines are better than none */
        wg_text_free(&folded);
        return;
    }
    wg_text_free(t);
    *t = folded;
}

bool wg_parse_number(const char *text, size_t length, uint64_t *value)
{
    uint64_t n = 0;
    unsigned base = 10;
    if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
        length -= 2;
    } else if (length > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
        base = 2;
        text += 2;
        length -= 2;
    }
    if (length == 0)
        return false;
    unsigned shift = 0;
    if (base == 10 && length > 1) {
        char unit = text[length - 1];
        shift = unit == 'K' || unit == 'k' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
        length -= shift != 0;
    }
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '_' && i > 0)
            continue;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 99;
        if (digit >= base || n > (UINT64_MAX - digit) / base)
            return false;
        n = n * base + digit;
    }
    if (shift && n > UINT64_MAX >> shift)
        return false;
    *value = n << shift;
    return true;
}
