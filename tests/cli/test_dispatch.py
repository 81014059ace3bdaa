#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rings between a host and kernels of a chip, behind the libttsim ABI, as in tt-metal's fast dispatch (tests/dispatch/queue.h)."""
import ctypes
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = dict(re.findall(r"\b([A-Z_]+) = (0x[0-9A-F]+|\d+)\b", (ROOT / "tests/dispatch/queue.h").read_text()))
ENTRIES, PAGES, ISSUE_BYTES, COMPLETION_BYTES, UNIT, ISSUE, COMPLETION, COMPLETED, QUEUE, CREDITS, PASSED, TAKEN = (
    int(NAMES[name], 0) for name in ("ENTRIES", "PAGES", "ISSUE_BYTES", "COMPLETION_BYTES", "UNIT", "ISSUE", "COMPLETION", "COMPLETED",
                                     "QUEUE", "CREDITS", "PASSED", "TAKEN"))
WRITE_TILE, WRITE_HOST, END = 1, 2, 3
WRAPPED = 1 << 31
SOFT_RESET, PARAMETERS, STRIDE = 0xFFB121B0, 0x10000, 16


class Host:
    """A host of the library: its memory, the rings, and what it expects in the end."""
    def __init__(self, library, wormhole, kernels):
        self.lib, self.memory = ctypes.CDLL(library), bytearray(0x10000)
        self.wormhole, self.outside = wormhole, 0
        self.lib.libttsim_init()
        dma = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint32)
        self.callbacks = dma(self.gives), dma(self.takes)
        self.lib.libttsim_set_pci_dma_mem_callbacks(*self.callbacks)
        # Places on NoC 0. Blackhole's PCI Express tile is known by its translated coordinates.
        self.prefetcher, self.dispatcher = ((1, 1), (2, 1)) if wormhole else ((1, 2), (2, 2))
        self.tiles = [(3, 3), (4, 5), (4, 7)]
        pcie, upper = ((0, 3), 8) if wormhole else ((19, 24), 0)
        for tile, kernel in ((self.prefetcher, "prefetch"), (self.dispatcher, "dispatch")):
            self.put(tile, SOFT_RESET, struct.pack("<I", 0x47800))
            self.put(tile, 0, kernels[kernel])
            for n, value in enumerate((self.place(pcie), upper, self.place(self.prefetcher), self.place(self.dispatcher))):
                self.put(tile, PARAMETERS + STRIDE * n, struct.pack("<I", value))
            for address, size in ((QUEUE, 2 * ENTRIES), (CREDITS, 4), (PASSED, 4), (TAKEN, 4)):
                self.put(tile, address, bytes(size))
        for tile in (self.prefetcher, self.dispatcher):
            self.put(tile, SOFT_RESET, struct.pack("<I", 0x47000))
        self.entry = self.issue_at = self.taken = 0
        self.under_way, self.received, self.expected = [], [], []
        self.full = {"entries": 0, "ring": 0, "wraps": 0}

    @staticmethod
    def place(tile):
        return tile[0] | tile[1] << 6

    def inside(self, address, size):
        self.outside += address + size > len(self.memory)
        return address + size <= len(self.memory)

    def gives(self, address, to, size):
        if self.inside(address, size):
            ctypes.memmove(to, bytes(self.memory[address:address + size]), size)

    def takes(self, address, data, size):
        if self.inside(address, size):
            self.memory[address:address + size] = ctypes.string_at(data, size)

    def put(self, tile, address, data):
        self.lib.libttsim_tile_wr_bytes(*tile, ctypes.c_uint64(address), data, len(data))

    def get(self, tile, address, size):
        data = ctypes.create_string_buffer(size)
        self.lib.libttsim_tile_rd_bytes(*tile, ctypes.c_uint64(address), data, size)
        return data.raw

    def turn(self, clocks, reads=True):
        """Time passes; the host looks at the rings."""
        self.lib.libttsim_clock(clocks)
        while self.under_way and self.get(self.prefetcher, QUEUE + 2 * self.under_way[0][0], 2) == b"\0\0":
            self.under_way.pop(0)
        written, = struct.unpack_from("<I", self.memory, COMPLETED)
        while reads and written != self.taken and len(self.received) < len(self.expected):
            size = len(self.expected[len(self.received)])
            room, at = -(-size // UNIT) * UNIT, self.taken & ~WRAPPED
            begins = at if at + room <= COMPLETION_BYTES else 0
            self.full["wraps"] += begins != at
            self.taken = (begins + room) | (self.taken ^ (WRAPPED if begins != at else 0)) & WRAPPED
            self.received.append(bytes(self.memory[COMPLETION + begins:COMPLETION + begins + size]))
            self.put(self.dispatcher, TAKEN, struct.pack("<I", self.taken))

    def give(self, command, clocks):
        """A command into the issue ring, its length into the queue, as soon as both have room."""
        command += bytes(-len(command) % UNIT)
        at = self.issue_at if self.issue_at + len(command) <= ISSUE_BYTES else 0
        for _ in range(100000):
            if len(self.under_way) == ENTRIES:
                self.full["entries"] += 1
            elif any(begin < at + len(command) and at < end for _, begin, end in self.under_way):
                self.full["ring"] += 1
            else:
                break
            self.turn(clocks)
        else:
            raise AssertionError(f"the prefetcher does not go on: {self.under_way}")
        self.memory[ISSUE + at:ISSUE + at + len(command)] = command
        self.put(self.prefetcher, QUEUE + 2 * self.entry, struct.pack("<H", len(command) // UNIT))
        self.under_way.append((self.entry, at, at + len(command)))
        self.entry, self.issue_at = (self.entry + 1) % ENTRIES, at + len(command)


def rings(library, wormhole, kernels, seed, clocks, slow):
    draw, wanted = random.Random(seed), {}
    host = Host(library, wormhole, kernels)
    for n in range(60):
        data = draw.randbytes(4 * draw.choice([1, 3, 16, 60, 61, 130, draw.randrange(1, 200)]))
        if draw.random() < 0.5:
            tile, address = draw.choice(host.tiles), 0x20000 + 0x1000 * n
            wanted[tile, address] = data
            head = struct.pack("<4I", WRITE_TILE, len(data), host.place(tile), address)
        else:
            data = data[:COMPLETION_BYTES // 2]
            host.expected.append(data)
            head = struct.pack("<4I", WRITE_HOST, len(data), 0, 0)
        host.give(head + data, clocks)
        host.turn(clocks, reads=draw.random() >= slow)
    host.give(struct.pack("<4I", END, 0, 0, 0), clocks)
    for _ in range(2000):
        if len(host.received) == len(host.expected) and not host.under_way:
            break
        host.turn(100)
    host.turn(2000)
    assert host.received == host.expected, (len(host.received), len(host.expected))
    for (tile, address), data in wanted.items():
        assert host.get(tile, address, len(data)) == data, (tile, hex(address))
    assert host.outside == 0
    # All pages were passed on and given back.
    assert host.get(host.dispatcher, PASSED, 4) == host.get(host.prefetcher, CREDITS, 4)
    host.lib.libttsim_exit()
    return host.full


if sys.argv[1] == "host":
    kernels = {name: pathlib.Path(sys.argv[4], f"{name}.bin").read_bytes() for name in ("prefetch", "dispatch")}
    print(json.dumps(rings(sys.argv[2], sys.argv[3] == "wh", kernels, int(sys.argv[5]), int(sys.argv[6]), float(sys.argv[7]))))
    sys.exit()

from suite import run, test # noqa: E402


def built(d, arch, header):
    for name in ("prefetch", "dispatch"):
        subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-O2", "-ffreestanding", "-nostdlib", "-msmall-data-limit=0",
                        "-fno-tree-loop-distribute-patterns", f"-DWG_ARCH_{arch.upper()}", f"-I{header}", f"-I{ROOT}/examples/common",
                        "-Wl,--defsym=__base=0", "-Wl,--no-warn-rwx-segments", ROOT / f"tests/dispatch/{name}.c",
                        ROOT / "examples/common/crt.S", "-T", ROOT / "examples/common/kernel.ld", "-o", f"{name}.elf"], check=True, cwd=d)
        subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", f"{name}.elf", f"{name}.bin"], check=True, cwd=d)


def hosted(d, arch, library, seed, clocks, slow):
    r = subprocess.run([sys.executable, os.path.abspath(__file__), "host", library, arch, str(d), str(seed), str(clocks), str(slow)],
                       capture_output=True, text=True, timeout=300)
    assert r.returncode == 0 and not r.stderr, r.stderr
    return json.loads(r.stdout)


def chip(d, arch, library):
    built(d, arch, sys.argv[3])
    # A host that is fast, one that is slow to read results, one that lets much time pass: each fills other rings.
    fast, late, idle = (hosted(d, arch, library, seed, *how) for seed, how in enumerate(((7, 0), (40, 0.9), (5000, 0))))
    assert fast["entries"] and fast["ring"] and fast["wraps"] and late["wraps"] and idle["wraps"], (fast, late, idle)
    assert not idle["entries"] and not idle["ring"], idle


@test
def blackhole(d):
    """Commands and data of random lengths arrive, and results come back, while rings fill and wrap."""
    chip(d, "bh", sys.argv[1])


@test
def wormhole(d):
    """The same: host memory needs more address bits there."""
    chip(d, "wh", sys.argv[2])


run()
