/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine as described to gdb: threads, registers, memory. Cores and Tensix threads are gdb's threads; a Tensix thread's pc
 * is that of the push of the instruction at its gate, 0 if there is none, and its other registers are not available.
 * Facts: "Target Descriptions" and "Remote Protocol" in the gdb manual.
 */
#include <stdlib.h>
#include <string.h>

#include "debug/gdb.h"
#include "debug/registers.h"

#define REGIONS UINT32_C(0xFFB00000) /* own RAM, followed by memory-mapped registers */

/* ---- Threads ---- */

uint64_t wg_gdb_thread(const wg_gdb *g, wg_who who)
{
    return (uint64_t)wg_debug_index(g->d, who) * WG_WHO_OF_TILE + who.agent + 1;
}

bool wg_gdb_who(const wg_gdb *g, uint64_t thread, wg_who *who)
{
    if (!thread || (thread - 1) / WG_WHO_OF_TILE >= wg_debug_tiles(g->d))
        return false;
    unsigned index = (unsigned)((thread - 1) / WG_WHO_OF_TILE);
    *who = wg_debug_who(g->d, index, (unsigned)((thread - 1) % WG_WHO_OF_TILE));
    return wg_debug_dev(g->d, index) != NULL;
}

/* On a chip, tiles without a released core are omitted. */
static bool is_listed(wg_gdb *g, wg_who tile)
{
    const wg_tile *t = wg_debug_device(g->d, tile)->tile;
    bool listed = !g->d->desc.grid || (tile.x == g->who.x && tile.y == g->who.y);
    for (unsigned core = 0; core < WG_CORES; core++)
        listed |= t->core[core].run.halt != WG_IN_RESET;
    return listed;
}

static bool next_thread(wg_gdb *g, unsigned *n, wg_who *who)
{
    while (wg_debug_tile(g->d, *n / WG_WHO_OF_TILE, who)) {
        who->agent = (uint8_t)(*n % WG_WHO_OF_TILE);
        ++*n;
        if (is_listed(g, *who) && wg_debug_has(g->d, *who))
            return true;
    }
    return false;
}

void wg_gdb_thread_list(wg_gdb *g, wg_text *out)
{
    wg_who who;
    wg_textf(out, "m");
    for (unsigned n = 0; next_thread(g, &n, &who) && out->size < WG_GDB_PACKET - 32;)
        wg_textf(out, "%s%llx", out->size > 1 ? "," : "", (unsigned long long)wg_gdb_thread(g, who));
}

static void threads_xml(wg_gdb *g, wg_text *out)
{
    wg_who who;
    char name[32];
    wg_textf(out, "<?xml version=\"1.0\"?><threads>");
    for (unsigned n = 0; next_thread(g, &n, &who);)
        wg_textf(out, "<thread id=\"%llx\" name=\"%s\">%s</thread>", (unsigned long long)wg_gdb_thread(g, who),
                 wg_debug_name(g->d, who, name, sizeof name), wg_debug_doing(g->d, who));
    wg_textf(out, "</threads>");
}

/* ---- Descriptions ---- */

static void register_xml(wg_text *out, unsigned number, const char *type)
{
    const wg_register_info *r = wg_register_at(number);
    wg_textf(out, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%u\"/>", r->name, r->bytes * 8u, type, number);
}

/* Does any core have it? */
static bool has_register(const wg_gdb *g, unsigned number)
{
    uint8_t bytes[16];
    wg_device *dev = wg_debug_dev(g->d, wg_debug_index(g->d, g->who));
    return wg_register_read(dev, WG_CORE_T2, number, bytes);
}

