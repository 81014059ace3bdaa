/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The overlay's registers. While a stream is idle, software also uses them as memory that all cores, other tiles and the host
 * can reach; some of them are counters.
 *
 * Facts: NoC/Overlay/AsGeneralUse.md (widths, effects), README.md (which streams can do what), and the pages of each
 * direction; register numbers from the public overlay parameters.
 */
#include "machine/overlay.h"

#include "machine/stream.h"
#include "machine/tile.h"

typedef enum capability { EVERY, GATHERS, MULTICASTS, TO_DRAM, FIRST_ONLY, WITH_HEADERS } capability;
enum { NONE = 0xFFFF, SPACES = 32, SCRATCHES = 6, INFOS = 48 };

/* Number and width by architecture; width 0: an effect, or computed. */
static const struct {
    uint16_t index[2];
    uint8_t width[2], needs;
} registers[WG_STREAM_REGISTERS] = {
    [WG_SR_BUF_SIZE] = {{18, 7}, {17, 17}, EVERY},
    [WG_SR_BUF_START] = {{17, 6}, {17, 17}, EVERY},
    [WG_SR_RD_PTR] = {{19, 24}, {17, 17}, EVERY},
    [WG_SR_WR_PTR] = {{20, 25}, {17, 17}, EVERY},
    [WG_SR_PHASE_BASE] = {{28, 244}, {20, 20}, EVERY},
    [WG_SR_PHASE] = {{29, 11}, {20, 20}, EVERY},
    [WG_SR_GATHER] = {{26, 15}, {18, 4}, GATHERS},
    [WG_SR_SRC_MASK] = {{224, 48}, {24, 24}, GATHERS},
    [WG_SR_SRC_MASK_1] = {{225, 49}, {24, 24}, GATHERS},
    [WG_SR_SRC_MASK_2] = {{226, 50}, {16, 16}, GATHERS},
    [WG_SR_MCAST_DEST_NUM] = {{25, 14}, {6, 6}, MULTICASTS},
    [WG_SR_MCAST_DEST] = {{24, 13}, {19, 19}, MULTICASTS},
    [WG_SR_ACK_THRESHOLD] = {{6, 40}, {4, 4}, EVERY},
    [WG_SR_MISC_CFG] = {{3, 10}, {24, 24}, EVERY},
    [WG_SR_MSG_INFO_PTR] = {{22, 8}, {17, 17}, EVERY},
    [WG_SR_MSG_INFO_WR_PTR] = {{23, 26}, {17, 17}, EVERY},
    [WG_SR_CAN_PUSH] = {{275, 41}, {0, 0}, EVERY},
    [WG_SR_CFG_HEADER] = {{34, 36}, {32, 32}, EVERY},
    [WG_SR_CFG_PTR_BASE] = {{30, 245}, {17, 17}, EVERY},
    [WG_SR_CFG_PTR] = {{31, 12}, {17, 17}, EVERY},
    [WG_SR_DEST_BUF_SIZE] = {{10, 4}, {17, 17}, EVERY},
    [WG_SR_SPACE] = {{297, 64}, {17, 17}, EVERY},
    [WG_SR_SPACE_UPDATE] = {{270, 34}, {0, 0}, EVERY},
    [WG_SR_DEST_BUF_START_HI] = {{9, 242}, {15, 15}, TO_DRAM},
    [WG_SR_DEST_BUF_START] = {{8, 3}, {17, 17}, EVERY},
    [WG_SR_DEST_WR_PTR] = {{11, 5}, {17, 17}, EVERY},
    [WG_SR_DEST_INFO_WR_PTR_HI] = {{14, 243}, {15, 15}, TO_DRAM},
    [WG_SR_DEST_INFO_WR_PTR] = {{13, 9}, {17, 17}, EVERY},
    [WG_SR_DEST] = {{7, 2}, {18, 18}, EVERY},
    [WG_SR_DEST_PRIORITY] = {{NONE, 44}, {4, 4}, EVERY},
    [WG_SR_SRC_PHASE] = {{5, 1}, {20, 20}, EVERY},
    [WG_SR_SRC] = {{4, 0}, {24, 24}, EVERY},
    [WG_SR_SCRATCH] = {{36, 248}, {24, 24}, TO_DRAM},
    [WG_SR_NEXT_MSG_ADDR] = {{262, 19}, {32, 32}, EVERY},
    [WG_SR_NEXT_MSG_SIZE] = {{263, 20}, {32, 32}, EVERY},
    [WG_SR_GATHER_CLEAR] = {{NONE, 43}, {17, 17}, GATHERS},
    [WG_SR_PHASE_ADVANCE] = {{267, 27}, {0, 0}, EVERY},
    [WG_SR_WAIT_STATUS] = {{257, 35}, {0, 0}, EVERY},
    [WG_SR_RECEIVED] = {{259, 18}, {32, 32}, EVERY},
    [WG_SR_RECEIVED_INC] = {{1, 30}, {0, 0}, EVERY},
    [WG_SR_NEW_MSG] = {{0, 29}, {0, 0}, EVERY},
    [WG_SR_INFO_CLEAR] = {{265, 21}, {0, 0}, EVERY},
    [WG_SR_DATA_CLEAR] = {{266, 22}, {0, 0}, EVERY},
    [WG_SR_BUF_SPACE] = {{260, 28}, {0, 0}, EVERY},
    [WG_SR_HEADER_FORMAT] = {{33, 17}, {21, 14}, FIRST_ONLY},
    [WG_SR_ONETIME_CFG] = {{2, NONE}, {11, 0}, EVERY},
    [WG_SR_MSG_INFO] = {{329, 128}, {0, 0}, EVERY},
    [WG_SR_SET_HEADER] = {{291, 60}, {32, 32}, WITH_HEADERS},
    [WG_SR_READY_UPDATE] = {{268, 32}, {0, 0}, EVERY},
    [WG_SR_SRC_READY] = {{269, 33}, {0, 0}, EVERY},
    [WG_SR_CFG_DONE] = {{288, 234}, {0, 0}, FIRST_ONLY},
    [WG_SR_NEXT_CFG_DONE] = {{290, 246}, {0, 0}, FIRST_ONLY},
    [WG_SR_COMPRESS] = {{276, 42}, {0, 0}, WITH_HEADERS},
    [WG_SR_ZERO_MASK] = {{272, 38}, {0, 0}, WITH_HEADERS},
    [WG_SR_INFO_FULL] = {{273, 39}, {0, 0}, EVERY},
    [WG_SR_IN_BUF_AND_MEM] = {{258, 47}, {0, 0}, WITH_HEADERS},
    [WG_SR_RESET] = {{271, 31}, {0, 0}, EVERY},
    [WG_SR_PERF_CONFIG] = {{35, 37}, {16, 16}, FIRST_ONLY},
    [WG_SR_FIRMWARE_SCRATCH] = {{208, 247}, {32, 32}, FIRST_ONLY},
};
static const uint16_t debug_status[2] = {501, 224};

