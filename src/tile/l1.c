/* SPDX-License-Identifier: Apache-2.0 */
/* L1's contents and the arbitration of its ports and banks: see l1.h. */
#include "machine/l1.h"

#include <string.h>
#include "machine/tile.h"

enum { LINE = 16, NO_PORT = 0xFF };

/*
 * Which port a client uses and which input of that port's mux it is (L1.md, diagram). Units that share an input share a
 * further mux below it; Decided here: that mux is first come, first served.
 */
static const struct {
    uint8_t port, input;
} places[WG_L1_CLIENTS] = {
    [WG_L1_CORE_B] = {2, 1},
    [WG_L1_CORE_NC] = {2, 2},
    [WG_L1_CORE_T0] = {2, 3},
    [WG_L1_CORE_T1] = {3, 0},
    [WG_L1_CORE_T2] = {3, 1},
    [WG_L1_UNPACK0] = {0, 0},
    [WG_L1_UNPACK1] = {1, 2},
    [WG_L1_UNPACK0_EXPONENTS] = {2, 0},
    [WG_L1_UNPACK1_EXPONENTS] = {2, 0},
    [WG_L1_PACK0] = {8, 0},
    [WG_L1_PACK1] = {1, 1},
    [WG_L1_PACK2] = {2, 0},
    [WG_L1_PACK3] = {3, 2},
    [WG_L1_PACK0_READ] = {2, 0},
    [WG_L1_SCALAR] = {2, 0},
    [WG_L1_MOVER_READ] = {2, 0},
    [WG_L1_MOVER_WRITE] = {3, 2},
    [WG_L1_TDMA] = {3, 2},
    [WG_L1_NOC0_WRITE] = {4, 0},
    [WG_L1_NOC0_READ] = {6, 0},
    [WG_L1_NOC1_WRITE] = {12, 0},
    [WG_L1_NOC1_READ] = {14, 0},
    [WG_L1_HOST] = {NO_PORT, 0},
};

const uint8_t wg_l1_core_at[WG_L1_CORE_PORTS][WG_L1_INPUTS] = {
    {WG_CORES, WG_CORE_B, WG_CORE_NC, WG_CORE_T0},
    {WG_CORE_T1, WG_CORE_T2, WG_CORES, WG_CORES},
};

unsigned wg_l1_port(wg_l1_client client) { return places[client].port; }

void wg_l1_reset(wg_tile *t) { memset(&t->regions.memory.l1, 0, sizeof t->regions.memory.l1); }

/* Notifies cores that may hold these lines in a cache. (A core's own stores update its L0.) */
static void notify(wg_tile *t, wg_l1_client client, uint32_t first, uint32_t last)
{
    wg_l1_ports *p = &t->regions.memory.l1;
    unsigned writer = client <= WG_L1_CORE_T2 ? (unsigned)client : WG_CORES;
    for (uint32_t line = first / LINE; line <= last / LINE; line++) {
        unsigned watch = p->watch[line];
        if (__builtin_expect(!(watch & ~(1u << writer)), 1))
            continue;
        p->watch[line] = 0; /* cores that still hold it set their bit again */
        wg_core_l1_changed(t, watch & WG_L1_WATCH_CODE ? (1u << WG_CORES) - 1 : watch, line * LINE, writer);
    }
}

void wg_l1_read(const wg_tile *t, uint32_t address, uint32_t bytes, void *to)
{
    uint32_t size = t->spec->l1_bytes;
    if (wg_l1_holds(size, address, bytes)) {
        if (bytes == 4) /* most accesses of hosts and cores: without a call */
            memcpy(to, t->l1 + address, 4);
        else
            memcpy(to, t->l1 + address, bytes);
        return;
    }
    memset(to, 0, bytes);
    if (address < size)
        memcpy(to, t->l1 + address, size - address);
}

void wg_l1_write(wg_tile *t, wg_l1_client client, uint32_t address, uint32_t bytes, const void *from)
{
    uint32_t size = t->spec->l1_bytes;
    if (!bytes || address >= size)
        return;
    if (bytes == 4 && address % 4 == 0) { /* most accesses of hosts */
        memcpy(t->l1 + address, from, 4);
        if (t->regions.memory.l1.watch[address / LINE])
            notify(t, client, address, address);
        return;
    }
    if (bytes > size - address)
        bytes = size - address;
    memcpy(t->l1 + address, from, bytes);
    wg_l1_wrote(t, client, address, bytes);
}

bool wg_l1_unseen(const wg_tile *t, uint32_t address, uint32_t bytes)
{
    /* Most lines are in no cache: checks several at once. */
    const uint8_t *watch = &t->regions.memory.l1.watch[address / LINE];
    uint32_t lines = (address % LINE + bytes + LINE - 1) / LINE, i = 0;
    uint64_t any = 0, eight, many[4];
    uint32_t four;
    for (; lines - i >= sizeof many; i += (uint32_t)sizeof many) {
        memcpy(many, watch + i, sizeof many);
        any |= (many[0] | many[1]) | (many[2] | many[3]);
    }
    for (; lines - i >= 8; i += 8) {
        memcpy(&eight, watch + i, sizeof eight);
        any |= eight;
    }
    if (lines - i >= 4) {
        memcpy(&four, watch + i, sizeof four);
        any |= four;
        i += 4;
    }
    for (; i < lines; i++)
        any |= watch[i];
    return !any;
}

