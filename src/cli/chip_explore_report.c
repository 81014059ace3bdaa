/* SPDX-License-Identifier: Apache-2.0 */
/* The report of an exploration of a chip file. */
#include "cli/chip_explore.h"

static void replay(const wg_chip_explorer *x, uint64_t seed, uint8_t ended, const wg_delay *delays, size_t count,
                   wg_text *out)
{
    wg_textf(out, "waitgate run");
    for (size_t i = 0; i < x->args->givens; i++) {
        const wg_option option = x->args->given[i].option;
        const wg_option_info *info = wg_option_info_at(option);
        if (!(info->commands >> WG_CMD_RUN & 1) || option == WG_OPT_SEED || option == WG_OPT_JSON)
            continue;
        wg_textf(out, " --%s", info->name);
        if (info->value) {
            wg_text_add(out, " ", 1);
            wg_explore_quoted(out, x->args->given[i].value);
        }
    }
    if (ended == WG_ENDED_LIMIT && !x->args->value[WG_OPT_MAX_CYCLES])
        wg_textf(out, " --max-cycles %llu", (unsigned long long)x->limit);
    if (seed)
        wg_textf(out, " --seed %llu", (unsigned long long)seed);
    if (!x->of_cluster) {
        wg_textf(out, " --delays ");
        wg_delays_print(delays, count, out);
    }
    for (size_t i = 0; i < x->args->files; i++) {
        wg_text_add(out, " ", 1);
        wg_explore_quoted(out, x->args->file[i]);
    }
}

static void differs_in(const wg_chip_explorer *x, const wg_outcome *o, wg_text *out)
{
    const wg_outcome *base = &x->base_result.outcome;
    const char *part[3];
    unsigned count = 0;
    if (o->ended != base->ended)
        part[count++] = "the way it ends";
    if (o->memory != base->memory)
        part[count++] = "the result memory";
    if (o->findings != base->findings)
        part[count++] = "the findings";
    for (unsigned i = 0; i < count; i++)
        wg_textf(out, "%s%s", !i ? "" : i + 1 == count ? " and " : ", ", part[i]);
}

static void kind_text(const wg_chip_explorer *x, size_t index, wg_text *out)
{
    const wg_difference *d = &x->kind[index].d;
    const wg_chip_result *shown = &x->kind[index].shown;
    wg_textf(out, "\n%zu. ", index + 1);
    differs_in(x, &d->outcome, out);
    wg_textf(out, ": %llu of %zu timings, first with ", (unsigned long long)d->runs, x->finished);
    if (d->first.directed)
        wg_delays_print(&d->first.delay, 1, out);
    else
        wg_textf(out, "seed %llu", (unsigned long long)d->first.seed);
    wg_textf(out, "\n   it %s after %llu cycles\n", wg_explore_ended(d->outcome.ended),
             (unsigned long long)d->outcome.cycles);
    for (size_t i = 0; i < shown->words && i < WG_DIFFERENT_WORDS; i++) {
        const wg_chip_word *w = &shown->word[i];
        wg_textf(out, "   ");
        if (x->of_cluster)
            wg_textf(out, "chip %u, ", w->chip);
        wg_textf(out, "tile %u-%u, 0x%06llx holds 0x%08x instead of 0x%08x\n", w->x, w->y,
                 (unsigned long long)w->address, w->found, w->expected);
    }
    if (shown->words > WG_DIFFERENT_WORDS)
        wg_textf(out, "   and %llu more words differ\n", (unsigned long long)(shown->words - WG_DIFFERENT_WORDS));
    wg_textf(out, "   replay: ");
    replay(x, d->seed, d->outcome.ended, d->delays.item, d->delays.count, out);
    wg_text_add(out, "\n", 1);
}

static const wg_race *race_at(const wg_chip_explorer *x, size_t i)
{
    return wg_races_at(x->base->tile[x->race[i].tile].s.races, x->race[i].race);
}

static void races_text(wg_chip_explorer *x, wg_text *out)
{
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < x->races; i++) {
        wg_chip_tile *t = &x->base->tile[x->race[i].tile];
        const wg_race_words w = wg_check_words(&t->s);
        const wg_trial *witness = x->race[i].witness;
        if (wg_check_ignores(&t->s, race_at(x, i)))
            continue;
        if (!count++)
            wg_textf(out, "\nRaces that check reports:\n");
        wg_textf(out, " %s", t->name);
        wg_race_line(&w, race_at(x, i), out);
        shown += witness != NULL;
        if (witness) {
            wg_textf(out, "      witness: ");
            replay(x, 0, WG_ENDED_DONE, &witness->delay, 1, out);
            wg_text_add(out, "\n", 1);
        } else {
            wg_textf(out, "      no timing tried shows it (%zu with a delay at its parties)\n", x->race[i].tried);
        }
    }
    if (count)
        wg_textf(out, "%zu of %zu races made visible\n", shown, count);
}

