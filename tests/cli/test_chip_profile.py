#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The profile of chip files: costs that add up, the critical path through tiles and NoC, the map, what-if.

usage: test_chip_profile.py WAITGATE ROOT EXAMPLES_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys
from collections import defaultdict

from suite import run as run_suite, test

WAITGATE, ROOT, EXAMPLES = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
RELAY = EXAMPLES / "relay.yaml"


def waitgate(*words, status=0):
    r = subprocess.run([WAITGATE, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert r.returncode == status, (words, r.returncode, r.stderr, r.stdout)
    return r.stdout if status == 0 else r.stderr


def profile(*words):
    return json.loads(waitgate("profile", "--json", *words))


def adds_up(said):
    chip = said["chip_profile"]
    length = chip["to"] - chip["from"]
    for tile in said["tiles"]:
        for track in tile["cost_profile"]["tracks"]:
            assert sum(c["cycles"] for c in track["costs"]) == length, (tile["x"], track["name"])
    assert sum(c["cycles"] for c in chip["critical_path"]["costs"]) == chip["to"] - chip["critical_path"]["from"]
    for part, tile in zip(chip["map"], said["tiles"]):
        mine = [c for t in tile["cost_profile"]["tracks"] if t["kind"] == "core" for c in t["costs"]
                if c["cause"] not in ("reset", "parked")]
        assert sum(part[k] for k in ("executing", "waiting", "polling", "waiting_for_noc", "waiting_for_tiles")) == sum(c["cycles"] for c in mine)
        assert part["executing"] == sum(c["cycles"] for c in mine if c["cause"] in ("executing", "multi-cycle"))
        assert part["waiting_for_tiles"] == sum(c["cycles"] for c in mine if c["cause"] == "polling" and int(c["address"], 16) < 0x200000 and "other_tile" in c)
        assert part["waiting_for_noc"] == sum(c["cycles"] for c in mine if c["cause"] == "polling" and c.get("address", "").startswith("0xffb"))
    return chip


def build(d, source, name, *flags, arch="BH"):
    common = ROOT / "examples/common"
    header = next(pathlib.Path(WAITGATE).parent.glob("src/isa/wg_kernel.h")).parent
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-Os", "-g", "-ffreestanding", "-nostdlib", *flags,
                    f"-DWG_ARCH_{arch}", "-DCORE_BRISC", "-msmall-data-limit=0", "-Wl,--defsym=__base=0x4000", "-Wl,--no-warn-rwx-segments",
                    f"-I{common}", f"-I{header}", source, common / "crt.S", "-T", common / "kernel.ld", "-o", d / name], check=True)


@test
def a_division_is_work(d):
    """A core that divides is at work for as long as the division takes."""
    (d / "divide.c").write_text("#include \"tile.h\"\nint main(void)\n{\n    u32 x = 0xFFFFFFFF;\n    for (u32 i = 0; i < 200; i++)\n"
                                "        __asm__ volatile(\"divu %0, %1, %2\" : \"=r\"(x) : \"r\"(0xFFFFFFFF), \"r\"(i + 3));\n    return 0;\n}\n")
    build(d, d / "divide.c", "divide.elf")
    (d / "divide.yaml").write_text("arch: bh\ntiles:\n  - {at: [1, 2], brisc: divide.elf}\n")
    said = profile(d / "divide.yaml")
    part, = adds_up(said)["map"]
    costs = next(t["costs"] for t in said["tiles"][0]["cost_profile"]["tracks"] if t["name"] == "B")
    divides = sum(c["cycles"] for c in costs if c["cause"] == "multi-cycle")
    assert part["busiest"] == "B" and divides > 1000 and part["busy"] == part["executing"] > 0.8 * said["cycles"], (part, divides, said["cycles"])


@test
def costs_and_path_add_up(d):
    chips = ["relay.yaml", "dram.yaml", "chip.yaml"]
    for name in chips:
        said = profile(EXAMPLES / name)
        chip = adds_up(said)
        assert (chip["from"], chip["to"]) == (0, said["cycles"])
    said = profile("--from", 5000, "--to", 9000, RELAY)
    assert adds_up(said)["critical_path"]["from"] == 5000
    (d / "wh.yaml").write_text(RELAY.read_text().replace("arch: bh", "arch: wh").replace("relay_s", f"{EXAMPLES}/wh_relay_s")
                               .replace(", 2]", ", 1]").replace("relay-sum", f"{d}/sum"))
    adds_up(profile(d / "wh.yaml"))
    # The first matching symbol or store of any tile counts; the end comes after the beginning.
    run = profile(RELAY)["cycles"]
    begun = adds_up(profile("--from", "main", RELAY))
    assert 10 < begun["from"] < 100 and begun["to"] == run, begun
    part = adds_up(profile("--from", "0x30020=3", "--to", "0x30020=5", RELAY))
    whole = adds_up(profile("--from", "0x30020=5", RELAY))
    assert part["to"] == whole["from"] and 0 < part["from"] < part["to"] < whole["to"] == run, part
    assert "`nowhere` is neither a cycle" in waitgate("profile", "--from", "nowhere", RELAY, status=6)


