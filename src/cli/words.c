/* SPDX-License-Identifier: Apache-2.0 */
/* waitgate asm and waitgate dis: words to text and back. */
#include "cli/commands.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "text/rvdis.h"
#include "cli/tasm.h"
#include "elf/elf.h"
#include "isa/asm.h"

/* ---- asm ---- */

typedef enum asm_format { FORMAT_WORDS, FORMAT_TTINSN, FORMAT_C, FORMAT_BINARY, FORMAT_COUNT } asm_format;

typedef struct word_list {
    wg_text bytes; /* 32-bit words */
    const char *name;
    const char *source;
    size_t size;
} word_list;

static size_t word_count(const word_list *l) { return l->bytes.size / 4; }
static uint32_t word_at(const word_list *l, size_t i)
{
    uint32_t word;
    memcpy(&word, l->bytes.data + 4 * i, sizeof word);
    return word;
}

/* Assembles every line, reporting all errors. Returns their number. */
static size_t assemble(word_list *l, wg_arch_id arch, bool ttinsn, wg_text *error)
{
    size_t errors = 0;
    uint32_t number = 1;
    for (size_t at = 0; at < l->size; number++) {
        const char *line = l->source + at, *end = memchr(line, '\n', l->size - at);
        size_t length = end ? (size_t)(end - line) : l->size - at;
        uint32_t word = 0;
        wg_asm_error e = {0};
        wg_asm_code code = wg_assemble_line(arch, line, length, &word, &e);
        if (code == WG_ASM_OK && ttinsn && word >= UINT32_C(0xC0000000)) {
            snprintf(e.message, sizeof e.message, "0x%08x has no .ttinsn form: only words below 0xC0000000 have one",
                     word);
            e.column = 1;
            code = WG_ASM_RANGE;
        }
        if (code == WG_ASM_OK) {
            wg_text_add(&l->bytes, &word, sizeof word);
        } else if (code != WG_ASM_BLANK) {
            wg_report_error(error, l->name, l->source, l->size, number, e.column, e.message);
            errors++;
        }
        at += length + 1;
    }
    return errors;
}

static void write_words(const word_list *l, asm_format format, wg_arch_id arch, wg_text *out)
{
    char text[WG_DIS_MAX];
    if (format == FORMAT_C)
        wg_textf(out, "#include <stdint.h>\n\nstatic const uint32_t tensix_words[%zu] = {\n",
                 word_count(l) ? word_count(l) : 1);
    for (size_t i = 0; i < word_count(l); i++) {
        uint32_t word = word_at(l, i);
        wg_disassemble(arch, word, 0, text, sizeof text);
        if (format == FORMAT_WORDS)
            wg_textf(out, "0x%08x\n", word);
        else if (format == FORMAT_TTINSN)
            wg_textf(out, "0x%08x\n", wg_ttinsn_encode(word));
        else if (format == FORMAT_C)
            wg_textf(out, "    0x%08x,  /* %s */\n", word, text);
        else
            wg_text_add(out, &word, sizeof word);
    }
    if (format == FORMAT_C)
        wg_textf(out, "};\n");
}

static void write_json(const word_list *l, wg_arch_id arch, wg_text *out)
{
    char text[WG_DIS_MAX];
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "arch", wg_arch_of(arch)->name);
    wg_json_open(j, "words", '[');
    for (size_t i = 0; i < word_count(l); i++) {
        uint32_t word = word_at(l, i);
        wg_disassemble(arch, word, 0, text, sizeof text);
        wg_json_open(j, NULL, '{');
        wg_json_hex(j, "word", word);
        wg_json_hex(j, "ttinsn", wg_ttinsn_encode(word));
        wg_json_text(j, "text", text);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_close(j, '}');
}

static bool format_option(const wg_args *args, asm_format *format, wg_text *error)
{
    static const char *const names[FORMAT_COUNT] = {"words", "ttinsn", "c", "binary"};
    const char *text = args->value[WG_OPT_FORMAT];
    *format = FORMAT_WORDS;
    for (unsigned i = 0; text && i < FORMAT_COUNT; i++)
        if (strcmp(names[i], text) == 0) {
            *format = (asm_format)i;
            return true;
        }
    if (text)
        wg_textf(error, "waitgate: --format: `%s` is none of words, ttinsn, c, binary\n", text);
    return !text;
}

