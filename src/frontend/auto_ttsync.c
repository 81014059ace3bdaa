/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Auto TTSync; auto_ttsync.h describes its purpose and its callers.
 *
 * The resources of an instruction are determined when its push arrives: class by opcode, resources by the thread's
 * declarations, bank by the CFG_STATE_ID that earlier pushes have set. Decided here: RESOURCEDECL takes effect at the same
 * point, so it applies to later pushes; it takes no place in the FIFO. A push in flight holds the accesses emitted after it
 * until it has arrived.
 *
 * The wait condition "RISC-V requests" does not count an access that waits for an instruction, nor those behind it. Decided
 * here: otherwise a STALLWAIT on that condition in front of that very instruction would never end, and kernels do contain
 * this (GATE-23, pattern 7).
 *
 * Facts: BabyRISCV/AutoTTSync.md, the assembly tables' RESOURCEDECL (classes, linger); TTS-01…TTS-22.
 */
#include "machine/auto_ttsync.h"

#include "backend/config.h"
#include "backend/scalar.h"
#include "report/findings.h"
#include "frontend/stages.h"
#include "isa/config_fields.h"
#include "isa/symbols.h"

/* RESOURCEDECL's resource bits, and combinations of them. */
enum {
#define S(name, value) name = value,
    WG_SYMBOLS_resource(S)
#undef S
        ALL_PARTS = RESOURCE_CFG_UNPACK0 | RESOURCE_CFG_UNPACK1 | RESOURCE_CFG_REST,
    ALL_GPR = RESOURCE_GPR_READ | RESOURCE_GPR_WRITE,
    ALL_TDMA = RESOURCE_TDMA_READ | RESOURCE_TDMA_WRITE,
    ALL_CFG = RESOURCE_CFG_READ | RESOURCE_CFG_WRITE | ALL_PARTS,
    ALL = ALL_CFG | ALL_GPR | ALL_TDMA
};

enum { CLASS_MOP = 13, CLASS_REPLAY = 14 };

static const uint16_t default_resources[WG_TTS_CLASSES] = {
    [0] = ALL_GPR,                                            /* GPR arithmetic, SETDMAREG */
    [1] = ALL_GPR,                                            /* L1 atomics */
    [2] = ALL_GPR | ALL_TDMA,                                 /* REG2FLOP */
    [3] = ALL_GPR,                                            /* LOADIND, STOREIND */
    [4] = ALL_CFG,                                            /* STREAMWRCFG, CFGSHIFTMASK */
    [5] = RESOURCE_GPR_READ,                                  /* STOREREG */
    [6] = RESOURCE_GPR_WRITE,                                 /* LOADREG */
    [7] = RESOURCE_TDMA_WRITE,                                /* FLUSHDMA */
    [8] = RESOURCE_GPR_READ | RESOURCE_CFG_WRITE | ALL_PARTS, /* WRCFG */
    [9] = RESOURCE_GPR_WRITE | RESOURCE_CFG_READ | ALL_PARTS, /* RDCFG */
    [10] = ALL_GPR | ALL_CFG,                                 /* XMOV */
    [11] = ALL_TDMA | RESOURCE_CFG_READ | ALL_PARTS,          /* UNPACR, UNPACR_NOP */
    [12] = ALL_TDMA | RESOURCE_CFG_READ | RESOURCE_CFG_REST,  /* PACR */
    [CLASS_MOP] = ALL,
    [CLASS_REPLAY] = ALL,
    [15] = RESOURCE_CFG_READ | RESOURCE_CFG_REST, /* all others */
};

/* The thread's tracking bits, by meaning. */
typedef struct tracking {
    bool instructions, gpr, tdma, config, subdivided;
} tracking;

