# SPDX-License-Identifier: Apache-2.0
"""The Python module as installed: run by pytest with the plugin, against the library of the build."""
import json
import os
import pathlib
import re
import struct
import subprocess

import numpy as np
import pytest
import waitgate

pytest_plugins = ["pytester"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def test_runs_a_stream(tile):
    tile.push(0, "ttsetdmareg 0, 42, 0, 8", waitgate.assemble("ttadddmareg 1, 6, 4, 4", tile.arch))
    assert tile.run() == "done" and tile.cycle > 3
    assert tile.gpr(0, 4) == 42 and tile.gpr(0, 6) == 46


def test_long_streams_wait_for_room(tile):
    tile.push(1, *["ttadddmareg 1, 6, 1, 6"] * 500)
    tile.run()
    assert tile.gpr(1, 6) == 500


def test_hang_is_an_exception_with_the_report(tile):
    tile.push(0, "ttatgetm 3")
    tile.run()
    tile.push(1, "ttatgetm 3")
    with pytest.raises(waitgate.Hang) as error:
        tile.run()
    assert "mutex 3 is held" in str(error.value) and "thread 0 holds it" in str(error.value)
    assert json.loads(tile.hang_report("json"))
    assert tile.run(hang_is_error=False) == "hung"


def test_profile_of_a_tile(tile, tmp_path):
    with tile.watch(trace=tmp_path / "t.json", log=tmp_path / "t.log", profile=True, timeline=True) as p:
        tile.push(0, *["ttadddmareg 1, 6, 1, 6"] * 50)
        tile.run()
        with pytest.raises(waitgate.Error):
            p.text  # it has not ended
    end = tile.cycle
    tile.push(0, "ttadddmareg 1, 6, 1, 6")
    tile.run()
    assert end < tile.cycle and "thread 0" in p.text and "critical path" in str(p)
    said = p.data
    tracks = said["cost_profile"]["tracks"]
    assert said["cost_profile"]["to"] == end and all(sum(c["cycles"] for c in t["costs"]) == end for t in tracks)
    assert "Scalar Unit" in p.timeline and "<pre>" in p._repr_html_()
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert sum(e["ph"] == "X" and e["cat"] == "executing" for e in events) == 50
    assert sum(" issued " in line for line in (tmp_path / "t.log").read_text().splitlines()) == 50
    p.report(tmp_path / "page.html")
    assert "Scalar Unit" in (tmp_path / "page.html").read_text()
    with pytest.raises(waitgate.Error, match="no/such"):
        tile.watch(trace=tmp_path / "no/such/t.json")


def test_profile_of_a_chip(tmp_path):
    path = pathlib.Path(os.environ.get("WAITGATE_BUILD", ROOT / "build")) / "examples/hello.brisc.elf"
    elf = waitgate.Elf(path) if path.exists() else None
    with waitgate.Chip("bh") as chip:
        with chip.watch((1, 2), (2, 2), trace=tmp_path / "t.pftrace.zst", timeline=True) as p:
            for x in (1, 2):
                if elf is not None:
                    chip.tile(x, 2).load("b", elf)
            chip.run()
        assert [t["tile"] for t in p.data["chip_profile"]["map"]] == ["1-2", "2-2"] and "tile 2-2" in p.timeline
        assert (tmp_path / "t.pftrace.zst").read_bytes()[:4] == bytes([0x28, 0xB5, 0x2F, 0xFD])
        assert elf is None or "hello.c:" in p.text
        with pytest.raises(waitgate.Error, match="Chip.watch"):
            chip.tile(1, 2).profile()
        with pytest.raises(waitgate.Error, match="DRAM tile"):
            chip.watch((0, 0))


def test_memory_and_arrays(tile):
    tile.write(0x1000, b"tensix")
    assert tile.read(0x1000, 6) == b"tensix"
    with pytest.raises(waitgate.Error):
        tile.read(tile.l1_bytes - 2, 8)
    a = np.random.default_rng(1).normal(size=(64, 32)).astype(np.float32)
    for kind in ("fp32", "bf16", "fp16", "bfp8"):
        size = tile.write_array(0x4000, a, kind, tilized=True)
        assert len(tile.read(0x4000, size)) == size
        close = {"fp32": 0, "bf16": 2**-8, "fp16": 2**-11, "bfp8": 2**-5}[kind]
        assert np.allclose(tile.read_array(0x4000, kind, (64, 32), tilized=True), a, rtol=close, atol=close)
    assert waitgate.encode([[1, 2]], "bf16") == struct.pack("<HH", 0x3F80, 0x4000)
    # A tile's first face is its upper left 16 x 16.
    tile.write_array(0x4000, np.arange(1024).reshape(32, 32), "uint32", tilized=True)
    assert struct.unpack("<17I", tile.read(0x4000, 68))[15:] == (15, 32)
    with pytest.raises(waitgate.Error, match="tiles are 32 x 32"):
        waitgate.encode(np.zeros((3, 3)), "bfp8")
    with pytest.raises(waitgate.Error, match="no element type"):
        waitgate.encode([[1]], "bf61")
    assert "bfp4a" in waitgate.types()


def test_wide_integers(tile):
    """Integers of 32 bits are exact, in rows and in tiles; floats are rounded to even."""
    random = np.random.default_rng(2)
    for kind, low, high in (("int32", -2**31, 2**31), ("uint32", 0, 2**32), ("sm32", 1 - 2**31, 2**31)):
        a = random.integers(low, high, (64, 32))
        for tilized in (False, True):
            tile.write_array(0x4000, a, kind, tilized)
            assert np.array_equal(tile.read_array(0x4000, kind, (64, 32), tilized), a), kind
        assert np.array_equal(waitgate.decode(waitgate.encode([0.5, 1.5, 2.5], kind), kind, (3,)), [0, 2, 2])
        with pytest.raises(waitgate.Error, match=f"are not all {kind}"):
            waitgate.encode([high], kind)
    assert waitgate.encode([-7], "sm32") == struct.pack("<I", 0x80000007)
    with pytest.raises(waitgate.Error, match="tiles are 32 x 32"):
        waitgate.encode(np.zeros((3, 3)), "int32", tilized=True)


def test_one_dimension(tile):
    tile.write_array(0x4000, [1, 2, 3, 4], "bf16")
    assert tile.read_array(0x4000, "bf16", (4,)).tolist() == [1, 2, 3, 4]
    with pytest.raises(waitgate.Error, match="3 dimensions"):
        waitgate.decode(b"", "bf16", (1, 1, 1))


def test_observers_that_raise(tile):
    """run() raises what an observer has raised; the observer is not called again."""
    seen = []

    def fail(event):
        seen.append(event)
        assert event.cycle < 0, "an observer's assertion"

    tile.observe(["issued"], fail)
    tile.push(2, "ttnop")
    tile.push(2, "ttnop")
    with pytest.raises(AssertionError, match="an observer's assertion"):
        tile.run()
    assert len(seen) == 1


def test_wrong_names_and_numbers(tile):
    for thread, register in ((0, 64), (3, 0), (-1, 0)):
        with pytest.raises(waitgate.Error, match="there is no GPR"):
            tile.gpr(thread, register)
    with pytest.raises(waitgate.Error, match="no report as 'xml'"):
        tile.hang_report("xml")


def test_children_of_the_host_are_its_own():
    """explore starts processes of its own, and leaves others to whoever started them."""
    child = subprocess.Popen(["sh", "-c", "exit 7"])
    waitgate.explore(EXAMPLES / "handshake.tasm", runs=2000)
    assert child.wait() == 7


@pytest.mark.parametrize("kind, value, stored", [("bf16", -1.5, 0xC07F), ("fp16", -1.5, 0xC00F), ("fp32", 1.0, 0x7F0000)])
def test_dst_as_numbers(tile, kind, value, stored):
    tile.poke("dst32" if kind == "fp32" else "dst", 3 * 16 + 2, stored)
    assert tile.dst(kind, rows=[3])[0, 2] == value


def test_dst_integers(tile):
    tile.poke("dst32", 5, 0x80000007)
    assert tile.dst("int32", rows=[0])[0, 5] == -7


def test_observers_and_findings(tile):
    seen = []
    number = tile.observe(["issued"], lambda e: seen.append((e.cycle, e.agent, waitgate.disassemble(e.word, tile.arch))))
    tile.push(2, "ttsetdmareg 0, 1, 0, 8")
    tile.run()
    assert [text for _, _, text in seen] == ["ttsetdmareg 0, 1, 0, 8"]
    tile.unobserve(number)
    tile.push(2, "ttsempost 0x4")
    tile.run()
    assert len(seen) == 1
    assert not [f for f in tile.findings if f.severity == "undefined"]
    with pytest.raises(waitgate.Error, match="no event"):
        tile.observe(["isued"], print)


def test_findings_are_records(tile):
    tile.push(0, 0xFF000000)
    tile.run(1000, hang_is_error=False)
    assert tile.findings and tile.findings[0].code == "tensix-invalid-opcode"
    assert tile.findings[0].word == 0xFF000000 and tile.findings[0].severity == "undefined" and tile.findings[0].remedy


def test_snapshots(tile):
    tile.push(0, "ttsetdmareg 0, 42, 0, 8")
    before, hashed = tile.snapshot(), tile.state_hash
    tile.run()
    assert tile.state_hash != hashed
    tile.restore(before)
    assert tile.state_hash == hashed and tile.run() == "done" and tile.gpr(0, 4) == 42
    with pytest.raises(waitgate.Error):
        tile.restore(b"no snapshot")


def test_checks_find_a_race(tile):
    with tile.check("race") as checks:
        tile.push(0, "ttsetdmareg 0, 1, 0, 8")
        tile.push(1, "ttsetdmareg 0, 2, 0, 8")
        tile.run()
        assert checks.count() == 0
        tile.push(0, "ttwrcfg 4, 0, 60")
        tile.push(1, "ttwrcfg 4, 0, 60")
        tile.run()
        assert checks.count() == 1 and "config-race" in checks.report()
        assert json.loads(checks.report("sarif"))["version"] == "2.1.0"
    with pytest.raises(waitgate.Error, match="no check"):
        tile.check("rice")


def test_programs(tile):
    source = EXAMPLES / "core.tasm"
    if tile.arch == "bh":
        assert waitgate.run(source).done
    with pytest.raises(waitgate.Error, match="no_such"):
        waitgate.Elf("no_such.elf")
    with pytest.raises(waitgate.Error, match="no core"):
        tile.core("t3")
    assert tile.core("t2").in_reset


def test_elf_files(tile):
    elfs = sorted(ROOT.glob("build/examples/*.elf")) or pytest.skip("no ELF files were built")
    elf = waitgate.Elf(elfs[0])
    assert elf.symbol("_start") == elf.entry
    with pytest.raises(KeyError):
        elf.symbol("no such symbol")
    tile.load("b", elf, release=False)
    assert tile.core("b").in_reset


def test_commands():
    result = waitgate.run(EXAMPLES / "hello.tasm", stats=True)
    assert result.done and result.cycles == 5 and result.status == 0 and result["stats"]["cycles"] == 5
    assert "thread 0" in result.report("--timeline") and result._repr_html_().startswith("<pre>")
    result = waitgate.run(EXAMPLES / "deadlock.tasm")
    assert result.hung and result.status == 3 and "in a circle" in result.report()
    assert waitgate.run(EXAMPLES / "handshake.tasm", max_cycles=10)["result"] == "limit"
    assert waitgate.profile(EXAMPLES / "handshake.tasm").cycles == 43
    assert waitgate.check(EXAMPLES / "handshake.tasm").status == 0
    assert waitgate.explore(EXAMPLES / "handshake.tasm", runs=20, jobs=1)["status"] == 0
    with pytest.raises(waitgate.Error, match="no_such.tasm"):
        waitgate.run("no_such.tasm")
    status, out, error = waitgate.command("frobnicate")
    assert status == 6 and not out and "there is no command" in error


def test_chip():
    with waitgate.Chip("wh") as chip:
        columns, rows = chip.shape
        kinds = {(x, y): chip.kind(x, y) for x in range(columns) for y in range(rows)}
        x, y = next(at for at, kind in kinds.items() if kind == "tensix")
        tile = chip.tile(x, y)
        tile.push(0, "ttsetdmareg 0, 7, 0, 8")
        assert chip.run() == "done" and tile.gpr(0, 4) == 7 and chip.cycle > 0
        dx, dy = next(at for at, kind in kinds.items() if kind == "dram")
        chip.write(dx, dy, 0x1000, b"dram")
        assert chip.read(dx, dy, 0x1000, 4) == b"dram"
        assert chip.kind(columns, rows) == "none"
        with pytest.raises(waitgate.Error):
            chip.tile(dx, dy)
    with pytest.raises(waitgate.Error, match="closed"):
        tile.gpr(0, 4)


def test_a_chip_that_hangs():
    """The verdict over the tiles, then those that wait, with lines where a program is known."""
    program = waitgate.Elf.assemble("wait:\n    lw t0, 0x100(zero)\n    beqz t0, wait\n", 0x4000, "bh", name="poll.s")
    with waitgate.Chip("bh") as chip:
        for x in (1, 2):
            chip.tile(x, 2).load("b", program)
        chip.tile(3, 3).push(0, "ttnop")
        with pytest.raises(waitgate.Hang) as hang:
            chip.run()
        words = str(hang.value)
        assert words.lstrip().startswith("2 tiles wait for what nothing on the same tile can still do"), words
        assert "poll.s:" in words and "\ntile 2-2\n" in words and "tile 3-3\n" not in words, words
        assert {(r["x"], r["y"]) for r in json.loads(chip.hang_report("json"))["reports"]} == {(1, 2), (2, 2)}


# One tile writes into the L1 of the other, which reads without waiting.
WRITER = """#include "noc.h"
int main(void)
{
    noc_write_to(0, 2 | 2 << 6, 16);
    noc_write(0, 0x30000, 0x30000, 0); // line 5
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    return 0;
}
"""
READER = """#include "noc.h"
int main(void)
{
    for (int i = 0; i < 400; i++)
        __asm__ volatile("nop");
    WORD(0x30010) = WORD(0x30000) + 1; // line 6
    return 0;
}
"""


def compiled(folder, name, source):
    build = pathlib.Path(os.environ.get("WAITGATE_BUILD", ROOT / "build"))
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-Os", "-g", "-ffreestanding", "-nostdlib", "-DCORE_BRISC",
                    "-msmall-data-limit=0", "-Wl,--defsym=__base=0x6000", "-Wl,--no-warn-rwx-segments", f"-I{ROOT}/examples/common",
                    f"-I{build}/src/isa", folder / f"{name}.c", ROOT / "examples/common/crt.S", "-T", ROOT / "examples/common/kernel.ld",
                    "-o", folder / f"{name}.elf"], check=True)
    return waitgate.Elf(folder / f"{name}.elf")


