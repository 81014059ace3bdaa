/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PIC at 0xFFB13000, one per architecture.
 *
 * BH: 32 software and 4 hardware IRQs, any of which may interrupt B or NC. A software IRQ is a word: raised if not zero;
 * reading it clears it. The NIUs raise hardware IRQs 1 and 2.
 *
 * WH: a set of pending IRQs to poll; no core is interrupted. Only the debug timestamper raises them.
 *
 * Facts: PIC.md of each architecture.
 */
#include "report/findings.h"
#include "machine/tile.h"

enum { /* BH */
       B_SW_EN = 0x00,
       B_HW_EN = 0x04,
       B_INT_NO = 0x08,
       NC_SW_EN = 0x0C,
       NC_HW_EN = 0x10,
       NC_INT_NO = 0x14,
       SW_INT = 0x18,
       HW_INT = 0x98,
       SW_INT_PC = 0xA8,
       HW_INT_PC = 0x128,
       PC_SNAPSHOT = 0x138,
       BH_END = 0x14C
};
enum { /* WH */
       PIC_STATUS = 0x00,
       PIC_NEXT_IRQ = 0x04,
       PIC_ENABLE = 0x08,
       PIC_CLKGT_EN = 0x0C,
       PIC_CLKGT_HYST = 0x10,
       PIC_STREAM_IRQ_TYPE = 0x14,
       WH_END = 0x34
};

static uint64_t raised_irqs(const wg_pic *p, unsigned core)
{
    uint32_t software = 0;
    for (unsigned i = 0; i < WG_PIC_SW; i++)
        software |= (uint32_t)(p->sw[i] != 0) << i;
    return (software & p->sw_enable[core]) | (uint64_t)(p->hw & p->hw_enable[core]) << WG_PIC_SW;
}

/* Chooses among the raised IRQs round-robin; the number stays readable until the next choice. */
static uint32_t take(wg_tile *t, unsigned core)
{
    wg_pic *p = &t->regions.control.pic;
    uint64_t raised = raised_irqs(p, core);
    unsigned irq = p->turn[core] % WG_PIC_IRQS;
    while (!(raised >> irq & 1))
        irq = (irq + 1) % WG_PIC_IRQS;
    p->number[core] = (uint8_t)irq;
    p->turn[core] = (uint8_t)((irq + 1) % WG_PIC_IRQS);
    return p->handler[irq];
}

/* An input of the interrupt logic has changed. */
static void update(wg_tile *t)
{
    wg_pic *p = &t->regions.control.pic;
    p->raised = (uint8_t)((raised_irqs(p, 0) != 0) | (raised_irqs(p, 1) != 0) << 1);
    if (p->raised)
        wg_arrive(&t->sched);
}

void wg_pic_arrivals(wg_tile *t)
{
    for (unsigned core = WG_CORE_B; core <= WG_CORE_NC; core++)
        if (t->regions.control.pic.raised >> core & 1 && !wg_core_in_interrupt(t, core) &&
            t->core[core].run.halt != WG_IN_RESET)
            wg_core_interrupt(t, core, take(t, core));
}

void wg_pic_returned(wg_tile *t)
{
    if (t->regions.control.pic.raised)
        wg_arrive(&t->sched);
}

void wg_pic_level(wg_tile *t, unsigned irq, bool raised)
{
    wg_pic *p = &t->regions.control.pic;
    p->hw = (p->hw & ~(UINT32_C(1) << irq)) | (uint32_t)raised << irq;
    update(t);
}

void wg_pic_edge(wg_tile *t, unsigned irq)
{
    wg_pic *p = &t->regions.control.pic;
    p->pending |= UINT32_C(1) << irq & p->enable;
}

static uint32_t read_bh(wg_tile *t, uint32_t offset)
{
    wg_pic *p = &t->regions.control.pic;
    if (offset >= PC_SNAPSHOT) {
        return wg_core_pc(t, (offset - PC_SNAPSHOT) / 4 % WG_CORES);
    }
    if (offset >= SW_INT_PC)
        return p->handler[(offset - SW_INT_PC) / 4 % WG_PIC_IRQS];
    if (offset >= HW_INT)
        return p->hw >> (offset - HW_INT) / 4 & 1;
    if (offset >= SW_INT) {
        uint32_t *irq = &p->sw[(offset - SW_INT) / 4 % WG_PIC_SW], value = *irq;
        *irq = 0;
        if (value)
            wg_poll_disturb(t);
        update(t);
        return value;
    }
    switch (offset) {
    case B_SW_EN: return p->sw_enable[0];
    case B_HW_EN: return p->hw_enable[0];
    case B_INT_NO: return p->number[0];
    case NC_SW_EN: return p->sw_enable[1];
    case NC_HW_EN: return p->hw_enable[1];
    default: return p->number[1];
    }
}

