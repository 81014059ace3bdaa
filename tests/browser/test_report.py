#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate report` in a real browser: the drawing agrees with the JSON, and clicking works."""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from suite import run, test  # noqa: E402
from webdriver import Browser, missing  # noqa: E402

WAITGATE, ROOT, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def report(d, *arguments, status=0):
    path = d / "report.html"
    r = subprocess.run([WAITGATE, "report", "-o", str(path), *map(str, arguments)], capture_output=True, text=True)
    assert r.returncode == status, (r.returncode, r.stdout[-400:], r.stderr)
    assert "open it in a browser" in r.stdout, r.stdout[-200:]
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.S)
    return path, json.loads(found[1])


def shot(browser, name):
    """Kept in the folder WG_SCREENSHOTS, for inspection."""
    if os.environ.get("WG_SCREENSHOTS"):
        browser.screenshot(pathlib.Path(os.environ["WG_SCREENSHOTS"]) / f"{name}.png")


@test
def a_kernel(d):
    """The matrix product: boxes are at their cycles; a click shows the instruction, the reason and the source; keys and
    search work."""
    path, data = report(d, *sorted(EXAMPLES.glob("matmul.*.elf")))
    assert path.stat().st_size < 5_000_000
    for outside in ("http://", "https://", "src=", "href=", "@import", "url("):
        assert outside not in re.sub(r'<script type="application/json".*?</script>', "", path.read_text(), flags=re.S) \
            .replace("http://www.w3.org/2000/svg", "").replace("'url(#tip)'", ""), outside
    with Browser() as b:
        b.open(path)
        assert b.text("#title").endswith("matmul.brisc.elf"), b.text("#title")
        assert f"{data['run']['cycles']:,} cycles" in b.text("#summary")
        assert "critical path decides" in b.text("#path-sentence")
        names = b.run("return [...document.querySelectorAll('#labels div')].map(e => e.textContent)")
        assert names[:len(data["tracks"])] == [t["name"] for t in data["tracks"]] and "Packers" in names, names
        width = b.run("return document.getElementById('canvas').clientWidth")
        packers = next(t for t in data["tracks"] if t["name"] == "Packers")
        boxes, at = [], data["from"]
        for length, what in zip(packers["links"][::2], packers["links"][1::2]):
            boxes.append((at, at + length, what))
            at += length
        assert at == data["to"]
        busy = max((x for x in boxes if data["kinds"][x[2]]["cause"] == "busy"), key=lambda x: x[1] - x[0])
        box = b.run("return waitgate.box('Packers', arguments[0])", busy[0])
        for edge, cycle in (("x", busy[0]), ("right", busy[1])):
            assert abs(box[edge] - cycle / data["to"] * width) < 0.01, (box, busy, width)
        colour = b.run("""const c = document.getElementById('canvas'), r = devicePixelRatio;
            return [...c.getContext('2d').getImageData(arguments[0] * r, arguments[1] * r, 1, 1).data]""",
                       (box["x"] + box["right"]) / 2, box["y"] + 11)
        assert colour[1] > colour[0] and colour[1] > colour[2], colour        # green: at work
        b.click("#canvas", (box["x"] + box["right"]) / 2, box["y"] + 11)
        picked = b.run("return waitgate.picked()")
        assert picked == {"name": "Packers", "from": box["from"], "to": box["to"]}, picked
        words = b.text("#selected")
        assert "busy: busy" not in words and "ttpacr" in words and "pipeline.h" in words and f"{box['to'] - box['from']:,} long" in words, words
        assert "pipeline.h" in b.text("#source-name") and "TTI_MOP" in b.text("#lines .marked"), b.text("#lines .marked")
        shot(b, "kernel")
        before = b.run("return waitgate.view.to - waitgate.view.from")
        b.press("+")
        assert abs(b.run("return waitgate.view.to - waitgate.view.from") - before / 2) < 1
        b.press("0")
        b.run("waitgate.find('mailbox-empty')")
        assert " of " in b.text("#search-result"), b.text("#search-result")
        assert "Ended by" in b.text("#selected"), b.text("#selected")
        b.click("#theme")
        assert b.run("return document.documentElement.className") == "dark"
        shot(b, "dark")
        assert not b.complaints(), b.complaints()