void wg_chip_explore_text(wg_chip_explorer *x, wg_text *out)
{
    wg_textf(out,
             "%s: %s after %llu cycles; %zu other timings (%zu with a single delay, %zu of them at races) in %.1f s, "
             "on %u host %s\n",
             x->base->file.name, wg_explore_ended(x->base_result.outcome.ended),
             (unsigned long long)x->base_result.outcome.cycles, x->finished,
             x->finished < x->directed ? x->finished : x->directed,
             x->finished < x->at_races ? x->finished : x->at_races, x->seconds, x->jobs,
             x->jobs == 1 ? "process" : "processes");
    if (x->finished < x->trials)
        wg_textf(out, "%zu timings were not tried: %s\n", x->trials - x->finished,
                 x->interrupted ? "interrupted" : "the budget was used up");
    for (size_t i = 0; i < x->kinds; i++)
        kind_text(x, i, out);
    if (x->kinds_dropped)
        wg_textf(out, "\n%zu further timings differ in yet other ways\n", x->kinds_dropped);
    races_text(x, out);
    if (x->kinds)
        wg_textf(out, "\nSUMMARY: %zu of %zu timings give another result, in %zu%s way%s\n", x->differing, x->finished,
                 x->kinds, x->kinds_dropped ? " or more" : "", x->kinds + x->kinds_dropped == 1 ? "" : "s");
    else
        wg_textf(out, "SUMMARY: every timing gives the same result\n");
}

static void kind_json(const wg_chip_explorer *x, const wg_chip_difference *k, wg_json *j)
{
    const wg_difference *d = &k->d;
    const wg_outcome *base = &x->base_result.outcome;
    wg_text line = {0};
    wg_json_open(j, NULL, '{');
    wg_json_text(j, "result", wg_explore_ended(d->outcome.ended));
    wg_json_uint(j, "cycles", d->outcome.cycles);
    wg_json_uint(j, "timings", d->runs);
    wg_json_open(j, "seeds", '[');
    for (size_t i = 0; i < d->seeds; i++)
        wg_json_uint(j, NULL, d->seed_list[i]);
    wg_json_close(j, ']');
    wg_json_bool(j, "memory", d->outcome.memory != base->memory);
    wg_json_bool(j, "findings", d->outcome.findings != base->findings);
    wg_json_bool(j, "expectations", false);
    wg_json_uint(j, "words", k->shown.words);
    wg_json_open(j, "first_words", '[');
    for (size_t i = 0; i < k->shown.words && i < WG_DIFFERENT_WORDS; i++) {
        const wg_chip_word *w = &k->shown.word[i];
        wg_json_open(j, NULL, '{');
        if (x->of_cluster)
            wg_json_uint(j, "chip", w->chip);
        wg_json_uint(j, "x", w->x);
        wg_json_uint(j, "y", w->y);
        wg_json_textf(j, "address", "0x%08llx", (unsigned long long)w->address);
        wg_json_hex(j, "expected", w->expected);
        wg_json_hex(j, "found", w->found);
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_json_uint(j, "seed", d->seed);
    wg_json_open(j, "delays", '[');
    for (size_t i = 0; i < d->delays.count; i++) {
        wg_text_free(&line);
        wg_json_open(j, NULL, '{');
        wg_delays_print(&d->delays.item[i], 1, &line);
        wg_json_text(j, "delay", wg_text_of(&line));
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_text_free(&line);
    replay(x, d->seed, d->outcome.ended, d->delays.item, d->delays.count, &line);
    wg_json_text(j, "replay", wg_text_of(&line));
    wg_json_close(j, '}');
    wg_text_free(&line);
}

static void races_json(wg_chip_explorer *x, wg_json *j)
{
    wg_text line = {0};
    wg_json_open(j, "races", '[');
    for (size_t i = 0; i < x->races; i++) {
        wg_chip_tile *t = &x->base->tile[x->race[i].tile];
        const wg_race_words w = wg_check_words(&t->s);
        const wg_trial *witness = x->race[i].witness;
        if (wg_check_ignores(&t->s, race_at(x, i)))
            continue;
        wg_json_open(j, NULL, '{');
        wg_json_uint(j, "x", t->x);
        wg_json_uint(j, "y", t->y);
        wg_race_json(&w, race_at(x, i), j);
        wg_json_uint(j, "tried", x->race[i].tried);
        if (witness) {
            wg_json_open(j, "witness", '{');
            wg_json_uint(j, "seed", 0);
            wg_text_free(&line);
            wg_delays_print(&witness->delay, 1, &line);
            wg_json_text(j, "delays", wg_text_of(&line));
            wg_text_free(&line);
            replay(x, 0, WG_ENDED_DONE, &witness->delay, 1, &line);
            wg_json_text(j, "replay", wg_text_of(&line));
            wg_json_close(j, '}');
        }
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_text_free(&line);
}

void wg_chip_explore_json(wg_chip_explorer *x, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_text(j, "program", x->base->file.name);
    wg_json_text(j, "result", wg_explore_ended(x->base_result.outcome.ended));
    wg_json_uint(j, "cycles", x->base_result.outcome.cycles);
    wg_json_bool(j, "expectations_hold", true);
    wg_json_uint(j, "timings", x->finished);
    wg_json_uint(j, "planned", x->trials);
    wg_json_uint(j, "directed", x->directed);
    wg_json_uint(j, "at_races", x->at_races);
    wg_json_uint(j, "jobs", x->jobs);
    wg_json_uint(j, "milliseconds", (uint64_t)(1000 * x->seconds));
    wg_json_uint(j, "busiest_microseconds", (uint64_t)(1e6 * x->busiest));
    wg_json_bool(j, "interrupted", x->interrupted);
    wg_json_uint(j, "differing", x->differing);
    wg_json_open(j, "differences", '[');
    for (size_t i = 0; i < x->kinds; i++)
        kind_json(x, &x->kind[i], j);
    wg_json_close(j, ']');
    races_json(x, j);
    wg_json_close(j, '}');
}
