/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers of idle overlay streams, which software uses as memory that all cores, other tiles and the host reach, and
 * some of which count.
 *
 * Facts: NoC/Overlay/AsGeneralUse.md (widths, effects), README.md (which streams can do what); register numbers from
 * the public overlay parameters. Streams do not carry messages: what starts one is reported.
 */
#include "noc/overlay.h"

#include "tile/tile.h"

typedef enum stream_register {
    BUF_SIZE, BUF_START, RD_PTR, WR_PTR, PHASE_BASE, PHASE, GATHER, SRC_MASK, SRC_MASK_1, SRC_MASK_2, MCAST_DEST_NUM,
    MCAST_DEST, ACK_THRESHOLD, MISC_CFG, MSG_INFO_PTR, MSG_INFO_WR_PTR, CAN_PUSH, CFG_HEADER, CFG_PTR_BASE, CFG_PTR,
    DEST_BUF_SIZE, SPACE, SPACE_UPDATE, DEST_BUF_START_HI, DEST_BUF_START, DEST_WR_PTR, DEST_INFO_WR_PTR_HI,
    DEST_INFO_WR_PTR, DEST, DEST_PRIORITY, SRC_PHASE, SRC, SCRATCH, NEXT_MSG_ADDR, NEXT_MSG_SIZE, GATHER_CLEAR,
    REGISTERS
} stream_register;

typedef enum capability { EVERY, GATHERS, MULTICASTS, TO_DRAM } capability;
enum { NONE = 0xFFFF, SPACES = 32, SCRATCHES = 6 };

static const struct { uint16_t index[2]; uint8_t width, needs; } registers[REGISTERS] = {
    [BUF_SIZE] = {{18, 7}, 17, EVERY}, [BUF_START] = {{17, 6}, 17, EVERY}, [RD_PTR] = {{19, 24}, 17, EVERY},
    [WR_PTR] = {{20, 25}, 17, EVERY}, [PHASE_BASE] = {{28, 244}, 20, EVERY}, [PHASE] = {{29, 11}, 20, EVERY},
    [GATHER] = {{26, 15}, 4, GATHERS}, [SRC_MASK] = {{224, 48}, 24, GATHERS}, [SRC_MASK_1] = {{225, 49}, 24, GATHERS},
    [SRC_MASK_2] = {{226, 50}, 16, GATHERS}, [MCAST_DEST_NUM] = {{25, 14}, 6, MULTICASTS},
    [MCAST_DEST] = {{24, 13}, 19, MULTICASTS}, [ACK_THRESHOLD] = {{6, 40}, 4, EVERY}, [MISC_CFG] = {{3, 10}, 24, EVERY},
    [MSG_INFO_PTR] = {{22, 8}, 17, EVERY}, [MSG_INFO_WR_PTR] = {{23, 26}, 17, EVERY},
    [CAN_PUSH] = {{275, 41}, 0, EVERY},
    [CFG_HEADER] = {{34, 36}, 32, EVERY}, [CFG_PTR_BASE] = {{30, 245}, 17, EVERY}, [CFG_PTR] = {{31, 12}, 17, EVERY},
    [DEST_BUF_SIZE] = {{10, 4}, 17, EVERY}, [SPACE] = {{297, 64}, 17, EVERY}, [SPACE_UPDATE] = {{270, 34}, 0, EVERY},
    [DEST_BUF_START_HI] = {{9, 242}, 15, TO_DRAM}, [DEST_BUF_START] = {{8, 3}, 17, EVERY},
    [DEST_WR_PTR] = {{11, 5}, 17, EVERY},
    [DEST_INFO_WR_PTR_HI] = {{14, 243}, 15, TO_DRAM}, [DEST_INFO_WR_PTR] = {{13, 9}, 17, EVERY},
    [DEST] = {{7, 2}, 18, EVERY},
    [DEST_PRIORITY] = {{NONE, 44}, 4, EVERY}, [SRC_PHASE] = {{5, 1}, 20, EVERY}, [SRC] = {{4, 0}, 24, EVERY},
    [SCRATCH] = {{36, 248}, 24, TO_DRAM}, [NEXT_MSG_ADDR] = {{262, 19}, 32, EVERY},
    [NEXT_MSG_SIZE] = {{263, 20}, 32, EVERY},
    [GATHER_CLEAR] = {{NONE, 43}, 17, GATHERS},
};
static const uint16_t debug_status[2] = {501, 224};

static bool can(unsigned stream, unsigned needs)
{
    switch (needs) {
    case GATHERS: return stream < 6;
    case MULTICASTS: return stream < 4;
    case TO_DRAM: return stream < 4 || (stream >= 8 && stream < 12);
    default: return true;
    }
}

