/* SPDX-License-Identifier: Apache-2.0 */
#include "text/finding_words.h"

#include <stdio.h>

#include "report/findings.h"

const char *wg_format_name(unsigned format)
{
    static const char *const names[16] = {"FP32",  "FP16",  "BFP8a", "BFP4a", "TF32",    "BF16",    "BFP8", "BFP4",
                                          "INT32", "INT16", "FP8",   "BFP2a", "code 12", "code 13", "INT8", "BFP2"};
    return names[format & 15];
}

static char src_file(uint64_t bank) { return bank & 2 ? 'B' : 'A'; }

static int say(const wg_finding *f, char *room, size_t bytes)
{
    unsigned subject = (unsigned)f->subject, value = (unsigned)f->value;
    switch ((wg_finding_code)f->code) {
    case WG_F_UNPACK_FORMAT:
        return snprintf(room, bytes, "Unpacker %u cannot turn %s into %s", value, wg_format_name(subject >> 4),
                        wg_format_name(subject));
    case WG_F_PACK_FORMAT:
        return snprintf(room, bytes,
                        "Packer %u: Dst holds %s, read as %u bits, In_data_format is %s, Out_data_format is %s", value,
                        wg_format_name(subject >> 8), subject >> 12 ? 32 : 16, wg_format_name(subject >> 4),
                        wg_format_name(subject));
    case WG_F_PACK_ACCUMULATE: return snprintf(room, bytes, "Packer %u packs %s", value, wg_format_name(subject));
    case WG_F_PACK_RELU: return snprintf(room, bytes, "Packer %u: the threshold is 0x%04x", value, subject);
    case WG_F_PACK_THRESHOLD: return snprintf(room, bytes, "Packer %u", subject);
    case WG_F_PACK_COUNT: return snprintf(room, bytes, "X is %u in channel 0 and %u in channel 1", subject, value);
    case WG_F_PACK_MASK: return snprintf(room, bytes, "the mask is 0x%x", subject);
    case WG_F_PACK_ADDRESS: return snprintf(room, bytes, "Packer %u, at 0x%x of L1", value, subject);
    case WG_F_UNPACK_ADDRESS: return snprintf(room, bytes, "Unpacker %u, at 0x%x of L1", value, subject);
    case WG_F_UNPACK_EXPONENT: return snprintf(room, bytes, "Unpacker %u reads %s", value, wg_format_name(subject));
    case WG_F_UNPACK_ROW: return snprintf(room, bytes, "Unpacker %u, row %u", value, subject);
    case WG_F_UNPACK_BURST: return snprintf(room, bytes, "%u rows from row %u on", value, subject);
    case WG_F_UNPACK_UNSIGNED: return snprintf(room, bytes, "Unpacker %u", subject);
    case WG_F_UNPACK_BOTH_BANKS:
    case WG_F_SRC_GIVEN_TWICE: return snprintf(room, bytes, "Src%c bank %u", src_file(subject), subject & 1);
    case WG_F_UNPACK_REGISTER:
    case WG_F_PACK_SETREG: return snprintf(room, bytes, "the address is 0x%x", subject);
    case WG_F_SETDVALID_FORMAT: return snprintf(room, bytes, "Src%c: %s", subject ? 'B' : 'A', wg_format_name(value));
    case WG_F_MATRIX_FORMAT: return snprintf(room, bytes, "the format is %s", wg_format_name(subject));
    case WG_F_CONFIG_RDCFG_LOST: return snprintf(room, bytes, "of GPR %u", subject);
    case WG_F_CONFIG_OVERTAKES: return snprintf(room, bytes, "configuration word %u", subject);
    case WG_F_CONFIG_OFFSET: return snprintf(room, bytes, "the offset is 0x%x", subject);
    case WG_F_TDMA_FIFO_EMPTY: return snprintf(room, bytes, "of packer %u", subject);
    default: room[0] = 0; return 0;
    }
}

const char *wg_finding_words(wg_arch_id arch, const wg_finding *f, char *room, size_t bytes)
{
    (void)arch;
    int used = say(f, room, bytes);
    if (used >= 0 && (size_t)used < bytes && f->detail[0])
        snprintf(room + used, bytes - (size_t)used, used ? " (%s)" : "%s", f->detail);
    return room;
}

#define OF_UNPACKER(u, name) ((u) ? WG_CFG_THCON_SEC1_##name : WG_CFG_THCON_SEC0_##name)
#define OF_PACKER(p, name) \
    ((const wg_cfg_id[]){WG_CFG_THCON_SEC0_REG1_##name, WG_CFG_THCON_SEC0_REG8_##name, WG_CFG_THCON_SEC1_REG1_##name, \
                         WG_CFG_THCON_SEC1_REG8_##name}[(p)&3])

static unsigned add(wg_arch_id arch, wg_finding_field *out, unsigned n, wg_cfg_id id, uint32_t mask, const char *what)
{
    const wg_cfg_field *field = &wg_cfg_fields[arch][id];
    out[n] = (wg_finding_field){
        .id = id, .mask = mask ? mask : field->mask << field->shift, .word = field->word, .what = what};
    return n + wg_cfg_present(field);
}

unsigned wg_finding_fields(wg_arch_id arch, const wg_finding *f, wg_finding_field *out)
{
    unsigned n = 0, value = (unsigned)f->value;
    switch ((wg_finding_code)f->code) {
    case WG_F_UNPACK_FORMAT: /* the format is the lowest four bits of the tile descriptor */
        n = add(arch, out, n, OF_UNPACKER(value, REG0_TileDescriptor), 15, "the input format");
        return add(arch, out, n, OF_UNPACKER(value, REG2_Out_data_format), 0, "the output format");
    case WG_F_PACK_FORMAT:
        n = add(arch, out, n, WG_CFG_ALU_FORMAT_SPEC_REG2_Dstacc, 0, "the format of Dst");
        n = add(arch, out, n, OF_PACKER(value, In_data_format), 0, "the input format");
        return add(arch, out, n, OF_PACKER(value, Out_data_format), 0, "the output format");
    case WG_F_PACK_ACCUMULATE: return add(arch, out, n, OF_PACKER(value, Out_data_format), 0, "the output format");
    case WG_F_MATRIX_FORMAT: return add(arch, out, n, WG_CFG_ALU_FORMAT_SPEC_REG0_SrcA, 0, "the format of SrcA");
    default: return 0;
    }
}
