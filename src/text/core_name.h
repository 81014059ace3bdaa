/* SPDX-License-Identifier: Apache-2.0 */
/* The core that an ELF file is for, by the file's name. */
#ifndef WG_CORE_NAME_H
#define WG_CORE_NAME_H

/* "kernel.trisc1.elf", "math.elf": T1. WG_CORES: the name contains no core. */
unsigned wg_core_of_file_name(const char *path);

#endif