static tracking tracking_of(const wg_tile *t, unsigned thread)
{
    const uint16_t *cfg = t->regs.config.thread[thread];
    wg_arch_id arch = t->arch->id;
    if (!wg_ttsync_configured(t, thread))
        return (tracking){0};
    return (tracking){.instructions = wg_tcfg_get(arch, WG_TCFG_TENSIX_TRISC_SYNC_TrackTensixInstructions, cfg),
                      .gpr = wg_tcfg_get(arch, WG_TCFG_TENSIX_TRISC_SYNC_TrackGPR, cfg),
                      .tdma = wg_tcfg_get(arch, WG_TCFG_TENSIX_TRISC_SYNC_TrackTDMARegs, cfg),
                      .config = wg_tcfg_get(arch, WG_TCFG_TENSIX_TRISC_SYNC_TrackGlobalCfg, cfg),
                      .subdivided = wg_tcfg_get(arch, WG_TCFG_TENSIX_TRISC_SYNC_EnSubdividedCfgForUnpacr, cfg)};
}

bool wg_ttsync_tracks_config(const wg_tile *t, unsigned thread)
{
    tracking k = tracking_of(t, thread);
    return t->arch->auto_ttsync && k.instructions && k.config;
}

void wg_ttsync_reset(wg_tile *t, unsigned thread)
{
    wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    *s = (wg_auto_ttsync){0};
    for (unsigned i = 0; i < WG_TTS_CLASSES; i++) {
        s->resources[i] = default_resources[i];
        s->linger[i] = 1;
    }
}

/* ---- Accesses to resources -------------------------------------------------------------------------- */

/* BH's word of each field. */
enum {
#define WG_CFG(name, bh, wh) WORD_OF_##name = bh,
#define AT(word, shift, width) word
#define NOT_HERE 0xFFFF
#include "isa/config_fields.def"
};

uint8_t wg_ttsync_config_parts(const wg_arch *arch, unsigned word)
{
    enum { UNPACK0 = 1, UNPACK1 = 2, REST = 4 };
    static const struct {
        uint16_t word;
        uint8_t parts;
    } fields[] = {
#define TTS_FIELD(name, parts_) {WORD_OF_##name, parts_},
#include "frontend/auto_ttsync_fields.def"
    };
    uint8_t parts = 0;
    if (arch->auto_ttsync)
        for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
            if (fields[i].word == word)
                parts |= fields[i].parts;
    return parts ? parts : REST;
}

/* The map of TENSIX_CFG_BASE: Config[2], ConfigDualWrite, ThreadConfig[3] (BackendConfiguration.md). */
static uint8_t config_resources(const wg_arch *arch, bool subdivided, uint32_t offset)
{
    enum { REMAINDERS = WG_TTS_CFG0_REST | WG_TTS_CFG1_REST, UNPACKERS = WG_TTS_CFG & ~REMAINDERS };
    unsigned words = arch->config_words, bank = offset / words, word = offset % words;
    if (bank < 2 && word < arch->config_global_from)
        return (uint8_t)((subdivided ? wg_ttsync_config_parts(arch, word) : 7u) << (3 * bank));
    if (!subdivided)
        return WG_TTS_CFG;
    unsigned math_offset = wg_tcfg_fields[arch->id][WG_TCFG_DEST_TARGET_REG_CFG_MATH_Offset].word;
    return offset == 3 * words + math_offset ? UNPACKERS : REMAINDERS; /* ThreadConfig[0]'s only (TTS-13) */
}

static uint8_t resources_under(const wg_tile *t, tracking k, wg_path path, uint32_t address)
{
    if (!t->arch->auto_ttsync || !k.instructions)
        return 0;
    switch (path) {
    case WG_PATH_GPR: return k.gpr ? WG_TTS_GPR : 0;
    case WG_PATH_TDMA: return k.tdma ? WG_TTS_TDMA : 0;
    case WG_PATH_CONFIG: return k.config ? config_resources(t->arch, k.subdivided, (address & 0xFFFF) / 4) : 0;
    default: return 0;
    }
}

uint8_t wg_ttsync_access_resources(const wg_tile *t, unsigned thread, wg_path path, uint32_t address)
{
    return resources_under(t, tracking_of(t, thread), path, address);
}

/* ---- Resources of an instruction -------------------------------------------------------------------- */

typedef struct touches {
    uint8_t reads, writes;
} touches;