def test_check_of_a_chip(tmp_path):
    """What a tile left over, with its coordinates; a race whose parties are on two tiles, with both lines."""
    writer, reader = compiled(tmp_path, "writer", WRITER), compiled(tmp_path, "reader", READER)
    with waitgate.Chip("bh") as chip, chip.check([(1, 2), (2, 2)]) as checks:
        chip.tile(1, 2).load("b", writer)
        chip.tile(2, 2).load("b", reader)
        chip.run()
        words = checks.report()
        assert checks.count() == 1 and "write by NIU 0, request of core B of tile 1-2 at cycle" in words, words
        assert "writer.c:5" in words and "reader.c:6" in words, words
    with waitgate.Chip("bh") as chip, chip.check([(1, 2), (2, 2)], "sync", "race") as checks:
        chip.tile(2, 2).push(0, "ttseminit 4, 0, 2", "ttsempost 2")
        chip.run()
        assert checks.count() == 1 and checks.report().startswith("tile 2-2\n"), checks.report()
        report = json.loads(checks.report("json"))["reports"][0]
        assert (report["rule"], report["x"], report["y"]) == ("semaphore-left-over", 2, 2), report
    with waitgate.Chip("bh") as chip:
        with pytest.raises(waitgate.Error, match="no Tensix tile"):
            chip.check([(0, 0)])
        with pytest.raises(waitgate.Error, match="no check"):
            chip.check([(1, 2)], "nonsense")


