#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cluster files in several processes, and runs of many tiles that are interrupted: equal results for any number of processes,
one message and one report for all of them, deaths, full disks, snapshots, sweeps, job scripts.

usage: test_ranks.py WAITGATE ROOT EXAMPLES_FOLDER [MPIRUN]
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import suite
from clusters import EXAMPLES, ROOT, WAITGATE, build, elfs, ring, run, words
from suite import test

MPIRUN = sys.argv[4] if len(sys.argv) > 4 else None
SOAK = os.environ.get("WG_SOAK", "0") != "0"


def processes(count, folder, *options, name="cluster.yaml", command="run"):
    """The command under mpirun; allows more processes than processors, and root."""
    file = [str(folder / name)] if name else []
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    return subprocess.Popen([MPIRUN, "-n", str(count), WAITGATE, command, *file, *map(str, options)], env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finished(process, seconds=120):
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def mpi_test(f):
    return test(f) if MPIRUN else f


def soak_mpi_test(f):
    return mpi_test(f) if SOAK else f


@mpi_test
def ranks(d):
    """The same report, bit for bit, from any number of processes: for runs that complete, hang, or reach a limit. Eight
    chips; WG_SOAK=1: 32, too."""
    elfs(d)
    galaxy_ring = (EXAMPLES / "galaxy_ring.yaml").read_text().replace("threads: 2", "threads: 1")
    clusters = [(ring(d, "t3000", "wh")[0], [0, 6])] + ([(galaxy_ring, [31, 8])] if SOAK else [])
    for text, link in clusters:
        for more, options, wanted, count in (("", ("--stats",), 0, 3), *[("", ("--max-cycles", 1234, "--json"), 5, 2)] * SOAK,
                                             (f"faults: [cut: {{link: {link}, cycle: 1500}}]\n", ("--json",), 3, 4)):
            status, one, err = run(d, text + more, *options)
            assert status == wanted, (status, err)
            assert finished(processes(count, d, *options))[:2] == (wanted, one), (count, options)


@test
def observed(d):
    """Traces, logs, profiles and pages of each chip, and one SARIF file; with several processes the same bytes."""
    elfs(d)
    text = (EXAMPLES / "ring.yaml").read_text()
    cut = "faults:\n  - cut: {link: [1, 0], cycle: 300}\n"
    assert run(d, text + cut, f"--sarif={d}/cut")[0] == 3
    one, = json.loads((d / "cut").read_text())["runs"]
    results = [r["message"]["text"] for r in one["results"]]
    assert {t[:13] for t in results} == {"Chip 0, tile ", "Chip 1, tile "}, results
    ways = (("run", "--trace={}t-{{chip}}.json", "--log={}l-{{chip}}", "--sarif={}s"), ("trace", "--output={}p-{{chip}}.pftrace"),
            ("profile", "--folded={}f-{{chip}}", "--json"), ("report", "--output={}r-{{chip}}.html"), ("check", "--json"))
    said = [run(d, text, *(o.format(f"{d}/a-") for o in options), command=(command,)) for command, *options in ways]
    assert all(status == 0 and not err for status, _, err in said), said
    trace = json.loads((d / "a-t-1.json").read_text())
    assert {e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"} == {"chip 1, Ethernet tile 9-0",
                                                                                                  "chip 1, Ethernet tile 1-0"}
    cost = json.loads(said[2][1])["chips"][1]["tiles"][0]["cost_profile"]["tracks"]
    work = {t["name"] for t in cost if t["kind"] == "core" for c in t["costs"] if c["cause"] == "executing"}
    assert work == {"E"}, work  # an Ethernet tile of Wormhole has one core
    both = (d / "a-p-0.pftrace").read_bytes() + (d / "a-p-1.pftrace").read_bytes()
    assert b"chip 0, Ethernet tile 9-6" in both and b"chip 1, Ethernet tile 9-0" in both
    if MPIRUN:
        for (command, *options), (status, out, _) in list(zip(ways, said))[::2]:
            again = finished(processes(2, d, *(o.format(f"{d}/b-") for o in options), command=command))
            assert again[:2] == (status, out.replace(f"{d}/a-", f"{d}/b-")), again
        names = [p.name for p in d.glob("a-[tlsf]*")]
        assert len(names) == 7
        for name in names:
            assert (d / name).read_bytes().replace(b"a-", b"") == (d / name.replace("a-", "b-")).read_bytes().replace(b"b-", b""), name


@test
def a_full_disk(d):
    """A snapshot, a dump, or a trace does not fit: a message with the file, status 6, nothing half-written; with
    processes, too."""
    elfs(d)
    (d / "cluster.yaml").write_text((EXAMPLES / "ring.yaml").read_text())

    def limited(command, before=()):
        return subprocess.run([*before, "bash", "-c", 'ulimit -f 40; exec "$@"', "bash", *map(str, command)], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                   "OMPI_MCA_rmaps_base_oversubscribe": "1"})
    for option, name in ((f"--save-every=700={d}/full.snapshot", "full.snapshot"), (f"--trace={d}/full-{{chip}}.json", "full-0.json")):
        r = limited([WAITGATE, "run", d / "cluster.yaml", option])
        assert r.returncode == 6 and f"{name}: File too large" in r.stderr, r
        assert not list(d.glob("full*")), list(d.glob("full*"))
    text = (EXAMPLES / "ring.yaml").read_text().replace("length: 32", "length: 0x20000")
    (d / "cluster.yaml").write_text(text)
    r = limited([WAITGATE, "run", d / "cluster.yaml"])
    assert r.returncode == 6 and "ring-0.bin: File too large" in r.stderr and not (d / "ring-0.bin").exists(), r
    if MPIRUN:
        r = limited([WAITGATE, "run", d / "cluster.yaml"], [MPIRUN, "--mca", "btl", "self,tcp", "-n", "2"])
        assert r.returncode and re.search(r"ring-[01].bin: File too large", r.stderr), r  # the status is mpirun's own


