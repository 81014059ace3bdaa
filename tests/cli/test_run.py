#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line on real runs: results, statuses, files, reports.

usage: test_run.py WAITGATE SOURCE_ROOT
"""
import array
import json
import pathlib
import re
import signal
import struct
import subprocess
import sys

import suite
from suite import test

WAITGATE, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])


def run(*args, status=0, **kw):
    if args[0] == "run" and "--max-cycles" not in args:
        args = ("run", "--max-cycles", 1000000) + args[1:]
    r = subprocess.run([WAITGATE, *map(str, args)], capture_output=True, text=True, timeout=120, **kw)
    assert r.returncode == status, f"status {r.returncode} instead of {status}\n{r.stdout}\n{r.stderr}"
    return r


def program(d, text, name="p.tasm"):
    (d / name).write_text(text)
    return d / name


def npy(rows, columns, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.array("f", values).tobytes()


@test
def a_file_on_standard_output(d):
    """Nothing else is written there: what is said about the run is on standard error; a second file, or JSON, is refused."""
    p = program(d, ".thread 0\n    ttsetdmareg 0, 9, 0, 8\n")
    for command in (["trace", "-o", "-"], ["run", "--trace", "-"], ["run", "--sarif", "-"], ["check", "--sarif", "-"]):
        r = run(*command, p)
        assert json.loads(r.stdout) and ("p.tasm" in r.stderr or "check" in command), (command, r)
    r = run("report", "-o", "-", p)
    assert r.stdout.startswith("<!DOCTYPE html>") and r.stdout.endswith("</html>\n") and "critical path" in r.stderr, r.stdout[-200:]
    assert run("run", "--dump", "0:4=-", p).stdout == "\0\0\0\0"
    quiet = run("report", "--quiet", "-o", d / "page.html", p)
    assert quiet.stdout == quiet.stderr == "" and (d / "page.html").exists(), quiet
    for twice in (["run", "--json", "--sarif", "-"], ["run", "--log", "-", "--sarif", "-"], ["run", "--dump", "0:4=-", "--dump", "4:4=-:raw"]):
        assert "both write to standard output" in run(*twice, p, status=6).stderr, twice


@test
def standard_input(d):
    """It is read once, though some commands run a program several times; `--brisc -` is an ELF file."""
    text = ".thread 0\n    ttsetdmareg 0, 9, 0, 8\n.expect done\n"
    for command in (["run"], ["check"], ["profile", "--what-if", "auto"], ["explore", "--runs", 5], ["why", "--of", "gpr:0:4"]):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as pipe:
            pipe.stdin.write(text)
            pipe.stdin.close()
            assert "-: " in run(*command, "-", stdin=pipe.stdout).stdout, command
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as pipe:
        pipe.stdin.write(text)
        pipe.stdin.close()
        page = run("report", "-o", "-", "--of", "gpr:0:4", "-", stdin=pipe.stdout).stdout
    assert '"who": "Scalar Unit"' in page[page.index('"why":'):], "the second run had no program"
    (d / "k.s").write_text(".globl _start\n_start: j _start\n")
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-nostdlib", "-Wl,-Ttext=0x6000", d / "k.s", "-o", d / "k.elf"], check=True)
    with open(d / "k.elf", "rb") as elf:
        assert "-: done after" in run("run", "--brisc", "-", stdin=elf).stdout
    with open(d / "k.elf", "rb") as elf:
        assert "- is an ELF file: --brisc -" in run("run", "-", stdin=elf, status=6).stderr


@test
def chip_on_standard_input(d):
    """A chip file or a cluster file, too: its text says what it is, and its paths begin here."""
    (d / "k.s").write_text(".globl _start\n_start: j _start\n")
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-nostdlib", "-Wl,-Ttext=0x6000", d / "k.s", "-o", d / "k.elf"], check=True)
    (d / "chip.yaml").write_text("arch: bh\ntiles:\n  - at: [1, 2]\n    brisc: k.elf\n")
    (d / "cluster.yaml").write_text("topology: n300\nchips:\n  - chip: 0\n    tiles:\n      - {at: [1, 2], brisc: k.elf}\n")
    for command in (["run"], ["check"], ["run", "--json"], ["explore", "--runs", "5"], ["profile"], ["profile", "--what-if", "auto"]):
        by_name, piped = run(*command, "chip.yaml", cwd=d), None
        with open(d / "chip.yaml") as file:
            piped = run(*command, "-", cwd=d, stdin=file)
        assert "done after" in piped.stdout or '"done"' in piped.stdout or "timings" in piped.stdout, (command, piped)
        if command[0] == "run":
            assert piped.stdout.replace('"-"', '"chip.yaml"').replace("-: ", "chip.yaml: ", 1) == by_name.stdout, (command, piped, by_name)
    with open(d / "cluster.yaml") as file:
        assert "-: done after" in run("run", "-", cwd=d, stdin=file).stdout
    with open(d / "cluster.yaml") as file:
        assert "every timing gives the same result" in run("explore", "--runs", "5", "-", cwd=d, stdin=file).stdout
    with open(d / "cluster.yaml") as file:
        assert "- is a cluster file" in run("why", "--of", "l1:0", "-", cwd=d, stdin=file, status=6).stderr
    with open(d / "chip.yaml") as file:
        assert "chip file is the only file" in run("run", "-", "k.elf", cwd=d, stdin=file, status=6).stderr


LOOPS = """
.core B
again:
    addi t0, t0, 1
    j    again