int wg_command_asm(const wg_args *args, wg_text *out, wg_text *error)
{
    char message[512];
    wg_arch_id arch;
    asm_format format;
    if (!wg_args_arch(args, &arch, error) || !format_option(args, &format, error))
        return WG_EXIT_ERROR;
    if (args->files != 1) {
        wg_textf(error, "waitgate: asm takes one file, or - for standard input\n");
        return WG_EXIT_ERROR;
    }
    word_list l = {.name = strcmp(args->file[0], "-") ? args->file[0] : "<stdin>"};
    uint8_t *source = wg_file_read(args->file[0], &l.size, message, sizeof message);
    if (!source) {
        wg_textf(error, "waitgate: %s\n", message);
        return WG_EXIT_ERROR;
    }
    l.source = (const char *)source;
    int status = WG_EXIT_ERROR;
    wg_text result = {0};
    size_t errors = assemble(&l, arch, format == FORMAT_TTINSN, error);
    if (errors) {
        wg_textf(error, "%zu error%s\n", errors, errors == 1 ? "" : "s");
    } else {
        if (args->value[WG_OPT_JSON])
            write_json(&l, arch, &result);
        else
            write_words(&l, format, arch, &result);
        status = WG_EXIT_DONE;
    }
    if (status == WG_EXIT_DONE && args->value[WG_OPT_OUTPUT]) {
        if (!wg_file_write(args->value[WG_OPT_OUTPUT], result.data, result.size, message, sizeof message)) {
            wg_textf(error, "waitgate: %s\n", message);
            status = WG_EXIT_ERROR;
        }
    } else if (status == WG_EXIT_DONE && result.size) {
        wg_text_add(out, result.data, result.size);
    }
    wg_text_free(&result);
    wg_text_free(&l.bytes);
    free(source);
    return status;
}

/* ---- dis ---- */

typedef struct dis {
    wg_arch_id arch;
    bool ttinsn;
    unsigned flags;
    wg_text *out;
    wg_json *json; /* NULL: text */
} dis;

static void dis_word(dis *d, uint32_t given)
{
    char text[WG_DIS_MAX];
    uint32_t word = d->ttinsn ? wg_ttinsn_decode(given) : given;
    wg_disassemble(d->arch, word, d->flags, text, sizeof text);
    if (!d->json) {
        wg_textf(d->out, "0x%08x  %s\n", given, text);
        return;
    }
    wg_json_open(d->json, NULL, '{');
    wg_json_hex(d->json, "word", word);
    wg_json_text(d->json, "text", text);
    wg_json_close(d->json, '}');
}

/* One instruction of an ELF file, with its symbol and line, if known. */
static void dis_place(dis *d, wg_elf *elf, uint32_t pc, uint32_t word, const wg_elf_symbol **in, wg_elf_line *last)
{
    char text[WG_DIS_MAX];
    const wg_elf_symbol *function = wg_elf_function(elf, pc);
    bool data = function && function->object, tensix = (word & 3) != 3 && word != 0 && !data;
    if (data)
        snprintf(text, sizeof text, ".word 0x%08x", word);
    else if (tensix)
        wg_disassemble(d->arch, wg_ttinsn_decode(word), d->flags, text, sizeof text);
    else
        wg_riscv_text(pc, word, text, sizeof text);
    for (char *p = text; *p; p++)
        if (*p == '\t')
            *p = ' ';
    wg_elf_line line = {0};
    bool has_line = wg_elf_line_at(elf, pc, &line);
    if (d->json) {
        wg_json_open(d->json, NULL, '{');
        wg_json_hex(d->json, "pc", pc);
        wg_json_hex(d->json, "word", word);
        wg_json_text(d->json, "kind", data ? "data" : tensix ? "tensix" : "riscv");
        wg_json_text(d->json, "text", text);
        if (function)
            wg_json_text(d->json, "function", function->name);
        if (has_line) {
            wg_json_text(d->json, "file", line.file);
            wg_json_uint(d->json, "line", line.line);
        }
        wg_json_close(d->json, '}');
        return;
    }
    if (function != *in && function)
        wg_textf(d->out, "\n%08x <%s>:\n", function->address, function->name);
    *in = function;
    if (has_line && (last->line != line.line || !last->file || strcmp(last->file, line.file) != 0)) {
        wg_textf(d->out, "; %s:%u\n", line.file, line.line);
        *last = line;
    }
    wg_textf(d->out, "%8x:  %08x  %s\n", pc, word, text);
}

static void dis_elf(dis *d, wg_elf *elf)
{
    const wg_elf_symbol *in = NULL;
    wg_elf_line last = {0};
    if (!d->json && !wg_riscv_text_available())
        wg_textf(d->out, "; floating point and vectors as words: this waitgate was built without libopcodes\n");
    for (size_t i = 0; i < wg_elf_segments(elf); i++) {
        const wg_elf_segment *s = wg_elf_segment_at(elf, i);
        for (uint32_t at = 0; s->executable && at + 4 <= s->file_bytes; at += 4) {
            uint32_t word;
            memcpy(&word, s->data + at, sizeof word);
            dis_place(d, elf, s->address + at, word, &in, &last);
        }
    }
}

