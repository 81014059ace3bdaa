#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chip descriptions that hosts read next to the libttsim libraries: complete, and in agreement with the running
chip."""
import pathlib
import re
import subprocess
import sys
import tempfile

TILES = {"bh": {"functional_workers": 140, "eth": 14, "dram": 24, "arc": 1, "pcie": 1, "router_only": 18, "security": 1, "l2cpu": 4},
         "wh": {"functional_workers": 80, "eth": 16, "dram": 18, "arc": 1, "pcie": 1, "router_only": 4}}
BANKS = {"bh": 8, "wh": 12}
WITHOUT_HOST = {"bh": {(11, 0)}, "wh": set()}  # a PCI Express tile that leads nowhere


def main():
    waitgate, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for arch, counts in TILES.items():
        text = (folder / f"soc_descriptor_{arch}.yaml").read_text()
        width, height = (int(re.search(rf"{axis}_size: (\d+)", text)[1]) for axis in "xy")
        for axis, edge in (("x", width), ("y", height)):
            other = re.search(rf"^noc0_{axis}_to_noc1_{axis}:\n  \[(.*)\]$", text, re.M)[1]
            assert [int(n) for n in other.split(",")] == list(range(edge))[::-1], f"{arch}: NoC 1's {axis}"
        place = {}
        for key, count in counts.items():
            block = re.search(rf"^{key}:\n(.*?)^\n", text, re.S | re.M)[1]
            found = [tuple(map(int, at.split("-"))) for at in re.findall(r"\d+-\d+", block)]
            assert len(found) == count, f"{arch}: {key} has {len(found)} tiles"
            for at in found:
                assert at not in place, f"{arch}: {at} is {place[at]} and {key}"
                place[at] = key
        assert set(place) | WITHOUT_HOST[arch] == {(x, y) for x in range(width) for y in range(height)}, f"{arch}: not every tile is there"
        assert not set(place) & WITHOUT_HOST[arch], f"{arch}: a tile without a host"
        assert len(re.findall(r"\{channel:", text)) == BANKS[arch], f"{arch}: views of DRAM"
        if arch == "bh":  # tt-metal tells its firmware of 29 tiles that are no workers: all but two Ethernet tiles, two ports per bank of DRAM
            assert counts["eth"] - 2 + counts["pcie"] + 2 * BANKS[arch] <= 29, "more tiles than the host's table has room for"
        with tempfile.TemporaryDirectory() as d:
            chip = pathlib.Path(d) / "chip.yaml"

            def says(cores, at):
                chip.write_text(f"arch: {arch}\nmax-cycles: 1\ntiles:\n  - {{at: [{at[0]}, {at[1]}], release: [{cores}]}}\n")
                return subprocess.run([waitgate, "run", chip], capture_output=True, text=True).stderr

            for at, key in place.items():
                tensix, ethernet = "there is" not in says("b", at), "there is" not in says("e0", at)
                assert (tensix, ethernet) == (key == "functional_workers", key == "eth"), f"{arch}: {at} is no {key}"
        print(f"{arch}: {len(place)} tiles agree")


if __name__ == "__main__":
    main()