static void write_bh(wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    (void)agent;
    (void)pc;
    wg_pic *p = &t->regions.control.pic;
    if (offset >= PC_SNAPSHOT)
        return; /* read-only */
    if (offset >= SW_INT_PC)
        p->handler[(offset - SW_INT_PC) / 4 % WG_PIC_IRQS] = value;
    else if (offset >= HW_INT)
        return; /* no effect */
    else if (offset >= SW_INT)
        p->sw[(offset - SW_INT) / 4 % WG_PIC_SW] = value;
    else if (offset == B_SW_EN || offset == NC_SW_EN)
        p->sw_enable[offset == NC_SW_EN] = value;
    else if (offset == B_HW_EN || offset == NC_HW_EN)
        p->hw_enable[offset == NC_HW_EN] = value & 15;
    update(t);
}

static uint32_t next_irq(wg_tile *t)
{
    wg_pic *p = &t->regions.control.pic;
    for (unsigned i = 1; i <= 32; i++) {
        unsigned irq = (p->last_iterated + i) % 32;
        if (p->pending >> irq & 1) {
            p->last_iterated = (uint8_t)irq;
            wg_poll_disturb(t);
            return irq;
        }
    }
    return 0;
}

static uint32_t read_wh(wg_tile *t, uint32_t offset)
{
    wg_pic *p = &t->regions.control.pic;
    switch (offset) {
    case PIC_STATUS: return p->pending;
    case PIC_NEXT_IRQ: return next_irq(t);
    case PIC_ENABLE: return p->enable;
    case PIC_CLKGT_EN: return p->clkgt_en | 1 << 16; /* NC's clock always runs here */
    case PIC_CLKGT_HYST: return p->clkgt_hyst;
    default: return p->stream_type[(offset - PIC_STREAM_IRQ_TYPE) / 4 % 8];
    }
}

static void write_wh(wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    wg_pic *p = &t->regions.control.pic;
    switch (offset) {
    case PIC_STATUS: p->pending &= ~value; break;
    case PIC_NEXT_IRQ: break;
    case PIC_ENABLE: p->enable = value & 0x7FFFF; break;
    case PIC_CLKGT_EN:
        p->clkgt_en = value & 0x101;
        if (p->clkgt_en == 1)
            wg_findf(t, WG_F_UNIMPLEMENTED_REGISTER,
                     (wg_finding){.agent = (uint8_t)agent,
                                  .pc = pc,
                                  .has_pc = agent <= WG_AGENT_CORE_T2,
                                  .subject = 0xFFB1300C,
                                  .value = value},
                     "PIC_CLKGT_EN: NC's clock is never stopped");
        break;
    case PIC_CLKGT_HYST: p->clkgt_hyst = value & 0x7F; break;
    default: p->stream_type[(offset - PIC_STREAM_IRQ_TYPE) / 4 % 8] = value & 3; break;
    }
}

/* Each architecture's registers. */
static const struct registers {
    uint32_t end;
    uint32_t (*read)(wg_tile *t, uint32_t offset);
    void (*write)(wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc);
} registers[] = {
    [WG_ARCH_BH] = {BH_END, read_bh, write_bh},
    [WG_ARCH_WH] = {WH_END, read_wh, write_wh},
};

/* No register there: loads give 0, stores are discarded, both reported. */
static bool absent(wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc)
{
    if (offset < registers[t->arch->id].end)
        return false;
    wg_findf(
        t, WG_F_UNIMPLEMENTED_REGISTER,
        (wg_finding){
            .agent = (uint8_t)agent, .pc = pc, .has_pc = agent <= WG_AGENT_CORE_T2, .subject = 0xFFB13000 + offset},
        "no register of the PIC is known at 0x%08x", 0xFFB13000 + offset);
    return true;
}

uint32_t wg_pic_read(wg_tile *t, uint32_t offset, unsigned agent, uint32_t pc)
{
    if (absent(t, offset, agent, pc))
        return 0;
    return registers[t->arch->id].read(t, offset);
}

void wg_pic_write(wg_tile *t, uint32_t offset, uint32_t value, unsigned agent, uint32_t pc)
{
    if (absent(t, offset, agent, pc))
        return;
    registers[t->arch->id].write(t, offset, value, agent, pc);
}