static unsigned count_of(unsigned r)
{
    switch (r) {
    case WG_SR_SPACE: return SPACES;
    case WG_SR_SCRATCH: return SCRATCHES;
    case WG_SR_MSG_INFO: return INFOS;
    case WG_SR_SET_HEADER: return 4;
    case WG_SR_CFG_DONE: return 2;
    default: return 1;
    }
}

static bool can(unsigned stream, unsigned needs)
{
    switch (needs) {
    case GATHERS: return stream < 6;
    case MULTICASTS: return stream < 4;
    case TO_DRAM: return wg_stream_to_dram(stream);
    case FIRST_ONLY: return stream == 0;
    case WITH_HEADERS: return wg_stream_has_headers(stream);
    default: return true;
    }
}

unsigned wg_overlay_number(const wg_arch *arch, wg_stream_register r) { return registers[r].index[arch->id]; }

uint32_t *wg_overlay_word(wg_tile *t, unsigned stream, wg_stream_register r)
{
    return &t->regions.niu.overlay[stream % WG_OVERLAY_STREAMS][registers[r].index[t->arch->id] % WG_OVERLAY_REGISTERS];
}

/* The register with this number; *element is the index in an array of registers. */
static wg_stream_register find(const wg_tile *t, unsigned index, unsigned *element)
{
    for (unsigned r = 0; r < WG_STREAM_REGISTERS; r++) {
        unsigned first = registers[r].index[t->arch->id];
        if (first != NONE && index >= first && index < first + count_of(r)) {
            *element = index - first;
            return (wg_stream_register)r;
        }
    }
    *element = 0;
    return WG_STREAM_REGISTERS;
}

