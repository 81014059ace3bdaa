/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug timestamper: a 64-bit counter of cycles, and a stream of events written to L1.
 *
 *     0x1F0 WALL_CLOCK_L   low half; reading it latches the high half for 0x1F8
 *     0x1F4                high half, current
 *     0x1F8 WALL_CLOCK_H   high half, as latched
 *     0x1FC TIMESTAMP      append an event, or flush
 *     0x200 … 0x214        control, status, two buffers in units of 16 bytes
 *
 * Facts: DebugTimestamper.md (the same for both architectures). The counter is the cycle number.
 * Decided here: its writes to L1 occupy no port.
 */
#include "report/findings.h"
#include "machine/l1.h"
#include "machine/tile.h"

enum {
    WALL_CLOCK_L = 0x1F0,
    WALL_CLOCK_NOW_H = 0x1F4,
    WALL_CLOCK_H = 0x1F8,
    COMMAND = 0x1FC,
    CONTROL = 0x200,
    STATUS = 0x204,
    BUF0_START = 0x208,
    BUF0_END = 0x20C,
    BUF1_START = 0x210,
    BUF1_END = 0x214
};

/* While the reset bit is set, the streams are reset in every cycle; resetting them before each access is equivalent. */
static void settle(wg_timestamper *ts)
{
    if (!ts->reset_streams)
        return;
    for (unsigned i = 0; i < 2; i++)
        ts->buf[i].full = ts->buf[i].overflow = false;
    ts->accum_position = ts->event_size = 0;
}

static void misuse(wg_tile *t, uint32_t value, unsigned agent, uint32_t pc)
{
    wg_findf(t, WG_F_TIMESTAMP_MISUSE,
             (wg_finding){.agent = (uint8_t)agent,
                          .pc = pc,
                          .has_pc = agent <= WG_AGENT_CORE_T2,
                          .subject = 0xFFB121FC,
                          .value = value},
             "0x%08x written to RISCV_DEBUG_REG_TIMESTAMP", value);
}

static void flush(wg_tile *t)
{
    wg_timestamper *ts = &t->regions.control.timestamper;
    while (ts->accum_position < 4)
        ts->accum[ts->accum_position++] = 0;
    ts->accum_position = ts->event_size = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (!ts->buf[i].valid || ts->buf[i].start + ts->buf[i].position > ts->buf[i].end)
            continue;
        uint64_t address = ((uint64_t)ts->buf[i].start + ts->buf[i].position) * 16;
        if (address + 16 <= t->spec->l1_bytes)
            wg_l1_write(t, WG_L1_HOST, (uint32_t)address, 16, ts->accum);
        ts->buf[i].position++;
        if (ts->buf[i].start + ts->buf[i].position > ts->buf[i].end) {
            ts->buf[i].full = true;
            wg_pic_edge(t, 17 + i);
        }
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        ts->buf[i].overflow |= ts->buf[i].valid;
}

static void append(wg_tile *t, const uint32_t *words, unsigned count)
{
    wg_timestamper *ts = &t->regions.control.timestamper;
    for (unsigned i = 0; i < count; i++) {
        ts->accum[ts->accum_position++ & 3] = words[i];
        if (ts->accum_position >= 4)
            flush(t);
    }
}

static void command(wg_tile *t, uint32_t value, unsigned agent, uint32_t pc)
{
    /* Words per event by the low three bits; 3 and 7 flush; 5 and 6 are undefined. */
    static const uint8_t words_of[8] = {4, 2, 1, 2, 3, 0, 0, 3};
    wg_timestamper *ts = &t->regions.control.timestamper;
    uint64_t counter = t->sched.now;
    unsigned kind = value & 7, words = words_of[kind];
    if (!words || (ts->event_size && ts->event_size != words)) {
        misuse(t, value, agent, pc);
        if (!words)
            return;
    }
    if (!ts->event_size)
        ts->event_size = (uint8_t)words;
    if (kind == 3 || kind == 7) {
        flush(t);
        return;
    }
    uint32_t event[4] = {value, (uint32_t)counter, (uint32_t)(counter >> 32), 0};
    if (words == 1)
        event[0] = (value & 0xFFFF) | ((uint32_t)counter & 0x001FFFE0) << 11;
    append(t, event, words);
}

static uint32_t status(const wg_timestamper *ts)
{
    uint32_t position = ts->accum_position;
    return (uint32_t)ts->buf[0].full | (uint32_t)ts->buf[1].full << 1 | (uint32_t)ts->buf[0].overflow << 4 |
           (uint32_t)ts->buf[1].overflow << 5 | (ts->event_size == 2 ? position / 2 & 1 : 0) << 8 |
           (ts->event_size == 1 ? position & 3 : 0) << 9 | (ts->event_size == 3 ? (4 - position) & 3 : 0) << 11 |
           (ts->buf[0].position & 0x3FFFF) << 14;
}

uint32_t wg_timestamper_peek(const wg_tile *t, uint32_t offset)
{
    wg_timestamper settled = t->regions.control.timestamper;
    const wg_timestamper *ts = &settled;
    settle(&settled);
    switch (offset) {
    case WALL_CLOCK_L: return (uint32_t)t->sched.now;
    case WALL_CLOCK_NOW_H: return (uint32_t)(t->sched.now >> 32);
    case WALL_CLOCK_H: return ts->counter_high_at;
    case CONTROL: return ts->cntl;
    case STATUS: return status(ts);
    case BUF0_START: return ts->buf[0].start;
    case BUF0_END: return ts->buf[0].end;
    case BUF1_START: return ts->buf[1].start;
    case BUF1_END: return ts->buf[1].end;
    default: return 0;
    }
}

uint32_t wg_timestamper_read(wg_tile *t, uint32_t offset)
{
    if (offset <= WALL_CLOCK_H)
        wg_poll_disturb(t); /* time: no two rounds of a loop that reads it are equal */
    if (offset == WALL_CLOCK_L)
        t->regions.control.timestamper.counter_high_at = (uint32_t)(t->sched.now >> 32);
    return wg_timestamper_peek(t, offset);
}

void wg_timestamper_write(wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    wg_timestamper *ts = &t->regions.control.timestamper;
    settle(ts);
    switch (offset) {
    case WALL_CLOCK_L: ts->counter_high_at = (uint32_t)(t->sched.now >> 32); break;
    case COMMAND: command(t, value, agent, pc); break;
    case CONTROL:
        ts->cntl = value;
        ts->buf[0].valid = value & 1;
        ts->buf[1].valid = value >> 1 & 1;
        ts->reset_streams = value >> 31;
        break;
    case STATUS:
        for (unsigned i = 0; i < 2; i++) {
            if (value >> i & 1) {
                ts->buf[i].full = false;
                ts->buf[i].position = 0;
            }
            if (value >> (4 + i) & 1)
                ts->buf[i].overflow = false;
        }
        break;
    case BUF0_START: ts->buf[0].start = value; break;
    case BUF0_END: ts->buf[0].end = value; break;
    case BUF1_START: ts->buf[1].start = value; break;
    case BUF1_END: ts->buf[1].end = value; break;
    default: break;
    }
}
