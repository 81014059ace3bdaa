/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of an Ethernet tile's queues, header table, RX classifier and MAC; and filling the instruction RAM.
 *
 *     ETH_TXQ_CMD ──> the link (eth_link.c); or accepted, counted in ETH_TXQ_TRANSFER_CNT, and dropped: there is none
 *     ETH_CORE_IRAM_LOAD ──> 16 KiB of L1 to instruction RAM (WH)
 *
 * Facts: EthernetTxRx.md, CycleCounters.md, InstructionRAM.md of the architecture that has them; tt-metal's public headers.
 * Decided here: without a link a TX queue accepts a command at once and sends nothing, so its counters of packets and
 * words do not change; nothing is ever received. Filling the instruction RAM takes 512 cycles (32 bytes per cycle: the two
 * connections to L1 that it borrows); the contents are those at the start, and its reads occupy no port.
 */
#include "machine/eth.h"

#include <string.h>

#include "machine/tile.h"
#include "report/emit.h"
#include "report/findings.h"
#include "tile/windows.h"

enum { IRAM = 0xFFC00000, IRAM_CYCLES = 512, SEND_RAW = 1, SEND_DATA = 2, SEND_REGISTER = 4, FLUSH = 8 };

static void find(wg_tile *t, wg_finding_code code, unsigned agent, uint32_t pc, uint32_t address, uint32_t value,
                 const char *name)
{
    wg_findf(
        t, code,
        (wg_finding){
            .agent = (uint8_t)agent, .pc = pc, .has_pc = agent <= WG_AGENT_CORE_T2, .subject = address, .value = value},
        "0x%08x (%s), 0x%x", address, name, value);
}

void wg_eth_reset(wg_tile *t)
{
    const wg_eth_regs_spec *spec = t->spec->eth;
    wg_eth *e = &t->regions.eth;
    e->wdt = UINT32_MAX;
    if (!spec)
        return;
    for (const wg_eth_block *b = spec->block; b < spec->block + spec->blocks; b++)
        for (unsigned i = 0; i < b->count * b->regs; i++) {
            const wg_eth_reg *r = &b->reg[i % b->regs];
            unsigned word, block;
            if (r->reset && wg_eth_reg_at(spec, b->first + i / b->regs * b->stride + r->offset, &word, &block))
                e->word[word] = r->reset;
        }
    for (unsigned i = 0; t->spec->firmware[i].at; i++)
        memcpy(t->l1 + t->spec->firmware[i].at, &t->spec->firmware[i].value, 4);
}

void wg_eth_host_reads(wg_tile *t, uint64_t address, uint64_t bytes)
{
    const uint32_t beat = t->spec->heartbeat;
    uint32_t count;
    /*
     * Decided here: the heartbeat advances with every such read, since hosts read twice and compare. A host program
     * that replaces base firmware keeps its own counter.
     */
    if (!beat || address > beat || address + bytes <= beat || t->core[WG_CORE_E0].run.halt != WG_IN_RESET)
        return;
    memcpy(&count, t->l1 + beat, 4);
    count++;
    wg_l1_write(t, WG_L1_HOST, beat, 4, &count);
}

/* ---- Instruction RAM ---- */

static void load_iram(wg_tile *t, uint32_t value, unsigned agent, uint32_t pc)
{
    wg_eth *e = &t->regions.eth;
    const wg_core *k = &t->core[WG_CORE_E0];
    const uint32_t from = value << 4, bytes = t->spec->core[WG_CORE_E0].iram_bytes;
    unsigned word, block;
    if (t->sched.now < e->iram_until || !wg_l1_holds(t->spec->l1_bytes, from, bytes)) {
        find(t, WG_F_ETH_IRAM_LOAD, agent, pc, from, value, "a copy is under way, or it leaves L1; nothing is done");
        return;
    }
    wg_core_sync(t, WG_CORE_E0);
    if (!k->run.halt && k->run.pc >= IRAM)
        find(t, WG_F_ETH_IRAM_LOAD, agent, pc, from, value, "the core executes out of it");
    for (unsigned i = 0; i < 2; i++)
        if (wg_eth_reg_at(t->spec->eth, t->spec->eth->mac + 4 * i, &word, &block) && (e->word[word] & 1)) {
            find(t, WG_F_ETH_IRAM_LOAD, agent, pc, from, value, "Ethernet TX or RX is enabled");
            break;
        }
    wg_iram_write(t, WG_CORE_E0, 0, bytes, t->l1 + from);
    e->iram_until = t->sched.now + IRAM_CYCLES;
}

