#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""WAITGATE_TRACE, WAITGATE_COST_PROFILE and WAITGATE_REPORT: the output for a host of the libttsim ABI about its own
run.

usage: test_abi_watch.py TTSIM_BH EXAMPLES_FOLDER ROOT
"""
import ctypes
import json
import os
import re
import struct
import subprocess
import sys
import pathlib


def segments(path):
    data = pathlib.Path(path).read_bytes()
    offset, size, count = struct.unpack_from("<I10xHH", data, 28)
    for i in range(count):
        kind, at, _, address, in_file, memory = struct.unpack_from("<6I", data, offset + i * size)
        if kind == 1 and memory:
            yield address, data[at:at + in_file] + bytes(memory - in_file)


def host(library, elfs, leaves):
    """Two tiles run the relay; the host ends with libttsim_exit, or just ends."""
    lib = ctypes.CDLL(library)
    lib.libttsim_init()
    for x, elf in ((1, elfs[0]), (2, elfs[1])):
        put = lambda a, d: lib.libttsim_tile_wr_bytes(x, 2, ctypes.c_uint64(a), d, len(d))  # noqa: E731
        put(0xFFB121B0, struct.pack("<I", 0x47800))
        for address, data in segments(elf):
            if address < 0x180000:
                put(address, data)
        put(0, struct.pack("<I", 0x0000406F))  # jal x0, 0x4000
    for x in (1, 2):
        lib.libttsim_tile_wr_bytes(x, 2, ctypes.c_uint64(0xFFB121B0), struct.pack("<I", 0x47000), 4)
    for _ in range(600):
        lib.libttsim_clock(37)
    word = ctypes.create_string_buffer(4)
    lib.libttsim_tile_rd_bytes(2, 2, ctypes.c_uint64(0x30030), word, 4)
    print(int.from_bytes(word.raw, "little"), flush=True)
    if leaves:
        lib.libttsim_exit()


def host_of_a_product(library, elfs, passes, tiles):
    """One tile computes products; the cores start as a host of tt-metal's kernel library starts them."""
    lib = ctypes.CDLL(library)
    lib.libttsim_init()
    put = lambda a, d: lib.libttsim_tile_wr_bytes(1, 2, ctypes.c_uint64(a), d, len(d))  # noqa: E731
    put(0xFFB121B0, struct.pack("<I", 0x47800))
    put(0x20000, struct.pack("<5I", passes, 0, 0, 0, tiles))
    for elf in elfs:
        for address, data in segments(elf):
            if address < 0x180000:
                put(address, data)
    put(0, struct.pack("<I", 0x0000406F))  # jal x0, 0x4000
    put(0xFFB12228, struct.pack("<3I", 0x8000, 0x10000, 0x14000))
    put(0xFFB12234, struct.pack("<I", 7))
    put(0xFFB121B0, struct.pack("<I", 0x40000))
    word = ctypes.create_string_buffer(4)
    for _ in range(2000):
        lib.libttsim_clock(100)
        lib.libttsim_tile_rd_bytes(1, 2, ctypes.c_uint64(0x1FFC0), word, 4)
        if word.raw[0] == 0xFF:
            break
    lib.libttsim_exit()


if sys.argv[1] == "product":
    host_of_a_product(sys.argv[2], sys.argv[5:], int(sys.argv[3]), int(sys.argv[4]))
    sys.exit()
if sys.argv[1] == "host":
    host(sys.argv[2], sys.argv[3:5], sys.argv[5] == "exit")
    sys.exit()

try:
    import jsonschema  # noqa: E402
except ImportError:  # a package of Debian's Python
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

from kernels import compiled, line_with  # noqa: E402
from suite import run, test  # noqa: E402

LIBRARY, EXAMPLES, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
ELFS = [str(EXAMPLES / f"relay_{end}.brisc.elf") for end in ("source", "sink")]


def hosted(how="exit", **environment):
    r = subprocess.run([sys.executable, os.path.abspath(__file__), "host", LIBRARY, *ELFS, how], capture_output=True, text=True,
                       env=dict(os.environ, **environment), timeout=120)
    assert r.returncode == 0 and r.stdout.strip() == "913920", (r.stdout, r.stderr[:500])
    return r.stderr


@test
def trace_profile_and_page(d):
    for how in ("exit", "end"):
        said = hosted(how, WAITGATE_TRACE=f"{d}/{how}-%p.json", WAITGATE_COST_PROFILE=f"{d}/{how}-%p.txt", WAITGATE_REPORT=f"{d}/{how}-%p.html",
                      WAITGATE_ELF=",".join(f"b={e}" for e in ELFS))
        assert said == "", said
        trace, = d.glob(f"{how}-*.json")
        events = json.loads(trace.read_text())["traceEvents"]
        names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
        assert names == {"tile 1-2", "tile 2-2"}, names
        assert sum(e["ph"] == "X" and e["name"].startswith("write 1024 B to 2-2") for e in events) == 8
        assert any(e["ph"] == "X" and e["name"] == "main" and e["cat"] == "function" for e in events)
        profile, = (f.read_text() for f in d.glob(f"{how}-*.txt"))
        assert "Profile of cycles 0 to 22200, 2 tiles" in profile and re.search(r"waiting for tile 1-2 \(0x00030000\) +relay\.c:\d+ wait_for", profile), profile
        page, = (f.read_text() for f in d.glob(f"{how}-*.html"))
        assert '"name":"1-2"' in page and "relay.c" in page