@mpi_test
def chips_move(d):
    """Chips that move between processes every few windows: the same report and dumps, and a snapshot to resume from;
    for a run that completes, and for one that hangs, whose last instructions move along."""
    elfs(d)
    text = ring(d, "t3000", "wh")[0]
    for more, wanted in (("", 0), ("faults: [cut: {link: [0, 6], cycle: 1500}]\n", 3)):
        options = ("--json", f"--save-at=4000={d}/SNAPSHOT") if not more else ("--json",)
        status, one, err = run(d, text + more, *[str(o).replace("SNAPSHOT", "one") for o in options])
        assert status == wanted, err
        for i in range(8):
            (d / f"sum-{i}").rename(d / f"kept-{i}")
        os.environ["WAITGATE_MOVE_CHIPS"] = "always"
        status, out, err = finished(processes(3, d, *[str(o).replace("SNAPSHOT", "two") for o in options]))
        del os.environ["WAITGATE_MOVE_CHIPS"]
        moved = re.findall(r"chip (\d+) moves to process (\d+)", err)
        assert status == wanted and out == one and len(set(moved)) > 4, (status, moved, out[:300], one[:300])
        assert [(d / f"sum-{i}").read_bytes() for i in range(8)] == [(d / f"kept-{i}").read_bytes() for i in range(8)]
        if not more:
            status, again, err = run(d, text, "--json", f"--resume={d}/two")
            assert status == 0 and json.loads(again)["state"] == json.loads(one)["state"], err


@soak_mpi_test
def load_moves(d):
    """Four chips on two processes with equal work, but the first two take far longer. One of them moves."""
    build(d, "long", "int main(void)\n{\n    u32 x = WORD(0x28000);\n    for (u32 i = 0; i < x; i++)\n        WORD(0x28010) = i;\n    return 0;\n}\n", 0x4000)
    tiles = ", ".join(f"[{x}, {y}]" for x in (1, 2, 3, 4) for y in (1, 2, 3))
    text = "arch: wh\nmax-cycles: 800000\nchips:\n" + "".join(
        f"  - {{chip: [{which}], tiles: [{{at: [{tiles}], brisc: long.elf, load: [{{address: 0x28000, words: [{times}]}}]}}]}}\n"
        for which, times in (("0, 1", 10**8), ("2, 3", 10)))
    status, one, err = run(d, text, "--json")
    assert status == 5, err
    os.environ["WAITGATE_MOVE_CHIPS"] = "tell"
    status, out, err = finished(processes(2, d, "--json"))
    del os.environ["WAITGATE_MOVE_CHIPS"]
    assert status == 5 and out == one and re.search(r"chip [01] moves to process 1", err), (status, err)