/* A text of hexadecimal words: each word eight digits or less, "0x" allowed, "address:" and comments skipped. */
static bool is_hex_text(const uint8_t *bytes, size_t size)
{
    bool digits = false;
    for (size_t i = 0; i < size; i++) {
        if (!isprint(bytes[i]) && !isspace(bytes[i]))
            return false;
        digits |= isxdigit(bytes[i]) != 0;
    }
    return digits;
}

static bool dis_hex(dis *d, const char *name, const char *text, size_t size, wg_text *error)
{
    uint32_t number = 1;
    for (size_t at = 0; at < size; at++) {
        if (text[at] == '\n')
            number++;
        if (text[at] == '#' || text[at] == ';') {
            while (at + 1 < size && text[at + 1] != '\n')
                at++;
            continue;
        }
        if (isspace((unsigned char)text[at]) || text[at] == ',')
            continue;
        size_t length = 0;
        while (at + length < size && !isspace((unsigned char)text[at + length]) && text[at + length] != ',')
            length++;
        const char *word = text + at;
        at += length - 1;
        if (word[length - 1] == ':')
            continue;
        char digits[16];
        size_t skip = length > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? 2 : 0;
        uint64_t value;
        int n = snprintf(digits, sizeof digits, "0x%.*s", (int)(length - skip < 12 ? length - skip : 12), word + skip);
        if (!wg_parse_number(digits, (size_t)n, &value) || value > UINT32_MAX || length - skip > 8) {
            wg_textf(error, "waitgate: %s:%u: `%.*s` is not a hexadecimal word\n", name, number, (int)length, word);
            return false;
        }
        dis_word(d, (uint32_t)value);
    }
    return true;
}

static bool dis_file(dis *d, const char *path, wg_text *error)
{
    char message[512];
    size_t size;
    uint8_t *bytes = wg_file_read(path, &size, message, sizeof message);
    if (!bytes) {
        wg_textf(error, "waitgate: %s\n", message);
        return false;
    }
    bool ok = true;
    if (wg_elf_is_elf(bytes, size)) {
        wg_elf *elf = wg_elf_open(path, bytes, size, message, sizeof message);
        ok = elf != NULL;
        if (elf)
            dis_elf(d, elf);
        else
            wg_textf(error, "waitgate: %s\n", message);
        wg_elf_close(elf);
    } else if (is_hex_text(bytes, size)) {
        ok = dis_hex(d, path, (const char *)bytes, size, error);
    } else if (size % 4) {
        wg_textf(error, "waitgate: %s: %zu bytes are not a whole number of words\n", path, size);
        ok = false;
    } else {
        for (size_t i = 0; i < size; i += 4) {
            uint32_t word;
            memcpy(&word, bytes + i, sizeof word);
            dis_word(d, word);
        }
    }
    free(bytes);
    return ok;
}

int wg_command_dis(const wg_args *args, wg_text *out, wg_text *error)
{
    wg_arch_id arch;
    if (!wg_args_arch(args, &arch, error))
        return WG_EXIT_ERROR;
    if (args->files == 0) {
        wg_textf(error, "waitgate: dis takes words, a file, or - for standard input\n");
        return WG_EXIT_ERROR;
    }
    size_t before = out->size;
    wg_json json = {.out = out};
    dis d = {.arch = arch,
             .ttinsn = args->value[WG_OPT_TTINSN] != NULL,
             .flags = args->value[WG_OPT_SYMBOLIC] ? WG_DIS_SYMBOLIC : 0,
             .out = out,
             .json = args->value[WG_OPT_JSON] ? &json : NULL};
    if (d.json) {
        wg_json_open(d.json, NULL, '{');
        wg_json_uint(d.json, "schema", 1);
        wg_json_text(d.json, "arch", wg_arch_of(arch)->name);
        wg_json_open(d.json, "instructions", '[');
    }
    bool ok = true;
    for (size_t i = 0; i < args->files && ok; i++) {
        uint64_t value;
        if (!wg_parse_number(args->file[i], strlen(args->file[i]), &value)) {
            ok = dis_file(&d, args->file[i], error);
        } else if (value > UINT32_MAX) {
            wg_textf(error, "waitgate: `%s` does not fit a word of 32 bits\n", args->file[i]);
            ok = false;
        } else {
            dis_word(&d, (uint32_t)value);
        }
    }
    if (d.json) {
        wg_json_close(d.json, ']');
        wg_json_close(d.json, '}');
    }
    if (!ok)
        out->size = before; /* no partial output */
    return ok ? WG_EXIT_DONE : WG_EXIT_ERROR;
}
