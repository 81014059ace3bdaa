/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control units alone (Configuration, Scalar, Miscellaneous Unit, Mover): check, accept and tick of a stream of one
 * instruction from one thread. Prints nanoseconds of processor time per instruction, per 16 bytes for the Mover.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "backend/config.h"
#include "backend/misc.h"
#include "backend/mover.h"
#include "backend/scalar.h"
#include "machine/device.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void tick_if_due(wg_tile *t, const wg_unit_ops *unit)
{
    if (t->sched.next[unit->agent] > t->sched.now)
        return;
    t->sched.next[unit->agent] = WG_NEVER;
    unit->tick(t);
}

static bool cycle(wg_tile *t, const wg_unit_ops *unit, const wg_insn *insn)
{
    wg_stall why;
    t->sched.phase = WG_PHASE_COMPLETIONS;
    tick_if_due(t, unit);
    t->sched.phase = WG_PHASE_GATES;
    bool passes = !(unit->holds && unit->holds(t, insn->thread, &why)) && unit->check(t, insn, &why);
    if (passes)
        unit->accept(t, insn);
    t->sched.now++;
    return passes;
}

static void measure(wg_tile *t, const wg_unit_ops *unit, const char *name, uint32_t word, unsigned count, double per)
{
    const wg_isa_insn *isa = wg_isa_decode(t->arch->id, word);
    wg_insn insn = {.word = word, .id = 1, .unit = isa->unit, .op = (uint16_t)isa->id};
    double best = 1e9;
    for (unsigned repeat = 0; repeat < 5; repeat++) {
        double start = seconds();
        for (unsigned done = 0; done < count;)
            done += cycle(t, unit, &insn);
        double taken = (seconds() - start) / count / per * 1e9;
        best = taken < best ? taken : best;
    }
    printf("control_%s %.3f ns\n", name, best);
}

int main(void)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH};
    wg_device *dev;
    if (wg_create(&desc, &dev) != WG_OK)
        return 1;
    wg_tile *t = dev->tile;
    enum { MANY = 400000, UNITS = 256 };
    measure(t, &wg_config_unit, "setc16", 0xB2050001, MANY, 1);
    measure(t, &wg_config_unit, "wrcfg", 0xB0010014, MANY, 1);
    measure(t, &wg_config_unit, "rmwcib", 0xB3FF1114, MANY, 1);
    measure(t, &wg_config_unit, "rdcfg", 0xB1010014, MANY, 1);
    measure(t, &wg_scalar_unit, "setdmareg", 0x45123404, MANY, 1);
    measure(t, &wg_scalar_unit, "adddmareg", 0x58003001, MANY, 1);
    measure(t, &wg_scalar_unit, "loadind", 0x49400500, MANY / 4, 1);
    measure(t, &wg_misc_unit, "setadcxy", 0x51200FC1, MANY, 1);
    const wg_cfg_field *f = wg_cfg_fields[WG_ARCH_BH];
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Destination_address], t->regs.config.bank[0], 4096);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Buffer_size], t->regs.config.bank[0], UNITS);
    wg_cfg_insert(&f[WG_CFG_THCON_SEC0_REG6_Transfer_direction], t->regs.config.bank[0], WG_XMOV_L1_TO_L1);
    measure(t, &wg_mover_unit, "xmov_16_bytes", 0x40000000, MANY / UNITS, UNITS);
    wg_destroy(dev);
    return 0;
}