def test_explore(tile):
    """Two cores store to one word: some timings give the other value; the tile returns to its initial state."""
    for core, address, value, nops in (("t0", 0x6000, 1, 2), ("t1", 0x7000, 2, 12)):
        program = "    nop\n" * nops + f"    li a0, {value}\n    sw a0, 0x100(zero)\n    ebreak\n"
        tile.load(core, waitgate.Elf.assemble(program, address, tile.arch))
    values = []
    differing = tile.explore(runs=60, result=(0x100, 4), seen=lambda t: values.append((t.number, tile.read(0x100, 1)[0])))
    assert len(values) == 61 and values[0] == (0, 2) and tile.cycle == 0
    assert {t.number for t in differing} == {number for number, value in values if value == 1} != set()
    assert all(t.memory and not t.stops and (t.seed or ":" in t.delay) for t in differing)
    seen = []
    tile.explore(runs=60, seen=lambda t: seen.append(t) or len(seen) < 3)
    assert len(seen) == 3
    with pytest.raises(ZeroDivisionError):
        tile.explore(seen=lambda t: 1 / 0)
    with pytest.raises(waitgate.Error, match="wrong.s:2: .*nopp"):
        waitgate.Elf.assemble("nop\nnopp\n", name="wrong.s")


def test_explore_chip(arch="bh"):
    """The same on a tile of a chip; a delay says of which tile it is, and a seed is one of Chip.perturb()."""
    with waitgate.Chip(arch) as chip:
        tile = chip.tile(1, 2)
        for core, address, value, nops in (("t0", 0x6000, 1, 2), ("t1", 0x7000, 2, 12)):
            program = "    nop\n" * nops + f"    li a0, {value}\n    sw a0, 0x100(zero)\n    ebreak\n"
            tile.load(core, waitgate.Elf.assemble(program, address, arch))
        values = []
        differing = chip.explore(runs=60, result=(0x100, 4), seen=lambda t: values.append((t.number, tile.read(0x100, 1)[0])))
        assert len(values) == 61 and values[0] == (0, 2) and chip.cycle == 0
        assert {t.number for t in differing} == {number for number, value in values if value == 1} != set()
        assert any(t.delay.endswith("@1-2") for t in differing) and all(t.seed or t.delay for t in differing)
        seeds = [t.seed for t in differing if t.seed]
        if seeds:
            chip.perturb(seeds[0])
            chip.run()
            assert tile.read(0x100, 1) == b"\1"
        with pytest.raises(ZeroDivisionError):
            chip.explore(runs=3, seen=lambda t: 1 / 0)


