# SPDX-License-Identifier: Apache-2.0
"""One Tensix tile."""
from __future__ import annotations

import dataclasses
import html
from types import TracebackType
from typing import Any, Callable, Iterable, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _numbers
from ._elf import Elf
from ._library import ffi, lib, names, text
from ._text import Error, architecture, assemble
from ._watch import Watch, _Path

CORES = ("b", "nc", "t0", "t1", "t2")
_SPACES = names("WG_SPACE_")
_EVENTS = names("WG_EV_")
_STOPS = {value: name for name, value in names("WG_STOP_").items()}
_SEVERITIES = {value: name for name, value in names("WG_SEVERITY_").items()}
_CHECKS = names("WG_CHECK_")
Core = Union[str, int]


class Hang(Error):
    """Nothing can move any more. The message is the report: the cause first, then the evidence."""

    def __init__(self, report: str):
        super().__init__(report.strip("\n"))


@dataclasses.dataclass(frozen=True)
class CoreState:
    pc: int
    in_reset: bool
    parked: bool
    instructions: int
    stall: str  # "": it can continue


@dataclasses.dataclass(frozen=True)
class Finding:
    code: str
    severity: str
    cycle: int
    count: int
    who: str
    pc: Optional[int]
    word: Optional[int]
    cause: str
    remedy: str


@dataclasses.dataclass(frozen=True)
class Event:
    kind: str
    cycle: int
    agent: str
    thread: int
    word: int
    pc: int
    id: int
    parent: int
    a: int
    b: int
    c: int


@dataclasses.dataclass(frozen=True)
class Timing:
    """The end of a run under one timing, and its differences from the unperturbed run (number 0). A delay of a chip's run has @X-Y."""
    number: int
    seed: int
    delay: str  # a single delay, "": none
    cycles: int
    ended: str
    memory: bool
    findings: bool
    stops: bool

    @property
    def differs(self) -> bool:
        return self.memory or self.findings or self.stops


def _explore(call: Callable[[Any, Any], None], parameters: str, of_chip: bool, values: dict[str, int],
             seen: Optional[Callable[[Timing], Optional[bool]]]) -> list[Timing]:
    """Calls wg_explore() or wg_grid_explore(), and collects the timings that differ."""
    differing: list[Timing] = []
    failure: list[BaseException] = []

    @ffi.callback(f"bool({parameters})")
    def called(_: Any, __: Any, r: Any) -> bool:
        delay = f"{text(lib.wg_site_name(r.delay.site))}:{text(lib.wg_agent_name(r.delay.agent))}:{r.delay.event}:" \
                f"{r.delay.cycles}{f'@{r.x}-{r.y}' if of_chip else ''}" if r.delay else ""
        timing = Timing(int(r.number), int(r.seed), delay, int(r.cycles), _STOPS[r.ended], r.memory, r.findings, r.stops)
        if timing.differs:
            differing.append(timing)
        try:
            return seen is None or seen(timing) is not False
        except BaseException as e:  # it must not propagate through the library
            failure.append(e)
            return False

    desc = ffi.new("wg_explore_desc *", values)
    desc.struct_size = ffi.sizeof("wg_explore_desc")
    call(desc, called)
    if failure:
        raise failure[0]
    return differing


def core_index(core: Core) -> int:
    if isinstance(core, int) and 0 <= core < len(CORES):
        return core
    try:
        return CORES.index(str(core).lower())
    except ValueError:
        raise Error(f"there is no core {core!r}: {', '.join(CORES)} are known") from None


def _report_desc(form: str) -> Any:
    desc = ffi.new("wg_report_desc *")
    desc.struct_size = ffi.sizeof("wg_report_desc")
    forms = {"text": lib.WG_REPORT_TEXT, "json": lib.WG_REPORT_JSON, "sarif": lib.WG_REPORT_SARIF}
    if form not in forms:
        raise Error(f"there is no report as {form!r}: {', '.join(forms)}")
    desc.form = forms[form]
    return desc


def _whole(ask: Callable[[Any, Any, int], int], desc: Any) -> str:
    room = ffi.new("char[]", ask(desc, ffi.NULL, 0) + 1)
    ask(desc, room, len(room))
    return text(room)


