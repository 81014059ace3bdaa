# SPDX-License-Identifier: Apache-2.0
"""A Tensix tile you can see into, from Python.

    import numpy, waitgate

    with waitgate.Tile("bh") as tile:
        tile.push(0, "ttsetdmareg 0, 42, 0, 8")
        tile.run()
        print(tile.gpr(0, 4))

    result = waitgate.run("kernel.tasm", stats=True)
    print(result.cycles, result["stats"])
"""
from ._commands import Result, check, command, explore, profile, run
from ._elf import Elf
from ._numbers import decode, encode, types
from ._tile import CORES, Checks, CoreState, Event, Finding, Hang, Tile, Timing
from ._chip import Chip
from ._program import Program
from ._text import AssemblyError, Error, assemble, disassemble, version
from ._watch import Watch

__all__ = ["AssemblyError", "CORES", "Checks", "Chip", "CoreState", "Elf", "Error", "Event", "Finding", "Hang", "Program", "Result", "Tile", "Timing",
           "Watch", "assemble", "check", "command", "decode", "disassemble", "encode", "explore", "profile", "run", "types", "version"]
__version__ = version()
for _error in (AssemblyError, Error, Hang):
    _error.__module__ = "waitgate"  # as their users know them