def test_what_outlives_its_tile():
    """A watch can be shown, and checks ended, after the tile, chip or program that they belong to has been closed."""
    with waitgate.Tile("bh") as tile, tile.watch(timeline=True, stats=True) as watch:
        tile.push(0, *["ttadddmareg 1, 6, 1, 6"] * 20)
        tile.run()
    assert "Scalar Unit" in watch.timeline and "<pre>" in watch._repr_html_() and watch.stats
    with pytest.raises(waitgate.Error, match="no profile: begin the watch with profile=True"):
        watch.text
    with waitgate.Chip("wh") as chip:
        of_chip = chip.watch((1, 1), timeline=True)
        chip.tile(1, 1).push(0, "ttnop")
        chip.run()
    of_chip.close()
    assert "thread 0" in of_chip.timeline
    with waitgate.Program(tasm=".thread 0\n ttsetdmareg 0, 1, 0, 8\n") as program:
        of_program = program.tile.watch(timeline=True)
        program.run()
        of_program.close()
    assert "thread 0" in of_program.timeline
    with waitgate.Tile("bh") as tile:
        checks = tile.check("race")
    checks.close()
    with pytest.raises(waitgate.Error, match="have ended"):
        checks.report()
    for _ in range(20):  # not closed at all
        waitgate.Tile("bh").check("race").count()
        waitgate.Tile("bh").watch(timeline=True)