class Tile:
    """A tile of its own, or one of a chip (Chip.tile()). A `with` block releases it at its end."""

    def __init__(self, arch: str = "bh", profile: str = "silicon", seed: int = 0, lockstep: bool = False,
                 shortcuts: Optional[str] = None):
        self.arch = arch
        self._shortcuts = ffi.new("char[]", shortcuts.encode()) if shortcuts is not None else ffi.NULL
        try:
            timing = {"silicon": lib.WG_PROFILE_SILICON, "documented": lib.WG_PROFILE_DOCUMENTED}[profile]
        except KeyError:
            raise Error(f"there is no profile {profile!r}: silicon and documented are known") from None
        desc = ffi.new("wg_device_desc *", {"arch": architecture(arch), "profile": timing, "seed": seed, "lockstep": lockstep,
                                            "shortcuts": self._shortcuts})
        desc.struct_size = ffi.sizeof("wg_device_desc")
        out = ffi.new("wg_device **")
        status = lib.wg_create(desc, out)
        if status != lib.WG_OK:
            raise Error(text(lib.wg_status_text(status)))
        self._begin(out[0], None, ffi.gc(out[0], lib.wg_destroy))

    @classmethod
    def _of_program(cls, program: Any, device: Any, arch: str) -> Tile:
        tile = cls._of_chip(program, device, arch)
        tile._clock = program
        tile._source = ffi.addressof(lib, "wg_program_source"), program._handle
        return tile

    @classmethod
    def _of_chip(cls, chip: Any, device: Any, arch: str) -> Tile:
        tile = cls.__new__(cls)
        tile.arch = arch
        tile._begin(device, chip, chip._life)
        return tile

    def _begin(self, device: Any, owner: Any, life: Any) -> None:
        self._device, self._owner = device, owner
        self._life = life  # what the device belongs to; a watch and checks keep it until they have ended
        self._elfs = ffi.new("wg_elf *[]", len(CORES))
        self._source: tuple[Any, Any] = ffi.addressof(lib, "wg_elf_source"), self._elfs
        self._clock: Any = None  # the program that advances time
        self._programs: list[Optional[Elf]] = [None] * len(CORES)
        self._observers: dict[int, Any] = {}
        self._failures: list[BaseException] = []
        self._watches: list[tuple[Watch, int, int]] = []  # with the coordinates in a chip

    # Life cycle.

    def close(self) -> None:
        self._device = self._life = None

    def __enter__(self) -> Tile:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    @property
    def _dev(self) -> Any:
        if not self._device:
            raise Error("the tile has been closed")
        return self._device

    def _ask(self, status: int) -> None:
        if self._failures:  # of an observer, which must not raise through the library
            failure = self._failures[0]
            self._failures.clear()
            raise failure
        if status != lib.WG_OK:
            raise Error(text(lib.wg_error(self._dev)) or text(lib.wg_status_text(status)))

    def _alone(self) -> None:
        if self._clock is not None:
            raise Error("time and state of this tile belong to a program: Program.run()")

    def reset(self) -> None:
        """The state after power-on."""
        self._alone()
        self._ask(lib.wg_reset(self._dev))

    # Time.

    @property
    def cycle(self) -> int:
        return int(lib.wg_cycle(self._dev))

    def run(self, cycles: int = 2**63, hang_is_error: bool = True) -> str:
        """Runs for at most this many cycles; returns why it stopped: done, cycles, until or finding. A hang raises
        Hang."""
        if self._clock is not None:
            return str(self._clock.run(cycles, hang_is_error))
        stop = ffi.new("wg_stop *")
        self._ask(lib.wg_run(self._dev, cycles, stop))
        why = _STOPS[int(stop[0])]
        if why == "hung" and hang_is_error:
            raise Hang(self.hang_report())
        return why

    def advance(self, cycles: int) -> None:
        """Advances by exactly this many cycles."""
        self._alone()
        self._ask(lib.wg_advance(self._dev, cycles))

    def until(self, address: int, value: int, mask: int = 0xFFFFFFFF) -> None:
        """run() also stops when this word of L1 has this value."""
        self._ask(lib.wg_until(self._dev, address, value, mask))

    # Programs.

    def load(self, core: Core, program: Union[Elf, str], release: bool = True) -> Elf:
        """Loads an ELF file into a core, which starts at its entry."""
        elf = program if isinstance(program, Elf) else Elf(program)
        index, room = core_index(core), ffi.new("char[]", 1024)
        if lib.wg_elf_load(elf._handle, self._dev, index, release, room, len(room)) != lib.WG_OK:
            raise Error(text(room))
        self._programs[index], self._elfs[index] = elf, elf._handle
        for watch, x, y in self._watches:
            watch._program(x, y, index, elf)
        return elf

    def push(self, thread: int, *instructions: Union[str, int]) -> None:
        """Pushes Tensix instructions, as text or words, into a thread's FIFO; time advances while it is full."""
        for i in instructions:
            word = assemble(i, self.arch) if isinstance(i, str) else i
            status = lib.wg_push(self._dev, thread, word)
            while status == lib.WG_ERR_STATE:
                if self._owner is not None and self._clock is None:
                    raise Error("the FIFO is full; let time pass for the chip")
                before = self.cycle
                if self.run(1) != "cycles" or self.cycle == before:
                    self._ask(status)
                status = lib.wg_push(self._dev, thread, word)
            self._ask(status)

    def release(self, core: Core, entry: int = 0) -> None:
        self._ask(lib.wg_core_release(self._dev, core_index(core), entry))

    def hold(self, core: Core) -> None:
        self._ask(lib.wg_core_hold(self._dev, core_index(core)))

    def core(self, core: Core) -> CoreState:
        info = ffi.new("wg_core_info *")
        self._ask(lib.wg_core_state(self._dev, core_index(core), info))
        reason = int(info.stall.reason)
        return CoreState(int(info.pc), bool(info.in_reset), bool(info.parked), int(info.instructions),
                         text(lib.wg_stall_text(reason)) if reason else "")

    # Memory and registers.

    @property
    def l1_bytes(self) -> int:
        return int(lib.wg_l1_bytes(self._dev))

    def read(self, address: int, size: int) -> bytes:
        out = bytearray(size)
        self._ask(lib.wg_read(self._dev, address, ffi.from_buffer(out), size))
        return bytes(out)

    def write(self, address: int, data: Union[bytes, bytearray, memoryview]) -> None:
        self._ask(lib.wg_write(self._dev, address, ffi.from_buffer(data), len(data)))

    def read_array(self, address: int, kind: str, shape: _numbers.Shape, tilized: bool = False) -> npt.NDArray[Any]:
        """Reads numbers from L1: float32, or for int32, uint32 and sm32 integers of 32 bits."""
        return _numbers.decode(self.read(address, _numbers.encoded_size(kind, shape, tilized)), kind, shape, tilized)

    def write_array(self, address: int, array: npt.ArrayLike, kind: str, tilized: bool = False) -> int:
        """Writes numbers to L1; returns the number of bytes."""
        data = _numbers.encode(array, kind, tilized)
        self.write(address, data)
        return len(data)

    def peek(self, space: str, index: int) -> int:
        """Any state by space (gpr, dst, srca, lreg, config, sem_value …) and index: docs/api.md has the table."""
        value = ffi.new("uint32_t *")
        self._ask(lib.wg_peek(self._dev, self._space(space), index, value))
        return int(value[0])

    def poke(self, space: str, index: int, value: int) -> None:
        self._ask(lib.wg_poke(self._dev, self._space(space), index, value))

    @staticmethod
    def _space(space: str) -> int:
        try:
            return _SPACES[space]
        except KeyError:
            raise Error(f"there is no space {space!r}: {', '.join(sorted(_SPACES))}") from None

    def gpr(self, thread: int, register: int) -> int:
        if not (0 <= thread < 3 and 0 <= register < 64):
            raise Error(f"there is no GPR {register} of thread {thread}: threads are 0 to 2, registers 0 to 63")
        return self.peek("gpr", thread * 64 + register)

    def semaphore(self, index: int) -> tuple[int, int]:
        """Its value and its maximum."""
        return self.peek("sem_value", index), self.peek("sem_max", index)

    def dst(self, kind: str = "bf16", rows: Iterable[int] = range(64)) -> npt.NDArray[Any]:
        """Rows of Dst as numbers: bf16, fp16, fp32, int32, or raw for the stored 16 bits."""
        space = "dst32" if kind in ("fp32", "int32") else "dst"
        stored = np.array([[self.peek(space, row * 16 + column) for column in range(16)] for row in rows], np.uint32)
        return _numbers.from_dst(stored, kind)

    # Reports.

    @property
    def findings(self) -> list[Finding]:
        out = []
        for i in range(lib.wg_finding_count(self._dev)):
            f = lib.wg_finding_at(self._dev, i)
            info = lib.wg_finding_info_at(f.code)
            out.append(Finding(text(info.code), _SEVERITIES[int(info.severity)], int(f.cycle), int(f.count),
                               text(lib.wg_agent_name_of(self._dev, f.agent)), int(f.pc) if f.has_pc else None,
                               int(f.word) if f.has_word else None, text(info.cause), text(info.remedy)))
        return out

    def _report(self, ask: Callable[[Any, Any, int], int], form: str) -> str:
        desc = _report_desc(form)
        desc.source, desc.user = self._source
        return _whole(ask, desc)

    def hang_report(self, form: str = "text") -> str:
        """The reason why the tile does not move; for one that can still move, its state. Forms: text, json, sarif."""
        return self._report(lambda desc, room, size: int(lib.wg_hang_report(self._dev, desc, room, size)), form)

    def check(self, *checks: str) -> Checks:
        """Watches for races (race), memory, init, sync; call it before programs are loaded. Default: race."""
        out = ffi.new("wg_check **")
        self._ask(lib.wg_check_begin(self._dev, _check_mask(checks), out))
        return Checks(out[0], self._report, self._life)

    def watch(self, trace: Optional[_Path] = None, log: Optional[_Path] = None, profile: bool = False,
              timeline: bool = False, stats: bool = False) -> Watch:
        """A trace and a log as files (their names give the format), a profile, a timeline, statistics of the run from now on."""
        if self._owner is not None and self._clock is None:
            raise Error("a tile of a chip is watched with the chip: Chip.watch()")
        watch = Watch(self._dev, ffi.NULL, self._life, trace, log, profile, timeline, stats)
        self._watched_by(watch, 0, 0)
        return watch

    def profile(self) -> Watch:
        """The cost of every cycle, from now to the end of the `with` block: text, data, timeline, report()."""
        return self.watch(profile=True, timeline=True)

    def _watched_by(self, watch: Watch, x: int, y: int) -> None:
        self._watches = [w for w in self._watches if not w[0]._ended] + [(watch, x, y)]
        for index, elf in enumerate(self._programs):
            if elf is not None:
                watch._program(x, y, index, elf)

    def observe(self, kinds: Sequence[str], function: Callable[[Event], None]) -> int:
        """
        Calls the function for each event of these kinds (issued, completed, semaphore …) until unobserve(). After an exception it is not
        called any more, and run() raises the exception.
        """
        wanted = 0
        for kind in kinds:
            if kind not in _EVENTS:
                raise Error(f"there is no event {kind!r}: {', '.join(sorted(_EVENTS))}")
            wanted |= 1 << _EVENTS[kind]

        @ffi.callback("void(void *, const wg_event *)")
        def called(_: Any, e: Any) -> None:
            if self._failures:
                return
            try:
                function(Event(text(lib.wg_event_name(e.kind)), int(e.cycle), text(lib.wg_agent_name(e.agent)), int(e.thread),
                               int(e.word), int(e.pc), int(e.id), int(e.parent), int(e.a), int(e.b), int(e.c)))
            except BaseException as error:  # _ask() raises it
                self._failures.append(error)

        number = ffi.new("int *")
        self._ask(lib.wg_observe(self._dev, wanted, called, ffi.NULL, number))
        self._observers[int(number[0])] = called
        return int(number[0])

    def unobserve(self, number: int) -> None:
        lib.wg_unobserve(self._dev, number)
        self._observers.pop(number, None)

    def explore(self, runs: int = 1000, result: Optional[tuple[int, int]] = None, first_seed: int = 1, max_cycles: int = 0,
                seen: Optional[Callable[[Timing], Optional[bool]]] = None) -> list[Timing]:
        """
        Runs the loaded program under many legal timings and returns those that differ. `result`: address and length of the
        memory that counts. `seen` is called after each run, with the tile at its end; if it returns False, there are no more.
        """
        self._alone()
        address, length = result or (0, 0)
        return _explore(lambda desc, called: self._ask(lib.wg_explore(self._dev, desc, called, ffi.NULL)),
                        "void *, wg_device *, const wg_explored *", False,
                        {"runs": runs, "first_seed": first_seed, "max_cycles": max_cycles, "address": address, "bytes": length}, seen)

    # Copies.

    def snapshot(self) -> bytes:
        out = bytearray(lib.wg_snapshot_size(self._dev))
        self._ask(lib.wg_snapshot(self._dev, ffi.from_buffer(out), len(out)))
        return bytes(out)

    def restore(self, snapshot: bytes) -> None:
        self._alone()
        self._ask(lib.wg_restore(self._dev, ffi.from_buffer(snapshot), len(snapshot)))

    @property
    def state_hash(self) -> int:
        return int(lib.wg_state_hash(self._dev))

    def __repr__(self) -> str:
        return f"<Tile {self.arch} at cycle {self.cycle}>" if self._device else "<Tile, closed>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.hang_report())}</pre>"


def _check_mask(checks: Sequence[str]) -> int:
    mask = 0
    for name in checks or ("race",):
        if name not in _CHECKS:
            raise Error(f"there is no check {name!r}: {', '.join(sorted(_CHECKS))}")
        mask |= _CHECKS[name]
    return mask


class Checks:
    """The race detector and the other checks of a tile, or of tiles of a chip."""

    def __init__(self, handle: Any, report: Callable[[Callable[[Any, Any, int], int], str], str], life: Any):
        self._handle, self._report, self._life = handle, report, life

    @property
    def _open(self) -> Any:
        if not self._handle:
            raise Error("the checks have ended; ask for reports before that, within the `with` block")
        return self._handle

    def count(self, severity: str = "warning") -> int:
        """The number of reports of at least this severity so far."""
        return int(lib.wg_check_count(self._open, names("WG_SEVERITY_")[severity]))

    def report(self, form: str = "text") -> str:
        return self._report(lambda desc, room, size: int(lib.wg_check_report(self._open, desc, room, size)), form)

    def close(self) -> None:
        if self._handle:
            lib.wg_check_end(self._handle)
        self._handle = self._life = None

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> Checks:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()
