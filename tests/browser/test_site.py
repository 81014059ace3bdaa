#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site as a reader sees it: pages, links, and the playground in a real browser. `make site` runs this.

usage: test_site.py WAITGATE ROOT SITE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from suite import run, test  # noqa: E402
from webdriver import Browser, missing  # noqa: E402

WAITGATE, ROOT, SITE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
PLAYGROUND = SITE / "playground" / "index.html"


def examples():
    text = (SITE / "playground" / "examples.js").read_text()
    return json.loads(text[text.index("["):text.rindex("]") + 1])


def wait(browser, condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if browser.run(f"return {condition}"):
            return
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {condition}; {browser.complaints()}")


def start(browser):
    browser.open(PLAYGROUND)
    wait(browser, "document.getElementById('text').textContent !== ''")


def idle(browser, seconds=30):
    """The worker has answered everything."""
    wait(browser, "document.body.dataset.busy === '0'", seconds)


def quiet(browser):
    said = browser.complaints()
    assert not said, said


def click(browser, selector):
    browser.run("document.querySelector(arguments[0]).click()", selector)
    idle(browser)


def shot(browser, name):
    """Kept in the folder WG_SCREENSHOTS, for inspection."""
    if os.environ.get("WG_SCREENSHOTS"):
        browser.screenshot(pathlib.Path(os.environ["WG_SCREENSHOTS"]) / f"{name}.png")


@test
def links_lead_somewhere(_):
    """Every link of every page to a file of the site is valid; nothing is fetched from elsewhere."""
    pages = list(SITE.rglob("*.html"))
    assert len(pages) > 40, len(pages)
    for page in pages:
        text = page.read_text()
        fences = re.findall(r"^.*```.*$", re.sub(r"<(?:pre|code)\b.*?</(?:pre|code)>", "", text, flags=re.S), re.M)
        assert not fences, f"{page}: a code block is shown as text: {fences[:2]}"
        for target in re.findall(r'(?:href|src)="([^"#]+)', text):
            if re.match(r"[a-z]+:", target):
                assert not re.search(rf'(?:<script|<img|<link)[^>]+"{re.escape(target)}', text), (page, target)
                continue
            path = (page.parent / urllib.parse.unquote(target.partition("?")[0])).resolve()
            assert path.exists() or page.name == "404.html", (page, target)


@test
def why_deadlock_hangs(_):
    """From the first page to the reason of the hang, by clicks only; the first result within two seconds."""
    with Browser() as b:
        b.open(SITE / "index.html")
        b.complaints() # the generator's search needs a server
        b.run("document.querySelector('a[href*=\"program=deadlock.tasm\"]').click()")
        wait(b, "location.pathname.endsWith('playground/index.html') && !!document.getElementById('text')?.textContent", 10)
        taken = b.run("return performance.now()")
        assert "wait for each other in a circle" in b.text("#text"), b.text("#text")[:300]
        lines = b.run("return [...document.querySelectorAll('#numbers .at')].map(e => +e.textContent)")
        said = subprocess.run([WAITGATE, "run", ROOT / "examples/deadlock.tasm"], capture_output=True, text=True).stdout
        named = {int(n) for line in said.splitlines() if not re.match(r"\s+cycle ", line) for n in re.findall(r"deadlock\.tasm:(\d+)", line)}
        assert lines == sorted(named) and {8, 16} <= named, (lines, named) # those of the report, but for what merely passed
        shot(b, "playground")
        quiet(b)
        print(f"first result {taken:.0f} ms after the page was opened")
        assert taken < 2000, taken


@test
def small(_):
    size = sum(p.stat().st_size for p in (SITE / "playground").iterdir())
    print(f"the playground has {size / 1e6:.2f} MB")
    assert size < 3_000_000, size


@test
def equals_the_command_line(d):
    """Every program of the list: the page prints exactly what the command line prints."""
    programs = examples()
    assert len(programs) > 110 and sum(".core" in p["source"] for p in programs) > 40, len(programs)
    with Browser() as b:
        start(b)
        for number, program in enumerate(programs):
            (d / program["name"]).write_text(program["source"])
            # No assembler is on the path: the command line uses the one that the page has.
            said = subprocess.run([WAITGATE, "run", "--timeline", "--max-cycles", "100000000", "--arch", program["arch"], program["name"]],
                                  cwd=d, capture_output=True, text=True, env=dict(os.environ, COLUMNS="100", PATH=str(d)))
            b.run("load(arguments[0]); document.getElementById('run').click()", number)
            idle(b)
            shown = b.text("#text")
            want = said.stdout + said.stderr
            assert shown == want, (program["name"], *next((x for x in zip(shown.splitlines(), want.splitlines()) if x[0] != x[1]), (shown[:600], want[:600])))
            assert b.text("#status").startswith(f"status {said.returncode},"), (program["name"], b.text("#status"))
        quiet(b)


@test
def report_and_steps(_):
    """The report's page next to the program; cycles forwards and backwards; a command; a link that restores the
    program."""
    with Browser() as b:
        start(b)
        b.run("document.querySelector('[data-tab=report]').click()")
        wait(b, "document.getElementById('report').contentDocument?.querySelectorAll('#labels div').length > 2")
        frame = "document.getElementById('report').contentDocument"
        assert "deadlock.tasm" in b.run(f"return {frame}.getElementById('title').textContent")
        click(b, "[data-tab=machine]")
        for button, cycle in (("step 10", 10), ("step -1", 9), ("step 1", 10), ("goto 0", 0), ("continue", 12)):
            click(b, f"[data-debug=\"{button}\"]")
            assert b.text("#cycle") == f"cycle {cycle}", (button, b.text("#cycle"), b.text("#answer"))
        assert "2 held by thread 0, 3 held by thread 1" in b.text("#state"), b.text("#state")
        shot(b, "playground-steps")
        b.run("document.getElementById('command').value = 'semaphores'; document.getElementById('prompt').requestSubmit()")
        idle(b)
        assert "mutex 2: held by thread 0" in b.text("#answer"), b.text("#answer")
        b.run("document.getElementById('source').value = '.thread 0\\n ttnop ; ü\\n'; document.getElementById('share').click()")
        address = b.run("return location.href")
        b.run("location.href = 'about:blank'")
        b.run("location.href = arguments[0]", address)
        wait(b, "document.getElementById('text')?.textContent.includes('done after')")
        assert b.run("return document.getElementById('source').value") == ".thread 0\n ttnop ; ü\n"
        quiet(b)


@test
def links(_):
    """A damaged link says so and shows an example; a long program has a link, too; choosing an example asks before it replaces a
    program of the reader's."""
    with Browser() as b:
        start(b)
        b.run("location.hash = 'source=%25%25'")
        wait(b, "document.getElementById('about').textContent.includes('damaged')")
        assert "mutex" in b.run("return document.getElementById('source').value")
        b.run("""document.getElementById('source').value = '; ' + 'x'.repeat(400000); document.getElementById('share').click()""")
        assert b.run("return location.href.length") > 400000
        b.run("""const source = document.getElementById('source'), example = document.getElementById('example');
              window.confirm = () => false;
              source.value = '.thread 0\\n ttnop\\n'; source.dispatchEvent(new Event('input'));
              example.value = 0; example.dispatchEvent(new Event('change'))""")
        assert "ttnop" in b.run("return document.getElementById('source').value")
        b.run("location.hash = 'program=handshake.tasm'") # another address, too
        time.sleep(0.3)
        assert "ttnop" in b.run("return document.getElementById('source').value")
        b.run("window.confirm = () => true; location.hash = 'program=hello.tasm'")
        wait(b, "document.getElementById('text').textContent.startsWith('hello.tasm')")
        quiet(b)


@test
def stops(_):
    """While a program runs the page stays alive; Stop ends it at once, and the next run works. A debugger's long run, too."""
    endless = ".core B\n li a0, 1\nloop:\n addi a0, a0, 1\n sw a0, 0x100(zero)\n j loop\n"
    with Browser() as b:
        start(b)
        idle(b)
        assert b.run("return document.getElementById('stop').disabled")
        b.run("document.getElementById('source').value = arguments[0]; document.getElementById('run').click()", endless)
        wait(b, "document.getElementById('status').textContent.startsWith('running, 1 s')")
        began = time.monotonic()
        b.run("document.getElementById('source').focus(); document.getElementById('stop').click()")
        assert b.text("#status") == "stopped" and time.monotonic() - began < 0.5, (b.text("#status"), time.monotonic() - began)
        assert b.run("return document.body.dataset.busy") == "0" and b.run("return document.getElementById('stop').disabled")
        b.run("document.querySelector('[data-tab=machine]').click(); document.querySelector('[data-debug=continue]').click()")
        wait(b, "document.getElementById('status').textContent.startsWith('running')")
        b.run("document.getElementById('stop').click()")
        b.run("document.getElementById('source').value = '.thread 0\\n ttnop\\n'; document.getElementById('run').click()")
        idle(b)
        assert "done after" in b.text("#text"), b.text("#text")[:300]
        click(b, "[data-tab=machine]")
        click(b, "[data-debug=\"step 1\"]")
        assert b.text("#cycle") == "cycle 1"
        quiet(b)


@test
def cores_too(_):
    """The first program of chapter 1, which has cores, runs from a link of its chapter; what the assembler refuses has its line."""
    with Browser() as b:
        b.open(SITE / "docs" / "learn" / "01_tile.html")
        b.complaints()
        b.run("document.querySelector('a[href*=\"program=first.tasm\"]').click()")
        wait(b, "location.pathname.endsWith('playground/index.html') && !!document.getElementById('text')?.textContent", 10)
        assert "3 of 3 expectations hold" in b.text("#text"), b.text("#text")
        click(b, "[data-tab=machine]")
        click(b, "[data-debug=\"step 10\"]")
        assert b.run("return [...document.querySelectorAll('#numbers .at')].map(e => +e.textContent)") == [6, 26], b.text("#state")
        b.run("document.getElementById('source').value = '.core B\\n frob a0\\n'; document.getElementById('run').click()")
        idle(b)
        assert "first.tasm:2: error: unrecognized opcode `frob'" in b.text("#text"), b.text("#text")
        assert b.run("return [...document.querySelectorAll('#numbers .at')].map(e => +e.textContent)") == [2]


@test
def hostile_programs(_):
    """Programs that the page cannot run get a message; text stays text; a long run ends."""
    with Browser() as b:
        start(b)
        for source, answer in ((".core b\n  ebreak\n", "program"), (".thread 0\n <img src=x onerror=alert(1)>\n", "<img"),
                               ("\u0000\ufffd" * 50, "program"), (".l1 0xFFFFFFFF\n .word 1\n", "program"), ("", "")):
            b.run("""document.getElementById('source').value = arguments[0]; document.getElementById('run').click()
                  document.querySelector('[data-tab=report]').click(); document.querySelector('[data-tab=machine]').click()
                  document.querySelector('[data-tab=text]').click()""", source)
            idle(b)
            assert answer.replace("program", ".tasm") in b.text("#text"), (source, b.text("#text")[:300])
            assert b.run("return document.querySelectorAll('img').length") == 0
        b.run("""document.getElementById('source').value = '.thread 0\\n.repeat 60000\\nttdmanop\\nttsetdmareg 0, 7, 0, 8\\n.endr\\n';
              document.getElementById('run').click()""")
        idle(b)
        assert "done after" in b.text("#text"), b.text("#text")[:300]
        quiet(b)


if missing():
    print(f"not installed: {', '.join(missing())} (scripts/setup --test installs it)")
    sys.exit(1)
run()
