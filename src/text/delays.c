/* SPDX-License-Identifier: Apache-2.0 */
#include "text/delays.h"

#include <stdlib.h>
#include <string.h>

static const char *const agent_words[WG_AGENT_COUNT] = {
    [WG_AGENT_CORE_B] = "b",        [WG_AGENT_CORE_NC] = "nc",      [WG_AGENT_CORE_T0] = "t0",
    [WG_AGENT_CORE_T1] = "t1",      [WG_AGENT_CORE_T2] = "t2",      [WG_AGENT_THREAD0] = "thread0",
    [WG_AGENT_THREAD1] = "thread1", [WG_AGENT_THREAD2] = "thread2", [WG_AGENT_SYNC] = "sync",
    [WG_AGENT_UNPACK0] = "unpack0", [WG_AGENT_UNPACK1] = "unpack1", [WG_AGENT_MATRIX] = "matrix",
    [WG_AGENT_PACK] = "pack",       [WG_AGENT_VECTOR] = "vector",   [WG_AGENT_SCALAR] = "scalar",
    [WG_AGENT_CONFIG] = "config",   [WG_AGENT_MOVER] = "mover",     [WG_AGENT_MISC] = "misc",
    [WG_AGENT_REGIONS] = "regions", [WG_AGENT_PUSHES] = "pushes",   [WG_AGENT_NIU0] = "niu0",
    [WG_AGENT_NIU1] = "niu1",       [WG_AGENT_HOST] = "host",       [WG_AGENT_LINK] = "link"};

static const char *agent_word(unsigned agent) { return agent_words[agent]; }

/* The index of the word among `count` names; `count` if none matches. */
static unsigned find(const char *word, size_t length, unsigned count, const char *(*name)(unsigned))
{
    unsigned i = 0;
    while (i < count && !(strlen(name(i)) == length && strncmp(name(i), word, length) == 0))
        i++;
    return i;
}

bool wg_delay_add(wg_delay_list *list, wg_delay delay)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        wg_delay *item = wg_realloc(list->item, room * sizeof *item);
        if (!item)
            return false;
        list->item = item;
        list->room = room;
    }
    list->item[list->count++] = delay;
    return true;
}

void wg_delays_free(wg_delay_list *list)
{
    free(list->item);
    *list = (wg_delay_list){0};
}

/* X-Y */
static bool parse_tile(const char *text, size_t length, uint16_t *tile)
{
    const char *dash = memchr(text, '-', length);
    uint64_t x, y;
    if (!dash || !wg_parse_number(text, (size_t)(dash - text), &x) ||
        !wg_parse_number(dash + 1, length - (size_t)(dash + 1 - text), &y) || x > 254 || y > 254)
        return false;
    *tile = wg_delay_tile((unsigned)x, (unsigned)y);
    return true;
}

static bool parse_one(const char *text, size_t length, bool of_chip, wg_delay *delay)
{
    const char *part[4], *at = memchr(text, '@', length);
    size_t size[4];
    uint16_t tile = 0;
    if ((at != NULL) != of_chip || (at && !parse_tile(at + 1, length - (size_t)(at + 1 - text), &tile)))
        return false;
    length = at ? (size_t)(at - text) : length;
    for (unsigned i = 0; i < 4; i++) {
        const char *end = i < 3 ? memchr(text, ':', length) : text + length;
        if (!end)
            return false;
        part[i] = text;
        size[i] = (size_t)(end - text);
        length -= i < 3 ? size[i] + 1 : size[i];
        text = end + 1;
    }
    unsigned site = find(part[0], size[0], WG_SITE_COUNT, wg_site_name);
    unsigned agent = find(part[1], size[1], WG_AGENT_COUNT, agent_word);
    uint64_t event, cycles;
    if (site == WG_SITE_COUNT || agent == WG_AGENT_COUNT || !wg_parse_number(part[2], size[2], &event) ||
        !wg_parse_number(part[3], size[3], &cycles) || cycles > WG_MAX_DELAY)
        return false;
    *delay = (wg_delay){.struct_size = sizeof *delay,
                        .event = event,
                        .cycles = (uint32_t)cycles,
                        .site = (uint8_t)site,
                        .agent = (uint8_t)agent,
                        .tile = tile};
    return true;
}

bool wg_delays_parse(const char *text, bool of_chip, wg_delay_list *list, wg_text *error)
{
    *list = (wg_delay_list){0};
    if (strcmp(text, "none") == 0)
        return true;
    for (;;) {
        size_t length = strcspn(text, ",");
        wg_delay delay;
        if (!parse_one(text, length, of_chip, &delay)) {
            wg_textf(
                error,
                "waitgate: --delays: `%.*s` is not SITE:AGENT:EVENT:CYCLES%s with a site of accept, complete, travel, "
                "take, hop, an agent such as thread1, t0 or matrix, and at most %u cycles\n",
                (int)(length > 80 ? 80 : length), text, of_chip ? "@X-Y" : "", WG_MAX_DELAY);
            break;
        }
        if (!wg_delay_add(list, delay)) {
            wg_textf(error, "waitgate: out of memory\n");
            break;
        }
        if (!text[length])
            return true;
        text += length + 1;
    }
    wg_delays_free(list);
    return false;
}

void wg_delays_print(const wg_delay *delay, size_t count, wg_text *out)
{
    if (!count)
        wg_textf(out, "none");
    for (size_t i = 0; i < count; i++) {
        wg_textf(out, "%s%s:%s:%llu:%u", i ? "," : "", wg_site_name(delay[i].site), agent_word(delay[i].agent),
                 (unsigned long long)delay[i].event, delay[i].cycles);
        if (delay[i].tile)
            wg_textf(out, "@%u-%u", wg_delay_x(delay[i].tile), wg_delay_y(delay[i].tile));
    }
}

bool wg_delay_insn(const wg_delay *delay, unsigned *thread, uint64_t *id)
{
    switch (delay->site) {
    case WG_SITE_ACCEPT:
    case WG_SITE_FIFO_TAKE:
        *thread = delay->agent - (unsigned)WG_AGENT_THREAD0;
        *id = delay->event;
        return *thread < WG_THREADS;
    case WG_SITE_COMPLETE:
        *thread = (unsigned)delay->event & 3;
        *id = delay->event >> 2;
        return delay->agent != WG_AGENT_SCALAR && delay->agent != WG_AGENT_MOVER && *thread < WG_THREADS;
    default: return false;
    }
}
