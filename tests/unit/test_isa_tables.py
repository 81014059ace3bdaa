#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a dump of our ISA tables with the shared data files, field by field.

usage: test_isa_tables.py insns|config|registers bh|wh DUMP DATA_FOLDER

A difference that is a ruling of ours is listed below; any other fails.
"""
import json
import sys

try:
    import yaml
except ImportError:
    yaml = None

# (architecture, instruction, lowest bit) -> our width, where it is not the ISA table's.
WIDTH_RULINGS = {
    ("wh", "UNPACR_NOP", 0): 23,    # the SETREG and OverlayClear pages use [22:0]; the table stops at bit 4
}
# Our name for an assembly-table name that differs between the architectures only in spelling.
NAME_RULINGS = {"zmask_lo16_or_loop_count": "zmask_lo16"}
# A TileDescriptor has 128 bits (TTS-13); the table has its first word.
WIDE = {"THCON_SEC0_REG0_TileDescriptor", "THCON_SEC1_REG0_TileDescriptor"}
# The overlay's documented range; the table has its first byte.
RANGE_RULINGS = {"noc_overlay": (0xFFB40000, 0xFFB7FFFF)}

problems = []


def check(condition, text):
    if not condition:
        problems.append(text)


def assembly(path):
    """Opcodes and start bits of the assembly table; None without a YAML library."""
    if yaml is None:
        print(f"SKIPPED: python3 has no yaml module; {path} not compared")
        return None
    out = {}
    for name, record in yaml.safe_load(open(path)).items():
        args = {a["name"].replace(" ", "_"): a["start_bit"] for a in record.get("arguments") or []}
        out[name] = {"opcode": record["op_binary"], "args": {NAME_RULINGS.get(a, a): b for a, b in args.items()}}
    return out


def insns(arch, dump, data):
    ours = {i["name"]: i for i in json.load(open(dump))}
    table = json.load(open(f"{data}/isa_{arch}.json"))
    source = assembly(f"{data}/assembly_{arch}.yaml")
    check(set(ours) == set(table), f"instructions differ: {set(ours) ^ set(table)}")
    check(source is None or set(ours) == set(source), "instructions differ from the assembly table")
    for name in sorted(set(ours) & set(table)):
        mine, theirs = ours[name], table[name]
        check(mine["opcode"] == theirs["opcode"], f"{name}: opcode")
        operands = [o for o in mine["operands"] if o.get("syntax", True)]
        if source is not None:
            check(mine["opcode"] == source[name]["opcode"], f"{name}: opcode in the assembly table")
            check({o["name"]: o["lo"] for o in operands} == source[name]["args"], f"{name}: operands {operands}")
        check(operands == sorted(operands, key=lambda o: -o["lo"]), f"{name}: operand order")
        by_bit = {o["lo"]: o for o in operands}
        for field, bits in (theirs.get("args") or {}).items():
            hi, lo = map(int, bits.split(":"))
            width = WIDTH_RULINGS.get((arch, name, lo), hi - lo + 1)
            check(lo in by_bit and by_bit[lo]["width"] == width, f"{name}.{field}: {bits} against {by_bit.get(lo)}")
    return len(ours)


def config(arch, dump, data):
    ours = {}
    for line in open(dump):
        space, name, word, shift, width = line.split()
        ours[space, name] = (int(word), int(shift), int(width))
    theirs = {}
    for space, words in json.load(open(f"{data}/cfg_{arch}.json")).items():
        for word, fields in words.items():
            for f in fields:
                width = 128 if f["name"] in WIDE else f["size"]
                theirs[space, f["name"]] = (int(word), f["shift"], width)
    for key in sorted(set(ours) | set(theirs)):
        check(ours.get(key) == theirs.get(key), f"{key}: {ours.get(key)} against {theirs.get(key)}")
    return len(ours)


def registers(arch, dump, data):
    regions, ours = {}, {}
    for line in open(dump):
        part = line.split()
        if part[0] == "region":
            regions[part[1]] = (int(part[2], 16), int(part[3], 16))
        else:
            ours[part[1], part[2]] = tuple(part[3:])
    table = json.load(open(f"{data}/tile_{arch}.json"))
    theirs = {m["name"]: RANGE_RULINGS.get(m["name"], (int(m["base"], 16), int(m["limit"], 16)))
              for m in table["address_map"]}
    check(regions == theirs, f"address map: {set(regions.items()) ^ set(theirs.items())}")
    lists = {"riscv_tdma_regs": "TDMA", "riscv_debug_regs": "DEBUG", "eth_risc_ctrl": "ETH_RISC", "noc_regs": "NIU",
             "noc_overlay_stream": "STREAM", "tensix_pc_buf": "PCBUF", "eth_txq": "ETH_TXQ", "eth_rxq": "ETH_RXQ",
             "eth_ctrl_regs": "ETH_CTRL", "eth_txpkt_cfg": "ETH_TXPKT", "eth_mac_regs": "ETH_MAC", "dbi": "PCIE_DBI",
             "reset_unit": "ARC_RESET"}
    theirs = {}
    for group in table["regs"]:
        for r in group["regs"]:
            count = r.get("array_size", 1)
            theirs[lists[group["name"]], r["name"]] = (
                str(int(r["offset"], 16)), r["rw"] or "unknown",
                str(int(r["reset_value"], 16)) if r["reset_value"] is not None else "none",
                str(count), str(int(r["array_stride"], 16)) if count > 1 else "0")
    for key in sorted(set(ours) | set(theirs)):
        check(ours.get(key) == theirs.get(key), f"{key}: {ours.get(key)} against {theirs.get(key)}")
    return len(ours)


def main():
    what, arch, dump, data = sys.argv[1:]
    count = {"insns": insns, "config": config, "registers": registers}[what](arch, dump, data)
    for p in problems[:20]:
        print(f"{what} {arch}: {p}")
    print(f"{what} {arch}: {count} records compared, {len(problems)} differences")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
