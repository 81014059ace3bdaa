/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of findings, and the record of those that occurred. */
#include "report/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "machine/device.h"
#include "report/emit.h"

static const wg_finding_info catalogue[WG_F_COUNT] = {
#define WG_FINDING(id, code, severity, cause, remedy, source) {code, WG_SEVERITY_##severity, cause, remedy, source},
#include "report/findings.def"
#undef WG_FINDING
};

const wg_finding_info *wg_finding_info_at(unsigned code) { return code < WG_F_COUNT ? &catalogue[code] : NULL; }

static bool same(const wg_finding *a, const wg_finding *b)
{
    return a->code == b->code && a->agent == b->agent && a->tile == b->tile && a->has_pc == b->has_pc &&
           a->has_word == b->has_word && a->pc == b->pc && a->word == b->word;
}

void wg_find(wg_tile *t, wg_finding_code code, const wg_finding *f)
{
    wg_device *dev = t->dev;
    wg_finding record = *f;
    record.code = (uint16_t)code;
    record.tile = t->index;
    record.cycle = t->sched.now;
    record.count = 1;
    size_t index = 0;
    while (index < dev->findings && !same(&dev->finding[index], &record))
        index++;
    if (index < dev->findings) {
        dev->finding[index].count++;
    } else if (dev->findings < WG_MAX_FINDINGS) {
        dev->finding[dev->findings++] = record;
    } else {
        dev->findings_dropped++;
    }
    if (catalogue[code].severity >= dev->stop_at)
        dev->stop_requested = true;
    WG_EMIT(t, WG_EV_FINDING, f->agent, .a = index, .b = code, .word = f->word, .pc = f->pc);
}

void wg_findf(wg_tile *t, wg_finding_code code, wg_finding f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f.detail, sizeof f.detail, format, args);
    va_end(args);
    wg_find(t, code, &f);
}