def test_a_row_by_its_length(tile):
    tile.write_array(0x2000, [16777217, -5, 3], "int32")
    assert tile.read_array(0x2000, "int32", 3).tolist() == [16777217, -5, 3]


def test_chip_in_a_notebook():
    chip = waitgate.Chip("bh")
    assert repr(chip) == "<Chip bh at cycle 0, tiles in use: 0>" and "<pre>" not in chip._repr_html_()
    chip.tile(1, 2).push(0, "ttsemwait 1, 4, 1", "ttdmanop")
    with pytest.raises(waitgate.Hang):
        chip.run()
    assert "tiles in use: 1" in repr(chip)
    shown = chip._repr_html_()
    assert '<td title="1-2"><b>tensix</b></td>' in shown and '<td title="2-2">tensix</td>' in shown and "semaphore 2" in shown, shown
    chip.close()
    assert repr(chip) == "<Chip, closed>" and "closed" in chip._repr_html_()


def test_refusals():
    with pytest.raises(waitgate.AssemblyError, match="did you mean ttstallwait"):
        waitgate.assemble("ttstalwait 1, 2")
    with pytest.raises(waitgate.Error, match="no architecture"):
        waitgate.Tile("gs")
    with pytest.raises(waitgate.Error, match="no space"):
        waitgate.Tile().peek("gprs", 0)