static touches touches_of(const wg_auto_ttsync *s, const wg_isa_insn *record, uint32_t word, bool state_id,
                          bool subdivided)
{
    if (record->ttsync_class >= WG_TTS_CLASSES)
        return (touches){0, 0};
    uint16_t decl = s->resources[record->ttsync_class];
    unsigned parts = decl >> 2 & 7;
    if (subdivided && (record->id == WG_I_UNPACR || record->id == WG_I_UNPACR_NOP))
        parts = WG_GET(UNPACR, Unpack_block_selection, word) ? 2 : 1; /* WhichUnpacker (TTS-15) */
    parts <<= state_id ? 3 : 0;
    return (touches){(uint8_t)((decl & RESOURCE_CFG_READ ? parts : 0) | (decl & RESOURCE_GPR_READ ? WG_TTS_GPR : 0) |
                               (decl & RESOURCE_TDMA_READ ? WG_TTS_TDMA : 0)),
                     (uint8_t)((decl & RESOURCE_CFG_WRITE ? parts : 0) | (decl & RESOURCE_GPR_WRITE ? WG_TTS_GPR : 0) |
                               (decl & RESOURCE_TDMA_WRITE ? WG_TTS_TDMA : 0))};
}

/* The GPRs that the instruction names; 0: unknown. Only for counting spurious stalls in statistics (TTS-03). */
static uint64_t gprs_named(wg_insn_id op, uint32_t word)
{
#define GPR(insn, field) (UINT64_C(1) << WG_GET(insn, field, word))
    switch (op) {
    case WG_I_SETDMAREG:
        return UINT64_C(1) << WG_GET(SETDMAREG, RegIndex16b, word) / 2; /* immediate: a half register */
    case WG_I_ADDDMAREG:
    case WG_I_SUBDMAREG:
    case WG_I_MULDMAREG:
    case WG_I_BITWOPDMAREG:
    case WG_I_SHIFTDMAREG:
    case WG_I_CMPDMAREG:
        return GPR(CMPDMAREG, OpARegIndex) | GPR(CMPDMAREG, ResultRegIndex) |
               (WG_GET(CMPDMAREG, OpBisConst, word) ? 0 : GPR(CMPDMAREG, OpBRegIndex));
    case WG_I_WRCFG:
        return WG_GET(WRCFG, wr128b, word) ? UINT64_C(15) << (WG_GET(WRCFG, GprAddress, word) & 60)
                                           : GPR(WRCFG, GprAddress);
    case WG_I_RDCFG: return GPR(RDCFG, GprAddress);
    case WG_I_STOREREG:
    case WG_I_LOADREG: return GPR(LOADREG, TdmaDataRegIndex);
    default: return 0;
    }
#undef GPR
}

/* ---- The queue of pushed instructions --------------------------------------------------------------- */

static wg_tts_entry *entry_at(wg_auto_ttsync *s, unsigned i) { return &s->entry[(s->entry_head + i) % WG_TTS_ENTRIES]; }

static const wg_tts_entry *entry_seen(const wg_auto_ttsync *s, unsigned i)
{
    return &s->entry[(s->entry_head + i) % WG_TTS_ENTRIES];
}

/* An entry has gone: accesses may continue. */
static void entry_gone(wg_tile *t, wg_auto_ttsync *s)
{
    s->entry_head = (uint8_t)((s->entry_head + 1) % WG_TTS_ENTRIES);
    s->entries--;
    if (s->pending)
        wg_wake(&t->sched, WG_AGENT_REGIONS);
}

static void declare(wg_auto_ttsync *s, uint32_t word)
{
    unsigned class = WG_OPERAND(BH, RESOURCEDECL, op_class, word);
    s->resources[class] = (uint16_t)WG_OPERAND(BH, RESOURCEDECL, resources, word);
    s->linger[class] = (uint8_t)WG_OPERAND(BH, RESOURCEDECL, linger_time, word);
}

/* SETC16 of a word that Auto TTSync itself depends on. */
static bool sets_state_id(const wg_tile *t, const wg_insn *insn)
{
    return insn->op == WG_I_SETC16 &&
           WG_GET(SETC16, setc16_reg, insn->word) == wg_tcfg_fields[t->arch->id][WG_TCFG_CFG_STATE_ID_StateID].word;
}

static bool sets_tracking(const wg_tile *t, const wg_insn *insn)
{
    return insn->op == WG_I_SETC16 && WG_GET(SETC16, setc16_reg, insn->word) ==
                                          wg_tcfg_fields[t->arch->id][WG_TCFG_TENSIX_TRISC_SYNC_TrackGPR].word;
}