static unsigned spaces(unsigned stream) { return can(stream, MULTICASTS) ? SPACES : 1; }

static uint32_t word_of(const wg_tile *t, unsigned stream, wg_stream_register r)
{
    return t->regions.niu.overlay[stream][registers[r].index[t->arch->id] % WG_OVERLAY_REGISTERS];
}

/* The metadata FIFO as software sees it: two words of a message, or six with its header. */
static uint32_t info_word(const wg_tile *t, unsigned stream, unsigned i)
{
    const wg_stream *s = &t->regions.niu.streams.stream[stream];
    unsigned each = wg_stream_has_headers(stream) ? 6 : 2, n = i / each, word = i % each;
    if (n >= s->messages || n >= WG_STREAM_FIFO)
        return 0;
    return word == 0 ? s->message[n].address : word == 1 ? s->message[n].size : s->message[n].header[word - 2];
}

/* The next four messages of a stream with headers, in one word. */
static uint32_t group_word(const wg_tile *t, unsigned stream, bool compress)
{
    uint32_t all = compress ? 0 : UINT32_MAX;
    for (unsigned i = 0; i < 4; i++)
        if (compress)
            all |= (info_word(t, stream, i * 6 + 3) >> 20 & 1) << i;
        else
            all &= info_word(t, stream, i * 6 + 4);
    return all;
}

static uint32_t debug_word(const wg_tile *t, unsigned stream)
{
    const wg_stream *s = &t->regions.niu.streams.stream[stream];
    uint32_t all = 8; /* bit 3: no space counter is 0; bit 0: another message can be popped */
    for (unsigned i = 0; i < spaces(stream); i++)
        all &= t->regions.niu.overlay[stream][registers[WG_SR_SPACE].index[t->arch->id] + i] ? 8u : 0u;
    return all | (s->state != WG_STREAM_IDLE && s->reads < wg_stream_capacity(t, stream));
}

static uint32_t space_of(const wg_tile *t, unsigned stream)
{
    const wg_stream *s = &t->regions.niu.streams.stream[stream];
    uint32_t size = word_of(t, stream, WG_SR_BUF_SIZE), rd = word_of(t, stream, WG_SR_RD_PTR),
             wr = word_of(t, stream, WG_SR_WR_PTR);
    if (s->state != WG_STREAM_IDLE)
        return size - (s->held < size ? s->held : size);
    return rd == wr || !size ? size : (rd - wr) % size;
}

bool wg_overlay_has_register(const wg_tile *t, unsigned index)
{
    return index < WG_OVERLAY_REGISTERS || index == debug_status[t->arch->id] + 2u;
}

