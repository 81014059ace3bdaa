/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core's program from text: assembled, printed again from memory, and run. Core T0 multiplies, and pushes a Tensix
 * instruction.
 *
 *     assemble [broken]        broken: a mistake in line 3, and its message
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <waitgate/tools.h>

static const char source[] = "    li   a0, 6\n"
                             "    li   a1, 7\n"
                             "    mul  a0, a0, a1\n"
                             "    ttsetdmareg 0, 42, 0, 8\n"
                             "    beqz a0, end\n"
                             "    sw   a0, 0x100(zero)\n"
                             "end: ebreak\n";

int main(int argc, char **argv)
{
    const bool broken = argc > 1 && strcmp(argv[1], "broken") == 0;
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH, .profile = WG_PROFILE_DEFAULT};
    char text[sizeof source], line[WG_DIS_MAX], error[256], *messages = NULL;
    uint32_t product = 0, low = 0;
    wg_device *dev;
    wg_stop stop;

    strcpy(text, source);
    if (broken)
        memcpy(strstr(text, "mul "), "mull", 4);
    wg_elf *elf = wg_core_assemble(WG_ARCH_BH, "six_by_seven.s", text, 0x6000, &messages);
    if (!elf) {
        printf("%s", messages ? messages : "out of memory\n");
        wg_free(messages);
        return 1;
    }
    if (wg_create(&desc, &dev) != WG_OK || wg_elf_load(elf, dev, WG_CORE_T0, true, error, sizeof error) != WG_OK)
        return 1;
    for (uint32_t pc = wg_elf_entry(elf); pc < 0x6000 + 7 * 4; pc += 4) {
        uint32_t word;
        wg_read(dev, pc, &word, sizeof word);
        wg_core_disassemble(WG_ARCH_BH, pc, word, line, sizeof line);
        printf("0x%05x  %s\n", (unsigned)pc, line);
    }
    if (wg_run(dev, 10000, &stop) != WG_OK || stop != WG_STOP_DONE)
        return 1;
    wg_read(dev, 0x100, &product, sizeof product);
    wg_peek(dev, WG_SPACE_GPR, 4, &low);
    printf("the product is %u, and GPR 4 of thread 0 is %u\n", (unsigned)product, (unsigned)low);
    wg_elf_close(elf);
    wg_destroy(dev);
    return product != 42;
}