@test
def a_hang(d):
    """The verdict in words, and the wait-for graph."""
    path, data = report(d, ROOT / "examples" / "deadlock.tasm", status=3)
    with Browser() as b:
        b.open(path)
        assert "Hangs" in b.text("#summary") and not b.run("return document.getElementById('hang-section').hidden")
        assert "mutex" in b.text("#hang"), b.text("#hang")
        arrows = b.run("return document.querySelectorAll('#hang-graph line').length")
        assert arrows == len(data["run"]["hang"]["edges"]) >= 2, arrows
        shot(b, "hang")
        assert not b.complaints(), b.complaints()


@test
def where_it_came_from(d):
    """--of: the answer on top, the tree below it; its lines and cycles link to the timeline."""
    values = b"".join(struct.pack("<f", float("nan") if i in (0, 532) else 0.5) for i in range(1024))
    (d / "x.bin").write_bytes(values)
    kernel = sorted(EXAMPLES.glob("gelu.*.elf"))
    path, data = report(d, "--of", "l1:0x32000[17,4]:fp32,tilized", "--load", f"0x30000={d}/x.bin", *kernel)
    assert data["why"]["value"] == "NaN", data["why"]["value"]

    def lines(branches):
        return sum(1 + lines(b.get("from_data", [])) for b in branches)

    with Browser() as b:
        b.open(path)
        assert "l1:0x32000[17,4]:fp32,tilized" in b.text("#why-of") and "is NaN" in b.text("#why-of"), b.text("#why-of")
        assert "Made so by NaN at x.bin (0x30850)." in b.text("#why-verdict") and "it is 0.841356" in b.text("#why-verdict")
        assert b.run("return document.querySelectorAll('#why-tree .why').length") == lines(data["why"]["writers"])
        first = b.text("#why-tree > .why > summary")
        assert "Packers, ttpacr" in first and "pipeline.h:" in first, first
        deep = b.run("return [...document.querySelectorAll('#why-tree .why .why summary')].map(e => e.textContent)")
        assert any("Unpacker 0" in x for x in deep) and any("NaN at x.bin (0x30850)" in x for x in deep), deep[:5]
        b.run("document.querySelector('#why-tree a').click()")
        assert " of " in b.text("#search-result") and "Line" in b.text("#selected"), b.text("#search-result")
        shot(b, "why")
        assert not b.complaints(), b.complaints()
    r = subprocess.run([WAITGATE, "report", "-o", str(d / "no.html"), "--of", "nonsense", *map(str, kernel)], capture_output=True, text=True)
    assert r.returncode == 6 and "is not understood" in r.stderr and not (d / "no.html").exists(), r


@test
def hostile_text(d):
    """Names and sources are text, whatever they contain."""
    name = d / "<img src=x onerror=alert(1)>.tasm"
    name.write_text("; </script><script>document.title = 'broken'</script>\n.thread 0\n ttnop\n")
    path, _ = report(d, name)
    with Browser() as b:
        b.open(path)
        assert "<img src=x" in b.text("#title") and b.run("return document.querySelectorAll('img').length") == 0
        assert b.run("return document.title") != "broken" and not b.complaints(), b.complaints()


