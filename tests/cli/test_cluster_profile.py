#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The profile of several chips: the critical path over their links, and what a change would gain.

usage: test_cluster_profile.py WAITGATE ROOT EXAMPLES_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:  # a package of Debian's Python
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

from kernels import line_with  # noqa: E402
from suite import run, test  # noqa: E402

WAITGATE, ROOT, EXAMPLES = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
RING = EXAMPLES / "ring.yaml"


def waitgate(*words, status=0):
    r = subprocess.run([WAITGATE, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert r.returncode == status, (words, r.returncode, r.stderr, r.stdout)
    return r.stdout if status == 0 else r.stderr


def profile(*words):
    said = json.loads(waitgate("profile", "--json", *words))
    schema = json.loads((ROOT / "docs/waitgate.schema.json").read_text())
    jsonschema.Draft202012Validator({"$ref": "#/$defs/cluster", "$defs": schema["$defs"]}).validate(said)
    return said


def frames(said):
    return [c for c in said["critical_path"]["costs"] if c["who"] == "Ethernet link"]


@test
def the_path_goes_over_links(_):
    said = profile(RING)
    path = said["critical_path"]["costs"]
    assert said["critical_path"]["from"] == 0 and sum(c["cycles"] for c in path) == said["cycles"]
    # Both chips send, and wait for what the other one sends: the path changes sides with each step.
    assert {c["chip"] for c in path} == {0, 1} and {c["chip"] for c in frames(said)} == {0, 1}, path
    assert all(c["cause"] == "frame" and c["file"].endswith("eth.h") and c["function"] == "eth_send" for c in frames(said)), frames(said)
    # A frame is under way for its latency at least; nobody on the path polls for that long.
    assert sum(c["times"] for c in frames(said)) == 2 and all(c["cycles"] >= 391 * c["times"] for c in frames(said)), frames(said)
    assert max(c["cycles"] for c in path if c["cause"] == "polling") < 100, path
    text = waitgate("profile", RING)
    assert "link at eth.h:" in text and "frame under way" in text and text.count("critical path  ") == 1, text[:600]


@test
def slower_links(_):
    """Links at twice their time cost what is under way on the path once more, but for reading L1; as they are, nothing."""
    said = profile("--what-if", "eth=2", "--what-if", "eth=1", "--what-if", "eth=0.5", RING)
    way = sum(c["cycles"] for c in frames(said))
    twice, same, half = said["what_if"]
    assert way > 700 and abs(-twice["saves"] - way) <= 0.05 * way and twice["results_equal"], (way, twice)
    assert same["saves"] == 0 and same["results_equal"]
    assert 0.4 * way <= half["saves"] <= 0.55 * way, (way, half)


def build(d, name, text):
    common = ROOT / "examples/common"
    header = next(WAITGATE.parent.glob("src/isa/wg_kernel.h")).parent
    (d / f"{name}.c").write_text(text)
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-Os", "-g", "-ffreestanding", "-nostdlib", "-DWG_ARCH_WH", "-DCORE_ERISC0",
                    "-msmall-data-limit=0", "-Wl,--defsym=__base=0x18000", "-Wl,--no-warn-rwx-segments", f"-I{common}", f"-I{header}",
                    d / f"{name}.c", common / "crt.S", "-T", common / "kernel.ld", "-o", d / f"{name}.elf"], check=True)
    (d / f"{name}.yaml").write_text((ROOT / "examples/ring.yaml").read_text().replace("wh_ring.erisc0.elf", f"{name}.elf").replace('"ring-', f'"{d}/ring-'))
    return d / f"{name}.yaml"


@test
def predicted_is_achieved(d):
    """A division in the loop that copies what is sent, on both chips; and the same without it."""
    text = (ROOT / "examples/ring.c").read_text()
    at = "            WORD(sent + 4 * i) = VECTOR[goes * PART + i];\n"
    assert text.count(at) == 1
    divide = '__asm__ volatile("divu t0, %0, %1" : : "r"(0xFFFFFFFF), "r"(i + 3) : "t0");'
    edit = lambda what: text.replace(at, f"        {{\n            {4 * what}\n{at}        }}\n")  # noqa: E731
    slow, fast = build(d, "slow", edit(divide)), build(d, "fast", edit(divide.replace("divu t0, %0, %1", "")))
    line = line_with(d / "slow.c", "divu")
    said = profile("--what-if", f"line:slow.c:{line}=0", "--what-if", "eth=1", slow)
    zero, before = said["what_if"]
    after, = profile("--what-if", "eth=1", fast)["what_if"]
    gain = before["cycles"] - after["cycles"]
    assert gain > 500 and abs(zero["saves"] - gain) <= 0.02 * gain and zero["results_equal"], (gain, zero)
    first = said["critical_path"]["costs"][0]
    assert (first["line"], first["who"]) == (line, "E"), first
    ranked = profile("--what-if", "auto", "--top", 2, slow)["what_if"]
    assert any(r["what"].endswith(f"slow.c:{line}=0.5") for r in ranked) and any(r["what"] == "eth=0.5" for r in ranked), ranked


run()