@test
def the_path_goes_through_tiles_and_noc(_):
    said = profile(RELAY)
    path = said["chip_profile"]["critical_path"]["costs"]
    by_tile, flights = defaultdict(int), defaultdict(int)
    for c in path:
        if c["who"].startswith("NIU"):
            assert c["file"].endswith("noc.h") and c["instruction"].startswith("sw ") and {c["tile"], c["other_tile"]} == {"1-2", "2-2"}
            flights[c["cause"], c["tile"]] += c["cycles"]
        else:
            by_tile[c["tile"]] += c["cycles"]
    # Blocks and flags are requests by the source, which waits for their answers; the sink's flags travel back.
    assert flights["request", "1-2"] > 300 and flights["answer", "1-2"] > 500 and flights["request", "2-2"] > 500, dict(flights)
    # The source has already filled its next block while the sink sums: summing bounds this kernel.
    assert by_tile["2-2"] > 2 * by_tile["1-2"] > 0, dict(by_tile)
    lines = defaultdict(int)
    for c in path:
        lines[c["tile"], pathlib.Path(c.get("file", "-")).name, c.get("line")] += c["cycles"]
    source = (ROOT / "examples/relay.c").read_text().splitlines()
    summing = {i + 1 for i, line in enumerate(source) if "k < WORDS" in line or "sum += " in line}
    assert sum(v for (tile, file, line), v in lines.items() if file == "relay.c" and line in summing and tile == "2-2") > 0.5 * said["cycles"]
    causes = {(t["x"], c["cause"], c.get("holder"), c.get("other_tile")) for t in said["tiles"]
              for track in t["cost_profile"]["tracks"] for c in track["costs"] if c["cause"] == "polling"}
    assert causes >= {(1, "polling", "NIU 0", "2-2"), (2, "polling", "NIU 0", "1-2")}, causes


@test
def map_and_traffic(_):
    chip = profile(RELAY)["chip_profile"]
    sizes = {m["tile"]: (m["bytes_sent"], m["bytes_arrived"]) for m in chip["map"]}
    assert sizes == {"1-2": (8 * 1040, 8 * 16), "2-2": (8 * 16, 8 * 1040)}, sizes
    assert [(t["from"], t["to"], t["noc"], t["packets"], t["bytes"]) for t in chip["traffic"]] == \
        [("1-2", "2-2", 0, 24, 8320), ("2-2", "1-2", 0, 24, 128)]
    text = waitgate("profile", RELAY)
    row = re.search(r"^  y\\x   1   2\n    2 +(\d+) +(\d+)$", text, re.M)
    cycles = chip["to"]
    assert row and [abs(int(row[i + 1]) - 100 * m["busy"] / cycles) <= 0.5 for i, m in enumerate(chip["map"])] == [True, True], text
    assert re.search(r"Its largest part, \d+ of \d+ cycles \(\S+ %\),\s+is\s+2-2 B at relay.c:\d+ main: executing", text), text
    assert "waiting for tile 1-2 (0x00030000)" in text and "waiting for NoC 0, tile 2-2" in text and "answer from tile 2-2" in text
    four = waitgate("profile", EXAMPLES / "chip.yaml")
    assert re.search(r"y\\x   1   2\n    2 +\d+ +\d+\n    3 +\d+ +\d+\n", four) and four.count("\ntile ") >= 4, four


@test
def files_for_other_tools(d):
    said = profile("--folded", d / "folded", "--callgrind", d / "callgrind", RELAY)
    folded = defaultdict(int)
    for line in (d / "folded").read_text().splitlines():
        stack, cycles = line.rsplit(" ", 1)
        folded[tuple(stack.split(";")[:2])] += int(cycles)
    assert set(folded.values()) == {said["cycles"]} and {tile for tile, _ in folded} == {"tile 1-2", "tile 2-2"}, dict(folded)
    text = (d / "callgrind").read_text()
    assert text.count("events:") == 1 and "ob=tile 2-2 B" in text
    totals = sum(map(int, re.search(r"^totals:(.*)$", text, re.M)[1].split()))
    assert totals == said["cycles"] * len(folded)


