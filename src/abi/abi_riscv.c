/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/abi_riscv.h"

#include <dlfcn.h>
#include <string.h>
#include <waitgate/tools.h>

#include "abi/abi_beside.h"

/* The library stays loaded: it is the process's, as the ABI is. */
bool wg_abi_riscv_text(uint32_t pc, uint32_t word, char *out, size_t size)
{
    static bool tried;
    static __typeof__(wg_core_disassemble) *disassemble;
    if (!tried) {
        void *library = wg_abi_load_beside("libwaitgate_tools.so.0");
        tried = true;
        if (library) /* dlsym() returns data pointers; ISO C has no other conversion from them to function pointers */
            *(void **)&disassemble = dlsym(library, "wg_core_disassemble");
    }
    if (!disassemble)
        return false;
    disassemble(WG_ARCH_BH, pc, word, out, size); /* RISC-V text is the same for both architectures */
    return strncmp(out, ".word", 5) != 0;
}
