/* SPDX-License-Identifier: Apache-2.0 */
/* The report of an exploration: each kind of difference, the delays that cause it, the command that replays it. */
#include <stdlib.h>
#include <string.h>

#include "cli/explore.h"
#include "cli/manual.h"
#include "isa/asm.h"

static const char *const ended_text[] = {"is done",       "is done", "hangs", "does not end", "stops at a finding",
                                         "is interrupted"};

const char *wg_explore_ended(unsigned ended) { return ended_text[ended]; }

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static void meet(void *user, const wg_event *event)
{
    wg_met *m = user;
    if (event->thread == m->thread && event->id == m->id && !m->found) {
        m->found = true;
        m->cycle = event->cycle;
        m->pc = event->pc;
        m->word = event->word;
    }
}

wg_met wg_explore_meet(wg_explorer *x, const wg_difference *d, const wg_delay *delay)
{
    wg_met m = {0};
    int id;
    wg_outcome outcome;
    if (wg_delay_insn(delay, &m.thread, &m.id) &&
        wg_observe(x->session.dev, WG_EV_BIT(WG_EV_ISSUED), meet, &m, &id) == WG_OK) {
        wg_explore_once(x, d->seed, d->delays.item, d->delays.count, &outcome);
        wg_unobserve(x->session.dev, id);
    }
    return m;
}

static void sentence(wg_explorer *x, const wg_delay *delay, const wg_met *m, wg_text *out)
{
    static const char *const where[] = {[WG_SITE_ACCEPT] = "waits at the gate",
                                        [WG_SITE_COMPLETE] = "completes",
                                        [WG_SITE_TRAVEL] = "is under way",
                                        [WG_SITE_FIFO_TAKE] = "stays in the FIFO",
                                        [WG_SITE_NOC_HOP] = "is on a link"};
    char text[WG_DIS_MAX], place[256];
    const char *later = delay->site == WG_SITE_COMPLETE ? "later" : "longer";
    if (!m->found) {
        wg_textf(out, "%s: %s %llu %s %u cycle%s %s", wg_agent_name(delay->agent),
                 delay->site == WG_SITE_TRAVEL ? "request" : "event", (unsigned long long)delay->event,
                 where[delay->site], delay->cycles, plural(delay->cycles), later);
        return;
    }
    wg_textf(out, "thread %u: %s", m->thread,
             wg_insn_text(&x->session, WG_AGENT_THREAD0 + m->thread, m->pc, m->word, text, sizeof text));
    if (*wg_place(&x->session, WG_CORE_T0 + m->thread, m->pc, place, sizeof place))
        wg_textf(out, " [%s]", place);
    wg_textf(out, " of cycle %llu %s %u cycle%s %s", (unsigned long long)m->cycle, where[delay->site], delay->cycles,
             plural(delay->cycles), later);
}

void wg_explore_quoted(wg_text *out, const char *word)
{
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%")]) {
        wg_textf(out, "%s", word);
        return;
    }
    wg_text_add(out, "'", 1);
    for (; *word; word++) {
        if (*word == '\'')
            wg_text_add(out, "'\\''", 4);
        else
            wg_text_add(out, word, 1);
    }
    wg_text_add(out, "'", 1);
}

static void replay(const wg_explorer *x, const wg_difference *d, wg_text *out)
{
    const wg_args *args = x->session.args;
    wg_textf(out, "waitgate run");
    for (size_t i = 0; i < args->givens; i++) {
        const wg_option_info *info = wg_option_info_at(args->given[i].option);
        if (!(info->commands >> WG_CMD_RUN & 1) || args->given[i].option == WG_OPT_SEED ||
            args->given[i].option == WG_OPT_JSON)
            continue;
        wg_textf(out, " --%s", info->name);
        if (info->value) {
            wg_text_add(out, " ", 1);
            wg_explore_quoted(out, args->given[i].value);
        }
    }
    if (d->outcome.ended == WG_ENDED_LIMIT && !args->value[WG_OPT_MAX_CYCLES])
        wg_textf(out, " --max-cycles %llu", (unsigned long long)x->session.max_cycles);
    if (d->seed)
        wg_textf(out, " --seed %llu", (unsigned long long)d->seed);
    wg_textf(out, " --delays ");
    wg_delays_print(d->delays.item, d->delays.count, out);
    for (size_t i = 0; i < args->files; i++) {
        wg_text_add(out, " ", 1);
        wg_explore_quoted(out, args->file[i]);
    }
}