static bool settling(const wg_tile *t, const wg_auto_ttsync *s) { return t->sched.now < s->settled_at; }

void wg_ttsync_arrived(wg_tile *t, unsigned thread, wg_tts_bundle *bundle)
{
    wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    bundle->state_id = s->state_id;
    bundle->settling = settling(t, s);
    tracking k = tracking_of(t, thread);
    bundle->tracked = k.instructions;
    bundle->subdivided = k.subdivided;
    bundle->attends = bundle->tracked | bundle->settling;
}

static void add_entry(wg_tile *t, wg_auto_ttsync *s, wg_insn *insn, const wg_isa_insn *record, const wg_tts_bundle *b)
{
    touches now = touches_of(s, record, insn->word, b->state_id, b->subdivided);
    touches other = touches_of(s, record, insn->word, !b->state_id, b->subdivided);
    bool doubt = b->state_set || !s->state_known;
    wg_tts_entry *e = entry_at(s, s->entries++);
    *e = (wg_tts_entry){.id = insn->id,
                        .order = s->arrived,
                        .gprs = gprs_named(insn->op, insn->word),
                        .linger = s->linger[record->ttsync_class]};
    if (b->tracked) {
        e->reads = now.reads;
        e->writes = now.writes;
    }
    e->may_read = now.reads | (doubt ? other.reads : 0);
    e->may_write = now.writes | (doubt ? other.writes : 0);
    e->doubt = (uint8_t)((doubt ? WG_TTS_DOUBT_STATE_ID : 0) | (settling(t, s) ? WG_TTS_DOUBT_TRACKING : 0));
    insn->ttsync = WG_TTS_FIRST | WG_TTS_LAST;
}

bool wg_ttsync_pushed(wg_tile *t, unsigned thread, wg_insn *insn, wg_tts_bundle *b)
{
    wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    if (__builtin_expect(insn->op == WG_I_RESOURCEDECL, 0)) {
        declare(s, insn->word);
        return true;
    }
    if (b->tracked || b->settling) {
        const wg_isa_insn *record = wg_isa_decode(t->arch->id, insn->word);
        if (record->ttsync_class < WG_TTS_CLASSES && s->entries < WG_TTS_ENTRIES)
            add_entry(t, s, insn, record, b);
    }
    if (__builtin_expect(insn->op == WG_I_SETC16, 0)) {
        if (sets_state_id(t, insn)) {
            s->state_id = WG_GET(SETC16, setc16_value, insn->word) & 1;
            s->state_known = b->state_set = true;
        } else if (sets_tracking(t, insn)) {
            s->settled_at = WG_NEVER;
            s->settling_id = insn->id;
            b->settling = b->attends = true;
        }
    }
    return false;
}

void wg_ttsync_passes(wg_tile *t, const wg_insn *insn)
{
    wg_auto_ttsync *s = &t->frontend[insn->thread].ttsync;
    const wg_tts_entry *e = entry_at(s, 0);
    if (s->entries && (e->reads | e->writes))
        WG_EMIT_INSN(t, WG_EV_TRACKED, WG_AGENT_THREAD0 + insn->thread, insn, .a = e->reads, .b = e->writes,
                     .c = insn->ttsync);
}

void wg_ttsync_passed(wg_tile *t, unsigned thread)
{
    wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    if (s->entries)
        entry_gone(t, s);
}

void wg_ttsync_dropped(wg_tile *t, unsigned thread, uint64_t id)
{
    wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    unsigned at = 0;
    while (at < s->entries && entry_at(s, at)->id != id)
        at++;
    if (at == s->entries)
        return;
    for (; at > 0; at--)
        *entry_at(s, at) = *entry_at(s, at - 1);
    entry_gone(t, s);
}

void wg_ttsync_setc16_passed(wg_tile *t, unsigned thread, uint64_t id)
{
    wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    if (id == s->settling_id && s->settled_at == WG_NEVER)
        s->settled_at = t->sched.now + 2; /* SETC16 takes one cycle */
}