@test
def predicted_is_achieved(d):
    """A kernel with a division in the source's loop, and the same with an addition: the profile predicts the saving."""
    text = (ROOT / "examples/relay.c").read_text()
    fill = "WORD(BLOCK + 4 * k) = i * k;"
    assert fill in text
    line = next(i + 1 for i, row in enumerate(text.splitlines()) if fill in row)
    text = text.replace("!= i * (WORDS - 1)", "== 0x12345678")
    for name, operator in (("slow", "/"), ("fast", "+")):
        (d / f"{name}.c").write_text(text.replace(fill, f"WORD(BLOCK + 4 * k) = (i + 77777) {operator} (k + 3);"))
        build(d, d / f"{name}.c", f"{name}.elf", "-DSOURCE")
    build(d, ROOT / "examples/relay.c", "sink.elf")
    for name in ("slow", "fast"):
        (d / f"{name}.yaml").write_text("arch: bh\nmax-cycles: 1000000\ntiles:\n"
                                        f"  - at: [1, 2]\n    brisc: {name}.elf\n  - at: [2, 2]\n    brisc: sink.elf\n")
    said = profile("--what-if", f"line:slow.c:{line}=0", "--what-if", "noc=1,dram=1", "--what-if", "noc=0", "--what-if", "noc=4", d / "slow.yaml")
    achieved = json.loads(waitgate("run", "--json", d / "fast.yaml"))["cycles"]
    zero, same, free, slow = said["what_if"]
    assert said["cycles"] > 1.5 * achieved, "the division matters"
    gain = said["cycles"] - achieved     # the addition and the store stay
    assert abs(zero["saves"] - gain) <= 0.02 * gain, (zero, gain)
    assert same["cycles"] == said["cycles"] and same["results_equal"] and same["saves"] == 0
    assert free["cycles"] < said["cycles"] < slow["cycles"] and zero["results_equal"] and free["results_equal"]
    # It is the bottleneck: the path and the sentence name its line.
    path = said["chip_profile"]["critical_path"]["costs"]
    assert (path[0]["tile"], path[0]["line"]) == ("1-2", line) and path[0]["file"].endswith("slow.c"), path[0]
    auto = profile("--what-if", "auto", "--top", 3, d / "slow.yaml")["what_if"]
    assert auto[0]["what"] == "b=0.5" and auto[1]["what"].endswith(f"slow.c:{line}=0.5"), auto
    assert auto == sorted(auto, key=lambda r: r["cycles"]) and all(r["saves"] > 0 for r in auto)


@test
def what_is_scaled_is_where_it_is(_):
    """A line of the other tile's program; DRAM, which is not a tile of the file."""
    source = (ROOT / "examples/relay.c").read_text().splitlines()
    line = next(i + 1 for i, row in enumerate(source) if "sum += " in row)
    assert profile("--what-if", f"line:relay.c:{line}=0", RELAY)["what_if"][0]["saves"] > 1500
    said = profile("--what-if", "dram=1", "--what-if", "dram=10", EXAMPLES / "dram.yaml")
    assert said["what_if"][0]["saves"] == 0 and said["what_if"][1]["saves"] < -100, said["what_if"]
    assert "no instruction comes from line 1 of relay.c" in waitgate("profile", "--what-if", "line:relay.c:1=0", RELAY, status=6)


@test
def twice_the_noc_costs_what_is_under_way(_):
    """The tiles take turns, so a NoC at twice its time adds what the critical path has in packets under way, but for the
    rounds in which the cores poll."""
    said = profile("--what-if", "noc=2", "--what-if", "noc=0", RELAY)
    way = sum(c["cycles"] for c in said["chip_profile"]["critical_path"]["costs"] if c["who"].startswith("NIU"))
    double, free = said["what_if"]
    assert way > 2000 and abs(-double["saves"] - way) <= 0.05 * way, (way, double)
    assert 0.9 * way < free["saves"] <= way and free["results_equal"] and double["results_equal"], (way, free)


@test
def packets_that_take_longer_are_on_the_path(d):
    """With a NoC ten times as slow, the cycles added to the path belong to packets in flight."""
    def under_way(said):
        return sum(c["cycles"] for c in said["chip_profile"]["critical_path"]["costs"] if c["who"].startswith("NIU"))
    near = profile(RELAY)
    (d / "far.yaml").write_text(RELAY.read_text().replace("relay_s", f"{EXAMPLES}/relay_s").replace("at: [2, 2]", "at: [12, 7]")
                                .replace("relay-sum", f"{d}/sum"))
    source = (ROOT / "examples/relay.c").read_text().replace("(2 | 2 << 6)", "(12 | 7 << 6)")
    (d / "relay.c").write_text(source)
    build(d, d / "relay.c", "source.elf", "-DSOURCE")
    build(d, d / "relay.c", "sink.elf")
    text = (d / "far.yaml").read_text()
    text = re.sub(r"brisc: \S*relay_source\S*", "brisc: source.elf", text)
    (d / "far.yaml").write_text(re.sub(r"brisc: \S*relay_sink\S*", "brisc: sink.elf", text))
    far = profile(d / "far.yaml")
    adds_up(far)
    more = far["cycles"] - near["cycles"]
    assert more > 1000 and abs(under_way(far) - under_way(near) - more) < 0.1 * more, (more, under_way(far), under_way(near))


run_suite()
