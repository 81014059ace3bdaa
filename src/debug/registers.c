/* SPDX-License-Identifier: Apache-2.0 */
#include "debug/registers.h"

#include "machine/device.h"

#define X(name) \
    { \
        name, 4, 0 \
    }
#define V(n) \
    { \
        "v" #n, 16, 0 \
    }
static const wg_register_info registers[WG_REGISTERS] = {
    X("zero"), X("ra"),  X("sp"),  X("gp"),  X("tp"),   X("t0"),   X("t1"),  X("t2"),  X("fp"),   X("s1"),   X("a0"),
    X("a1"),   X("a2"),  X("a3"),  X("a4"),  X("a5"),   X("a6"),   X("a7"),  X("s2"),  X("s3"),   X("s4"),   X("s5"),
    X("s6"),   X("s7"),  X("s8"),  X("s9"),  X("s10"),  X("s11"),  X("t3"),  X("t4"),  X("t5"),   X("t6"),   X("pc"),
    X("ft0"),  X("ft1"), X("ft2"), X("ft3"), X("ft4"),  X("ft5"),  X("ft6"), X("ft7"), X("fs0"),  X("fs1"),  X("fa0"),
    X("fa1"),  X("fa2"), X("fa3"), X("fa4"), X("fa5"),  X("fa6"),  X("fa7"), X("fs2"), X("fs3"),  X("fs4"),  X("fs5"),
    X("fs6"),  X("fs7"), X("fs8"), X("fs9"), X("fs10"), X("fs11"), X("ft8"), X("ft9"), X("ft10"), X("ft11"), V(0),
    V(1),      V(2),     V(3),     V(4),     V(5),      V(6),      V(7),     V(8),     V(9),      V(10),     V(11),
    V(12),     V(13),    V(14),    V(15),    V(16),     V(17),     V(18),    V(19),    V(20),     V(21),     V(22),
    V(23),     V(24),    V(25),    V(26),    V(27),     V(28),     V(29),    V(30),    V(31),
#define WG_CSR(id, number, name) {name, 4, number},
#include "isa/csrs.def"
};

const wg_register_info *wg_register_at(unsigned number) { return &registers[number]; }

/* Its location for wg_peek() and wg_poke(), and its number of words; false: this core does not have it. */
static bool find(const wg_device *dev, unsigned core, unsigned number, wg_space *space, uint32_t *index)
{
    const unsigned extensions = dev->tile->spec->core[core].extensions;
    if (number < WG_REGISTER_PC) {
        *space = WG_SPACE_CORE_X;
        *index = core * 32 + number;
        return true;
    }
    if (number == WG_REGISTER_PC) {
        *space = WG_SPACE_CORE_PC;
        *index = core;
        return true;
    }
    if (number < WG_REGISTER_V) {
        *space = WG_SPACE_CORE_F;
        *index = core * 32 + number - WG_REGISTER_F;
        return extensions & WG_EXT_F;
    }
    if (number < WG_REGISTER_CSR) {
        *space = WG_SPACE_CORE_V;
        *index = (core * 32 + number - WG_REGISTER_V) * 4;
        return extensions & WG_EXT_V;
    }
    *space = WG_SPACE_CORE_CSR;
    *index = core << 12 | registers[number].csr;
    return extensions & WG_EXT_ZICSR;
}

bool wg_register_read(wg_device *dev, unsigned core, unsigned number, uint8_t bytes[16])
{
    wg_space space;
    uint32_t index, word;
    if (number >= WG_REGISTERS || core >= dev->tile->spec->cores || !find(dev, core, number, &space, &index))
        return false;
    for (uint32_t i = 0; i < registers[number].bytes; i += 4) {
        if (wg_peek(dev, space, index + i / 4, &word) != WG_OK)
            return false;
        for (unsigned k = 0; k < 4; k++)
            bytes[i + k] = (uint8_t)(word >> 8 * k);
    }
    return true;
}

bool wg_register_write(wg_device *dev, unsigned core, unsigned number, const uint8_t bytes[16])
{
    wg_space space;
    uint32_t index;
    if (number >= WG_REGISTERS || core >= dev->tile->spec->cores || !find(dev, core, number, &space, &index))
        return false;
    for (uint32_t i = 0; i < registers[number].bytes; i += 4) {
        uint32_t word = 0;
        for (unsigned k = 0; k < 4; k++)
            word |= (uint32_t)bytes[i + k] << 8 * k;
        if (wg_poke(dev, space, index + i / 4, word) != WG_OK)
            return false;
    }
    return true;
}