@pytest.mark.waitgate(arch="wh", seed=3)
def test_marker_chooses_the_tile(tile):
    assert tile.arch == "wh"


def test_plugin_asked_later(pytester):
    """A test may ask for its tile while it runs; wrong architectures are a usage error."""
    pytester.makepyfile("""
        import pytest

        def test_later(request):
            assert request.getfixturevalue("tile").arch == "wh"

        @pytest.mark.waitgate(arch="bh")
        def test_marked(request):
            assert request.getfixturevalue("tile").arch == "bh"
    """)
    pytester.runpytest_subprocess("-p", "no:cacheprovider", "--waitgate-arch= wh, bh").assert_outcomes(passed=2)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--waitgate-arch=bh,gs")
    assert result.ret == pytest.ExitCode.USAGE_ERROR and "no architecture 'gs'" in "".join(result.errlines), result.errlines


def test_plugin(pytester, monkeypatch):
    """A failing test shows the state; --waitgate-arch runs it on both."""
    for name in ("CI", "BUILD_NUMBER"):  # there pytest's summary repeats whole messages
        monkeypatch.delenv(name, raising=False)
    pytester.makepyfile("""
        def test_passes(tile):
            assert tile.run() == "done"

        def test_fails(tile):
            tile.push(0, "ttatgetm 3")
            tile.run()
            tile.push(1, "ttatgetm 3")
            tile.run()

        def test_is_wrong(tile):
            assert tile.gpr(0, 4) == 1
    """)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--waitgate-arch=bh,wh")
    result.assert_outcomes(passed=2, failed=4)
    text = result.stdout.str()
    assert "mutex 3 is held" in text and text.count("Waitgate state") == 2 and text.count("who waits for whom") == 2, text
    assert re.search(r"test_fails\[wh\] - waitgate.Hang: \w", text), text # the summary has the reason


def test_page(monkeypatch):
    """The programs of docs/python.md behave as the page says."""
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.S | re.M)
    assert len(blocks) == 5
    scope = {"waitgate": waitgate, "np": np}
    for block in blocks[:4]:
        exec(block, scope)


def test_program_in_steps():
    """A run that the host advances ends as the command's; meanwhile the host sees the state of every cycle."""
    whole = waitgate.run(EXAMPLES / "handshake.tasm", stats=True)
    with waitgate.Program(EXAMPLES / "handshake.tasm", stats=True) as p:
        seen = []
        while p.run(1) == "cycles":
            seen.append(p.tile.semaphore(1))
        assert p.cycle == len(seen) == 43 and {value for value, _ in seen} == {0, 1}, seen
        with pytest.raises(waitgate.Error, match="belong to a program"):
            p.tile.advance(1)
        result = p.end()
        for run in (result, whole):
            del run["stats"]["shortcuts"], run["shortcuts"]  # a step of one cycle takes fewer
        assert result == whole and result.report().startswith(str(EXAMPLES / "handshake.tasm") + ": done after 43 cycles")
        assert p.tile.cycle == 43 and "where 43 cycles went" in result._repr_html_()
        with pytest.raises(waitgate.Error, match="has ended"):
            p.run()
        with pytest.raises(waitgate.Error, match="has ended"):
            p.end()