@test
def many_boxes(d):
    """A long run: the page holds its end and says so, and frames stay fast."""
    (d / "p.tasm").write_text(".thread 0\n .repeat 30000\n ttdmanop\n ttsetdmareg 0, 7, 0, 8\n .endr\n")
    path, data = report(d, d / "p.tasm")
    boxes = sum(len(t["links"]) // 2 for t in data["tracks"])
    assert 100_000 < boxes <= 120_000 and data["from"] > 0, (boxes, data["from"])
    assert path.stat().st_size < 5_000_000, path.stat().st_size
    with Browser() as b:
        b.open(path)
        assert "The page shows cycles" in b.text("#summary") and "--trace writes all beside it" in b.text("#summary")
        frame = b.run("""const times = [];
            for (let i = 0; i < 9; i++) { const t = performance.now(); waitgate.draw(); times.push(performance.now() - t); }
            return times.sort((a, b) => a - b)[4]""")
        print(f"{boxes} boxes: {frame:.1f} ms a frame")
        assert frame < 33, frame
        assert not b.complaints(), b.complaints()


@test
def far_out(d):
    """Boxes narrower than a pixel: a column shows how its cycles were spent, and the critical path does not hide the tracks
    between those it runs through."""
    (d / "p.tasm").write_text(".thread 0\n .repeat 3000\n ttmuldmareg 0, 8, 1, 1\n ttsetdmareg 0, 7, 0, 8\n ttsetdmareg 0, 7, 0, 10\n"
                              " ttstallwait STALL_THCON, THCON\n .endr\n")
    path, data = report(d, d / "p.tasm")
    track = next(t for t in data["tracks"] if t["name"] == "thread 0")
    share, at = [0.0, 0.0], data["from"]
    for length, what in zip(track["links"][::2], track["links"][1::2]):
        share[data["kinds"][what]["cause"] == "issued"] += length
    share = share[1] / sum(share)
    assert 0.3 < share < 0.8, share
    with Browser() as b:
        b.open(path)
        box = b.run("return waitgate.box('thread 0', arguments[0])", (data["from"] + data["to"]) // 2)
        assert box["right"] - box["x"] < 1, box
        width, path_colour, image = b.run("""const c = document.getElementById('canvas'), r = devicePixelRatio;
            return [c.width, getComputedStyle(document.documentElement).getPropertyValue('--path').trim(),
                    [...c.getContext('2d').getImageData(0, (arguments[0] + 3) * r, c.width, 15 * r).data]]""", box["y"])
        pixels = [tuple(image[4 * (row * width + int(box["x"])):][:3]) for row in range(len(image) // 4 // width)]
        green = sum(g > r and g > blue for r, g, blue in pixels)
        assert abs(green / len(pixels) - share) < 0.15, (green, len(pixels), share)
        assert pixels[-1][1] > pixels[-1][0] and pixels[0][0] > pixels[0][1], pixels     # work below, waits above
        middle = [tuple(image[4 * (8 * width + x):][:3]) for x in range(width)]
        assert middle.count(tuple(bytes.fromhex(path_colour[1:]))) < 0.1 * width, path_colour
        shot(b, "far_out")
        assert not b.complaints(), b.complaints()


FRAME = """const times = [];
    for (let i = 0; i < 9; i++) { const t = performance.now(); waitgate.draw(); times.push(performance.now() - t); }
    return times.sort((a, b) => a - b)[4]"""


@test
def a_million_boxes(d):
    """--boxes asks for more: such a page loads, and is fast when only a part is shown."""
    (d / "p.tasm").write_text(".thread 0\n .repeat 260000\n ttdmanop\n ttsetdmareg 0, 7, 0, 8\n .endr\n")
    path, data = report(d, "--boxes", 1_100_000, d / "p.tasm")
    boxes = sum(len(t["links"]) // 2 for t in data["tracks"])
    assert boxes > 1_000_000 and data["from"] == 0, (boxes, data["from"])
    with Browser() as b:
        b.open(path)
        whole = b.run(FRAME)
        b.run("waitgate.show(500000, 520000)")
        part = b.run(FRAME)
        print(f"{boxes} boxes, {path.stat().st_size / 1e6:.0f} MB: {whole:.0f} ms a frame for all of them, {part:.1f} ms for 20,000 cycles")
        assert whole < 500 and part < 50, (whole, part)
        b.run("waitgate.find('ttdmanop')")
        assert b.text("#search-result").startswith("1 of 520,001"), b.text("#search-result")
        assert not b.complaints(), b.complaints()


@test
def the_way_of_an_instruction(d):
    """Pushed, expanded, passed, completed: as in the log, for boxes of gates and of units; values over time are those
    of the trace."""
    files = sorted(EXAMPLES.glob("matmul.*.elf"))
    log = subprocess.run([WAITGATE, "run", "--quiet", "--log", "-", *files], capture_output=True, text=True).stdout
    seen = {}
    for m in re.finditer(r"^ *(\d+)  thread (\d)  (pushed|expanded|issued|completed) +#(\d+) .*?(?:from #(\d+)|-> (.*))?$", log, re.M):
        insn = seen.setdefault((int(m[2]), int(m[4])), {})
        insn[m[3]] = int(m[1])
        insn["parent"] = int(m[5]) if m[5] else insn.get("parent")
        insn["unit"] = m[6] or insn.get("unit")
    path, data = report(d, *files)
    with Browser() as b:
        b.open(path)
        checked = {"made": 0, "own": 0}
        for (thread, _), insn in sorted(seen.items())[::3]:
            if "issued" not in insn or "completed" not in insn:
                continue
            box = b.run("return waitgate.box(arguments[0], arguments[1])", f"thread {thread}", insn["issued"])
            if box["from"] != insn["issued"]:
                continue
            b.run("waitgate.show(arguments[0] - 50, arguments[0] + 50)", insn["issued"])
            box = b.run("return waitgate.box(arguments[0], arguments[1])", f"thread {thread}", insn["issued"])
            b.click("#canvas", (box["x"] + box["right"]) / 2, box["y"] + 11)
            way = b.run("return waitgate.way()")
            pushed = seen[thread, insn["parent"]] if insn["parent"] else insn
            while pushed.get("parent"):
                pushed = seen[thread, pushed["parent"]]
            assert way == {"thread": thread, "pushed": pushed["pushed"], "made": insn.get("expanded"), "passed": insn["issued"],
                           "unit": insn["unit"], "left": max(insn["completed"], insn["issued"] + 1)}, (way, insn)
            assert f"passed the gate in {insn['issued']:,}" in b.text("#selected"), b.text("#selected")
            checked["made" if insn.get("expanded") else "own"] += 1
        assert min(checked.values()) >= 3, checked
        rows = {r["name"]: r for r in b.run("return waitgate.rows().map(r => ({name: r.name, at: [...r.at], value: [...r.value]}))")}
        assert {"semaphore 1", "SrcA bank 0", "SrcB bank 0", "thread 0 queue", "thread 1 queue", "thread 2 queue"} <= set(rows), rows.keys()
        shot(b, "way")
        assert not b.complaints(), b.complaints()
    subprocess.run([WAITGATE, "trace", "-o", d / "t.json", *files], check=True, capture_output=True)
    events = json.loads((d / "t.json").read_text())["traceEvents"]
    for row, counter in (("semaphore 1", "semaphore 1"), ("SrcA bank 0", "SrcA bank 0 belongs to the Matrix Unit"), ("SrcB bank 0", "SrcB bank 0 belongs to the Matrix Unit")):
        wanted, last = [(0, 0)], 0
        for e in (e for e in events if e["ph"] == "C" and e["name"] == counter):
            if e["args"]["value"] != last:
                wanted.append((e["ts"], e["args"]["value"]))
            last = e["args"]["value"]
        assert list(zip(rows[row]["at"], rows[row]["value"])) == wanted, (row, rows[row], wanted)
    for thread in range(3):
        queue, wanted = 0, [(0, 0)]
        lines = [m for m in re.finditer(rf"^ *(\d+)  thread {thread}  (pushed|expanded|issued|completed|lost) +#(\d+)", log, re.M)]
        inside = []
        for m in lines:
            if m[2] == "pushed":
                inside.append(m[3])
            elif m[2] != "expanded" and m[3] in inside:
                del inside[:inside.index(m[3]) + 1]
            if len(inside) != wanted[-1][1]:
                wanted.append((int(m[1]), len(inside)))
        assert list(zip(rows[f"thread {thread} queue"]["at"], rows[f"thread {thread} queue"]["value"])) == wanted, thread


@test
def a_race(d):
    """Both parties in words and on the timeline; a click leads to each of them."""
    program = ROOT / "tests/races/01_stale_bank_bh_broken.tasm"
    path, data = report(d, "--checks=race", program, status=0)
    races = data["run"]["races"]
    assert [r["kind"] for r in races] == ["stale-bank-pointer", "data-race"], races
    with Browser() as b:
        b.open(path)
        assert "2 races." in b.text("#summary"), b.text("#summary")
        words = b.text("#findings")
        for race in races:
            assert race["kind"] in words and race["remedy"] in words and "(verified)" in words
            for party in (race["first"], race["second"]):
                assert f"{party['access']} by {party['agent']}, thread {party['thread']} in cycle {party['cycle']}, {party['instruction']}" in words, words
        links = b.run("return [...document.querySelectorAll('#findings a')].map(a => a.textContent)")
        assert links == [f"cycle {p['cycle']}" for r in races for p in (r["first"], r["second"])], links
        for n, party in enumerate(p for r in races for p in (r["first"], r["second"])):
            b.run("document.querySelectorAll('#findings a')[arguments[0]].click()", n)
            a, to = b.run("return [waitgate.view.from, waitgate.view.to]")
            marked = b.run("return [...document.querySelectorAll('#lines div')].findIndex(e => e.classList.contains('marked')) + 1")
            assert a <= party["cycle"] < to and marked == party["line"], (party, marked)
            mark = b.run("""const t = waitgate.box(arguments[0], arguments[1]), c = document.getElementById('canvas'), r = devicePixelRatio, v = waitgate.view;
                const px = (arguments[1] + 0.5 - v.from) / (v.to - v.from) * c.clientWidth;
                return [...c.getContext('2d').getImageData(px * r, (t.y + 11) * r, 1, 1).data]""", party["agent"], party["cycle"])
            assert mark[0] > 180 and mark[1] < 90, (party, mark)        # a mark in the colour of the path
        shot(b, "race")
        said = [c for c in b.complaints() if "willReadFrequently" not in c["message"]]  # caused by this test itself
        assert not said, said


@test
def on_paper(d):
    """Printed with the light theme, without buttons, with everything open; and dark again on the screen."""
    path, _ = report(d, *sorted(EXAMPLES.glob("matmul.*.elf")))
    with Browser() as b:
        b.open(path)
        b.run("document.documentElement.classList.add('dark')")
        pdf = b.call("POST", "/print", {})
        assert len(pdf) > 20000 and b.run("return document.documentElement.className") == "dark", len(pdf)
        b.run("window.dispatchEvent(new Event('beforeprint'))")
        assert b.run("return document.documentElement.className") == ""
        b.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": "print"}})
        shown = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
        assert b.run(shown, "nav", "display") == "none" and b.run(shown, ".pane", "maxHeight") == "none"
        assert b.run(shown, "#chip", "display") == "none", "of one tile there is no chip"
        shot(b, "paper")
        b.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": ""}})
        b.run("window.dispatchEvent(new Event('afterprint'))")
        assert b.run("return document.documentElement.className") == "dark"
        assert not b.complaints(), b.complaints()


@test
def a_chip(d):
    """Two tiles: the map, links and traffic of the shown cycles agree with the data; a click opens a tile; the path
    crosses tiles."""
    path, data = report(d, EXAMPLES / "relay.yaml")
    assert path.stat().st_size < 5_000_000 and [t["name"] for t in data["tiles"]] == ["1-2", "2-2"]
    tiles = {t["name"]: t for t in data["tiles"]}

    def busy(name, a, b):
        shares = []
        for track in tiles[name]["tracks"]:
            at, work = data["from"], 0
            for length, what in zip(track["links"][::2], track["links"][1::2]):
                if tiles[name]["kinds"][what]["cause"] in ("executing", "multi-cycle", "issued", "busy"):
                    work += max(0, min(b, at + length) - max(a, at))
                at += length
            shares.append(work / (b - a))
        return max(shares)

    def shown(b):
        b.run("waitgate.drawChip()")
        return b.run("return [waitgate.view.from, waitgate.view.to, waitgate.busy()]")

    with Browser() as b:
        b.open(path)
        assert b.run("return document.querySelectorAll('#grid .tile').length") == 2 and b.text("#tile-name") == "Tile 2-2"
        assert "2-2 B at relay.c" in b.text("#path-sentence")
        for zoom in (None, (3300, 5200)):
            if zoom:
                b.run("waitgate.show(arguments[0], arguments[1])", *zoom)
            a, to, drawn = shown(b)
            assert all(abs(drawn[name] - busy(name, a, to)) < 1e-6 for name in tiles), (drawn, a, to)
            shares = b.run("return [...document.querySelectorAll('#grid .tile text')].map(e => e.textContent)")
            assert shares == [f"{100 * busy(name, a, to):.0f}" for name in tiles], shares
            rows = b.run("return [...document.querySelectorAll('#streams tr')].map(e => [...e.cells].map(c => c.textContent))")[1:]
            packets = [data["packets"][i:i + 6] for i in range(0, len(data["packets"]), 6)]
            inside = [p for p in packets if p[0] == 2 * 17 + 1 and p[4] > a and p[3] < to]
            assert rows[0] == ["1-2", "2-2", "0", str(len(inside)), f"{sum(p[5] for p in inside):,}"], (rows, len(inside))
        # One link on the way there, and back around the torus.
        assert b.run("return [waitgate.wayOf(35, 36, 0).length, waitgate.wayOf(36, 35, 0).length, waitgate.wayOf(36, 35, 1).length]") == [2, 17, 2]
        assert b.run("return document.querySelectorAll('#grid line.noc0').length") == 17
        shot(b, "chip")
        b.run("waitgate.show(arguments[0], arguments[1])", data["from"], data["to"])
        b.run("document.querySelector('#grid .tile[data-name=\"1-2\"]').dispatchEvent(new Event('click'))")
        assert b.text("#tile-name") == "Tile 1-2" and "fill" in b.text("#core-table")
        names = b.run("return [...document.querySelectorAll('#labels div')].map(e => e.textContent)")
        assert names == [t["name"] for t in tiles["1-2"]["tracks"]] + ["NoC 0 arriving", "NoC 0 sent"], names
        # A wait for the other tile: its name links there. So does a row of the critical path.
        b.run("waitgate.find('waiting for tile 2-2')")
        assert "2-2" in b.text("#selected"), b.text("#selected")
        b.run("[...document.querySelectorAll('#selected a')].find(a => a.textContent === '2-2').click()")
        assert b.run("return waitgate.open()") == "2-2"
        b.run("[...document.querySelectorAll('#path-table tr')].find(r => r.textContent.startsWith('1-2 NoC 0')).click()")
        assert b.run("return waitgate.open()") == "1-2" and "noc.h" in b.text("#source-name"), b.text("#source-name")
        assert b.run("return waitgate.picked().name") == "B"
        b.click("#theme")
        shot(b, "chip-dark")
        assert not b.complaints(), b.complaints()


@test
def where_it_came_from_on_a_chip(d):
    """The origin is on another tile; a branch's line and cycle open its tile."""
    path, data = report(d, "--tile", "2-2", "--of", "l1:0x20000", EXAMPLES / "relay.yaml")
    with Browser() as b:
        b.open(path)
        first = b.text("#why-tree > .why > summary")
        assert first.startswith("tile 2-2, L1 0x20000") and "NIU 0" in first, first
        links = "[...document.querySelectorAll('#why-tree .why .why a')]"
        assert b.run(f"return {links}.map(a => a.textContent)")[0].startswith("relay.c:"), b.text("#why-tree")
        assert b.run("return waitgate.open()") == "2-2"
        b.run(f"{links}[0].click()")
        assert b.run("return waitgate.open()") == "1-2" and " of " in b.text("#search-result"), b.text("#search-result")
        assert not b.complaints(), b.complaints()
    for more, words in (([], "--tile goes with --of"), (["--of", "l1:0"], "not a tile in use")):
        r = subprocess.run([WAITGATE, "report", "-o", str(d / "no.html"), "--tile", "9-9", *more, str(EXAMPLES / "relay.yaml")], capture_output=True, text=True)
        assert r.returncode == 6 and words in r.stderr and not (d / "no.html").exists(), r


@test
def a_chip_that_hangs(d):
    """The report of each tile that does not move, and the graph of the open one."""
    (d / "chip.yaml").write_text("tiles:\n  - at: [1, 2]\n    brisc: hello.brisc.elf\n  - at: [3, 4]\n    trisc1: launch_pcbuf.trisc1.elf\n")
    for name in ("hello.brisc.elf", "launch_pcbuf.trisc1.elf"):
        (d / name).symlink_to((EXAMPLES / name).resolve())
    path, data = report(d, d / "chip.yaml", status=3)
    with Browser() as b:
        b.open(path)
        assert "Hangs" in b.text("#summary") and "tile 3-4" in b.text("#hang") and "tile 1-2" not in b.text("#hang"), b.text("#hang")
        b.run("waitgate.openTile(1)")
        assert b.run("return document.querySelectorAll('#hang-graph line').length") >= 1
        b.run("waitgate.openTile(0)")
        assert b.run("return document.getElementById('hang-graph').style.display") == "none"
        assert not b.complaints(), b.complaints()


if missing():
    print(f"not installed: {', '.join(missing())} (scripts/setup --test installs it)")
    sys.exit(1)
run()