uint32_t wg_overlay_stream_read(const wg_tile *t, unsigned stream, unsigned index)
{
    if (stream >= WG_OVERLAY_STREAMS)
        return 0;
    const uint32_t *w = t->regions.niu.overlay[stream];
    const wg_streams *all = &t->regions.niu.streams;
    const wg_stream *s = &all->stream[stream];
    if (index == debug_status[t->arch->id] + 2u)
        return debug_word(t, stream);
    if (index >= WG_OVERLAY_REGISTERS)
        return 0;
    unsigned element;
    wg_stream_register r = find(t, index, &element);
    if (r != WG_STREAM_REGISTERS && !can(stream, registers[r].needs))
        return w[index]; /* never written */
    switch (r) {
    case WG_SR_PHASE:
    case WG_SR_SRC_PHASE: return (w[index] - word_of(t, stream, WG_SR_PHASE_BASE)) & 0xFFFFF;
    case WG_SR_CFG_PTR: return (w[index] - word_of(t, stream, WG_SR_CFG_PTR_BASE)) & 0x1FFFF;
    case WG_SR_CAN_PUSH:
        return word_of(t, stream, WG_SR_MSG_INFO_PTR) == word_of(t, stream, WG_SR_MSG_INFO_WR_PTR) &&
               s->messages < wg_stream_capacity(t, stream);
    case WG_SR_INFO_FULL: return s->messages >= wg_stream_capacity(t, stream);
    case WG_SR_IN_BUF_AND_MEM:
        return s->messages +
               ((word_of(t, stream, WG_SR_MSG_INFO_WR_PTR) - word_of(t, stream, WG_SR_MSG_INFO_PTR)) & 0x1FFFF);
    case WG_SR_WAIT_STATUS:
        return (uint32_t)s->state << 3 | (s->state == WG_STREAM_RUNNING ? 4u : 0u) |
               (s->state == WG_STREAM_FLUSHING ? 2u : 0u) |
               (s->state == WG_STREAM_IDLE || s->state == WG_STREAM_LOADED);
    case WG_SR_BUF_SPACE: return space_of(t, stream);
    case WG_SR_MSG_INFO: return info_word(t, stream, element);
    case WG_SR_COMPRESS: return group_word(t, stream, true);
    case WG_SR_ZERO_MASK: return group_word(t, stream, false);
    case WG_SR_CFG_DONE: return (uint32_t)(all->done >> 32 * element);
    case WG_SR_SPACE_UPDATE: return 0;
    default: return w[index];
    }
}

bool wg_overlay_peek(const wg_tile *t, unsigned stream, unsigned index, uint32_t *value)
{
    if (stream == 0 && index == registers[WG_SR_NEXT_CFG_DONE].index[t->arch->id])
        return false;
    *value = wg_overlay_stream_read(t, stream, index);
    return true;
}

uint32_t wg_overlay_register_read(wg_tile *t, unsigned stream, unsigned index)
{
    uint32_t value;
    return wg_overlay_peek(t, stream, index, &value) ? value : wg_stream_next_done(t);
}

/* Performs writes with an effect. False: the register is only stored. */
static bool acts(wg_tile *t, unsigned stream, wg_stream_register r, unsigned element, uint32_t value)
{
    static const uint16_t message_sizes[] = {[WG_ARCH_BH] = 0x3FFF, [WG_ARCH_WH] = 0x7FFF}; /* masks */
    switch (r) {
    case WG_SR_SPACE:
    case WG_SR_CAN_PUSH:
    case WG_SR_NEXT_MSG_ADDR:
    case WG_SR_NEXT_MSG_SIZE:
    case WG_SR_WAIT_STATUS:
    case WG_SR_RECEIVED:
    case WG_SR_BUF_SPACE:
    case WG_SR_MSG_INFO:
    case WG_SR_COMPRESS:
    case WG_SR_ZERO_MASK:
    case WG_SR_INFO_FULL:
    case WG_SR_IN_BUF_AND_MEM:
    case WG_SR_NEXT_CFG_DONE: return true; /* read-only */
    case WG_SR_SPACE_UPDATE: {
        unsigned i = value & 63;
        uint32_t *space = wg_overlay_word(t, stream, WG_SR_SPACE) + i;
        if (i < spaces(stream))
            *space = (*space + (value >> 6)) & 0x1FFFF;
        return true;
    }
    case WG_SR_PHASE_ADVANCE: wg_stream_advance(t, stream); return true;
    case WG_SR_RESET: wg_stream_restart(t, stream); return true;
    case WG_SR_RECEIVED_INC: wg_stream_push(t, stream, value & 0xFFF, value >> 12 & 0x1FFFF); return true;
    case WG_SR_NEW_MSG:
        wg_stream_push_one(t, stream, value & 0x1FFFF, value >> 17 & message_sizes[t->arch->id]);
        return true;
    case WG_SR_INFO_CLEAR: wg_stream_pop(t, stream, value); return true;
    case WG_SR_DATA_CLEAR: wg_stream_free(t, stream); return true;
    case WG_SR_READY_UPDATE: wg_stream_is_ready(t, stream, value); return true;
    case WG_SR_SRC_READY: wg_stream_is_asked(t, stream); return true;
    case WG_SR_CFG_DONE: wg_stream_clear_done(t, (uint64_t)value << 32 * element); return true;
    default: return false;
    }
}