def test_program_that_the_host_changes():
    """A register that the host changes in the middle of a run fails an expectation; a program may be a text."""
    program = ".thread 0\n    ttsetdmareg 0, 42, 0, 8\n    .delay 50\n    ttadddmareg 1, 6, 1, 4\n.expect gpr 0 6 = 43\n"
    for change, status in ((False, 0), (True, 1)):
        with waitgate.Program(tasm=program) as p:
            assert p.run(30) == "cycles" and p.tile.gpr(0, 4) == 42
            if change:
                p.tile.poke("gpr", 4, 7)
            assert p.tile.run() == "done"  # the streams are pushed here, too
            result = p.end()
            assert (result.status, p.tile.gpr(0, 6)) == (status, 8 if change else 43)
            assert [e["holds"] for e in result["expectations"]] == [not change]
    for cycles in (0, 30):
        with waitgate.Program(tasm=program) as p:
            if cycles:
                p.run(cycles)
            assert p.end()["result"] == "limit"


def test_programs_that_hang_or_cannot_be():
    with waitgate.Program(EXAMPLES / "deadlock.tasm", command="check") as p:
        with pytest.raises(waitgate.Hang) as error:
            p.run()
        assert "deadlock.tasm:8" in str(error.value) and p.end().status == 3
        tile = p.tile
    with pytest.raises(waitgate.Error, match="closed"):
        tile.gpr(0, 4)
    for words, message in (({"command": "explore"}, "does not run one program"), ({"tasm": ".thread 0\nttnosuch\n"}, "-:2:1: error"),
                           ({"tasm": "", "save_at": "5=x"}, "saves it itself")):
        with pytest.raises(waitgate.Error, match=message):
            waitgate.Program(**words)


def test_checks_of_a_program():
    """What is left over at the end is known only after the end."""
    path = ROOT / "tests/checks/sync_mutex_broken.tasm"
    with waitgate.Program(path, command="check", checks="sync") as p:
        p.run()
        assert [r["rule"] for r in p.end()["reports"]] == [r["rule"] for r in waitgate.check(path, checks="sync")["reports"]] != []


def test_program_of_a_chip():
    path = pathlib.Path(os.environ.get("WAITGATE_BUILD", ROOT / "build")) / "examples/relay.yaml"
    if not path.exists():
        pytest.skip("the examples were not built")
    whole = waitgate.run(path)
    with waitgate.Program(path) as p:
        assert p.run(1000) == "cycles" and p.cycle == 1000 and p.chip.tile(1, 2).core("b").instructions > 0
        assert "relay.c" in p.chip.tile(1, 2).hang_report()
        with pytest.raises(waitgate.Error, match="belongs to a program"):
            p.chip.advance(1)
        assert p.chip.run() == "done" and p.end() == whole


def test_program_of_a_cluster():
    path = pathlib.Path(os.environ.get("WAITGATE_BUILD", ROOT / "build")) / "examples/ring.yaml"
    if not path.exists():
        pytest.skip("the examples were not built")
    whole = waitgate.run(path)
    with waitgate.Program(path) as p:
        assert p.run(1000) == "cycles" and p.cycle == 1000 and len(p.chips) == 2
        assert p.chips[1].tile(1, 0).core("b").instructions > 0 and "ring.c" in p.chips[1].tile(1, 0).hang_report()
        with pytest.raises(waitgate.Error, match="has 2 chips"):
            p.chip
        p.chips[0].tile(9, 6).write(0x20000, bytes(4))  # the first of the words that it adds up
        assert p.run() == "done" and p.end()["cycles"] == whole["cycles"]
    with waitgate.Program(path) as p:
        for steps in range(10**6):
            if p.run(77) != "cycles":
                break
        result = p.end()
        assert steps > 50 and result == whole and result.report().startswith(f"{path}: done after 5083 cycles")
    text = path.read_text() + "faults:\n  - cut: {link: [1, 0], cycle: 300}\n"
    cut = path.with_name("ring_cut.yaml")
    cut.write_text(text)
    try:
        with waitgate.Program(cut) as p:
            with pytest.raises(waitgate.Hang):
                p.run()
            assert p.end()["hang"]["cause"] == "link-down"
    finally:
        cut.unlink()


def test_statistics_of_a_host(tile):
    with tile.watch(stats=True) as w:
        tile.push(0, *["ttadddmareg 1, 6, 1, 6"] * 50)
        tile.run()
    unit = next(t for t in w.stats["stats"]["tracks"] if t["name"] == "Scalar Unit")
    assert unit["issued"] == 50 and sum(unit["cycles"].values()) == w.stats["stats"]["cycles"] == tile.cycle
    with pytest.raises(waitgate.Error, match="no profile"):
        w.text
