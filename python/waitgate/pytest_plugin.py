# SPDX-License-Identifier: Apache-2.0
"""For pytest: a fixture `tile` per test, and the state of the tile in the text of a failure.

    def test_kernel(tile):
        tile.load("t0", "kernel.elf")
        tile.run()
        assert tile.gpr(0, 4) == 42

`@pytest.mark.waitgate(arch="wh", seed=3)` chooses the tile; `--waitgate-arch=bh,wh` runs every test on both.
"""
from __future__ import annotations

from typing import Any, Generator, Iterator

import pytest

from . import Hang, Tile


def pytest_addoption(parser: Any) -> None:
    parser.getgroup("waitgate").addoption("--waitgate-arch", default="bh", metavar="LIST",
                                          help="architectures that tests with a tile run on: bh, wh, or bh,wh")


def _architectures(config: Any) -> list[str]:
    given = [name.strip() for name in config.getoption("--waitgate-arch").split(",")]
    for name in given:
        if name not in ("bh", "wh"):
            raise pytest.UsageError(f"--waitgate-arch: there is no architecture {name!r}; there are bh and wh")
    return given


def pytest_configure(config: Any) -> None:
    _architectures(config)
    config.addinivalue_line("markers", "waitgate(arch, profile, seed, lockstep, shortcuts): the tile that a test gets")


def pytest_generate_tests(metafunc: Any) -> None:
    if "tile" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("waitgate")
    fixed = marker.kwargs.get("arch") if marker else None
    metafunc.parametrize("_waitgate_arch", [fixed] if fixed else _architectures(metafunc.config))


@pytest.fixture
def _waitgate_arch(request: Any) -> str:
    if hasattr(request, "param"):
        return str(request.param)
    # The test asks for its tile while it runs (request.getfixturevalue): it runs once, on the first architecture.
    marker = request.node.get_closest_marker("waitgate")
    return str(marker and marker.kwargs.get("arch") or _architectures(request.config)[0])


@pytest.fixture
def tile(request: Any, _waitgate_arch: str) -> Iterator[Tile]:
    """A tile after power-on."""
    marker = request.node.get_closest_marker("waitgate")
    wanted: dict[str, Any] = {**(marker.kwargs if marker else {}), "arch": _waitgate_arch}
    with Tile(**wanted) as it:
        request.node._waitgate_tile = it
        yield it


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    it = getattr(item, "_waitgate_tile", None)
    if report.when != "call" or not report.failed or it is None or not it._device:
        return
    said = [f"{f.severity}: {f.code} at cycle {f.cycle}, {f.who}: {f.cause}" for f in it.findings]
    if said:
        report.sections.append(("Waitgate findings", "\n".join(said)))
    if not (call.excinfo and call.excinfo.errisinstance(Hang)):  # its message is the report
        report.sections.append(("Waitgate state", it.hang_report()))