@test
def snapshots(d):
    """A run resumes from a file where another one stopped, with the same bits; also on another number of processes."""
    elfs(d)
    text = (EXAMPLES / "ring.yaml").read_text()
    (d / "host.yaml").write_text("arch: wh\nhost-memory: {bytes: 4096, load: [{address: 16, words: [5]}]}\ntiles: [{at: e0}]\n")
    _, whole, _ = run(d, text, "--json")
    status, out, err = run(d, text, "--json", f"--save-every=700={d}/run.snapshot")
    assert status == 0, err
    status, again, err = run(d, text, "--json", f"--resume={d}/run.snapshot")
    assert status == 0 and json.loads(again)["state"] == json.loads(whole)["state"], err
    assert json.loads(again)["cycles"] == json.loads(whole)["cycles"]
    if MPIRUN:
        status, out, err = finished(processes(2, d, "--json", f"--save-every=700={d}/more.snapshot"))
        assert status == 0 and (d / "more.snapshot").read_bytes() == (d / "run.snapshot").read_bytes(), err
        status, out, err = finished(processes(2, d, "--json", f"--resume={d}/more.snapshot"))
        assert status == 0 and json.loads(out)["state"] == json.loads(whole)["state"], err
    data = bytearray((d / "run.snapshot").read_bytes())
    data[len(data) // 2] ^= 1
    (d / "broken.snapshot").write_bytes(data)
    for name, words_ in (("broken.snapshot", "cut short or damaged"), ("gone.snapshot", "No such file"), ("host.yaml", "not a snapshot of a cluster")):
        status, _, err = run(d, text, f"--resume={d}/{name}")
        assert status == 6 and words_ in err, err
    assert "is of another architecture, timing profile or number of chips" in run(d, "topology: t3000\n", f"--resume={d}/run.snapshot")[2]
    assert "is not CYCLES=FILE" in run(d, text, "--save-every=7")[2]
    hosts = "topology: n300\nchips: [{chip: all, file: host.yaml}]\n"
    assert run(d, hosts, f"--save-every=300={d}/hosts.snapshot")[0] == 0
    assert run(d, hosts, f"--resume={d}/hosts.snapshot")[0] == 0
    assert "other memory" in run(d, hosts.replace("all", "0"), f"--resume={d}/hosts.snapshot")[2]


def without_times(text):
    said = json.loads(text)
    for one in (said, *said.get("tests", [])):
        for key in ("jobs", "milliseconds", "busiest_microseconds"):
            one.pop(key, None)
    return said


@mpi_test
def sweeps(d):
    """`explore` and `test` distribute their work over the processes; the first one reports the same as a single
    process."""
    program = ROOT / "tests/tasm/explore/ordered.tasm"
    one = subprocess.run([WAITGATE, "explore", "--runs", "200", "--json", program], capture_output=True, text=True)
    assert one.returncode == 0 or "differences" in one.stdout, one.stderr
    status, out, err = finished(processes(3, d, "--runs", 200, "--json", program, name=None, command="explore"))
    assert status == one.returncode and without_times(out) == without_times(one.stdout), err
    elfs(d)
    shutil.copy(EXAMPLES / "ring.yaml", d)
    for name in ("hello", "handshake"):
        shutil.copy(ROOT / f"examples/{name}.tasm", d / f"{name}.tasm")
    (d / "bad.tasm").write_text(".thread 0\nttnosuch\n")
    one = subprocess.run([WAITGATE, "test", "--json", "--sarif", d / "one", d / "hello.tasm", d / "handshake.tasm", d / "ring.yaml", d / "bad.tasm"],
                         capture_output=True, text=True)
    status, out, err = finished(processes(2, d, "--json", "--sarif", d / "two", d / "hello.tasm", d / "handshake.tasm", d / "ring.yaml", d / "bad.tasm",
                                          name=None, command="test"))
    assert status == one.returncode and without_times(out) == without_times(one.stdout) and len(without_times(out)["tests"]) == 4, (out, err)
    assert (d / "one").read_bytes() == (d / "two").read_bytes()


@mpi_test
def job_scripts(d):
    """The job scripts do their work, on as many processes as the scheduler gives them: here two."""
    elfs(d)
    shutil.copy(EXAMPLES / "galaxy_ring.yaml", d)
    (d / "tests").mkdir()
    shutil.copy(ROOT / "examples/hello.tasm", d / "tests")
    shutil.copy(ROOT / "examples/deadlock.tasm", d / "tests")
    (d / "mpirun").write_text(f'#!/bin/sh\nexec {MPIRUN} -n 2 "$@"\n')
    (d / "mpirun").chmod(0o755)
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "PATH": f"{d}:{os.path.dirname(WAITGATE)}:{os.environ['PATH']}"}

    def job(name, *words_):
        return subprocess.run(["sh", ROOT / "examples" / name, *map(str, words_)], cwd=d, env=env, capture_output=True, text=True, timeout=300)
    r = job("galaxy.slurm")
    assert r.returncode == 0 and len(json.loads(r.stdout)["chips"]) == 32 and words(d / "galaxy-31.bin") == [0, 0x600D], r
    r = job("sweep.slurm", "tests", d / "tests/hello.tasm")
    assert r.returncode == 3 and "1 passed, 1 failed" in r.stdout and 'name="tests/deadlock.tasm"' in (d / "results.xml").read_text(), r
    assert json.loads((d / "timings.json").read_text())["timings"] > 0