"""

WAITS = """
.thread 0
    ttseminit 1, 0, 2
    ttsemwait STALL_THREAD, 2, STALL_ON_ZERO
    ttsetdmareg 0, 9, 0, 8
.thread 1
    .delay 20
    ttsempost 2
.expect done
"""

BUSY = """
.core T0
    ttsetdmareg 0, 5, 0, 6
    li   t0, 0xFFE80004
    lw   t1, 0(t0)
    mv   t1, t1
    li   t2, 0xFFE00000
    lw   t3, 12(t2)
    li   t4, 0x2000
    sw   t3, 0(t4)
stop:
    j    stop
.thread 1
    .repeat 20
    ttsetdmareg 0, 1, 0, 2
    .endr
.expect l1 0x2000 = 5
"""


@test
def profile(d):
    # Twenty dependent products: six cycles each on silicon, which is the default, five by the documents; the last one leaves
    # the unit after seven and five.
    chain = ".thread 1\n    ttsetdvalid 3\n    .repeat 20\n        ttmvmul 0, 0, 0, 0\n    .endr\n.expect done\n"
    for arch in ("bh", "wh"):
        report = {}
        for option in ((), ("--profile", "silicon"), ("--profile", "documented")):
            j = json.loads(run("run", "--json", "--arch", arch, *option, program(d, chain)).stdout)
            report[option] = j["profile"], j["cycles"]
        assert report[()] == report["--profile", "silicon"] and report[()][0] == "silicon", report
        assert report["--profile", "documented"] == ("documented", report[()][1] - 19 - 2), report


@test
def json_report(d):
    for arch in ("bh", "wh"):
        j = json.loads(run("run", "--json", "--arch", arch, program(d, BUSY)).stdout)
        assert j["schema"] == 1 and j["result"] == "done" and j["status"] == 0 and j["arch"] == arch
        assert j["findings"] == [] and j["expectations"][0]["holds"] is True
        core = {c["name"]: c for c in j["cores"]}
        assert core["T0"]["parked"] and core["T0"]["instructions"] > 8 and core["B"]["in_reset"]
        assert core["T0"]["place"].startswith("stop"), core["T0"]


LOOP = "".join(f".core {core}\n    li a0, 0x20000\n    li a1, 3000\nagain:\n    lw t0, {at}(a0)\n    add t1, t1, t0\n    sw t1, {at}(a0)\n"
               "    addi a1, a1, -1\n    bnez a1, again\nstop:\n    j stop\n" for core, at in (("B", 0), ("T0", 1024)))


@test
def shortcuts_of_a_run_without_statistics(d):
    """Counted without --stats, too, which observes and switches most of them off."""
    for arch in ("bh", "wh"):
        def taken(*words, **env):
            j = json.loads(run("run", "--json", "--arch", arch, *words, program(d, LOOP), env=env).stdout)
            return j["cycles"], {s["name"]: s["cycles"] for s in j["shortcuts"] if s["uses"]}
        cycles, all_of_them = taken()
        plain = "plain" in pathlib.Path(WAITGATE).resolve().parts
        assert plain or all_of_them["ahead"] > 10000, (cycles, all_of_them)
        assert taken("--stats")[0] == cycles and "ahead" not in taken("--stats")[1], taken("--stats")
        assert taken(WAITGATE_FAST="none") == (cycles, {}) == taken(WAITGATE_LOCKSTEP="1")
        lines = taken(WAITGATE_FAST="lines")[1].keys()
        assert plain or lines == {"ahead", "lines"}, lines
        assert taken(WAITGATE_FAST="ahead,ahead") == taken(WAITGATE_FAST="ahead") != taken(WAITGATE_FAST="none") or plain


@test
def statistics_add_up(d):
    for arch in ("bh", "wh"):
        j = json.loads(run("run", "--json", "--stats", "--arch", arch, program(d, BUSY)).stdout)
        tracks = {t["name"]: t for t in j["stats"]["tracks"]}
        assert j["stats"]["cycles"] == j["cycles"]
        taken = {s["name"]: s for s in j["stats"]["shortcuts"]}
        assert j["shortcuts"] == j["stats"]["shortcuts"], j
        assert taken["pipeline"]["cycles"] <= j["cycles"] and taken["core-groups"]["uses"] == 0, taken
        assert taken["pipeline"]["cycles"] > 0 or "plain" in pathlib.Path(WAITGATE).resolve().parts, taken
        off = json.loads(run("run", "--json", "--stats", "--arch", arch, program(d, BUSY), env={"WAITGATE_FAST": "none"}).stdout)
        assert all(s["cycles"] == s["uses"] == 0 for s in off["stats"]["shortcuts"]), off["stats"]["shortcuts"]
        for t in tracks.values():
            assert sum(t["cycles"].values()) == j["cycles"], t
            assert not any("other" in reason or reason == "none" for reason in t["cycles"]), t
        assert tracks["thread 1"]["issued"] == 20 and tracks["Scalar Unit"]["issued"] == 21
        assert tracks["T0"]["cycles"]["executing"] > 0


@test
def assumed_latencies(d):
    # No page describes SETIBRWC. Two of them, one cycle apart, occupy the Matrix Unit for six cycles each. Nobody has
    # measured loads from Dst.
    text = ".thread 1\n    ttsetibrwc 0, 0, 0\n    ttsetibrwc 0, 0, 0\n    .repeat 10\n        ttnop\n    .endr\n"
    for arch in ("bh", "wh"):
        j = json.loads(run("run", "--json", "--stats", "--arch", arch, program(d, text)).stdout)
        assert j["stats"]["assumed"] == {"cycles": 7, "parts": [{"what": "SETIBRWC", "kind": "latency", "cycles": 12}], "traffic": []}, j
        share = round(100 * 7 / j["cycles"])
        said = f"  {share} % of these cycles rest on assumed latencies: SETIBRWC (12)\n"
        assert run("run", "--stats", "--arch", arch, program(d, text)).stdout.count(said) == 1
        load = ".core T1\n    li a0, 0xFFBD8000\n    lw a1, 0(a0)\n    addi a1, a1, 1\nstop:\n    j stop\n"
        part = json.loads(run("run", "--json", "--stats", "--arch", "bh", program(d, load)).stdout)["stats"]["assumed"]
        assert [p["kind"] for p in part["parts"]] == ["load"] and part["cycles"] == part["parts"][0]["cycles"] > 0, part
        j = json.loads(run("run", "--json", "--stats", "--arch", arch, program(d, BUSY)).stdout)
        assert j["stats"]["assumed"] == {"cycles": 0, "parts": [], "traffic": []}, j["stats"]["assumed"]
        assert "assumed" not in run("run", "--stats", "--arch", arch, program(d, BUSY)).stdout


@test
def same_run_with_and_without_watchers(d):
    p = program(d, BUSY)
    plain = json.loads(run("run", "--json", p).stdout)
    watched = json.loads(run("run", "--json", "--stats", "--timeline", "--log", d / "log", "--trace", d / "t.json", p).stdout)
    watched.pop("stats")
    assert plain.pop("shortcuts") != watched.pop("shortcuts") or "plain" in pathlib.Path(WAITGATE).resolve().parts
    assert plain == watched


@test
def seeds_repeat(d):
    p = program(d, BUSY)
    a, b = (run("run", "--json", "--seed", 7, p).stdout for _ in range(2))
    assert a == b
    assert json.loads(a)["seed"] == 7 and json.loads(a)["expectations"][0]["holds"]


@test
def progress(d):
    """On a terminal, a run of some seconds shows its cycle, its rate and the maximum time left."""
    _, seen = suite.at_terminal([WAITGATE, "run", "--max-cycles", "4000000", "--log", "/dev/null", program(d, LOOPS)])
    shown = re.findall(rb"cycle (\d+), ([\d.]+) million per second, at most (\d+) s to the limit", seen)
    assert shown and all(int(cycle) <= 4000000 for cycle, _, _ in shown), seen[-300:]


@test
def progress_of_further_runs(d):
    """Further runs that a command makes show progress, too, and so does a debugger that runs to a cycle."""
    begin = ".core B\n    li t0, 3000000\n1:  addi t0, t0, -1\n    bnez t0, 1b\n    ebreak\n"
    long = program(d, begin + ".thread 0\n    ttsetdmareg 0, 1, 0, 8\n    ttstallwait STALL_CFG, THCON\n    ttwrcfg 4, 0, 60\n")
    suite.shows([WAITGATE, "check", "--waits", "--verify", "100000000000", long],
                rb"trying waits: [\d.]+ million cycles, [\d.]+ million per second, at most \d+ s left")
    suite.shows([WAITGATE, "profile", "--what-if", "auto", long],
                rb"running with other costs: [\d.]+ million cycles, [\d.]+ million per second\r")
    racy = ".thread 0\n    ttsetdmareg 0, 1, 0, 8\n    ttwrcfg 4, 0, 60\n.thread 1\n    .delay 20\n    ttwrcfg 4, 0, 60\n"
    suite.shows([WAITGATE, "check", "--verify", "100000000000", program(d, begin + racy)],
                rb"(trying remedies|looking for races that show): [\d.]+ million cycles, [\d.]+ million per second, at most \d+ s left")
    suite.shows([WAITGATE, "why", "--of", "l1:0x3000", "--at", 10**12, program(d, LOOPS.replace("j ", "rdcycle t1\n    j "))], rb"at cycle \d+")


@test
def commit_log(d):
    run("run", "--log", d / "log", program(d, BUSY))
    lines = (d / "log").read_text().splitlines()
    before = lines
    issued = [line for line in lines if " issued " in line]
    assert sum("thread 1" in line for line in issued) == 20
    assert re.match(r"\s+\d+  thread 0  issued     #1 +0x45000506  ttsetdmareg 0, 5, 0, 6  -> Scalar Unit", next(
        line for line in issued if "thread 0" in line))
    # A wait that holds the next instruction back: latched, blocked, released, and the instruction issued afterwards.
    run("run", "--log", d / "log", program(d, WAITS))
    lines = (d / "log").read_text().splitlines()
    stage = {name: next((i, int(line.split()[0])) for i, line in enumerate(lines) if f" {name} " in line and what in line)
             for name, what in (("latched", "ttsemwait"), ("blocked", "ttsetdmareg"), ("released", "ttsemwait"))}
    issued = next((i, int(line.split()[0])) for i, line in enumerate(lines) if " issued " in line and "0, 9, 0, 8" in line)
    assert stage["latched"] < stage["blocked"] < stage["released"] < issued, lines
    assert issued[1] == stage["released"][1] + 1, lines
    assert lines[stage["blocked"][0]].endswith("because a latched STALLWAIT, SEMWAIT or STREAMWAIT blocks it"), lines
    lines = before
    assert any(re.search(r" T0 +retire +0x18\w+ +0x\w+  sw t3,0\(t4\)", line) for line in lines), lines[-20:]


@test
def load_and_dump(d):
    (d / "in").write_bytes(bytes(range(64)))
    p = program(d, ".expect l1 0x4004 = 0x07060504\n")
    run("run", "--load", f"0x4000={d}/in", "--dump", f"0x4010:16={d}/out", p)
    assert (d / "out").read_bytes() == bytes(range(16, 32))
    assert sorted(f.name for f in d.iterdir()) == ["in", "out", "p.tasm"]


@test
def typed_arrays(d):
    values = [(i % 200 - 100) / 4 for i in range(64 * 32)]
    (d / "in.npy").write_bytes(npy(64, 32, values))
    p = program(d, "")
    for kind, size in (("fp32", 8192), ("bf16", 4096), ("fp16", 4096)):
        run("run", "--load", f"0={d}/in.npy:{kind},tilized", "--dump", f"0:{size}={d}/out.npy:{kind},tilized", p)
        assert (d / "out.npy").read_bytes() == npy(64, 32, values), kind
    r = run("run", "--dump", f"0:4090={d}/x.npy:bf16,tilized", p, status=6)
    assert "not an array of bf16" in r.stderr and not (d / "x.npy").exists()
    r = run("run", "--load", f"0={d}/p.tasm:bf16", p, status=6)
    assert "not a .npy file" in r.stderr


FOREVER = ".core B\nloop:\n    addi a0, a0, 1\n    j loop\n"


@test
def cycle_limit(d):
    r = run("run", "--max-cycles", 5000, program(d, FOREVER), status=5)
    assert "stopped by --max-cycles after 5000 cycles" in r.stdout


@test
def until(d):
    p = program(d, ".core B\n li t0, 0x3000\n li t1, 0x1207\n sw t1, 0(t0)\n" + FOREVER.split("\n", 1)[1])
    assert "done (--until)" in run("run", "--until", "0x3000=7/0xFF", p).stdout
    assert "not the address of a word" in run("run", "--until", "0x3001=7", p, status=6).stderr
    assert "is not ADDR=VALUE" in run("run", "--until", "0x3000", p, status=6).stderr


@test
def interrupt(d):
    child = subprocess.Popen([WAITGATE, "run", program(d, FOREVER)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    suite.wait_for_handler(child.pid)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, (child.returncode, out, err)
    assert "interrupted after" in out and "core B   at 0x0001000" in out and "loop" in out, out
    assert err == "", err


@test
def interrupt_keeps_what_was_asked_for(d):
    p = program(d, ".core B\n li t0, 0x3000\n li t1, 0x1207\n sw t1, 0(t0)\n" + FOREVER.split("\n", 1)[1])
    child = subprocess.Popen([WAITGATE, "run", "--json", "--dump", f"0x3000:4={d}/out", "--log", d / "log", p], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    suite.wait_for_handler(child.pid)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130 and err == "", (child.returncode, err)
    j = json.loads(out)
    assert j["status"] == 130 and j["result"] == "interrupted" and j["cores"][0]["place"].startswith("loop"), j
    assert (d / "out").read_bytes() == struct.pack("<I", 0x1207)
    assert "sw t1,0(t0)" in (d / "log").read_text()[:4000]
    assert sorted(f.name for f in d.iterdir()) == ["log", "out", "p.tasm"]


@test
def ctrl_c_at_a_terminal(d):
    status, text = suite.at_terminal([WAITGATE, "run", program(d, FOREVER)], interrupt=True)
    assert status == 130 and b"interrupted after" in text and b"core B   at 0x0001000" in text, (status, text)


@test
def findings_have_places(d):
    text = ".core B\nstart:\n    li t0, 0x7FFFFFF0\nbad:\n    sw x0, 0(t0)\nstop:\n    j stop\n"
    j = json.loads(run("run", "--json", program(d, text), status=2).stdout)
    f = j["findings"][0]
    assert f["code"] == "core-unmapped-access" and f["severity"] == "undefined" and f["who"] == "B", f
    assert f["function"] == "bad" and f["line"] == 5 and f["file"].endswith("p.tasm"), f
    r = run("run", program(d, text), status=2)
    assert re.search(r"undefined: core-unmapped-access at cycle \d+, B\n    at 0x0001\w+ in bad \(\S*p\.tasm:5\)", r.stdout), r.stdout
    run("run", program(d, text + ".expect finding core-unmapped-access\n"))
    r = run("run", "--stop-on", "undefined", program(d, text), status=2)
    assert "stopped by a finding" in r.stdout


FORMATS = """
.core B
main:
    li   t0, 0xFFEF0000
    li   t1, 5
    sw   t1, %d(t0)
    j    .