@test
def files_found_in_a_folder(d):
    """The two tiles run different programs at the same address; each one's file is found by its code."""
    for number, elf in enumerate(ELFS):
        folder = d / f"cache/{number}/brisc"
        folder.mkdir(parents=True)
        (folder / "brisc.elf").write_bytes(pathlib.Path(elf).read_bytes())
    assert hosted(WAITGATE_TRACE=f"{d}/t.json", WAITGATE_COST_PROFILE=f"{d}/p.json", WAITGATE_ELF=f"{d}/cache") == ""
    said = json.loads((d / "p.json").read_text())
    names = []
    for tile in said["tiles"]:
        costs = [c for t in tile["cost_profile"]["tracks"] if t["name"] == "B" for c in t["costs"]]
        assert sum(c["cycles"] for c in costs if c.get("file", "").endswith("relay.c")) > 10_000, costs[:5]
        names.append({c["function"] for c in costs if "function" in c})
    assert "fill" in names[0] | names[1] and names[0] != names[1], names
    events = json.loads((d / "t.json").read_text())["traceEvents"]
    assert sum(e["ph"] == "X" and e["name"] == "main" and e["cat"] == "function" for e in events) >= 2


@test
def log_and_timeline(d):
    assert hosted(WAITGATE_LOG=f"{d}/l-%p.txt", WAITGATE_TIMELINE=f"{d}/t-%p.txt") == ""
    log, = (f.read_text() for f in d.glob("l-*.txt"))
    timeline, = (f.read_text() for f in d.glob("t-*.txt"))
    # Each line of the log has its tile; the sink's core stores the sum.
    assert re.search(r"^ *\d+ +2-2 +B +.*\bsw\b", log, re.M) and re.search(r"^ *\d+ +1-2 +B ", log, re.M), log[:400]
    assert "tile 1-2\n" in timeline and "tile 2-2\n" in timeline and re.search(r"^ *B +[^ ]", timeline, re.M), timeline[:400]


@test
def what_is_seen_changes_nothing(d):
    """The profile as JSON: it adds up, and the host computes the same sum."""
    assert hosted(WAITGATE_COST_PROFILE=f"{d}/p.json") == "" and hosted(WAITGATE_PROFILE=f"{d}/q.json") == ""
    assert (d / "p.json").read_bytes() == (d / "q.json").read_bytes()
    said = json.loads((d / "p.json").read_text())
    chip = said["chip_profile"]
    assert [(t["from"], t["to"], t["bytes"]) for t in chip["traffic"]] == [("1-2", "2-2", 8320), ("2-2", "1-2", 128)]
    assert sum(c["cycles"] for c in chip["critical_path"]["costs"]) == chip["to"]
    schema = json.loads((ROOT / "docs/waitgate.schema.json").read_text())
    jsonschema.Draft202012Validator({"$ref": "#/$defs/chip", "$defs": schema["$defs"]}).validate(said)


DONE = ("matmul.c", "    pack_all(tiles());\n", "    pack_all(tiles());\n    WORD(0x1FFC0) = 0xFF;\n")
BUSY = ("matmul.c", "    let_go();\n    return 0;\n", "    let_go();\n    for (;;)\n        __asm__ volatile(\"nop\");\n")  # B, as if it asked a clock
CORES = ("b", "t0", "t1", "t2")


def product(d, files, passes, elfs=None, tiles=40, **environment):
    """The profile of the part that counts: from T0's main to T2's last store."""
    elfs = elfs or ",".join(f"{core}={file}" for core, file in zip(CORES, files))
    part = dict({"WAITGATE_PROFILE_FROM": "main", "WAITGATE_PROFILE_TO": "0x1ffc0=0xff"}, **environment)
    r = subprocess.run([sys.executable, os.path.abspath(__file__), "product", LIBRARY, str(passes), str(tiles), *map(str, files)],
                       capture_output=True, text=True, timeout=120,
                       env=dict(os.environ, WAITGATE_COST_PROFILE=f"{d}/p.json", WAITGATE_ELF=elfs, **part))
    assert r.returncode == 0 and r.stderr == "", (r.stdout, r.stderr[:500])
    said = json.loads((d / "p.json").read_text())
    schema = json.loads((ROOT / "docs/waitgate.schema.json").read_text())
    jsonschema.Draft202012Validator({"$ref": "#/$defs/chip", "$defs": schema["$defs"]}).validate(said)
    chip = said["chip_profile"]
    assert sum(c["cycles"] for c in chip["critical_path"]["costs"]) == chip["to"] - chip["from"], chip
    return chip["to"] - chip["from"], chip