static uint32_t *word(wg_tile *t, unsigned stream, stream_register r)
{
    return &t->regions.niu.overlay[stream][registers[r].index[t->arch->id] % WG_OVERLAY_REGISTERS];
}

/* Which register a number is, counting those of arrays from *element on. */
static stream_register find(const wg_tile *t, unsigned index, unsigned *element)
{
    for (unsigned r = 0; r < REGISTERS; r++) {
        unsigned first = registers[r].index[t->arch->id], count = r == SPACE ? SPACES : r == SCRATCH ? SCRATCHES : 1;
        if (first != NONE && index >= first && index < first + count) {
            *element = index - first;
            return (stream_register)r;
        }
    }
    *element = 0;
    return REGISTERS;
}

static unsigned spaces(unsigned stream) { return can(stream, MULTICASTS) ? SPACES : 1; }

bool wg_overlay_has_register(const wg_tile *t, unsigned index)
{
    return index < WG_OVERLAY_REGISTERS || index == debug_status[t->arch->id] + 2u;
}

uint32_t wg_overlay_stream_read(const wg_tile *t, unsigned stream, unsigned index)
{
    if (stream >= WG_OVERLAY_STREAMS)
        return 0;
    const uint32_t *w = t->regions.niu.overlay[stream];
    const uint16_t *space = registers[SPACE].index;
    if (index == debug_status[t->arch->id] + 2u) {   /* bit 3: no counter of space is at 0 */
        uint32_t all = 8;
        for (unsigned i = 0; i < spaces(stream); i++)
            all &= w[space[t->arch->id] + i] ? 8u : 0u;
        return all;
    }
    if (index >= WG_OVERLAY_REGISTERS)
        return 0;
    unsigned element;
    unsigned id = t->arch->id;
    switch (find(t, index, &element)) {
    case PHASE:
    case SRC_PHASE: return (w[index] - w[registers[PHASE_BASE].index[id]]) & 0xFFFFF;
    case CFG_PTR: return (w[index] - w[registers[CFG_PTR_BASE].index[id]]) & 0x1FFFF;
    case CAN_PUSH: return w[registers[MSG_INFO_PTR].index[id]] == w[registers[MSG_INFO_WR_PTR].index[id]];
    case SPACE_UPDATE: return 0;
    default: return w[index];
    }
}

bool wg_overlay_register_write(wg_tile *t, unsigned stream, unsigned index, uint32_t value)
{
    unsigned element;
    stream_register r = find(t, index, &element);
    if (r == REGISTERS || stream >= WG_OVERLAY_STREAMS || index >= WG_OVERLAY_REGISTERS)
        return false;
    uint32_t *w = t->regions.niu.overlay[stream];
    uint32_t mask = registers[r].width < 32 ? (UINT32_C(1) << registers[r].width) - 1 : UINT32_MAX;
    wg_wake_threads(&t->sched);   /* STREAMWAIT looks at streams */
    if (!can(stream, registers[r].needs))
        return true;
    switch (r) {
    case SPACE: case CAN_PUSH: case NEXT_MSG_ADDR: case NEXT_MSG_SIZE: return true;   /* read-only */
    case SPACE_UPDATE: {
        unsigned i = value & 63;
        uint32_t *space = word(t, stream, SPACE) + i;
        if (i < spaces(stream))
            *space = (*space + (value >> 6)) & 0x1FFFF;
        return true;
    }
    case DEST_BUF_SIZE:
        for (unsigned i = 0; i < spaces(stream); i++)
            word(t, stream, SPACE)[i] = value & mask;
        break;
    case BUF_START: *word(t, stream, RD_PTR) = *word(t, stream, WR_PTR) = 0; break;
    case RD_PTR:
        *word(t, stream, NEXT_MSG_SIZE) = 0;
        *word(t, stream, NEXT_MSG_ADDR) = *word(t, stream, BUF_START) + (value & mask);
        break;
    case DEST_BUF_START: *word(t, stream, DEST_WR_PTR) = 0; break;
    case PHASE: case SRC_PHASE: value += *word(t, stream, PHASE_BASE); break;
    case CFG_PTR: value += *word(t, stream, CFG_PTR_BASE); break;
    case CFG_HEADER: *word(t, stream, PHASE) = (*word(t, stream, PHASE) + (value & 0xFFF)) & 0xFFFFF; break;
    default: break;
    }
    w[index] = value & mask;
    return true;
}

void wg_overlay_stream_write(wg_tile *t, unsigned stream, unsigned register_index, uint32_t value)
{
    if (stream >= WG_OVERLAY_STREAMS || register_index >= WG_OVERLAY_REGISTERS)
        return;
    t->regions.niu.overlay[stream][register_index] = value;
    wg_wake_threads(&t->sched);
}
