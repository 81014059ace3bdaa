/* SPDX-License-Identifier: Apache-2.0 */
/* The command line's additions to the library's public interface (<waitgate/tools.h>). */
#include <waitgate/tools.h>

#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/session.h"
#include "isa/isa.h"
#include "isa/riscv_word.h"
#include "text/rvdis.h"

/* ---- ELF files ---- */

bool wg_elf_find(const wg_elf *elf, const char *name, uint32_t *address, uint32_t *bytes)
{
    const wg_elf_symbol *symbol = wg_elf_symbol_named(elf, name);
    if (symbol && address)
        *address = symbol->address;
    if (symbol && bytes)
        *bytes = symbol->bytes;
    return symbol != NULL;
}

/* A message of the command line as a sentence: without the command's name and the newline. */
static void sentence(const wg_text *text, char *to, size_t bytes)
{
    const char *from = wg_text_of(text);
    if (strncmp(from, "waitgate: ", 10) == 0)
        from += 10;
    if (bytes)
        snprintf(to, bytes, "%.*s", (int)strcspn(from, "\n"), from);
}

wg_status wg_elf_load(wg_elf *elf, wg_device *dev, wg_core_id core, bool release, char *error, size_t error_bytes)
{
    wg_text message = {0};
    if (!elf || !dev || (unsigned)core >= WG_CORES) {
        wg_textf(&message, "there is no ELF file, no device, or no such core");
        sentence(&message, error, error_bytes);
        wg_text_free(&message);
        return WG_ERR_ARGUMENT;
    }
    bool ok = wg_load_elf(dev, elf, core, release, &message);
    sentence(&message, error, error_bytes);
    wg_text_free(&message);
    return ok ? WG_OK : WG_ERR_ADDRESS;
}

bool wg_source_in(wg_elf *const *elfs, unsigned core, uint32_t pc, wg_source *out)
{
    wg_elf *elf = core < WG_CORES ? elfs[core] : NULL;
    wg_elf_line line;
    wg_elf_call call[WG_SOURCE_CALLS];
    *out = (wg_source){0};
    if (!elf)
        return false;
    bool known = wg_elf_line_at(elf, pc, &line);
    unsigned calls = wg_elf_inlined_at(elf, pc, call, WG_SOURCE_CALLS);
    *out = wg_source_of(pc, wg_elf_function(elf, pc), known ? &line : NULL, call, calls);
    return out->function || out->file;
}

bool wg_source_give(const wg_source *own, wg_source *out)
{
    const uint32_t size = out->struct_size;
    memcpy(out, own, size < sizeof *own ? size : sizeof *own);
    if (size >= sizeof size)
        out->struct_size = size;
    return size && (own->function || own->file);
}

bool wg_elf_source(void *elfs, unsigned core, uint32_t pc, wg_source *out)
{
    wg_source own;
    wg_source_in(elfs, core, pc, &own);
    return wg_source_give(&own, out);
}

/* ---- RISC-V ---- */

size_t wg_core_disassemble(wg_arch_id arch, uint32_t pc, uint32_t word, char *out, size_t size)
{
    char text[WG_DIS_MAX];
    if (wg_rv_is_ttinsn(word))
        wg_disassemble(arch, wg_ttinsn_decode(word), 0, text, sizeof text);
    else
        wg_riscv_text(pc, word, text, sizeof text);
    const size_t length = strlen(text);
    if (size)
        snprintf(out, size, "%s", text);
    return length;
}

wg_elf *wg_core_assemble(wg_arch_id arch, const char *name, const char *source, uint32_t address, char **errors)
{
    wg_tasm t;
    wg_text messages = {0};
    wg_elf *elf = NULL;
    if (wg_tasm_parse_core(&t, name, source, strlen(source), arch, WG_CORE_B, address) && wg_tasm_link(&t)) {
        elf = t.core[WG_CORE_B].elf;
        t.core[WG_CORE_B].elf = NULL;
    } else {
        wg_tasm_report(&t, &messages);
    }
    wg_tasm_free(&t);
    if (errors)
        *errors = messages.data;
    else
        wg_text_free(&messages);
    return elf;
}

/* ---- arrays ---- */

static bool array_type(const char *name, size_t rows, size_t columns, wg_type *type)
{
    *type = name ? wg_type_find(name, strlen(name)) : WG_TYPE_COUNT;
    return *type != WG_TYPE_COUNT && *type != WG_TYPE_RAW && rows && columns && rows <= UINT32_MAX / columns;
}

size_t wg_encode_array(const char *type_name, bool tilized, const float *from, size_t rows, size_t columns, void *to,
                       size_t bytes)
{
    wg_type type;
    wg_text out = {0};
    uint32_t *singles;
    if (!array_type(type_name, rows, columns, &type) || !(singles = wg_malloc(rows * columns * sizeof *singles)))
        return 0;
    memcpy(singles, from, rows * columns * sizeof *singles);
    size_t size = wg_array_encode(&out, type, tilized, singles, rows, columns) && !out.failed ? out.size : 0;
    if (size && bytes)
        memcpy(to, out.data, size < bytes ? size : bytes);
    free(singles);
    wg_text_free(&out);
    return size;
}

bool wg_decode_array(const char *type_name, bool tilized, const void *from, size_t bytes, float *to, size_t rows,
                     size_t columns)
{
    wg_type type;
    uint32_t *singles;
    if (!array_type(type_name, rows, columns, &type) || wg_array_elements(type, bytes) != rows * columns ||
        !(singles = wg_malloc(rows * columns * sizeof *singles)))
        return false;
    bool ok = wg_array_decode(singles, type, tilized, from, rows, columns);
    if (ok)
        memcpy(to, singles, rows * columns * sizeof *singles);
    free(singles);
    return ok;
}

/* ---- commands ---- */

int wg_run_command(size_t count, const char *const *words, char **out, char **error)
{
    wg_text said = {.width = 100}, complained = {.width = 100};
    char **argv = calloc(count + 2, sizeof *argv);
    int status = WG_EXIT_ERROR;
    *out = *error = NULL;
    if (argv && count < INT32_MAX) {
        argv[0] = (char[]){"waitgate"};
        for (size_t i = 0; i < count; i++)
            argv[i + 1] = (char *)(uintptr_t)words[i];
        status = wg_command_main((int)count + 1, argv, &said, &complained);
        wg_text_add(&said, "", 0);
        wg_text_add(&complained, "", 0);
        *out = said.data;
        *error = complained.data;
    }
    free(argv);
    return status;
}

void wg_free(char *text) { free(text); }
