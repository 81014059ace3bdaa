# SPDX-License-Identifier: Apache-2.0
"""The real gdb as a client of `waitgate gdb`, and a line on which packets are written by hand. For suites called with
WAITGATE ROOT EXAMPLES_FOLDER."""
import os
import pathlib
import re
import socket
import subprocess
import sys

from suite import GDB

WAITGATE, ROOT, EXAMPLES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
CORES = {"brisc": ("B", 1), "trisc0": ("T0", 3), "trisc1": ("T1", 4), "trisc2": ("T2", 5)}


def elfs(name="matmul"):
    return [EXAMPLES / f"{name}.{core}.elf" for core in CORES]


def gdb(d, commands, *files, symbols=None, alone=True):
    """gdb's output for these commands, after it has connected. With `symbols`, and those of this program alone unless
    `alone` is False."""
    server = " ".join(map(str, [WAITGATE, "gdb", "--listen", "stdio", *files]))
    lines = ["set pagination off", "set confirm off", f"set auto-solib-add {'off' if symbols and alone else 'on'}", f"target remote | {server}", *commands.strip().splitlines(), "detach"]
    (d / "commands").write_text("\n".join(lines) + "\n")
    r = subprocess.run([GDB, "-nx", "-batch", *([str(symbols)] if symbols else []), "-x", str(d / "commands")],
                       capture_output=True, text=True, timeout=120, cwd=d)
    return r.stdout + r.stderr


def product(d):
    """Options for matmul: one pass over two tiles of BF16 ones."""
    (d / "ones.bin").write_bytes(b"\x80\x3f" * 1024)
    (d / "passes.bin").write_bytes(b"\x01\0\0\0")
    return ["--load", f"0x20000={d}/passes.bin", "--load", f"0x30000={d}/ones.bin", "--load", f"0x31000={d}/ones.bin"]


WRONG = """.arch bh
.core B
    li a0, 0x3000
    li a1, 10
loop:
    sw a1, 0(a0)
    fence                   # otherwise one write carries several stores
    addi a1, a1, -1
    bnez a1, loop
    li a2, 99
wrong:
    sw a2, 0(a0)
    li a3, 500
wait:
    addi a3, a3, -1
    bnez a3, wait
end:
    ebreak
.core T1
    li t0, 400
wait1:
    addi t0, t0, -1
    bnez t0, wait1
    ebreak
.expect finding core-ebreak
"""


def packet(text):
    return b"$" + text + b"#%02x" % (sum(text) & 0xFF)


class Line:
    """A connection to a server on its own port."""
    def __init__(self, *files):
        self.server = subprocess.Popen([WAITGATE, "gdb", "--listen", "0", *map(str, files)], stderr=subprocess.PIPE, text=True)
        self.port = int(re.search(r"127\.0\.0\.1:(\d+)", self.server.stderr.readline())[1])

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        return s

    def ask(self, s, text):
        s.sendall(packet(text))
        answer = b""
        while not re.search(rb"\$[^#]*#..$", answer):
            part = s.recv(65536)
            assert part, answer
            answer += part
        s.sendall(b"+")
        return re.search(rb"\$([^#]*)#..$", answer)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