bool wg_overlay_register_write(wg_tile *t, unsigned stream, unsigned index, uint32_t value)
{
    unsigned element;
    wg_stream_register r = find(t, index, &element);
    if (r == WG_STREAM_REGISTERS || stream >= WG_OVERLAY_STREAMS || index >= WG_OVERLAY_REGISTERS)
        return false;
    uint32_t *w = t->regions.niu.overlay[stream];
    wg_stream *s = &t->regions.niu.streams.stream[stream];
    unsigned width = registers[r].width[t->arch->id];
    uint32_t mask = width < 32 ? (UINT32_C(1) << width) - 1 : UINT32_MAX;
    wg_wake_threads(&t->sched); /* STREAMWAIT reads streams */
    if (!can(stream, registers[r].needs))
        return true;
    if (s->state != WG_STREAM_IDLE)
        wg_stream_stir(t, stream);
    if (acts(t, stream, r, element, value))
        return true;
    switch (r) {
    case WG_SR_DEST_BUF_SIZE:
        for (unsigned i = 0; i < spaces(stream); i++)
            wg_overlay_word(t, stream, WG_SR_SPACE)[i] = value & mask;
        break;
    case WG_SR_BUF_START:
        *wg_overlay_word(t, stream, WG_SR_RD_PTR) = *wg_overlay_word(t, stream, WG_SR_WR_PTR) = 0;
        s->load_at = 0;
        break;
    case WG_SR_RD_PTR:
        *wg_overlay_word(t, stream, WG_SR_NEXT_MSG_SIZE) = 0;
        *wg_overlay_word(t, stream, WG_SR_NEXT_MSG_ADDR) =
            *wg_overlay_word(t, stream, WG_SR_BUF_START) + (value & mask);
        s->load_at = value & mask;
        break;
    case WG_SR_DEST_BUF_START: *wg_overlay_word(t, stream, WG_SR_DEST_WR_PTR) = 0; break;
    case WG_SR_PHASE:
    case WG_SR_SRC_PHASE: value += *wg_overlay_word(t, stream, WG_SR_PHASE_BASE); break;
    case WG_SR_CFG_PTR: value += *wg_overlay_word(t, stream, WG_SR_CFG_PTR_BASE); break;
    case WG_SR_CFG_HEADER: {
        uint32_t *phase = wg_overlay_word(t, stream, WG_SR_PHASE);
        *phase = (*phase + (value & 0xFFF)) & 0xFFFFF;
        s->left = (uint16_t)(value >> 12 & 0xFFF);
        if (wg_stream_auto_config(t, stream)) { /* takes effect after the configuration being loaded */
            uint32_t *next = wg_overlay_word(t, stream, WG_SR_CFG_PTR);
            *next = (*next + (s->next_config + 1u) * 4) & 0x1FFFF;
        }
        s->next_config = (uint8_t)(value >> 24);
        value = (value & ~UINT32_C(0xFFF)) | s->left;
        break;
    }
    default: break;
    }
    w[index] = value & mask;
    if (r == WG_SR_MISC_CFG || r == WG_SR_ONETIME_CFG)
        wg_stream_configured(t, stream);
    return true;
}

void wg_overlay_stream_write(wg_tile *t, unsigned stream, unsigned register_index, uint32_t value)
{
    if (stream >= WG_OVERLAY_STREAMS || register_index >= WG_OVERLAY_REGISTERS)
        return;
    t->regions.niu.overlay[stream][register_index] = value;
    wg_wake_threads(&t->sched);
}