@test
def what_a_change_would_gain(d):
    """A host's kernels: which unit and line bound them, and the length with other costs is that of the changed kernel."""
    files, folder = compiled(d, LIBRARY, ROOT, "matmul", DONE, BUSY)
    line = line_with(folder / "mvmul.h", "TTI_REPLAY(0, 17, 0, 0)")
    length, chip = product(d, files, 4)
    first = chip["critical_path"]["costs"][0]
    assert (first["who"], first["file"].rsplit("/")[-1], first["line"]) == ("Matrix Unit", "mvmul.h", line), first
    for passes, factor in ((2, "0.5"), (1, "0.25")):
        real, _ = product(d, files, passes)
        predicted, said = product(d, files, 4, WAITGATE_WHAT_IF=f"line:mvmul.h:{line}={factor}")
        assert length - real > 1000 and abs(predicted - real) <= 0.02 * (length - real), (passes, length, real, predicted)
        assert said["scaled"] == f"line:mvmul.h:{line}={factor}" and "REPLAY takes one cycle" in said["not_scaled"], said["not_scaled"]
    # The same with files that are found when their cores enter them.
    found, _ = product(d, files, 4, elfs=f"{folder}/", WAITGATE_WHAT_IF=f"line:mvmul.h:{line}=0.25")
    assert abs(found - predicted) < 10, (found, predicted)
    # Factors of one change nothing.
    assert product(d, files, 4, WAITGATE_WHAT_IF="noc=1,matrix=1,l1=1")[0] == length


@test
def a_line_that_is_removed(d):
    """A division in the loop that unpacks, which bounds the kernel."""
    at = "        UNPACK_TILE(TO_SRCA);\n"
    divide = '__asm__ volatile("divu t0, %0, %1" : : "r"(0xFFFFFFFF), "r"(n + 3) : "t0");'
    edit = lambda text: ("matmul.c", at, "        " + 6 * text + "\n" + at)  # noqa: E731
    slow, folder = compiled(d, LIBRARY, ROOT, "matmul", DONE, BUSY, edit(divide))
    fast, _ = compiled(d, LIBRARY, ROOT, "matmul", DONE, BUSY, edit(divide.replace("divu t0, %0, %1", "")))
    line = line_with(folder / "matmul.c", "divu")
    (length, chip), (real, _) = product(d, slow, 1), product(d, fast, 1)
    first = chip["critical_path"]["costs"][0]
    assert (first["who"], first["line"]) == ("T0", line), first
    predicted, _ = product(d, slow, 1, WAITGATE_WHAT_IF=f"line:matmul.c:{line}=0")
    assert length - real > 1000 and abs(predicted - real) <= 0.02 * (length - real), (length, real, predicted)


@test
def functions_of_cpp(d):
    """The part of a run begins at a C++ function by its name in the source."""
    begin = ("matmul.c", "#elif defined(CORE_TRISC0)\nint main(void)\n", """#elif defined(CORE_TRISC0)
__attribute__((noinline)) int body(void) __asm__("_ZN4some4bodyERK9Arguments");
int main(void)
{
    return body();
}
int body(void)
""")
    files, _ = compiled(d, LIBRARY, ROOT, "matmul", DONE, BUSY, begin)
    whole, chip = product(d, files, 1)
    for name in ("body", "some::body", "_ZN4some4bodyERK9Arguments"):
        length, part = product(d, files, 1, WAITGATE_PROFILE_FROM=name)
        assert 0 < part["from"] - chip["from"] < 100 and part["to"] == chip["to"], (name, part["from"], chip["from"])
    assert product(d, files, 1, WAITGATE_PROFILE_FROM="bod")[0] == 0


@test
def what_cannot_be(d):
    assert "`unpack9` is none of" in hosted(WAITGATE_WHAT_IF="unpack9=0")
    assert "no instruction comes from line 1 of relay.c" in hosted(WAITGATE_WHAT_IF="line:relay.c:1=0", WAITGATE_ELF=f"b={ELFS[0]}")
    assert hosted(WAITGATE_PROFILE_FROM="nowhere", WAITGATE_COST_PROFILE=f"{d}/p.txt") == ""
    assert "No cycle lies between" in (d / "p.txt").read_text()
    (d / "p.txt").unlink()
    assert "a Konata log is of one tile" in hosted(WAITGATE_TRACE=f"{d}/t.kanata")
    assert "No such file" in hosted(WAITGATE_REPORT=f"{d}/no/such/page.html")
    assert not list(d.iterdir())


run()