static void feature_xml(wg_gdb *g, wg_text *out, const char *name, unsigned from, unsigned to, const char *type)
{
    if (!has_register(g, from))
        return;
    wg_textf(out, "<feature name=\"org.gnu.gdb.riscv.%s\">", name);
    if (from == WG_REGISTER_V)
        wg_textf(out,
                 "<vector id=\"bytes\" type=\"uint8\" count=\"16\"/><vector id=\"shorts\" type=\"uint16\" count=\"8\"/>"
                 "<vector id=\"words\" type=\"uint32\" count=\"4\"/><union id=\"riscv_vector\">"
                 "<field name=\"b\" type=\"bytes\"/><field name=\"s\" type=\"shorts\"/>"
                 "<field name=\"w\" type=\"words\"/></union>");
    for (unsigned i = from; i < to; i++)
        register_xml(out, i, i == WG_REGISTER_PC ? "code_ptr" : type);
    wg_textf(out, "</feature>");
}

static void target_xml(wg_gdb *g, wg_text *out)
{
    wg_textf(out,
             "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target><architecture>riscv:rv32"
             "</architecture><osabi>none</osabi>"); /* by default gdb would assume Linux, and step by breakpoints */
    feature_xml(g, out, "cpu", 0, WG_REGISTER_F, "int");
    feature_xml(g, out, "fpu", WG_REGISTER_F, WG_REGISTER_V, "ieee_single");
    feature_xml(g, out, "vector", WG_REGISTER_V, WG_REGISTER_CSR, "riscv_vector");
    feature_xml(g, out, "csr", WG_REGISTER_CSR, WG_REGISTERS, "int");
    wg_textf(out, "</target>");
}

static void memory_xml(wg_gdb *g, wg_text *out)
{
    wg_textf(out,
             "<?xml version=\"1.0\"?><!DOCTYPE memory-map PUBLIC \"+//IDN gnu.org//DTD GDB Memory Map V1.0//EN\" "
             "\"http://sourceware.org/gdb/gdb-memory-map.dtd\"><memory-map><memory type=\"ram\" start=\"0x0\" "
             "length=\"0x%x\"/><memory type=\"ram\" start=\"0x%x\" length=\"0x%x\"/></memory-map>",
             g->d->arch->tensix.l1_bytes, REGIONS, 0u - REGIONS);
}

static void libraries_xml(wg_gdb *g, wg_text *out)
{
    wg_textf(out, "<library-list>%s</library-list>", wg_text_of(&g->libraries));
}

wg_status wg_gdb_symbols(wg_gdb *g, const char *path, uint32_t address)
{
    wg_text entry = {0};
    wg_textf(&entry, "<library name=\"");
    for (const char *p = path; *p; p++)
        wg_textf(&entry, strchr("&<>\"", *p) ? "&#%u;" : "%c", (unsigned char)*p);
    wg_textf(&entry, "\"><segment address=\"0x%x\"/></library>", address);
    if (!strstr(wg_text_of(&g->libraries), wg_text_of(&entry)))
        wg_text_add(&g->libraries, wg_text_of(&entry), entry.size);
    const bool failed = entry.failed || g->libraries.failed;
    wg_text_free(&entry);
    return failed ? WG_ERR_NO_MEMORY : WG_OK;
}

/* The part of `whole` selected by OFFSET,LENGTH. */
static void part_of(const wg_text *whole, const char *text, wg_text *out)
{
    uint64_t offset, length;
    if (!wg_hex_number(&text, &offset) || *text++ != ',' || !wg_hex_number(&text, &length)) {
        wg_textf(out, "E01");
        return;
    }
    length = length < WG_GDB_PACKET - 8 ? length : WG_GDB_PACKET - 8;
    bool last = offset >= whole->size || length >= whole->size - offset;
    wg_textf(out, "%c", last ? 'l' : 'm');
    if (offset < whole->size)
        wg_text_add(out, whole->data + offset, last ? whole->size - (size_t)offset : (size_t)length);
}