MULTIPLY = """    tiles:
      - at: {from: [1, %d], to: [%d, 11]}
        brisc: %smatmul.brisc.elf
        trisc0: %smatmul.trisc0.elf
        trisc1: %smatmul.trisc1.elf
        trisc2: %smatmul.trisc2.elf
        load: [{address: 0x20000, words: [4]}, {address: 0x20010, words: [100000000]}]
"""


def matmuls(d):
    for elf in EXAMPLES.glob("*matmul.*.elf"):
        shutil.copy(elf, d)
    (d / "chip.yaml").write_text("arch: bh\n" + (MULTIPLY % (2, 16, "", "", "", "")).replace("\n    ", "\n").replace("    tiles", "tiles"))
    (d / "cluster.yaml").write_text("topology: t3000\nchips:\n  - chip: all\n" + MULTIPLY % (1, 9, "wh_", "wh_", "wh_", "wh_"))


def ctrl_c(child, pid):
    """Presses Ctrl-C in one process; in which cycle the run ended."""
    suite.wait_for_handler(pid)
    time.sleep(1)
    os.kill(pid, signal.SIGINT)
    out, err = child.communicate(timeout=120)
    report = json.loads(out)
    assert report["result"] == "interrupted" and report["status"] == 130, (out[:300], err)
    return report["cycles"]


@test
def ctrl_c_with_many_tiles(d):
    """However long a cycle of many busy tiles takes, Ctrl-C ends the run soon: long before 2^17 cycles have passed."""
    matmuls(d)
    for command, name in (("profile", "chip.yaml"), ("run", "cluster.yaml")):
        child = subprocess.Popen([WAITGATE, command, "--json", d / name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        cycles = ctrl_c(child, child.pid)
        assert child.returncode == 130 and 0 < cycles < 1 << 17, (name, cycles)


def workers_of(p, count):
    """The processes that mpirun has started."""
    mine = []
    for _ in range(100):
        time.sleep(0.1)
        children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(p.pid)], capture_output=True, text=True).stdout
        mine = [int(line.split()[0]) for line in children.splitlines() if "waitgate" in line]
        if len(mine) == count:
            break
    assert len(mine) == count, children
    return mine


@mpi_test
def ctrl_c_in_one_process(d):
    """All of them end in the same cycle, with one report."""
    matmuls(d)
    p = processes(2, d, "--json")
    assert 0 < ctrl_c(p, workers_of(p, 2)[1]) < 1 << 17


@mpi_test
def a_process_dies(d):
    """The run ends within seconds, and reports why."""
    build(d, "count", "int main(void)\n{\n    for (u32 i = 0;; i++)\n        WORD(0x28000) = i;\n}\n", 0x18000)
    (d / "cluster.yaml").write_text("topology: n300\nchips:\n  - {chip: all, tiles: [{at: e0, erisc0: count.elf}]}\n")
    for number, victim in ((signal.SIGKILL, 1), (signal.SIGTERM, 1), (signal.SIGKILL, 0)):
        p = processes(2, d)
        mine = workers_of(p, 2)
        time.sleep(1)
        begun = time.monotonic()
        os.kill(min(mine) if victim == 0 else max(mine), number)
        status, out, err = finished(p, 30)
        assert status != 0 and time.monotonic() - begun < 10, status
        assert "waitgate: the run has ended: another process died" in err, (number, victim, err)


