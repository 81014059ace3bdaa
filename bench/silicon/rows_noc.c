/* SPDX-License-Identifier: Apache-2.0 */
/* Flows between tiles: nocbench (one to six at once, a row for each) and nocreadbench (one reader). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

/* The flows of one run are consecutive. */
typedef struct run {
    traffic_flow flow[TRAFFIC_MAX];
    double card[TRAFFIC_MAX];
    char name[32];
    wg_arch_id arch;
    unsigned n;
} run;

static const char *why(const run *r)
{
    if (r->n == 2 && r->flow[0].bytes == 2048)
        return "the second flow has more than half of the link there, with no other size and no other link; not "
               "understood";
    if (r->arch == WG_ARCH_WH && r->flow[0].bytes < 1024)
        return "what the compiler made of the loop is not known";
    return NULL;
}

static void finish(struct wg_silicon *s, run *r)
{
    if (r->n)
        traffic_run(r->arch, r->flow, r->n);
    for (unsigned i = 0; i < r->n; i++) {
        char name[48];
        snprintf(name, sizeof name, r->n > 1 ? "%s, flow %u of %u" : "%s", r->name, i, r->n);
        wg_silicon_add(s, &(wg_silicon_row){.group = "noc",
                                            .name = name,
                                            .arch = r->arch,
                                            .card = r->card[i],
                                            .model = (double)r->flow[i].cycles,
                                            .why = why(r)});
    }
    r->n = 0;
}

enum { ARCH, POINT, FLOW, X, Y, TO_X, TO_Y, WRITE, SOURCES, VC, STRIDE_HERE, STRIDE_THERE, TX, BYTES, CYCLES, FIELDS };

static unsigned number(const char *text) { return (unsigned)strtoul(text, NULL, 10); }

static void line(struct wg_silicon *s, char **field, void *user)
{
    run *r = user;
    if (number(field[SOURCES]) > TRAFFIC_SOURCES)
        exit(1);
    if (number(field[FLOW]) == 0)
        finish(s, r);
    r->arch = wg_silicon_arch(field[ARCH]);
    snprintf(r->name, sizeof r->name, "%s", field[POINT]);
    r->flow[r->n] = (traffic_flow){.x = (uint16_t)number(field[X]),
                                   .y = (uint16_t)number(field[Y]),
                                   .to_x = (uint16_t)number(field[TO_X]),
                                   .to_y = (uint16_t)number(field[TO_Y]),
                                   .write = number(field[WRITE]),
                                   .strides = number(field[SOURCES]),
                                   .stride_here = number(field[STRIDE_HERE]),
                                   .stride_there = number(field[STRIDE_THERE]),
                                   .sources = (uint8_t)number(field[SOURCES]),
                                   .vc = (uint8_t)number(field[VC]),
                                   .tx = number(field[TX]),
                                   .bytes = number(field[BYTES]),
                                   .address = 0x40000};
    for (unsigned i = 0; i < r->flow[r->n].sources; i++) { /* in a row; BH has no Tensix tiles in columns 8 and 9 */
        unsigned x = r->flow[r->n].to_x + i;
        r->flow[r->n].source_x[i] = (uint8_t)(r->arch == WG_ARCH_BH && r->flow[r->n].to_x < 8 && x > 7 ? x + 2 : x);
    }
    r->card[r->n] = strtod(field[CYCLES], NULL);
    r->n += r->n + 1 < TRAFFIC_MAX;
}

void wg_silicon_noc(struct wg_silicon *s)
{
    static run r;
    wg_silicon_read(s, "noc.csv", FIELDS, line, &r);
    finish(s, &r);
}