/* ---- TX queues ---- */

/* The error in a command; NULL: none. */
static const char *misuse(const wg_tile *t, const uint32_t *queue, unsigned number, uint32_t command)
{
    const wg_eth_regs_spec *s = t->spec->eth;
    const uint32_t start = queue[s->start / 4], size = queue[s->size / 4], dest = queue[s->dest / 4];
    if (command != SEND_RAW && command != SEND_DATA && command != SEND_REGISTER && command != FLUSH)
        return "there is no such command";
    if (command == SEND_REGISTER && number + 1u == s->queues)
        return "this queue sends no register writes";
    if (command == SEND_REGISTER && dest % 4)
        return "the address of a register is not a multiple of 4";
    if (command == SEND_DATA && (start % 16 || size % 16 || dest % 16))
        return "addresses and size of a TT-link packet are not multiples of 16";
    if ((command == SEND_DATA || command == SEND_RAW) && !wg_l1_holds(t->spec->l1_bytes, start, size))
        return "the data leaves L1";
    return NULL;
}

static void transmit(wg_tile *t, unsigned word, unsigned number, uint32_t address, uint32_t command, unsigned agent,
                     uint32_t pc)
{
    uint32_t *queue = &t->regions.eth.word[word] - 1; /* ETH_TXQ_CMD is its second word */
    const char *why = misuse(t, queue, number, command);
    const wg_eth_link *l = t->link;
    if (!why && l && wg_eth_link_busy(l, number))
        why = "the command before it is not yet accepted";
    if (!why && l && command == FLUSH)
        why = "flushing the MAC's queue is not implemented";
    if (why)
        find(t, WG_F_ETH_COMMAND, agent, pc, address, command, why);
    else if (!l || !l->up)
        find(t, WG_F_ETH_LINK, agent, pc, address, command, "ETH_TXQ_CMD");
    if (!why && l)
        WG_EMIT(t, WG_EV_LINK_COMMAND, agent, .a = number, .pc = pc);
    if (!why && l)
        wg_eth_link_command(t, number, command);
    else if (!why && command != FLUSH)
        queue[t->spec->eth->transfer_count / 4]++;
}

/* ---- Registers ---- */

static void unknown(wg_tile *t, uint32_t address, uint32_t value, unsigned agent, uint32_t pc)
{
    find(t, WG_F_UNIMPLEMENTED_REGISTER, agent, pc, address, value, "no documented register");
}

uint32_t wg_eth_read(wg_tile *t, uint32_t address, unsigned agent, uint32_t pc)
{
    unsigned word, block;
    const wg_eth_reg *r = wg_eth_reg_at(t->spec->eth, address, &word, &block);
    if (!r) {
        unknown(t, address, 0, agent, pc);
        return 0;
    }
    if (r->access == WG_ETH_IRAM_LOAD && t->sched.now < t->regions.eth.iram_until) {
        wg_poll_disturb(t); /* filling ends without further events */
        return 1;
    }
    return t->regions.eth.word[word];
}

void wg_eth_write(wg_tile *t, uint32_t address, uint32_t value, unsigned agent, uint32_t pc)
{
    unsigned word, block;
    const wg_eth_reg *r = wg_eth_reg_at(t->spec->eth, address, &word, &block);
    if (!r) {
        unknown(t, address, value, agent, pc);
        return;
    }
    uint32_t *at = &t->regions.eth.word[word];
    switch ((wg_eth_access)r->access) {
    case WG_ETH_READ_ONLY: break;
    case WG_ETH_COMMAND: transmit(t, word, block, address, value, agent, pc); break;
    case WG_ETH_IRAM_LOAD: load_iram(t, value, agent, pc); break;
    case WG_ETH_SUM: *at += value; break;
    case WG_ETH_INTERRUPTS:
        if (value)
            find(t, WG_F_UNIMPLEMENTED_REGISTER, agent, pc, address, value, r->name);
        *at = value;
        break;
    case WG_ETH_STORAGE: *at = value & r->mask; break;
    }
}

wg_region_answer wg_eth_window(wg_tile *t, const wg_request *req, uint32_t value[4], wg_stall *why)
{
    (void)why;
    const uint32_t address = req->address & ~UINT32_C(3);
    const unsigned agent = WG_AGENT_CORE_B + req->core;
    if (req->kind == WG_REQ_WRITE)
        wg_eth_write(t, address, wg_register_store(t, req), agent, req->pc);
    else
        value[0] = wg_narrow(req, wg_eth_read(t, address, agent, req->pc));
    return WG_REGION_DONE;
}
