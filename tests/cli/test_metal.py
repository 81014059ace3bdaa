#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of tt-metal without its host: our own firmware and kernels (tests/metal), launched from chip files."""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

CORES = ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"]
PAGE = 512


class Kit:
    """Firmware and kernels of one architecture, compiled once each."""

    def __init__(self, waitgate, root, headers, arch, folder, *defines):
        self.base, self.defines = (waitgate, root, headers, arch), defines
        self.waitgate, self.arch, self.folder = waitgate, arch, folder
        self.source, self.headers = root / "tests/metal", [root / "tests/metal", root / "examples/common", headers]
        self.built = {}
        self.l1_banks = 130 if arch == "bh" else 72  # of a chip with one harvested column or row; firmware uses it
        for i, core in enumerate(CORES):
            self.firmware(i, core)

    def compile(self, core, out, *args):
        bases = {name: 0x4000 + 0x800 * i for i, name in enumerate(["B", "NC", "T0", "T1", "T2"])}
        subprocess.run(
            ["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-O2", "-g", "-Wall", "-Wextra", "-Werror",
             "-ffreestanding", "-nostdlib", "-msmall-data-limit=0", "--param=min-pagesize=0", f"-DWG_ARCH_{self.arch.upper()}",
             f"-DCORE_{core.upper()}", f"-DL1_BANKS={self.l1_banks}", *self.defines,
             *[f"-DFIRMWARE_{n}={b:#x}" for n, b in bases.items()], *[f"-I{h}" for h in self.headers],
             "-Wl,--no-warn-rwx-segments", "-Wl,-z,max-page-size=16", *map(str, args), "-lgcc", "-o", str(out)], check=True)

    def firmware(self, i, core):
        ram = (8192 if i < 2 else 4096) // (1 if self.arch == "bh" else 2)
        out = self.folder / f"fw_{core}.elf"
        self.compile(core, out, f"-Wl,--defsym=__base={0x4000 + 0x800 * i:#x}", f"-Wl,--defsym=__ram={ram}", "-T",
                     self.source / "firmware.ld", self.headers[1] / "crt.S", self.source / "firmware.c")
        # Kernels take its addresses, and define functions of the same names.
        subprocess.run(["riscv64-unknown-elf-objcopy", "--weaken", out, self.folder / f"sym_{core}.elf"], check=True)

    def kernel(self, name, core, *defines):
        key = "_".join([name, core, *defines]).replace("=", "")
        if key not in self.built:
            self.compile(core, self.folder / f"{key}.elf", *[f"-D{d}" for d in defines], "-Wl,--emit-relocs",
                         f"-Wl,--just-symbols={self.folder}/sym_{core}.elf", "-T", self.source / "kernel.ld",
                         self.source / "kernel_start.c", self.source / f"{name}.c")
            self.built[key] = f"{key}.elf"
        return self.built[key]

    def file(self, name, metal, **top):
        """A chip file with this section `metal`, firmware and the place of NC's kernels added."""
        layout = {"nc_iram": 0, "l1_banks": self.l1_banks, **metal.get("layout", {})}
        whole = {"arch": self.arch, "max-cycles": 4_000_000, **top,
                 "metal": {"firmware": {c: f"fw_{c}.elf" for c in CORES}, **metal, "layout": layout}}
        path = self.folder / f"{name}.yaml"
        path.write_text(json.dumps(whole, indent=1))  # JSON is YAML
        return path

    def run(self, path, *args, command="run"):
        run = subprocess.run([self.waitgate, command, path, *args], capture_output=True, text=True, timeout=300)
        return run.returncode, run.stdout + run.stderr