/* ---- The queue of accesses -------------------------------------------------------------------------- */

static int path_slot(wg_path path)
{
    return path == WG_PATH_GPR ? 0 : path == WG_PATH_CONFIG ? 1 : path == WG_PATH_TDMA ? 2 : -1;
}

static const wg_tts_access *access_at(const wg_auto_ttsync *s, unsigned slot, unsigned i)
{
    return &s->access[slot][(s->access_head[slot] + i) % WG_TTS_ACCESSES];
}

static bool is_t_core(unsigned core) { return core >= WG_CORE_T0 && core <= WG_CORE_T2; }

void wg_ttsync_note_emitted(wg_tile *t, unsigned core, wg_path path, uint32_t address, bool is_write)
{
    if (!is_t_core(core))
        return;
    unsigned thread = core - WG_CORE_T0;
    wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    if (path == WG_PATH_PUSH) {
        s->emitted += t->arch->auto_ttsync;
        return;
    }
    int slot = path_slot(path);
    if (slot < 0)
        return;
    s->pending++;
    wg_wake(&t->sched, WG_AGENT_THREAD0 + thread);
    uint8_t *count = &s->access_count[slot];
    wg_tts_access a = {.order = s->emitted,
                       .address = address,
                       .is_write = is_write,
                       .count = 1,
                       .resources = wg_ttsync_access_resources(t, thread, path, address),
                       .unsettled = t->arch->auto_ttsync && settling(t, s)};
    if (*count == WG_TTS_ACCESSES) { /* full: the last one represents both */
        wg_tts_access *last = &s->access[slot][(s->access_head[slot] + *count - 1u) % WG_TTS_ACCESSES];
        last->resources |= a.resources;
        last->is_write |= a.is_write;
        last->unsettled |= a.unsettled;
        last->order = a.order;
        last->count++;
        return;
    }
    s->access[slot][(s->access_head[slot] + *count) % WG_TTS_ACCESSES] = a;
    ++*count;
}

/* A tracked access to a GPR whose value a load will overwrite (TTS-21). */
static void report_memory_result(wg_tile *t, unsigned core, const wg_tts_access *a)
{
    unsigned reg = a->address >> 2 & 63;
    if (a->resources & WG_TTS_GPR && wg_scalar_loads_gpr(t, core - WG_CORE_T0, reg))
        wg_findf(t, WG_F_TTSYNC_MEMORY_RESULT,
                 (wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_B + core), .subject = a->address},
                 "the %s of GPR %u comes before the result from memory", a->is_write ? "store" : "load", reg);
}

void wg_ttsync_note_processed(wg_tile *t, unsigned core, wg_path path, uint32_t address, bool is_write)
{
    (void)address;
    int slot = path_slot(path);
    if (!is_t_core(core) || slot < 0)
        return;
    wg_auto_ttsync *s = &t->frontend[core - WG_CORE_T0].ttsync;
    if (!s->access_count[slot])
        return;
    wg_tts_access *a = &s->access[slot][s->access_head[slot]];
    report_memory_result(t, core, a);
    if (a->resources)
        WG_EMIT(t, WG_EV_TRACKED, WG_AGENT_CORE_B + core, .a = is_write ? 0 : a->resources,
                .b = is_write ? a->resources : 0, .word = path);
    if (is_write && path == WG_PATH_CONFIG) {
        s->wrote_at = t->sched.now;
        s->wrote_order = a->order;
        s->wrote = a->resources;
    }
    s->pending--;
    if (--a->count == 0) {
        s->access_head[slot] = (uint8_t)((s->access_head[slot] + 1) % WG_TTS_ACCESSES);
        s->access_count[slot]--;
    }
    wg_wake(&t->sched, WG_AGENT_THREAD0 + core - WG_CORE_T0);
}

void wg_ttsync_core_stopped(wg_tile *t, unsigned core)
{
    if (!is_t_core(core))
        return;
    wg_auto_ttsync *s = &t->frontend[core - WG_CORE_T0].ttsync;
    s->pending = 0;
    s->arrived = s->emitted;
    for (unsigned i = 0; i < WG_TTS_PATHS; i++)
        s->access_count[i] = 0;
    wg_wake(&t->sched, WG_AGENT_THREAD0 + core - WG_CORE_T0);
}