/* "the result memory, the findings and the way it ends" */
static void differs_in(const wg_explorer *x, const wg_difference *d, wg_text *out)
{
    const char *part[4];
    unsigned count = 0;
    if (d->outcome.ended != x->all.base.ended)
        part[count++] = "the way it ends";
    if (d->outcome.memory != x->all.base.memory)
        part[count++] = "the result memory";
    if (d->outcome.findings != x->all.base.findings)
        part[count++] = "the findings";
    if (d->outcome.others != x->all.base.others)
        part[count++] = "the expectations";
    for (unsigned i = 0; i < count; i++)
        wg_textf(out, "%s%s", !i ? "" : i + 1 == count ? " and " : ", ", part[i]);
}

static void difference_text(wg_explorer *x, size_t index, wg_text *out)
{
    const wg_difference *d = &x->difference[index];
    wg_textf(out, "\n%zu. ", index + 1);
    differs_in(x, d, out);
    wg_textf(out, ": %llu of %zu timings, first with ", (unsigned long long)d->runs, x->finished);
    if (d->first.directed)
        wg_delays_print(&d->first.delay, 1, out);
    else
        wg_textf(out, "seed %llu", (unsigned long long)d->first.seed);
    if (d->seeds && (d->first.directed || d->seeds > 1))
        wg_textf(out, "%sseeds", d->first.directed ? "; " : "; also ");
    for (size_t i = d->first.directed ? 0 : 1; i < d->seeds && i < 10; i++)
        wg_textf(out, " %llu", (unsigned long long)d->seed_list[i]);
    wg_textf(out, "%s\n   it %s after %llu cycles\n", d->seeds > 10 ? " …" : "", ended_text[d->outcome.ended],
             (unsigned long long)d->outcome.cycles);
    for (size_t i = 0; i < d->words && i < WG_DIFFERENT_WORDS; i++)
        wg_textf(out, "   L1 0x%06x holds 0x%08x instead of 0x%08x\n", d->word_address[i], d->word_found[i],
                 d->word_expected[i]);
    if (d->words > WG_DIFFERENT_WORDS)
        wg_textf(out, "   and %zu more words differ\n", d->words - WG_DIFFERENT_WORDS);
    if (d->finding[0])
        wg_textf(out, "   finding %s is %s\n", d->finding, d->finding_is_new ? "new" : "gone");
    wg_textf(out, "   %s\n",
             d->delays.count ? "it takes:" : "no delay is needed beyond the seed's choices (L0 cache flushes)");
    for (size_t i = 0; i < d->delays.count; i++) {
        wg_met m = wg_explore_meet(x, d, &d->delays.item[i]);
        wg_textf(out, "     ");
        sentence(x, &d->delays.item[i], &m, out);
        wg_text_add(out, "\n", 1);
    }
    wg_textf(out, "   replay: ");
    replay(x, d, out);
    wg_text_add(out, "\n", 1);
}

static void say_party(wg_explorer *x, const wg_race_party *p, wg_text *out)
{
    const wg_race_words w = wg_check_words(&x->session);
    char text[WG_DIS_MAX], place[256];
    bool core = p->thread >= WG_THREADS;
    wg_textf(out, "%s%s%s", wg_race_insn_text(&w, p, text, sizeof text), core ? " of core " : "",
             core ? wg_agent_name(p->agent) : "");
    if (*wg_race_place_text(&w, p, place, sizeof place))
        wg_textf(out, " at %s", place);
}

static const wg_difference *witness_of(const wg_explorer *x, const wg_witness *w)
{
    return w->by_seed ? &x->difference[w->difference] : &w->shown;
}