def pages(count, first=0):
    return b"".join(struct.pack("<I", first + i) for i in range(count * PAGE // 4))


def pipeline(kit, at=((0, 0),), per_tile=6, reader=(), compute=(), writer=(), change=0, cb_pages=2, **more):
    """DRAM ─► NC ─► CB 0 ─► T2 ─► CB 1 ─► B ─► DRAM, on each of the tiles."""
    at = [list(place) for place in at]
    total = per_tile * len(at)
    data = pages(total)
    values = struct.unpack(f"<{len(data) // 4}I", data)
    (kit.folder / "in.bin").write_bytes(data)
    (kit.folder / "golden.bin").write_bytes(struct.pack(f"<{len(values)}I", *[v * 2 if change else v + 1 for v in values]))
    spread = [["in", per_tile * i, per_tile] for i in range(len(at))]
    return {
        "buffers": [
            {"name": "in", "memory": "dram", "bytes": len(data), "page": PAGE, "file": "in.bin"},
            {"name": "out", "memory": "dram", "bytes": len(data), "page": PAGE, "expect": "golden.bin"}],
        "programs": [{
            "kernels": [
                {"core": "ncrisc", "elf": kit.kernel("reader", "ncrisc", *reader), "at": at, "common-args": [PAGE],
                 "tile-args": spread},
                {"core": "trisc2", "elf": kit.kernel("compute", "trisc2", *compute), "at": at, "common-args": [PAGE],
                 "args": [per_tile, change]},
                {"core": "brisc", "elf": kit.kernel("writer", "brisc", *writer), "at": at, "noc": 1,
                 "common-args": [PAGE], "tile-args": [["out", *rest[1:]] for rest in spread]}],
            "circular-buffers": [{"id": i, "bytes": cb_pages * PAGE, "page": PAGE, "at": at} for i in (0, 1)],
            "semaphores": [], **more}]}


def expect(what, condition, output):
    if not condition:
        raise AssertionError(f"{what}:\n{output}")


def test_one_tile(kit):
    status, out = kit.run(kit.file("one", pipeline(kit)))
    expect("one tile", status == 0 and "buffer out: 3072 values as expected" in out, out)


def test_many_tiles_and_programs(kit):
    """Twelve tiles; then the same kernels with another change: relocated addresses differ per core and program."""
    at = [[x, y] for y in range(3) for x in range(4)]
    metal = pipeline(kit, at, per_tile=5)
    metal["buffers"].append({"name": "second", "memory": "dram", "bytes": len(at) * 5 * PAGE, "page": PAGE,
                             "expect": "twice.bin"})
    again = json.loads(json.dumps(metal["programs"][0]).replace('"out"', '"second"'))
    again["kernels"][1]["args"] = [5, 1]
    metal["programs"].append(again)
    values = struct.unpack(f"<{len(at) * 5 * PAGE // 4}I", pages(len(at) * 5))
    (kit.folder / "twice.bin").write_bytes(struct.pack(f"<{len(values)}I", *[2 * v for v in values]))
    status, out = kit.run(kit.file("many", metal), "--json")
    report = json.loads(out)
    expect("many tiles", status == 0 and [b["differ"] for b in report["metal"]["buffers"]] == [0, 0], out)
    expect("two programs", len(report["metal"]["programs"]) == 2 and
           all(p["cycles"] > 0 for p in report["metal"]["programs"]), out)


def test_wrong_result(kit):
    metal = pipeline(kit)
    (kit.folder / "golden.bin").write_bytes(pages(6))
    status, out = kit.run(kit.file("wrong", metal))
    expect("a wrong result is status 1, and its first value is shown",
           status == 1 and "values differ; byte 0 is 0x01, not 0x00" in out, out)


def test_whole_chip(kit):
    """Every tile boots; harvested ones are skipped, and logical coordinates follow."""
    harvested = [3] if kit.arch == "bh" else [2]
    metal = pipeline(kit, [(0, 0), (6, 7)])
    status, out = kit.run(kit.file("whole", metal, harvested=harvested))
    expect("a harvested chip", status == 0 and "as expected" in out, out)
    metal = pipeline(kit, [(13, 9) if kit.arch == "bh" else (7, 9)])
    status, out = kit.run(kit.file("whole", metal))
    expect("the last tile", status == 0, out)
    status, out = kit.run(kit.file("whole", metal, harvested=harvested))
    expect("a place that is not there", status == 6 and "there is no Tensix tile at column" in out, out)


def test_counted_args(kit):
    """Firmware that has the Watcher's assertions finds the number of arguments before them."""
    with tempfile.TemporaryDirectory() as folder:
        watched = Kit(*kit.base, pathlib.Path(folder), "-DWATCHED")
        status, out = watched.run(watched.file("watched", pipeline(watched, [(0, 0), (2, 1)])))
        expect("arguments are counted", status == 0 and "buffer out: 6144 values as expected" in out, out)


def test_core_info(kit):
    """The data about the chip that a tile receives: valid addresses and coordinates, and a Watcher without errors."""
    mailboxes, info = (0x530, 0xAD0) if kit.arch == "bh" else (0x4E0, 0xA00)
    harvested = 3 if kit.arch == "bh" else 2
    metal = {"buffers": [
        {"name": "info", "memory": "shards", "bytes": 248, "at": [[2, 1]], "address": info, "dump": "info.bin"},
        {"name": "watcher", "memory": "shards", "bytes": 96, "at": [[2, 1]], "address": mailboxes, "dump": "watcher.bin"}]}
    status, out = kit.run(kit.file("info", metal, harvested=[harvested]))
    expect("the firmware boots", status == 0, out)
    got, found = ((kit.folder / name).read_bytes() for name in ("info.bin", "watcher.bin"))
    entries = lambda at, count: [tuple(got[at + 3 * i:at + 3 * i + 3]) for i in range(count)]
    places, translated, nothing = entries(32, 35), entries(137, 29), (255, 255, 6)
    if kit.arch == "bh":
        addresses = [0, 0x13FFFFFFFFFFFFFF, 0, 0xFF000000]
        wanted = {(x, 25, 1) for x in range(20, 32)} | {(19, 24, 2)} | \
            {(x, 12 + 3 * i + port, 3) for x in (17, 18) for i in range(4) for port in ((0, 1) if x == 17 and i else (2, 1))}
        gone, tail = [3, 255, 16, 255], [17, 12, 13, 10, 2, 1]
        expect("no place is told", places == [nothing] * 35, places)
    else:
        addresses = [0x800000000, 0x8FFFDFFFF, 0, 0x80000000]
        wanted = {(x, y, 1) for x in range(18, 26) for y in (16, 17)} | {nothing}
        gone, tail = [2, 255, 27, 255], [10, 12, 8, 9, 2, 1]
        kinds = {kind: sum(p[2] == kind for p in places) for kind in (1, 2, 3)}
        expect("places", kinds == {1: 16, 2: 1, 3: 18} and {(0, 3, 2), (5, 11, 3), (9, 6, 1)} <= set(places), places)
    expect("addresses", list(struct.unpack("<4Q", got[:32])) == addresses, got[:32].hex())
    expect("coordinates", set(translated) == wanted, translated)
    expect("harvested, and the chip's shape", list(got[224:228]) == gone and list(got[228:234]) == tail, got[224:].hex())
    expect("nothing is found", [found[i] for i in (42, 66, 82)] == [2, 2, 2], found.hex())


def test_memories(kit):
    """Buffers in L1: the pages of an interleaved one are where the formula puts them; shards are consecutive."""
    tiles = [[1, 0], [0, 1], [2, 2]]
    words = list(range(3 * 32))
    metal = {"buffers": [
        {"name": "shards", "memory": "shards", "bytes": 384, "page": 128, "at": tiles, "words": words, "dump": "s.bin"},
        {"name": "spread", "memory": "l1", "bytes": 384, "page": 48, "words": words, "dump": "l.bin"},
        {"name": "fixed", "memory": "dram", "address": 0x200000, "bytes": 4, "words": [7]}],
        "workers": tiles}
    columns = [1, 2, 3] if kit.arch == "bh" else [1, 2, 3]
    first = 2 if kit.arch == "bh" else 1
    where = 0x180000 - 128 if kit.arch == "bh" else 0x16E000 - 128
    top = {"tiles": [{"at": [columns[x], first + y], "dump": [{"address": where, "length": 128, "file": f"{x}-{y}.bin"}]}
                     for x, y in tiles] +
                    [{"at": [0, 0] if kit.arch == "bh" else [0, 11],
                      "dump": [{"address": 0x200000, "length": 4, "file": "dram.bin"}]}]}
    status, out = kit.run(kit.file("memories", metal, **top))
    expect("memories", status == 0, out)
    data = struct.pack("<96I", *words)
    read = lambda name: (kit.folder / name).read_bytes()
    expect("dumps equal what was written", read("s.bin") == data and read("l.bin") == data, out)
    for i, (x, y) in enumerate(tiles):
        expect(f"shard {i}", read(f"{x}-{y}.bin") == data[128 * i:128 * (i + 1)], out)
    expect("bank 0 of DRAM", read("dram.bin") == b"\7\0\0\0", out)


def test_errors(kit):
    good = pipeline(kit)
    for change, words in [
            (lambda m: m["layout"].update(mailboxs=3), "the layout has no item `mailboxs`"),
            (lambda m: m["programs"][0]["kernels"][0].update(core="brisc"), "two kernels for core 0"),
            (lambda m: m["programs"][0]["kernels"][0]["tile-args"][0].append("nowhere"), "there is no buffer of this name"),
            (lambda m: m["programs"][0]["kernels"][0].update(elf="fw_ncrisc.elf"), "--emit-relocs"),
            (lambda m: m["programs"][0]["kernels"][0]["tile-args"].append([1]), "2 lists for 1 tiles"),
            (lambda m: m["programs"][0]["circular-buffers"][0].update(bytes=700), "whole pages"),
            (lambda m: m["buffers"][0].update(address=0xFFFFF000), "does not fit into its banks"),
            (lambda m: m["buffers"].append(dict(m["buffers"][0])), "there is a buffer `in` already"),
            (lambda m: m["firmware"].pop("ncrisc"), "firmware is for all five cores"),
            (lambda m: m.update(workers=[[1, 1]]), "no firmware runs on a tile at column 0, row 0")]:
        path = kit.file("error", json.loads(json.dumps(good)))
        whole = json.loads(path.read_text())
        change(whole["metal"])
        path.write_text(json.dumps(whole, indent=1))
        status, out = kit.run(path)
        expect(f"an error with `{words}`", status == 6 and words in out and "error.yaml:" in out, out)


def verdict(out):
    """The first paragraph of a hang report, on one line."""
    return " ".join(out.split("\n\n")[1].split())


def hangs(kit, name, metal, *words):
    status, out = kit.run(kit.file(name, metal))
    expect(f"{name} hangs", status == 3, out)
    for w in words:
        expect(f"{name}: the verdict says `{w}`", w in verdict(out), out)
    return out


def test_hang_missing_push(kit):
    hangs(kit, "missing_push", pipeline(kit, reader=["NO_PUSH"]),
          "Core T2 at compute.c:25 waits for 1 page of circular buffer 0, which has none; core NC pushed 5 of 6, the last "
          "at reader.c:25 in cycle", "its kernel has ended. Behind it, core B at writer.c:13 waits for 1 page of circular "
          "buffer 1", "Push as many pages as are waited for")


def test_hang_wrong_count(kit):
    hangs(kit, "wrong_count", pipeline(kit, per_tile=5, writer=["WRITE_AT_ONCE=2"]),
          "Core B at writer.c:13 waits for 2 pages of circular buffer 1, which has 1 page; core T2 pushed 5 of 6")
    hangs(kit, "too_many", pipeline(kit, writer=["WRITE_AT_ONCE=3"]),
          "Core B at writer.c:13 waits for 3 pages of circular buffer 1, which has 2 pages; the buffer has 2 pages in all",
          "core T2 at compute.c:26 waits for space for 1 page in circular buffer 1, where 2 of 2 are occupied",
          "Give the circular buffer at least as many pages")


def test_hang_unconfigured_buffer(kit):
    metal = pipeline(kit)
    metal["programs"][0]["circular-buffers"].pop()
    hangs(kit, "unconfigured", metal, "of circular buffer 1", "the program has no circular buffer 1 on this tile",
          "Give the program a circular buffer with this number on this tile")


def test_hang_too_many_pushes(kit):
    hangs(kit, "pushes", pipeline(kit, reader=["PUSH_AT_ONCE=2"]),
          "Core NC at reader.c:", "waits for space for 1 page in circular buffer 0", "its kernel has ended",
          "Of circular buffer 0, 8 pages were pushed and 6 popped: pop as many as are pushed (cb_pop_front), or push "
          "(cb_push_back) as many as are popped")


def test_hang_before_the_first_pop(kit):
    """The consumer of buffer 0 waits for something else before it pops for the first time."""
    metal = pipeline(kit, compute=["WAITS_FOR=3"])
    metal["programs"][0]["circular-buffers"].append({"id": 3, "bytes": PAGE, "page": PAGE, "at": [[0, 0]]})
    out = hangs(kit, "first_pop", metal, "Core T2 at compute.c:22 waits for 1 page of circular buffer 3, which has none",
                "Behind it, core B at writer.c:13 waits for 1 page of circular buffer 1")
    expect("the reader waits for T2, too", "space in circular buffer 0 -> core T2: core T2, which would do so at compute.c:33, "
           "has not popped a page yet" in out, out)


def test_hang_wrong_cores(kit):
    for kernel, words in [
            (2, "no page was ever popped; kernels run on this tile's cores NC and T2, and no other"),
            (0, "no page was ever pushed; kernels run on this tile's cores B and T2, and no other")]:
        metal = pipeline(kit, [(0, 0), (1, 0)])
        one = metal["programs"][0]["kernels"][kernel]
        one["at"], one["tile-args"] = one["at"][:1], one["tile-args"][:1]
        out = hangs(kit, "wrong_cores", metal, words, "check the kernel's range of cores")
        expect("only the tile that hangs is reported", out.count("\ntile ") == 1, out)


def signal(kit, *defines):
    return {"buffers": [{"name": "word", "memory": "shards", "bytes": 64, "at": [[2, 3]]},
                        {"name": "sum", "memory": "shards", "bytes": 4, "at": [[2, 3]], "expect": "sum.bin"}],
            "programs": [{"kernels": [{"core": c, "elf": kit.kernel("signal", c, *defines), "at": [2, 3],
                                       "args": ["word", 10, "sum"]} for c in ("brisc", "ncrisc")],
                          "semaphores": [{"id": 2, "at": [2, 3], "value": 0}]}]}


def test_hang_stale_semaphore(kit):
    (kit.folder / "sum.bin").write_bytes(struct.pack("<I", 45))
    status, out = kit.run(kit.file("signal", signal(kit)))
    expect("the twin", status == 0 and "buffer sum: 4 values as expected" in out, out)
    hangs(kit, "stale", signal(kit, "STALE"),
          "polls the program's semaphore 2 until it is 0; it is 1", "core B changed it last at signal.c:18, in cycle",
          "reset it before it is used again")


def test_check_missing_barrier(kit):
    status, out = kit.run(kit.file("barrier", pipeline(kit, reader=["NO_BARRIER"])), command="check")
    first = out.split("WARNING: ")[1]
    expect("the first report is about the missing barrier", status == 1 and "read by core T2" in first and
           "compute.c:30" in first and "NIU 0 for core NC" in first and "reader.c:18" in first and
           "The answer to the request may still be on its way: nothing has waited for it." in first, out)
    path = kit.file("nap", pipeline(kit, reader=["NAP"]))
    status, lucky = kit.run(path, command="check")
    witness = re.search(r"grade: wrong: memory or registers end otherwise with (--delays) (\S+)", lucky)
    expect("luck is graded", status == 4 and witness, lucky)
    status, late = kit.run(path, *witness.groups())
    expect("its witness shows it", status == 1 and "values differ" in late, late)
    expect("it has no grade", "grade: none: the program's results are wrong already" in first, out)


def test_check_quiet(kit):
    """Page counts order pushers' writes and poppers' reads; reports about firmware alone are suppressed."""
    status, out = kit.run(kit.file("quiet", pipeline(kit, [(0, 0), (3, 2)])), command="check")
    expect("the right twin is quiet", status == 0 and "0 race reports" in out, out)


def test_check_memory(kit):
    """Circular buffers and buffers in L1 belong to the program; what is behind them does not."""
    every = ["--checks", "race,memory,init,sync"]
    status, out = kit.run(kit.file("memory", pipeline(kit)), *every, command="check")
    expect("circular buffers may be used", status == 0 and "0 race reports" in out, out)
    status, out = kit.run(kit.file("words", signal(kit)), "--checks", "memory", command="check")
    expect("buffers in L1 may be used", status == 0 and "0 race reports" in out, out)
    path = kit.file("wrap", pipeline(kit, compute=["COMPUTE_PAGES=2"], cb_pages=3))
    status, out = kit.run(path, *every, command="check")
    expect("two pages at a time leave a buffer of three", status == 1 and "stray-access" in out and "compute.c:30" in out, out)


def test_profile_names_buffers(kit):
    """Waits for pages and for space are named causes, with the line that pushed or popped; the report has them, too."""
    path = kit.file("profiled", pipeline(kit, per_tile=12))
    status, out = kit.run(path, "--json", command="profile")
    expect("a profile", status == 0, out)
    tile, = [t for t in json.loads(out)["tiles"] if t["x"] == 1 and t["y"] == 2] if kit.arch == "bh" else \
        [t for t in json.loads(out)["tiles"] if t["x"] == 1 and t["y"] == 1]
    waits = {}
    for track in tile["cost_profile"]["tracks"]:
        for c in track["costs"]:
            if "waits_for" in c:
                key = track["name"], c["circular_buffer"], c["waits_for"]
                waits.setdefault(key, set()).add((c.get("holder"), c.get("ended_at", "").split(":")[0]))
                place = [c["line"]] + [call["line"] for call in c.get("calls", [])]
                assert c["cause"] == "polling" and place, c
    pages = {("T2", 0, "pages"): ("NC", "reader.c"), ("B", 1, "pages"): ("T2", "compute.c")}
    for key, by in pages.items():
        expect(f"{key} waits for {by}", by in waits.get(key, ()), waits)
    expect("NC waits for space", ("T2", "compute.c") in waits.get(("NC", 0, "space"), ()), waits)
    status, text = kit.run(path, command="profile")
    expect("in words", status == 0 and "waiting for space in CB 0 (T2 at compute.c:" in text, text)


def test_profile_predicts(kit):
    """Which unit, which line and which wait decide, and what a change gains: as large as when the kernel is changed, a product
    replaced by an instruction that takes one cycle."""
    core = (kit.source / "compute.c").read_text()
    line = "            " + "TTI_MULDMAREG(0, 8, 1, 1); " * 104 + "\n"
    loop = "        for (u32 i = 0; i < 10; i++) {\n" + line + """            __asm__ volatile("");
        }
        tensix_sync();
"""
    before = core.replace("        stored(", loop + "        stored(", 1)
    number = before[:before.index(line)].count("\n") + 1
    cycles, found = {}, {}
    for name, text in (("before", before), ("after", before.replace(line, line.replace("TTI_MULDMAREG(0, 8, 1, 1)", "TTI_NOP")))):
        (kit.folder / f"{name}.c").write_text(text)
        metal = pipeline(kit, per_tile=12)
        kit.compile("trisc2", kit.folder / f"{name}.elf", "-Wl,--emit-relocs", f"-Wl,--just-symbols={kit.folder}/sym_trisc2.elf",
                    "-T", kit.source / "kernel.ld", kit.source / "kernel_start.c", kit.folder / f"{name}.c")
        metal["programs"][0]["kernels"][1]["elf"] = f"{name}.elf"
        path = kit.file(name, metal)
        status, out = kit.run(path, "--json", *(["--what-if", f"line:before.c:{number}=0", "--what-if", "scalar=0.5"]
                                                if name == "before" else []), command="profile")
        expect(f"a profile of {name}", status == 0, out)
        found[name], cycles[name] = json.loads(out), json.loads(out)["cycles"]
    gain, (predicted, half) = cycles["before"] - cycles["after"], found["before"]["what_if"]
    expect("the gain of a line", gain > 20000 and predicted["results_equal"] and
           abs(predicted["saves"] - gain) <= 0.02 * gain, (gain, predicted, half))
    expect("the gain of its unit", 0.4 * gain < half["saves"] < 0.6 * gain, (gain, half))
    x, y = (1, 2) if kit.arch == "bh" else (1, 1)
    tile, = [t for t in found["before"]["tiles"] if (t["x"], t["y"]) == (x, y)]
    tracks = {t["name"]: t["costs"] for t in tile["cost_profile"]["tracks"]}
    dearest = max((c for c in tracks["Scalar Unit"] if c["cause"] == "busy"), key=lambda c: c["cycles"])
    expect("the line", dearest["line"] == number and dearest["file"].endswith("before.c"), dearest)
    waits = max((c for c in tracks["B"] if c["cause"] == "polling"), key=lambda c: c["cycles"])
    expect("the wait", waits["waits_for"] == "pages" and waits["circular_buffer"] == 1 and waits["holder"] == "T2", waits)
    metal = pipeline(kit, per_tile=1)
    metal["programs"][0]["kernels"][1]["elf"] = "before.elf"
    status, out = kit.run(kit.file("short", metal), "--top", "2", "--what-if", "auto", command="profile")
    expect("a ranking", status == 0 and f"line:before.c:{number}=0.5" in out and "scalar=0.5" in out, out)


def test_waits(kit):
    """What is planted in a kernel is not needed; the last drain is. Firmware is not judged."""
    core = (kit.source / "compute.c").read_text()
    planted = ["fence()", "TTI_STALLWAIT(WG_STALL_MATH, WG_UNPACK0)", "tensix_sync()"]
    (kit.folder / "planted.c").write_text(core.replace("        cb_push_back(1", "".join(f"        {p};\n" for p in planted) + "        cb_push_back(1"))
    lines = [n for n, text in enumerate((kit.folder / "planted.c").read_text().splitlines(), 1) if text.strip(" ;") in planted]
    metal = pipeline(kit, [(0, 0), (3, 2)], per_tile=1)
    kit.compile("trisc2", kit.folder / "planted.elf", "-Wl,--emit-relocs", f"-Wl,--just-symbols={kit.folder}/sym_trisc2.elf",
                "-T", kit.source / "kernel.ld", kit.source / "kernel_start.c", kit.folder / "planted.c")
    metal["programs"][0]["kernels"][1]["elf"] = "planted.elf"
    path = kit.file("waits", metal)
    status, out = kit.run(path, "--waits", "--json", command="check")
    said = json.loads(out)
    if kit.arch == "wh":  # another timing shows that its firmware starts the T cores too early
        expect("timing decides", "depend on the timing" in said["waits_not_judged"], out[:300])
        return
    expect("judged", status == 0 and "waits_not_judged" not in said, out[:300])
    of = {(w["who"], w["line"], w["instruction"].split()[0]): w["verdict"] for w in said["waits"] if w["file"].endswith("planted.c")}
    fences = {w["verdict"] for w in said["waits"] if w["who"] == "T2" and w["instruction"] == "fence"}
    expect("planted", of.get(("thread 2", lines[1], "ttstallwait")) == "free" and fences == {"remove"} and
           not any("firmware" in w["file"] for w in said["waits"]), said["waits"])
    drains = [w["verdict"] for w in said["waits"] if w["instruction"].startswith("drain")]
    expect("the last drain", drains == ["needed"], said["waits"])


def test_debugger(kit):
    """Programs are launched under the debugger, too, in the same cycles; also again after going back to before the
    launch."""
    path = kit.file("debugged", pipeline(kit, per_tile=3))
    status, out = kit.run(path, "--json")
    end = json.loads(out)["cycles"]
    launched = json.loads(out)["metal"]["programs"][0]["launched"]
    tile = "1-2" if kit.arch == "bh" else "1-1"
    look = ["registers", "buffers", "noc", "where"]
    lines = [f"thread {tile} t2", f"goto {end - 900}", *look, "continue", f"goto {launched - 50}", f"goto {end - 900}", *look,
             f"goto {launched}", f"goto {end - 900}", *look, "back", "continue", "quit"]
    run = subprocess.run([kit.waitgate, "debug", path], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=300)
    parts = run.stdout.split(f"stopped at cycle {end - 900}\n")
    expect("three visits", len(parts) == 4 and run.stdout.count(f"done at cycle {end}\n") == 2, run.stdout + run.stderr)
    states = [p.split("stopped at cycle")[0].split("done at cycle")[0].split("the history begins")[0] for p in parts[1:]]
    expect("the same state each time", states[0] == states[1] == states[2], run.stdout)
    expect("pages and lines", "tiles received" in states[0] and "kernel_main" in states[0] and states[0].count("core T2") == 1, states[0])


def test_snapshots(kit):
    """A hang leaves one, of all tiles, which the debugger opens; a run cannot resume from one, and says so before it
    starts."""
    path = kit.file("left", pipeline(kit, per_tile=3, reader=["NO_PUSH"]))
    saved = kit.folder / "left.snapshot"
    status, out = kit.run(path, "--save-on-failure", saved)
    expect("it hangs", status == 3 and saved.exists(), out)
    tile = "1-2" if kit.arch == "bh" else "1-1"
    run = subprocess.run([kit.waitgate, "debug", saved], input=f"thread {tile} t2\nbuffers\nquit\n", capture_output=True, text=True, timeout=300)
    expect("post mortem", "buffer 0: 2 tiles received, 2 acknowledged, 0 in it" in run.stdout, run.stdout + run.stderr)
    for words in (["--save-at", f"20000={saved}"], ["--save-every", f"5000={saved}"], ["--resume", saved]):
        status, out = kit.run(path, *words)
        expect(f"{words[0]} is refused", status == 6 and "programs of tt-metal cannot be resumed" in out, out)


def main():
    waitgate, root, headers = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    only = sys.argv[4:]
    failed = 0
    for arch in ["bh", "wh"]:
        with tempfile.TemporaryDirectory() as folder:
            kit = Kit(waitgate, root, headers, arch, pathlib.Path(folder))
            for name, test in list(globals().items()):
                if not name.startswith("test_") or (only and name not in only):
                    continue
                try:
                    test(kit)
                    print(f"ok {name}/{arch}")
                except AssertionError as error:
                    failed += 1
                    print(f"FAIL {name}/{arch}: {error}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