/* ---- Who waits for whom ----------------------------------------------------------------------------- */

static bool conflict(uint8_t reads, uint8_t writes, uint8_t resources, bool is_write)
{
    return (is_write ? reads | writes : writes) & resources;
}

/* The instruction that a core's access waits for; NULL: none. */
static const wg_tts_entry *first_before(const wg_auto_ttsync *s, const wg_tts_access *a)
{
    for (unsigned i = 0; i < s->entries; i++) {
        const wg_tts_entry *e = entry_seen(s, i);
        if (e->order <= a->order && conflict(e->reads, e->writes, a->resources, a->is_write))
            return e;
    }
    return NULL;
}

/* Is this instruction, or the MOP or REPLAY that made it, declared to write GPRs? */
static bool declared_gpr_writer(const wg_tile *t, const wg_auto_ttsync *s, const wg_insn *insn)
{
    unsigned class = wg_isa_decode(t->arch->id, insn->word)->ttsync_class;
    uint16_t decl = insn->parent ? s->resources[CLASS_MOP] | s->resources[CLASS_REPLAY] : s->resources[class];
    return insn->source == WG_CORE_T0 + insn->thread && decl & RESOURCE_GPR_WRITE;
}

/*
 * Does an instruction past the gate have yet to write the GPRs? A conflicting access is younger, since older ones hold the
 * instruction at the gate. Decided here: the access waits for the write, because Auto TTSync promises the value from after
 * the instruction (TTS-21). Config writes need no such wait, since the access follows them through the Configuration Unit's
 * pipeline. Nothing waits for results from memory.
 */
static bool gpr_write_due(const wg_tile *t, unsigned thread, const wg_tts_access *a)
{
    if (!(a->resources & WG_TTS_GPR))
        return false;
    const wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    const wg_insn *scalar = wg_scalar_gpr_writer(t, thread), *config = wg_config_gpr_writer(t, thread);
    return (scalar && declared_gpr_writer(t, s, scalar)) || (config && declared_gpr_writer(t, s, config));
}

static bool access_held(const wg_auto_ttsync *s, const wg_tts_access *a)
{
    return a->resources && (s->arrived < a->order || first_before(s, a));
}

/* The access would be held, or would not, under the setting that software cannot rely on (TTS-17, TTS-20). */
static void report_doubt(wg_tile *t, const wg_auto_ttsync *s, unsigned thread, wg_path path, const wg_tts_access *a)
{
    uint8_t all = resources_under(t, (tracking){true, true, true, true, false}, path, a->address);
    for (unsigned i = 0; i < s->entries; i++) {
        const wg_tts_entry *e = entry_seen(s, i);
        if (e->order > a->order || !(e->doubt | a->unsettled))
            continue;
        bool held = conflict(e->reads, e->writes, a->resources, a->is_write);
        uint8_t resources = a->unsettled || (e->doubt & WG_TTS_DOUBT_TRACKING) ? all : a->resources;
        if (held == conflict(e->may_read, e->may_write, resources, a->is_write))
            continue;
        bool state = !(a->unsettled || (e->doubt & WG_TTS_DOUBT_TRACKING));
        wg_findf(t, state ? WG_F_TTSYNC_STATE_ID : WG_F_TTSYNC_UNSETTLED,
                 (wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_T0 + thread), .subject = a->address},
                 "the %s at 0x%08x and instruction %llu", a->is_write ? "store" : "load", a->address,
                 (unsigned long long)e->id);
        return;
    }
}