.core T0
    li   t2, 100
1:  addi t2, t2, -1
    bnez t2, 1b
    ttrmwcib0 15, 4, THCON_SEC0_REG2_Out_data_format_ADDR32
    ttstallwait STALL_UNPACK, TRISC_CFG
    ttunpacr 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0
    j    .
"""


@test
def formats_are_named_with_who_set_them(d):
    for arch, descriptor in (("bh", 64), ("wh", 52)):
        path = program(d, FORMATS % (4 * descriptor))
        out = run("run", "--arch", arch, path, status=2).stdout
        for words in ("Unpacker 0 cannot turn BF16 into TF32 (into SrcA or SrcB)",
                      r"the input format \(THCON_SEC0_REG0_TileDescriptor\) was set at cycle \d+ by core B at main\+0x8 \(\S*p\.tasm:6\)",
                      r"the output format \(THCON_SEC0_REG2_Out_data_format\) was set at cycle \d+ by thread 0's ttrmwcib0 15, 4, \d+ at "
                      r"\S+ \(\S*p\.tasm:12\)"):
            assert words in out or re.search(words, out), out
        assert "subject" not in out, out
        found = [f for f in json.loads(run("run", "--json", "--arch", arch, path, status=2).stdout)["findings"] if f["code"] == "unpack-format"]
        assert [b["field"] for b in found[0]["set_by"]] == ["THCON_SEC0_REG0_TileDescriptor", "THCON_SEC0_REG2_Out_data_format"], found
        assert found[0]["set_by"][0]["who"] == "B" and found[0]["set_by"][1]["cycle"] > found[0]["set_by"][0]["cycle"], found
    out = run("run", "--arch", "wh", program(d, ".thread 0\n    ttpacr 0, 0, 0, 0, 0, 0, 0\n"), status=2).stdout
    assert "Packer 0: Dst holds FP32, read as 16 bits, In_data_format is FP32, Out_data_format is FP32" in out, out
    assert "the output format (THCON_SEC0_REG1_Out_data_format) was not set in this run" in out, out


@test
def hang_report(d):
    p = ROOT / "tests/tasm/mutex_hang.tasm"
    j = json.loads(run("run", "--json", p).stdout)
    hang = j["hang"]
    assert hang["circular"] and len(hang["path"]) == 4
    assert {(e["from"], e["to"]) for e in hang["edges"]} == {("thread 0", "mutex 2"), ("mutex 2", "thread 1"),
                                                            ("thread 1", "mutex 0"), ("mutex 0", "thread 0")}
    assert hang["threads"][0]["stall"] == "MUTEX_HELD" and hang["mutexes"][0]["holder"] == "thread 0"
    text = p.read_text().replace(".expect", "# ")
    r = run("run", program(d, text), status=3)
    assert "They wait for each other in a circle" in r.stdout


@test
def core_hang_report(d):
    text = ".core T1\nwait:\n    li t0, 0xFFE80000\n    lw t1, 0(t0)\nuse:\n    mv t2, t1\nstop:\n    j stop\n"
    r = run("run", program(d, text), status=3)
    assert re.search(r"core T1  at 0x0001\w+ in (use|wait\S*) \(.*\): .*PC buffer", r.stdout), r.stdout
    assert re.search(r"core T1 waits\s+at\s[^;]*\sfor\score\sB", r.stdout), r.stdout


@test
def many_findings_are_folded(d):
    text = ".core B\n li t0, 0x4000\n jr t0\n.l1 0x4000\n .word " + "4, " * 1100 + "0x6f\n"
    r = run("run", program(d, text), status=2)
    assert r.stdout.count("tensix-invalid-opcode at cycle") == 3 and len(r.stdout.splitlines()) < 60, r.stdout
    assert re.search(r"… and 1021 more tensix-invalid-opcode of thread 0 at 1021 places, cycles \d+ to \d+ \(--json", r.stdout), r.stdout
    assert len(json.loads(run("run", "--json", program(d, text), status=2).stdout)["findings"]) == 1024


@test
def a_jump_to_nowhere_is_one_finding(d):
    """Its place is the call, and the verdict says so, however many zeros are executed."""
    for core in ("B", "T1"):
        text = f".core {core}\n li a1, 0\n jalr a1\n ebreak\n"
        r = run("run", "--max-cycles", "20000", program(d, text), status=5)
        assert r.stdout.count(" at cycle ") == 2 and "p.tasm:3)" in r.stdout and "first at 0x00000000" in r.stdout, r.stdout
        assert re.search(rf"Core {core} has left its program( through the call at \S+ \(.*?\))?, and executes zeros", " ".join(r.stdout.split())) and "polls" not in r.stdout and "Give it" not in r.stdout, r.stdout
    # Words of the host's are its own, even if they are zero.
    assert "core-left" not in run("run", program(d, ".thread 0\n .word 0\n"), status=2).stdout


@test
def zeros_that_lead_back_end_the_run(d):
    """Core T1 calls 0, and runs through zeros into its own program, forever."""
    text = ".core T1\n li sp, 0xFFB00800\n1: jalr ra, 0(zero)\n j 1b\n"
    for arch in ("bh", "wh"):
        r = run("run", "--arch", arch, program(d, text), status=2)
        assert "stopped by a finding after" in r.stdout and r.stdout.count("core-left-program at") == 1, r.stdout
        assert "called from here" in r.stdout and "p.tasm:3" in r.stdout, r.stdout


@test
def the_limit_shows_the_state(d):
    text = ".core B\n1: addi a1, a1, 1\n j 1b\n.thread 0\n ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO\n ttnop\n"
    r = run("run", "--max-cycles", "3000", program(d, text), status=5)
    assert "state at cycle 3000" in r.stdout and re.search(r"core B .* in _start.*: executing", r.stdout), r.stdout
    assert "semaphore 1 (MATH_PACK) is above zero" in r.stdout, r.stdout
    r = json.loads(run("run", "--json", "--max-cycles", "3000", program(d, text), status=5).stdout)
    assert "hang" not in r and r["state"]["cycle"] == 3000 and "story" not in r["state"], r.keys()


@test
def the_limit_names_a_wait_that_never_ends(d):
    """The run goes on, but without the thread."""
    count = ".core B\n li t0, 0x3000\n1: lw t1, 0(t0)\n addi t1, t1, 1\n sw t1, 0(t0)\n li t2, 9000\n blt t1, t2, 1b\n%s2: j 2b\n"
    text = count + ".thread 0\n ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO\n ttnop\n.l1 0x3000\n .word 0\n"
    out = " ".join(run("run", "--max-cycles", "3000", program(d, text % ""), status=5).stdout.split())
    assert "still makes progress: core B" in out and "One wait can never end, however many cycles: Nobody posts semaphore 1" in out, out
    out = run("run", "--max-cycles", "3000", program(d, text % "ttsempost SEMAPHORE_1\n"), status=5).stdout
    assert "Give it more" in out and "never end" not in out, out


@test
def statuses_are_distinct(d):
    hang = ".thread 0\n ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO\n ttnop\n"
    run("run", program(d, hang + ".expect l1 0x1000 = 1\n"), status=3)
    run("run", program(d, ".thread 0\n ttnop\n.expect l1 0x1000 = 1\n"), status=1)
    run("run", "--no-such-option", status=6)


@test
def full_fifo_is_a_hang(d):
    text = ".thread 0\n ttsemwait STALL_THREAD, SEMAPHORE_0, STALL_ON_ZERO\n .repeat 100\n ttnop\n .endr\n"
    for arch in ("bh", "wh"):
        r = run("run", "--arch", arch, program(d, text), status=3)
        assert "no SEMPOST of it is queued" in r.stdout
    text += ".expect hang\n ttsempost SEMAPHORE_0\n"
    assert "behind the wait itself" in run("run", program(d, text)).stdout


@test
def lockstep_is_the_same(d):
    import os
    p = program(d, BUSY)
    slow = json.loads(run("run", "--json", "--stats", p, env=dict(os.environ, WAITGATE_LOCKSTEP="1")).stdout)
    fast = json.loads(run("run", "--json", "--stats", p).stdout)
    assert not any(s["uses"] for s in slow["stats"].pop("shortcuts")) and fast["stats"].pop("shortcuts")
    assert slow.pop("shortcuts") and fast.pop("shortcuts")
    assert slow == fast


@test
def bad_environment(d):
    """An invalid value is an error that names it."""
    import os
    p = program(d, BUSY)
    core = program(d, ".core b\nstop:\n j stop\n", "core.tasm")
    chip = d / "chip.yaml"
    chip.write_text("arch: bh\ntiles:\n  - at: [1, 2]\n    load:\n      - {address: 0x1000, words: [1]}\n")
    bad = {"WAITGATE_LOCKSTEP": ("banana", "yes", "2", "-1", "1x", ""), "WAITGATE_FAST": ("row", "banana", "rows,"),
           "WAITGATE_SIMD": ("neon", "AVX2", "avx2,"),
           "WAITGATE_RISCV_PREFIX": ("x" * 300, "nonsense-"), "TMPDIR": ("/" + "x" * 400, str(d / "missing"))}
    for name, values in bad.items():
        for value in values:
            linked = name in ("WAITGATE_RISCV_PREFIX", "TMPDIR")
            for command in [("run", core)] if linked else [("run", p), ("check", p), ("explore", p), ("run", chip)]:
                r = run(*command, env=dict(os.environ, **{name: value}), status=6)
                assert name in r.stderr or (value and value in r.stderr), (name, value, command, r.stderr)
                assert linked or f"`{value}`" in r.stderr, (name, value, command, r.stderr)
    for value in ("0", "1"):
        run("run", p, env=dict(os.environ, WAITGATE_LOCKSTEP=value))
    run("run", core, env=dict(os.environ, TMPDIR=""))


C_KERNEL = r"""
#define STORE(address, value) (*(volatile unsigned *)(address) = (value))
unsigned table[4] = {1, 2, 3, 4};
__attribute__((noinline)) unsigned add(const unsigned *t) { unsigned s = 0; for (int i = 0; i < 4; i++) s += t[i]; return s; }
__attribute__((naked)) void _start(void) { __asm__ volatile("li sp, 0xFFB00800\n j kernel"); }
__attribute__((used)) void kernel(void)
{
    STORE(0x3000, add(table));
    __asm__ volatile(".word 0x08000000");
    for (;;)
        ;
}
"""


def compile_kernel(d, name, *more):
    (d / "k.c").write_text(C_KERNEL)
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-Os", "-g", "-nostdlib", "-ffreestanding", "-static",
                    "-Wl,-Ttext=0x6000", "-Wl,--no-relax", "-Wl,-N", *more, "-o", d / name, d / "k.c"], check=True, capture_output=True)
    return d / name


@test
def elf_programs(d):
    elf = compile_kernel(d, "brisc.elf")
    for args in (["--brisc", elf], [elf], ["--brisc", elf, "--release", "b"]):
        run("run", *args, "--dump", f"0x3000:4={d}/out")
        assert (d / "out").read_bytes() == struct.pack("<I", 10), args
    assert "has a program already" in run("run", "--brisc", elf, elf, status=6).stderr
    j = json.loads(run("run", "--json", elf).stdout)
    assert j["cores"][0]["place"].startswith("kernel+"), j["cores"][0]
    r = run("run", "--brisc", elf, "--release", "nc", "--dump", f"0x3000:4={d}/out", status=3)
    assert (d / "out").read_bytes() == bytes(4)


@test
def an_assertion_names_its_line(d):
    (d / "a.c").write_text("__attribute__((noinline)) void check(int x)\n{\n    if (x != 3)\n        __asm__ volatile(\"ebreak\");\n}\n"
                           "__attribute__((naked)) void _start(void) { __asm__ volatile(\"li sp, 0xFFB00800\\n j kernel\"); }\n"
                           "__attribute__((used)) void kernel(void)\n{\n    check(*(volatile int *)0x3000);\n    for (;;)\n        ;\n}\n")
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-O1", "-g", "-nostdlib", "-ffreestanding", "-static",
                    "-Wl,-Ttext=0x6000", "-o", d / "trisc1.elf", d / "a.c"], check=True, capture_output=True)
    for arch in ("bh", "wh"):
        r = subprocess.run([WAITGATE, "run", "--arch", arch, "--json", d / "trisc1.elf"], capture_output=True, text=True, timeout=60)
        f = json.loads(r.stdout)["findings"][0]
        assert f["code"] == "core-ebreak" and f["who"] == "T1" and f["function"] == "check" and f["line"] == 4, f
        assert f["file"].endswith("a.c"), f


@test
def a_pushed_instruction_has_its_own_line(d):
    (d / "k.c").write_text('#include "wg_kernel.h"\n__attribute__((naked)) void _start(void) { __asm__ volatile("li sp, 0xFFB00800\\n j kernel"); }\n'
                           "__attribute__((used)) void kernel(void)\n{\n    volatile int x = 3;\n    x = x + 1;\n    TTI_SETDMAREG(0, 30, 0, 8);\n"
                           "    x = x + 2;\n    TTI_SEMWAIT(0x1FF, 8, 1);\n    x = x + 3;\n    TTI_NOP;\n    for (;;)\n        ;\n}\n")
    header = next(p for p in pathlib.Path(WAITGATE).resolve().parent.glob("src/isa/wg_kernel.h"))
    for level in ("-O0", "-Os", "-O2"):
        subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", level, "-g", "-nostdlib", "-ffreestanding", "-static", "-I",
                        header.parent, "-Wl,-Ttext=0x6000", "-o", d / "trisc0.elf", d / "k.c"], check=True, capture_output=True)
        lines = dict(re.findall(r"; \S*k\.c:(\d+)\n +\w+: +\w+ +(tt\w+)", run("dis", d / "trisc0.elf").stdout))
        assert lines == {"7": "ttsetdmareg", "9": "ttsemwait", "11": "ttnop"}, (level, lines)
        out = run("run", d / "trisc0.elf", status=3).stdout
        assert re.search(r"semaphore 3 \(UNPACK_OPERAND_SYNC\), for which thread 0 waits at kernel\S* \(\S*k\.c:9\)", " ".join(out.split())), out


@test
def a_forbidden_access_names_line_and_nearest_region(d):
    (d / "f.c").write_text("__attribute__((naked)) void _start(void) { __asm__ volatile(\"li sp, 0xFFB00800\\n j kernel\"); }\n"
                           "__attribute__((noinline)) unsigned peek(volatile unsigned *p)\n{\n    return *p;\n}\n"
                           "__attribute__((used)) void kernel(void)\n{\n    *(volatile unsigned *)0x3000 = peek((volatile unsigned *)ADDRESS);\n"
                           "    for (;;)\n        ;\n}\n")
    for arch in ("bh", "wh"):
        # nowhere; PC buffers, which NC lacks; beyond the end of L1
        for core, address, nearest in (("trisc1", 0x7FFFFFF0, "own data RAM"), ("ncrisc", 0xFFE80000, None), ("brisc", 0x180000, "L1")):
            name = d / f"{core}.elf"
            subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-O1", "-g", "-nostdlib", "-ffreestanding", "-static",
                            "-Wl,-Ttext=0x6000", f"-DADDRESS={address:#x}", "-o", name, d / "f.c"], check=True, capture_output=True)
            j = json.loads(run("run", "--arch", arch, "--json", name, status=3).stdout)
            f = j["findings"][0]
            assert f["code"] == "core-unmapped-access" and f["function"] == "peek" and f["line"] == 4, f
            assert f"load from 0x{address:08x}; nearest for this core: " in f["detail"], f
            assert nearest is None or f"nearest for this core: {nearest}, 0x" in f["detail"], f


@test
def data_in_own_ram(d):
    elf = compile_kernel(d, "trisc2.elf", "-Wl,-Tdata=0xFFB00000")
    for arch in ("bh", "wh"):
        run("run", "--arch", arch, elf, "--dump", f"0x3000:4={d}/out")
        assert (d / "out").read_bytes() == struct.pack("<I", 10), arch
    elf = compile_kernel(d, "brisc.elf", "-Wl,-Tdata=0xFFB03000")
    assert "do not fit core B's RAM" in run("run", elf, status=6).stderr
    elf = compile_kernel(d, "ncrisc.elf", "-Wl,-Ttext=0xFFC00000", "-Wl,-Tdata=0xFFB00000")  # WH: instruction RAM
    r = run("run", "--arch", "wh", elf, "--dump", f"0x3000:4={d}/out", status=2)  # it cannot push: a finding
    assert (d / "out").read_bytes() == struct.pack("<I", 10) and re.search(r"at 0xffc0\w+ in kernel\+\w+ \(\S*k\.c:8\)", r.stdout), r.stdout
    assert "neither in L1" in run("run", elf, status=6).stderr


@test
def hostile_elf(d):
    good = compile_kernel(d, "brisc.elf").read_bytes()
    for cut in (3, 40, 60, 200):
        (d / "brisc.elf").write_bytes(good[:cut])
        r = run("run", d / "brisc.elf", status=6)
        assert r.stderr.startswith("waitgate: ") and "brisc.elf" in r.stderr and r.stderr.count("\n") == 1, r.stderr
    (d / "brisc.elf").write_bytes(good[:18] + b"\x3e\x00" + good[20:])
    assert "machine 62" in run("run", d / "brisc.elf", status=6).stderr
    elf = compile_kernel(d, "brisc.elf", "-Wl,-Ttext=0x40000000")
    assert "neither in L1" in run("run", elf, status=6).stderr


@test
def disassembled_elf(d):
    elf = compile_kernel(d, "k.elf")
    out = run("dis", elf).stdout
    assert re.search(r"^0000\w+ <add>:$", out, re.M) and re.search(r"^; \S*k\.c:8$", out, re.M), out
    assert re.search(r"^ +6\w\w\w:  08000000  ttnop$", out, re.M), out
    assert re.search(r"^ +6\w\w\w:  \w{8}  (ret|sw a0,0\(a5\)|j 0x6\w+)$", out, re.M), out
    j = json.loads(run("dis", "--json", elf).stdout)
    tensix = [i for i in j["instructions"] if i["kind"] == "tensix"]
    assert [i["text"] for i in j["instructions"] if i["kind"] == "data"][:2] == [".word 0x00000001", ".word 0x00000002"]
    assert len(tensix) == 1 and tensix[0]["text"] == "ttnop" and tensix[0]["function"] == "kernel", tensix


@test
def isa_list(d):
    for arch in ("bh", "wh"):
        out = run("isa", "--arch", arch).stdout
        assert "STALLWAIT" in out and ("STREAMWAIT" in out) == (arch == "bh")
    (d / "t.tsv").write_text("bh\tSTALLWAIT\tvalue timing\n")
    def find(j):
        for value in j.values() if isinstance(j, dict) else j:
            if isinstance(value, dict) and value.get("name") == "STALLWAIT":
                return value
            if isinstance(value, (dict, list)) and (found := find(value)):
                return found
    row = find(json.loads(run("isa", "--json", "--tests", d / "t.tsv").stdout))
    assert row["tested"] is True and row["implemented"] is True, row
    row = find(json.loads(run("isa", "--arch", "wh", "--json", "--tests", d / "t.tsv").stdout))
    assert row["tested"] is False, row


@test
def assembler_errors_are_placed(d):
    r = run("run", program(d, ".core B\n    li a0, 1\n    frobnicate a0\n"), status=6)
    assert re.search(r"p\.tasm:3: error: .*frobnicate", r.stderr) and "    frobnicate a0\n" in r.stderr, r.stderr
    r = run("run", program(d, ".thread 0\n ttnop\n ttstallwat 1, 2\n"), status=6)
    assert re.search(r"p\.tasm:3:2: error: ", r.stderr) and " ^\n" in r.stderr, r.stderr


@test
def timeline_picture(d):
    import os
    r = run("run", "--timeline", ROOT / "tests/tasm/semaphore.tasm", env=dict(os.environ, COLUMNS="60"))
    rows = [line for line in r.stdout.splitlines() if line.startswith(("thread", "Scalar", "Sync"))]
    assert len(rows) == 4 and all(len(row) <= 60 for row in rows), r.stdout
    assert "\033" not in r.stdout
    assert re.search(r"^  a a latched STALLWAIT, SEMWAIT or STREAMWAIT blocks it$", r.stdout, re.M), r.stdout


suite.run()
