#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""WAITGATE_GDB: gdb stops a host of the libttsim ABI in calls that advance time, detaches, and reconnects."""
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import sys
import time

CODE = [0x00003537, 0x00A00593, 0x00B52023, 0x0FF0000F, 0xFFF58593, 0xFE059AE3, 0x0000006F] # a1 = 10 … 1 to 0x3000


def host(library, y, pause, code=None):
    """Core B of a tile runs the program, or the code of this file, while the host advances time in portions, with pauses between them."""
    lib = ctypes.CDLL(library)
    lib.libttsim_init()

    def put(address, words):
        data = b"".join(w.to_bytes(4, "little") for w in words)
        lib.libttsim_tile_wr_bytes(1, y, ctypes.c_uint64(address), data, len(data))

    put(0xFFB121B0, [0x47800])
    data = pathlib.Path(code).read_bytes() if code else b""
    put(0, struct.unpack(f"<{len(data) // 4}I", data[:len(data) & ~3]) if code else CODE)
    put(0xFFB121B0, [0x47000])
    for _ in range(100):
        lib.libttsim_clock(37)
        time.sleep(pause)
    word = ctypes.create_string_buffer(4)
    lib.libttsim_tile_rd_bytes(1, y, ctypes.c_uint64(0x3000), word, 4)
    lib.libttsim_exit()
    print(int.from_bytes(word.raw, "little"))


if sys.argv[1] == "host":
    host(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), *sys.argv[5:])
    sys.exit()

from suite import GDB, run, test # noqa: E402


def debugged(d, library, y, sessions, port="0,wait", pause=0, code=(), **env):
    """The output of gdb in each session, of the host, and of the library."""
    child = subprocess.Popen([sys.executable, os.path.abspath(__file__), "host", library, str(y), str(pause), *map(str, code)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=dict(os.environ, WAITGATE_GDB=port, **env))
    said, texts = "", []
    if sessions:
        said = child.stderr.readline()
        number = re.search(r"127\.0\.0\.1:(\d+)", said)[1]
    for commands in sessions:
        (d / "commands").write_text("\n".join(["set pagination off", "set confirm off", f"target remote 127.0.0.1:{number}",
                                               *commands.strip().splitlines(), "detach"]) + "\n")
        texts.append(subprocess.run([GDB, "-nx", "-batch", "-x", str(d / "commands")], capture_output=True, text=True,
                                    timeout=60).stdout)
    out, more = child.communicate(timeout=60)
    assert child.returncode == 0, more
    return texts, out.strip(), said + more


@test
def stops_and_goes_on(d):
    """Breakpoints, watchpoints, steps and registers; the host ends as it does without gdb."""
    for library, y in ((sys.argv[1], 2), (sys.argv[2], 1)):
        texts, out, said = debugged(d, library, y, ["""
            break *0x8
            continue
            continue
            print $a1
            delete
            watch *(int *)0x3000
            continue
            stepi 3
            info threads
            reverse-stepi
            """])
        text = texts[0]
        assert text.count("hit Breakpoint 1") == 2 and "$1 = 9" in text, text
        assert f'"1-{y} B"' in text and "Old value = " in text, text
        assert re.search("No more reverse-execution history|Reached end of recorded history", text), text
        assert out == "1", (out, said)


@test
def comes_back(d):
    """A gdb detaches; the host goes on, and the next gdb stops it later."""
    for library, y in ((sys.argv[1], 2), (sys.argv[2], 1)):
        texts, out, said = debugged(d, library, y, ["break *0x8\ncontinue\nprint $a1\n", "print $a1\n", "print $a1\n"], pause=0.03)
        values = [int(re.search(r"^\$1 = (\d+)", text, re.M)[1]) for text in texts]
        assert values[0] == 10 and values[0] > values[1] >= values[2] and out == "1", (values, out, said, texts)


C = """static volatile unsigned *const word = (volatile unsigned *)0x3000;
static __attribute__((noinline)) void countdown(unsigned n)
{
    *word = n;
}
int main(void)
{
    for (unsigned n = 1000; n; n--)
        countdown(n);
    for (;;)
        ;
}
"""


@test
def functions_by_name(d):
    """WAITGATE_ELF gives gdb symbols: a file named, and one in a folder that a core executes when gdb connects."""
    folder = d / "cache" / "kernel"
    folder.mkdir(parents=True)
    (d / "k.c").write_text(C)
    common = pathlib.Path(__file__).resolve().parents[2] / "examples/common"
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-O1", "-g", "-ffreestanding", "-nostdlib",
                    "-msmall-data-limit=0", "-Wl,--defsym=__base=0", "-Wl,--no-warn-rwx-segments", "k.c", common / "crt.S",
                    "-T", common / "kernel.ld", "-o", "k.elf"], check=True, cwd=d)
    subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", "k.elf", "k.bin"], check=True, cwd=d)
    (folder / "brisc.elf").write_bytes((d / "k.elf").read_bytes())
    for library, y in ((sys.argv[1], 2), (sys.argv[2], 1)):
        for elf, before in ((f"b={d}/k.elf", []), (f"{d}/cache", ["monitor cycle\n"])):
            texts, _, said = debugged(d, library, y, [*before, "sharedlibrary\nbreak countdown\ncontinue\n"], code=[d / "k.bin"],
                                      pause=0.02 if before else 0, WAITGATE_ELF=elf)
            assert re.search(r"hit Breakpoint 1, countdown \(n=\S+\) at k.c:\d", texts[-1]), (elf, texts, said)


@test
def not_understood(d):
    for port in ("", "70000", "x", "5,never"):
        _, out, said = debugged(d, sys.argv[1], 2, [], port)
        assert "WAITGATE_GDB=" in said and "is ignored" in said and out == "1", (port, out, said)


run()