static void races_text(wg_explorer *x, wg_text *out)
{
    size_t shown = 0, count = 0;
    for (size_t i = 0; i < x->races; i++) {
        const wg_race *race = wg_races_at(x->session.races, i);
        const wg_witness *w = &x->witness[i];
        if (wg_check_ignores(&x->session, race))
            continue;
        if (!count++)
            wg_textf(out, "\nRaces that check reports:\n");
        wg_textf(out, " R%u %s: ", race->id, wg_race_kind_name(race->kind));
        if (race->has_a) {
            say_party(x, &race->a, out);
            wg_textf(out, " and ");
        }
        say_party(x, &race->b, out);
        wg_textf(out, "; %s\n", race->location);
        if (!w->found) {
            wg_textf(out, "    no timing tried shows it (%zu with a delay at its parties)\n", w->tried);
            continue;
        }
        shown++;
        if (w->difference < x->differences)
            wg_textf(out, "    shown by %zu. above; witness: ", w->difference + 1);
        else
            wg_textf(out, "    witness: ");
        replay(x, witness_of(x, w), out);
        wg_text_add(out, "\n", 1);
    }
    if (count)
        wg_textf(out, "%zu of %zu races made visible\n\n", shown, count);
}

static void races_json(wg_explorer *x, wg_json *j)
{
    const wg_race_words words = wg_check_words(&x->session);
    wg_text line = {0};
    wg_json_open(j, "races", '[');
    for (size_t i = 0; i < x->races; i++) {
        const wg_race *race = wg_races_at(x->session.races, i);
        const wg_witness *w = &x->witness[i];
        if (wg_check_ignores(&x->session, race))
            continue;
        wg_json_open(j, NULL, '{');
        wg_race_json(&words, race, j);
        wg_json_uint(j, "tried", w->tried);
        if (w->found) {
            const wg_difference *d = witness_of(x, w);
            wg_json_open(j, "witness", '{');
            if (w->difference < x->differences)
                wg_json_uint(j, "difference", w->difference + 1);
            wg_json_uint(j, "seed", d->seed);
            wg_text_free(&line);
            wg_delays_print(d->delays.item, d->delays.count, &line);
            wg_json_text(j, "delays", wg_text_of(&line));
            wg_text_free(&line);
            replay(x, d, &line);
            wg_json_text(j, "replay", wg_text_of(&line));
            wg_json_close(j, '}');
        }
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    wg_text_free(&line);
}

static void report_text(wg_explorer *x, wg_text *out)
{
    wg_textf(out,
             "%s: %s after %llu cycles; %zu other timings (%zu with a single delay, %zu of them at races) in %.1f s, "
             "%.0f per second on %u host %s\n",
             x->session.title, ended_text[x->all.base.ended], (unsigned long long)x->all.base.cycles, x->finished,
             x->finished < x->all.directed ? x->finished : x->all.directed,
             x->finished < x->all.at_races ? x->finished : x->all.at_races, x->seconds,
             (double)x->finished / (x->seconds > 1e-6 ? x->seconds : 1e-6), x->jobs,
             x->jobs == 1 ? "process" : "processes");
    if (!x->base_holds)
        wg_textf(out, "The program's own expectations do not hold, whatever the timing: see `waitgate run`.\n");
    if (x->finished < x->all.trials)
        wg_textf(out, "%zu timings were not tried: %s\n", x->all.trials - x->finished,
                 x->interrupted ? "interrupted" : "the budget was used up");
    for (size_t i = 0; i < x->differences; i++)
        difference_text(x, i, out);
    if (x->kinds_dropped)
        wg_textf(out, "\n%zu further timings differ in yet other ways\n", x->kinds_dropped);
    races_text(x, out);
    if (x->differences)
        wg_textf(out, "\nSUMMARY: %zu of %zu timings give another result, in %zu%s way%s\n", x->differing_runs,
                 x->finished, x->differences, x->kinds_dropped ? " or more" : "",
                 plural(x->differences + x->kinds_dropped));
    else
        wg_textf(out, "SUMMARY: every timing gives the same result%s\n",
                 x->base_holds ? "" : ", which is not what the program expects");
}

static void report_json(wg_explorer *x, wg_text *out)
{
    wg_json json = {.out = out}, *j = &json;
    wg_text line = {0};
    wg_json_open(j, NULL, '{');
    wg_json_uint(j, "schema", 1);
    wg_json_text(j, "waitgate", wg_version());
    wg_json_text(j, "program", x->session.title);
    wg_json_text(j, "result", ended_text[x->all.base.ended]);
    wg_json_uint(j, "cycles", x->all.base.cycles);
    wg_json_bool(j, "expectations_hold", x->base_holds);
    wg_json_uint(j, "timings", x->finished);
    wg_json_uint(j, "planned", x->all.trials);
    wg_json_uint(j, "directed", x->all.directed);
    wg_json_uint(j, "at_races", x->all.at_races);
    wg_json_uint(j, "jobs", x->jobs);
    wg_json_uint(j, "milliseconds", (uint64_t)(1000 * x->seconds));
    wg_json_uint(j, "busiest_microseconds", (uint64_t)(1e6 * x->busiest));
    wg_json_bool(j, "interrupted", x->interrupted);
    wg_json_uint(j, "differing", x->differing_runs);
    wg_json_open(j, "differences", '[');
    for (size_t i = 0; i < x->differences; i++) {
        const wg_difference *d = &x->difference[i];
        wg_json_open(j, NULL, '{');
        wg_json_text(j, "result", ended_text[d->outcome.ended]);
        wg_json_uint(j, "cycles", d->outcome.cycles);
        wg_json_uint(j, "timings", d->runs);
        wg_json_open(j, "seeds", '[');
        for (size_t k = 0; k < d->seeds; k++)
            wg_json_uint(j, NULL, d->seed_list[k]);
        wg_json_close(j, ']');
        wg_json_bool(j, "memory", d->outcome.memory != x->all.base.memory);
        wg_json_bool(j, "findings", d->outcome.findings != x->all.base.findings);
        wg_json_bool(j, "expectations", d->outcome.others != x->all.base.others);
        wg_json_uint(j, "words", d->words);
        wg_json_open(j, "first_words", '[');
        for (size_t k = 0; k < d->words && k < WG_DIFFERENT_WORDS; k++) {
            wg_json_open(j, NULL, '{');
            wg_json_hex(j, "address", d->word_address[k]);
            wg_json_hex(j, "expected", d->word_expected[k]);
            wg_json_hex(j, "found", d->word_found[k]);
            wg_json_close(j, '}');
        }
        wg_json_close(j, ']');
        if (d->finding[0])
            wg_json_text(j, d->finding_is_new ? "new_finding" : "lost_finding", d->finding);
        wg_json_uint(j, "seed", d->seed);
        wg_json_open(j, "delays", '[');
        for (size_t k = 0; k < d->delays.count; k++) {
            wg_met m = wg_explore_meet(x, d, &d->delays.item[k]);
            wg_text_free(&line);
            wg_json_open(j, NULL, '{');
            wg_delays_print(&d->delays.item[k], 1, &line);
            wg_json_text(j, "delay", wg_text_of(&line));
            wg_text_free(&line);
            sentence(x, &d->delays.item[k], &m, &line);
            wg_json_text(j, "text", wg_text_of(&line));
            wg_json_close(j, '}');
        }
        wg_json_close(j, ']');
        wg_text_free(&line);
        replay(x, d, &line);
        wg_json_text(j, "replay", wg_text_of(&line));
        wg_json_close(j, '}');
    }
    wg_json_close(j, ']');
    races_json(x, j);
    wg_json_close(j, '}');
    wg_text_free(&line);
}

void wg_explore_report(wg_explorer *x, wg_text *out)
{
    if (x->session.args->value[WG_OPT_JSON])
        report_json(x, out);
    else
        report_text(x, out);
}