void wg_l1_wrote(wg_tile *t, wg_l1_client client, uint32_t address, uint32_t bytes)
{
    if (!wg_l1_unseen(t, address, bytes))
        notify(t, client, address, address + bytes - 1);
}

void wg_l1_write_masked(wg_tile *t, wg_l1_client client, uint32_t line, uint16_t mask, const uint32_t data[4])
{
    line &= ~(uint32_t)(LINE - 1);
    if (!wg_l1_holds(t->spec->l1_bytes, line, LINE))
        return;
    uint8_t bytes[LINE];
    memcpy(bytes, data, LINE);
    const unsigned word = (unsigned)__builtin_ctz(mask | 0x10000u) & 12; /* most writes are of one word, or of all */
    if (mask == 0xFu << word) {
        memcpy(t->l1 + line + word, bytes + word, 4);
    } else if (mask == 0xFFFF) {
        memcpy(t->l1 + line, bytes, LINE);
    } else {
        for (unsigned i = 0; i < LINE; i++)
            if (mask >> i & 1)
                t->l1[line + i] = bytes[i];
    }
    notify(t, client, line, line);
}

uint32_t wg_l1_atomic(wg_tile *t, wg_l1_client client, uint32_t address, uint8_t funct5, uint32_t operand)
{
    address &= ~3u;
    if (!wg_l1_holds(t->spec->l1_bytes, address, 4))
        return 0;
    uint32_t old, new;
    memcpy(&old, t->l1 + address, 4);
    switch (funct5) {
    case 0x01: new = operand; break;
    case 0x00: new = old + operand; break;
    case 0x04: new = old ^ operand; break;
    case 0x0C: new = old &operand; break;
    case 0x08: new = old | operand; break;
    case 0x10: new = (int32_t)old < (int32_t)operand ? old : operand; break;
    case 0x14: new = (int32_t)old > (int32_t)operand ? old : operand; break;
    case 0x18: new = old < operand ? old : operand; break;
    case 0x1C: new = old > operand ? old : operand; break;
    default: return old;
    }
    memcpy(t->l1 + address, &new, 4);
    notify(t, client, address, address);
    return old;
}

/*
 * Does the first of the cores' ports, which wants a bank for this address, give way to the second? Decided here: the port that
 * had the bank last does (measured on eight rows of stores of two and three cores to one bank); otherwise the first goes first.
 */
bool wg_l1_gives_way(const wg_tile *t, uint32_t first, uint32_t second)
{
    const wg_l1_ports *p = &t->regions.memory.l1;
    const unsigned bank = wg_l1_bank(t->arch->l1_banks, first);
    return bank == wg_l1_bank(t->arch->l1_banks, second) && p->bank_free[bank] == t->sched.now &&
           p->port_free[WG_L1_CORE_PORT] == t->sched.now && p->port_free[WG_L1_CORE_PORT + 1] < t->sched.now;
}

/* Is a core's request waiting at this mux input? */
static bool core_waits(const wg_tile *t, unsigned port, unsigned input)
{
    unsigned core = wg_l1_core_at[port - WG_L1_CORE_PORT][input];
    if (core >= WG_CORES)
        return false;
    const wg_request_queue *queue = &t->regions.memory.queue[core][WG_PATH_L1];
    return queue->count && queue->ring[queue->head].seen_at <= t->sched.now;
}

bool wg_l1_ask_port(wg_tile *t, wg_l1_client client, unsigned port, uint32_t address, wg_l1_access access,
                    uint64_t *retry)
{
    if (client == WG_L1_HOST || port >= WG_L1_PORTS)
        return true;
    wg_l1_ports *p = &t->regions.memory.l1;
    uint64_t now = t->sched.now;
    unsigned bank = wg_l1_bank(t->arch->l1_banks, address);
    uint64_t free = p->port_free[port] > p->bank_free[bank] ? p->port_free[port] : p->bank_free[bank];
    if (free > now) {
        *retry = free;
        return false;
    }
    /* Units are arbitrated before the cores in a cycle: a core with the earlier turn keeps it. */
    unsigned input = client <= WG_L1_CORE_T2 || port == places[client].port ? places[client].input : 0;
    if (port == 2 || port == 3) {
        for (unsigned i = 0; i < WG_L1_INPUTS && client > WG_L1_CORE_T2; i++) { /* cores are arbitrated separately */
            unsigned at = (p->turn[port] + i) % WG_L1_INPUTS;
            if (at == input)
                break;
            if (core_waits(t, port, at)) {
                *retry = now + 1;
                return false;
            }
        }
        p->turn[port] = (uint8_t)((input + 1) % WG_L1_INPUTS);
    }
    uint64_t until = now + (access == WG_L1_NARROW ? t->timing->narrow_write : 1);
    p->port_free[port] = until;
    p->bank_free[bank] = until;
    return true;
}

void wg_l1_hold(wg_tile *t, wg_l1_client client, uint32_t address, uint32_t cycles)
{
    wg_l1_ports *p = &t->regions.memory.l1;
    const uint64_t until = t->sched.now + cycles;
    p->port_free[places[client].port] = until;
    p->bank_free[wg_l1_bank(t->arch->l1_banks, address)] = until;
}

bool wg_l1_ask(wg_tile *t, wg_l1_client client, uint32_t address, wg_l1_access access, uint64_t *retry)
{
    return wg_l1_ask_port(t, client, places[client].port, address, access, retry);
}
