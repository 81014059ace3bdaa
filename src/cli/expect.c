/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the expectations of a .tasm program with the state after the run. */
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

static bool peek(wg_session *s, wg_space space, uint32_t index, uint32_t *value, wg_text *found)
{
    if (wg_peek(s->dev, space, index, value) == WG_OK)
        return true;
    wg_textf(found, "%s", wg_error(s->dev));
    return false;
}

static bool check_l1(wg_session *s, const wg_expect *e, wg_text *found)
{
    size_t size = e->bytes.size;
    uint8_t *bytes = wg_malloc(size ? size : 1);
    bool ok = bytes && wg_read(s->dev, e->index, bytes, size) == WG_OK;
    if (!ok) {
        wg_textf(found, "%s", bytes ? wg_error(s->dev) : "out of memory");
        free(bytes);
        return false;
    }
    unsigned width = wg_type_is_blocks(e->type) ? 1 : wg_type_bytes(e->type);
    ok = memcmp(bytes, e->bytes.data, size) == 0;
    size_t shown = 0;
    for (size_t i = 0; !ok && i + width <= size; i += width) {
        if (memcmp(bytes + i, e->bytes.data + i, width) == 0)
            continue;
        uint32_t bits = 0;
        memcpy(&bits, bytes + i, width);
        if (shown++ == 4) {
            wg_textf(found, ", …");
            break;
        }
        wg_textf(found, "%s0x%x holds 0x%0*x", shown > 1 ? ", " : "", e->index + (uint32_t)i, (int)width * 2, bits);
        if (wg_type_is_float(e->type)) {
            uint32_t single = wg_type_decode(e->type, bits);
            float value;
            memcpy(&value, &single, sizeof value);
            wg_textf(found, " (%.9g)", (double)value);
        }
    }
    free(bytes);
    return ok;
}

static bool check_semaphore(wg_session *s, const wg_expect *e, wg_text *found)
{
    uint32_t value, max;
    if (!peek(s, WG_SPACE_SEM_VALUE, e->index, &value, found) || !peek(s, WG_SPACE_SEM_MAX, e->index, &max, found))
        return false;
    if (value == e->value && (!e->has_max || max == e->max))
        return true;
    wg_textf(found, "it is value %u max %u", value, max);
    return false;
}

static bool check_cycles(const wg_session *s, const wg_expect *e, wg_text *found)
{
    uint64_t now = wg_cycle(s->dev);
    if (e->relation == '<' ? now <= e->cycles : e->relation == '>' ? now >= e->cycles : now == e->cycles)
        return true;
    wg_textf(found, "it took %llu", (unsigned long long)now);
    return false;
}

static bool has_finding(const wg_session *s, const char *code)
{
    for (size_t i = 0; i < wg_finding_count(s->dev); i++)
        if (strcmp(wg_finding_info_at(wg_finding_at(s->dev, i)->code)->code, code) == 0)
            return true;
    return false;
}

static bool check(wg_session *s, const wg_expect *e, wg_text *found)
{
    static const char *const ends[] = {[WG_ENDED_DONE] = "it was done",
                                       [WG_ENDED_UNTIL] = "--until held",
                                       [WG_ENDED_HUNG] = "it hung",
                                       [WG_ENDED_LIMIT] = "it reached the cycle limit",
                                       [WG_ENDED_FINDING] = "it stopped at a finding",
                                       [WG_ENDED_INTERRUPT] = "it was interrupted"};
    uint32_t value;
    bool ok;
    switch (e->kind) {
    case WG_EXPECT_L1: return check_l1(s, e, found);
    case WG_EXPECT_SEMAPHORE: return check_semaphore(s, e, found);
    case WG_EXPECT_CYCLES: return check_cycles(s, e, found);
    case WG_EXPECT_PEEK:
        if (!peek(s, e->space, e->index, &value, found))
            return false;
        if (value != e->value)
            wg_textf(found, "it is 0x%x (%u)", value, value);
        return value == e->value;
    case WG_EXPECT_MUTEX:
        if (!peek(s, WG_SPACE_MUTEX, e->index, &value, found))
            return false;
        if (value != e->value)
            wg_textf(found, value ? "T%u holds it" : "it is free", value - 1);
        return value == e->value;
    case WG_EXPECT_FINDING:
        ok = has_finding(s, e->code);
        if (!ok)
            wg_textf(found, "there was none");
        return ok;
    case WG_EXPECT_NO_FINDINGS:
        ok = wg_finding_count(s->dev) == 0;
        if (!ok)
            wg_textf(found, "there are %zu", wg_finding_count(s->dev));
        return ok;
    case WG_EXPECT_RACE:
        ok = !s->races || wg_check_race(s, e->code, wg_text_of(&e->bytes));
        if (!ok)
            wg_textf(found, "there was none");
        return ok;
    case WG_EXPECT_NO_RACES:
        ok = !wg_check_any(s);
        if (!ok)
            wg_textf(found, "there are %zu", wg_races_count(s->races));
        return ok;
    case WG_EXPECT_HANG: ok = s->ended == WG_ENDED_HUNG; break;
    case WG_EXPECT_DONE: ok = s->ended == WG_ENDED_DONE || s->ended == WG_ENDED_UNTIL; break;
    case WG_EXPECT_LIMIT: ok = s->ended == WG_ENDED_LIMIT; break;
    default: return false;
    }
    if (!ok)
        wg_textf(found, "%s", ends[s->ended]);
    return ok;
}

bool wg_check_expectations(wg_session *s)
{
    size_t count = s->has_tasm ? s->tasm.expects : 0;
    if (count && !s->expect_holds)
        s->expect_holds = wg_calloc(count, sizeof *s->expect_holds);
    if (count && !s->expect_found)
        s->expect_found = wg_calloc(count, sizeof *s->expect_found);
    if (count && (!s->expect_holds || !s->expect_found))
        return false;
    s->expectations_hold = true;
    for (size_t i = 0; i < count; i++) {
        wg_text_free(&s->expect_found[i]);
        s->expect_holds[i] = check(s, &s->tasm.expect[i], &s->expect_found[i]);
        s->expectations_hold = s->expectations_hold && s->expect_holds[i];
    }
    return true;
}