bool wg_gdb_qxfer(wg_gdb *g, const char *text, wg_text *out)
{
    static const struct {
        const char *name;
        void (*write)(wg_gdb *g, wg_text *out);
    } objects[] = {{"qXfer:features:read:target.xml:", target_xml},
                   {"qXfer:threads:read::", threads_xml},
                   {"qXfer:memory-map:read::", memory_xml},
                   {"qXfer:libraries:read::", libraries_xml}};
    for (unsigned i = 0; i < sizeof objects / sizeof *objects; i++) {
        size_t length = strlen(objects[i].name);
        if (strncmp(text, objects[i].name, length) != 0)
            continue;
        wg_text whole = {0};
        objects[i].write(g, &whole);
        part_of(&whole, text + length, out);
        wg_text_free(&whole);
        return true;
    }
    return false;
}

/* ---- Registers and memory ---- */

static void register_hex(wg_gdb *g, unsigned number, wg_text *out)
{
    uint8_t bytes[16];
    uint32_t pc = 0; /* nothing at the gate: gdb does not step a thread without a pc */
    bool core = g->who.agent <= WG_AGENT_CORE_T2;
    if (core ? wg_register_read(wg_debug_device(g->d, g->who), g->who.agent, number, bytes)
             : number == WG_REGISTER_PC) {
        wg_debug_pc(g->d, g->who, &pc);
        for (unsigned i = 0; !core && i < 4; i++)
            bytes[i] = (uint8_t)(pc >> 8 * i);
        wg_hex_bytes(out, bytes, wg_register_at(number)->bytes);
        return;
    }
    for (unsigned i = 0; i < wg_register_at(number)->bytes; i++)
        wg_textf(out, "xx"); /* not available */
}

/* g: all that every core has; p N; P N=VALUE. */
void wg_gdb_registers(wg_gdb *g, const char *text, wg_text *out)
{
    uint64_t number;
    uint8_t bytes[16];
    const char *at = text + 1;
    if (*text == 'g') {
        for (unsigned i = 0; i <= WG_REGISTER_PC; i++)
            register_hex(g, i, out);
        return;
    }
    if (!wg_hex_number(&at, &number) || number >= WG_REGISTERS) {
        wg_textf(out, "E01");
        return;
    }
    if (*text == 'p') {
        register_hex(g, (unsigned)number, out);
        return;
    }
    bool ok = *at++ == '=' && wg_bytes_of(at, bytes, wg_register_at((unsigned)number)->bytes) &&
              g->who.agent <= WG_AGENT_CORE_T2 &&
              wg_register_write(wg_debug_device(g->d, g->who), g->who.agent, (unsigned)number, bytes) &&
              wg_debug_changed(g->d) == WG_OK;
    wg_textf(out, ok ? "OK" : "E01");
}

/* mADDR,LENGTH: as much as can be read. */
void wg_gdb_read_memory(wg_gdb *g, const char *text, wg_text *out)
{
    uint64_t address, count;
    uint8_t byte;
    if (!wg_hex_number(&text, &address) || *text++ != ',' || !wg_hex_number(&text, &count) || address > UINT32_MAX) {
        wg_textf(out, "E01");
        return;
    }
    for (uint64_t i = 0; i < count && i < WG_GDB_PACKET / 2 - 8; i++) {
        if (address + i > UINT32_MAX || wg_debug_read(g->d, g->who, (uint32_t)(address + i), &byte, 1) != WG_OK) {
            if (i == 0)
                wg_textf(out, "E14");
            break;
        }
        wg_hex_bytes(out, &byte, 1);
    }
}

/* MADDR,LENGTH:DATA */
void wg_gdb_write_memory(wg_gdb *g, const char *text, wg_text *out)
{
    uint64_t address, count;
    uint8_t bytes[WG_GDB_PACKET / 2];
    bool ok = wg_hex_number(&text, &address) && *text++ == ',' && wg_hex_number(&text, &count) && *text++ == ':' &&
              address <= UINT32_MAX && count <= sizeof bytes && wg_bytes_of(text, bytes, (size_t)count);
    if (ok && count) /* a length of 0 asks whether writing is possible at all */
        ok = wg_debug_write(g->d, g->who, (uint32_t)address, bytes, (size_t)count) == WG_OK;
    wg_textf(out, ok ? "OK" : "E14");
}