@mpi_test
def goes_on_after_a_death(d):
    """A process is killed after a snapshot; the run continues from it on other numbers of processes, to the same bits."""
    build(d, "count", "int main(void)\n{\n    for (u32 i = 0; i < 200000; i++)\n        WORD(0x28000) = i;\n    return 0;\n}\n", 0x18000)
    text = "topology: t3000\nchips:\n  - {chip: all, tiles: [{at: e0, erisc0: count.elf}]}\n"
    status, whole, err = run(d, text, "--json")
    whole = json.loads(whole)
    assert status == 0 and whole["cycles"] > 600000, err
    p = processes(3, d, f"--save-every=100000={d}/kept.snapshot")
    end = time.monotonic() + 60
    while not (d / "kept.snapshot").exists() and p.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(p.pid)], capture_output=True, text=True).stdout
    mine = [int(line.split()[0]) for line in children.splitlines() if "waitgate" in line]
    assert len(mine) == 3, children
    os.kill(mine[2], signal.SIGKILL)
    status, out, err = finished(p, 30)
    assert status != 0, err  # mpirun may kill the others before they report anything
    # The code is that of the snapshot, too: a run that began anew would end earlier.
    build(d, "count", "int main(void)\n{\n    for (u32 i = 0; i < 10; i++)\n        WORD(0x28000) = i;\n    return 0;\n}\n", 0x18000)
    for again in (run(d, text, "--json", f"--resume={d}/kept.snapshot"), finished(processes(2, d, "--json", f"--resume={d}/kept.snapshot"))):
        said = json.loads(again[1])
        assert again[0] == 0 and (said["state"], said["cycles"]) == (whole["state"], whole["cycles"]), again


@mpi_test
def a_process_fails(d):
    """A failure that only one process can see is an error of the whole run, with its position; so are too many
    processes."""
    elfs(d)
    text = (EXAMPLES / "ring.yaml").read_text()
    (d / "cluster.yaml").write_text(re.sub(r"(at: e1, erisc0: )[^,]*", r"\1gone.elf", text))
    status, out, err = finished(processes(2, d))
    assert status == 6 and not out and "gone.elf: No such file" in err and ":17:" in err, (status, err)
    (d / "cluster.yaml").write_text(text)
    status, out, err = finished(processes(3, d))
    assert status == 6 and err.count("has 2 chips, too few for 3 processes") == 1, err
    status, out, err = finished(processes(2, d, name="gone.yaml"))
    assert status == 6 and err.count("gone.yaml: No such file") == 1 and "has started" not in err, err
    (d / "wrong.yaml").write_text("topology: n300\nchips:\n  - {chip: 7, tiles: []}\n")
    status, out, err = finished(processes(2, d, name="wrong.yaml"))
    assert status == 6 and err.count("there is no chip 7") == 1, err
    status, out, err = finished(processes(3, d, "--json"))
    assert status == 6 and "too few for 3 processes" in json.loads(out)["error"] and "too few" in err, (out, err)


@mpi_test
def one_process_is_enough(d):
    """What several processes do not share is not run by each of them."""
    for name in (ROOT / "examples/hello.tasm", EXAMPLES / "relay.yaml"):
        status, out, err = finished(processes(2, d, "--json", name, name=None))
        assert status == 6 and err.count(f"mpirun has started 2 processes, but {name} runs in one") == 1, err
        assert "runs in one" in json.loads(out)["error"], out
    status, out, err = finished(processes(2, d, "STALLWAIT", name=None, command="explain"))
    assert status == 0, err


@test
def no_library(d):
    """Under mpirun, but without the library: an error message, not a run of a part."""
    (d / "cluster.yaml").write_text("topology: n300\n")
    env = {**os.environ, "OMPI_COMM_WORLD_SIZE": "2", "WAITGATE_MPI": str(d / "gone.so")}
    r = subprocess.run([WAITGATE, "run", str(d / "cluster.yaml")], env=env, capture_output=True, text=True, timeout=60)
    assert r.returncode == 6 and "mpirun has started 2 processes" in r.stderr and "gone.so" in r.stderr, r.stderr
    linked = subprocess.run(["ldd", WAITGATE], capture_output=True, text=True).stdout
    assert "mpi" not in linked, linked


if __name__ == "__main__":
    suite.run()