bool wg_ttsync_core_blocked(wg_tile *t, unsigned core, wg_path path, uint32_t address, bool is_write, wg_stall *why)
{
    int slot = path_slot(path);
    if (!t->arch->auto_ttsync || !is_t_core(core) || slot < 0)
        return false;
    unsigned thread = core - WG_CORE_T0;
    wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    if (!s->access_count[slot])
        return false;
    (void)address;
    (void)is_write;
    wg_tts_access *a = &s->access[slot][s->access_head[slot]];
    bool held = access_held(s, a), first = !a->asked;
    a->asked = true;
    if (first && s->entries)
        report_doubt(t, s, thread, path, a);
    if (!held && gpr_write_due(t, thread, a)) {
        *why =
            (wg_stall){WG_STALL_AUTO_TTSYNC_CORE, a->resources, (uint8_t)(WG_AGENT_THREAD0 + thread), t->sched.now + 1};
        s->core_stalls += first;
        return true;
    }
    if (!held)
        return false;
    if (first) {
        s->core_stalls++;
        const wg_tts_entry *e = first_before(s, a);
        if (e && a->resources == WG_TTS_GPR && e->gprs && !(e->gprs >> (a->address >> 2 & 63) & 1))
            s->spurious_stalls++;
    }
    *why = (wg_stall){WG_STALL_AUTO_TTSYNC_CORE, a->resources, (uint8_t)(WG_AGENT_THREAD0 + thread), WG_NEVER};
    return true;
}

/* The access that the instruction at the gate waits for; NULL: none. */
static const wg_tts_access *access_before(const wg_auto_ttsync *s, const wg_tts_entry *e)
{
    for (unsigned slot = 0; slot < WG_TTS_PATHS; slot++)
        for (unsigned i = 0; i < s->access_count[slot]; i++) {
            const wg_tts_access *a = access_at(s, slot, i);
            if (a->order < e->order && conflict(e->reads, e->writes, a->resources, a->is_write))
                return a;
        }
    return NULL;
}

/*
 * While an access holds the head, its linger time is ORed into a shift register each cycle; afterwards the register shifts
 * right each cycle and holds the head until it is 0. The highest bit of the linger time gives the number of extra cycles.
 */
bool wg_ttsync_gate_blocked(wg_tile *t, unsigned thread, wg_stall *why)
{
    wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    if (!s->entries)
        return false;
    const wg_tts_entry *e = entry_at(s, 0);
    const wg_tts_access *a = s->pending ? access_before(s, e) : NULL;
    uint64_t now = t->sched.now;
    if (a) {
        if (!s->stalled) {
            s->gate_stalls++;
            s->spurious_stalls += a->resources == WG_TTS_GPR && e->gprs && !(e->gprs >> (a->address >> 2 & 63) & 1);
        }
        s->stalled = true;
    } else if (s->stalled) {
        s->stalled = false;
        s->hold_until = now + (e->linger ? 32u - (unsigned)__builtin_clz(e->linger) : 0);
    } else if (s->wrote_at == now && s->wrote_order < e->order && conflict(e->reads, e->writes, s->wrote, true)) {
        s->hold_until = now + 1; /* the store executes in this cycle, and is visible from the next on (TTS-05) */
    }
    if (!a && now >= s->hold_until)
        return false;
    *why = (wg_stall){WG_STALL_AUTO_TTSYNC, (uint16_t)(e->reads | e->writes), (uint8_t)(WG_AGENT_CORE_T0 + thread),
                      a ? WG_NEVER : s->hold_until};
    return true;
}

bool wg_ttsync_requests_pending(const wg_tile *t, unsigned thread)
{
    const wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    if (!s->pending)
        return false;
    for (unsigned slot = 0; slot < WG_TTS_PATHS; slot++)
        if (s->access_count[slot] && !access_held(s, access_at(s, slot, 0)))
            return true;
    return false;
}

void wg_ttsync_load_overtakes(wg_tile *t, unsigned core, wg_path path, uint32_t address, uint32_t pc, uint32_t word)
{
    if (!t->arch->auto_ttsync || !is_t_core(core) || path_slot(path) < 0)
        return;
    unsigned thread = core - WG_CORE_T0;
    tracking k = tracking_of(t, thread);
    const wg_auto_ttsync *s = &t->frontend[thread].ttsync;
    const wg_isa_insn *record = wg_isa_decode(t->arch->id, word);
    touches w = touches_of(s, record, word, s->state_id, k.subdivided);
    if (w.writes & resources_under(t, k, path, address))
        wg_findf(t, WG_F_TTSYNC_LOAD_HOLE,
                 (wg_finding){.agent = (uint8_t)(WG_AGENT_CORE_B + core), .pc = pc, .has_pc = true, .subject = address},
                 "the load of 0x%08x leaves before the push of %s", address, record->name);
}
