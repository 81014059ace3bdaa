#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages as their users meet them: built twice with the same bits, installed in a clean Debian, used there; and the
Containerfile: built on that Debian, and its image run.

usage: test_packages.py ROOT          after `make package`; `make package-test` runs it. Needs root: it makes a chroot.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from suite import run, test  # noqa: E402

ROOT = pathlib.Path(sys.argv[1]).resolve()
PACKAGES = ROOT / "build" / "package"
CLEAN = ROOT / "build" / "clean-debian"


def call(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, (command, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def inside(*command, status=0):
    done = subprocess.run(["chroot", CLEAN, *command], capture_output=True, text=True,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"})
    assert done.returncode == status, (command, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def debs(folder):
    found = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.glob("*.deb") if "-dbgsym" not in p.name}
    assert len(found) == 6, found
    return found


@test
def tarball(d):
    """Its checksum and signature are right; its sources are those of the last commit."""
    env = dict(os.environ, GNUPGHOME=str(d))
    d.chmod(0o700)
    call("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "maintainer@waitgate.example", env=env)
    path = ROOT / call("make", "-s", "dist", "SIGN=maintainer@waitgate.example", cwd=ROOT, env=env).strip()
    call("sha256sum", "-c", path.name + ".sha256", cwd=path.parent)
    call("gpg", "--verify", path.name + ".asc", path.name, cwd=path.parent, env=env)
    assert len(call("tar", "-tf", path).splitlines()) > len(call("git", "ls-files", cwd=ROOT).splitlines())


@test
def same_bits(d):
    """A second build, in another folder, gives the same packages."""
    tarball = next((ROOT / "build" / "dist").glob("waitgate-*.tar.gz"))
    call("tar", "-xf", tarball, "-C", d)
    source = next(d.glob("waitgate-*"))
    call("dpkg-buildpackage", "-b", "-us", "-uc", cwd=source)
    assert debs(d) == debs(PACKAGES)


def make_clean():
    """A minimal Debian, with the network settings of this machine."""
    shutil.rmtree(CLEAN, ignore_errors=True)
    call("debootstrap", "--variant=minbase", "bookworm", CLEAN)
    shutil.copy("/etc/resolv.conf", CLEAN / "etc/resolv.conf")
    for name in ("http_proxy", "https_proxy"):
        if os.environ.get(name):
            (CLEAN / "etc/apt/apt.conf.d/proxy").write_text(f'Acquire::http::Proxy "{os.environ[name]}";\n')


@test
def image(d):
    """The Containerfile, with the clean Debian as its base image: it builds, and its command runs a program."""
    make_clean()
    buildah = ("buildah", "--root", d / "images", "--runroot", d / "run", "--storage-driver", "vfs")
    base = call(*buildah, "from", "scratch").strip()
    call(*buildah, "add", base, CLEAN, "/")
    call(*buildah, "commit", "--rm", base, "docker.io/library/debian:12-slim")
    call("git", "clone", "-q", ROOT, d / "source")
    call(*buildah, "build", "--isolation", "chroot", "--pull-never", "--network", "host", "-t", "waitgate", d / "source")
    assert call(*buildah, "inspect", "--type", "image", "--format", "{{.OCIv1.Config.Entrypoint}}", "waitgate").strip() == "[waitgate]"
    box = call(*buildah, "from", "--pull-never", "waitgate").strip()
    done = subprocess.run([*map(str, buildah), "run", "--isolation", "chroot", "-v", f"{ROOT / 'examples'}:/work", box, "--", "waitgate",
                           "run", "deadlock.tasm"], capture_output=True, text=True)
    assert done.returncode == 3 and "wait for each other in a circle" in done.stdout, (done.returncode, done.stdout, done.stderr)
    mounted = pathlib.Path(call(*buildah, "mount", box).strip())
    grown = int(call("du", "-sm", mounted).split()[0]) - int(call("du", "-sm", CLEAN).split()[0])
    call(*buildah, "umount", box)
    assert grown < 200, f"the image is {grown} MB larger than its base"


def student(doc):
    """Chapters, their programs, exercises and the schema; everything that a page links to is there."""
    assert "expectations hold" in inside("waitgate", "run", f"{doc}/programs/gate.tasm")
    solved = inside("waitgate", "test", f"{doc}/exercises", "--filter", "04_mutex_order", status=3)
    assert "0 passed, 1 failed" in solved, solved
    json.loads((CLEAN / doc[1:] / "docs/waitgate.schema.json").read_text())
    pages = list((CLEAN / doc[1:]).rglob("*.md"))
    assert len(pages) > 50, len(pages)
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), f"{page} links to {target}"


@test
def wheel(d):
    """In a virtual environment of a clean Debian without the libraries of Debian that the build used."""
    make_clean()
    call("meson", "setup", d / "build", ROOT, "--buildtype=release", "-Dtests=disabled")
    call("ninja", "-C", d / "build", "python/libwaitgate_wheel.so", "python/_api.h", "examples/hello.brisc.elf")
    made = pathlib.Path(call(ROOT / "scripts/wheel", d / "build", CLEAN / "tmp").strip())
    inside("apt-get", "update", "-qq")
    inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", "python3-venv", "python3-numpy", "python3-cffi", "python3-pytest")
    assert not [p for p in CLEAN.rglob("lib*") if p.name.startswith(("libopcodes", "libdw", "libyaml", "libedit"))]
    inside("python3", "-m", "venv", "--system-site-packages", "/venv")
    inside("/venv/bin/pip", "install", "-q", "--no-index", "--no-deps", f"/tmp/{made.name}")
    shutil.copy(ROOT / "examples/deadlock.tasm", CLEAN / "tmp")
    assert "in a circle" in inside("/venv/bin/waitgate", "run", "/tmp/deadlock.tasm", status=3)
    shutil.copy(d / "build/examples/hello.brisc.elf", CLEAN / "tmp")
    assert "auipc" in inside("/venv/bin/waitgate", "dis", "/tmp/hello.brisc.elf")
    (CLEAN / "test_tile.py").write_text("def test_tile(tile):\n    assert tile.run() == 'done'\n")
    assert "1 passed" in inside("/venv/bin/python", "-m", "pytest", "-q", "/test_tile.py")


@test
def clean_debian(d):
    """Installed by apt in a minimal Debian: command, manual, library, Python module, the libttsim ABI."""
    make_clean()
    for path in PACKAGES.glob("*.deb"):
        shutil.copy(path, CLEAN / "tmp")
    names = [f"/tmp/{name}" for name in debs(PACKAGES)]
    inside("apt-get", "update", "-qq")
    inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", *names)
    doc = "/usr/share/doc/waitgate"
    assert "wait for each other in a circle" in inside("waitgate", "run", f"{doc}/examples/deadlock.tasm", status=3)
    # Programs of cores run without the RISC-V binutils, too.
    assert not (CLEAN / "usr/bin/riscv64-unknown-elf-as").exists()
    assert "3 of 3 expectations hold" in inside("waitgate", "run", f"{doc}/examples/core.tasm")
    student(doc)
    inside("test", "-f", "/usr/share/man/man1/waitgate.1.gz")
    tile = "import waitgate; t = waitgate.Tile('bh'); print(t.cycle)"
    assert inside("python3", "-c", tile).strip() == "0"
    inside("python3", "-c", "import ctypes; ctypes.CDLL('libttsim_bh.so').libttsim_init; ctypes.CDLL('libttsim_wh.so').libttsim_init")
    inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", "gcc", "libc6-dev", "pkg-config")
    (CLEAN / "p.c").write_text('#include <waitgate/waitgate.h>\n#include <stdio.h>\nint main(void) { puts(wg_version()); }\n')
    version = inside("sh", "-c", "cc /p.c -o /p $(pkg-config --cflags --libs waitgate) && /p").strip()
    assert inside("waitgate", "--version").split()[-1] == version, version
    # The pytest plugin.
    inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", "python3-pytest", "libmpich-dev")
    (CLEAN / "test_tile.py").write_text("def test_good(tile):\n    tile.push(0, 'ttsetdmareg 0, 42, 0, 8')\n    tile.run()\n"
                                        "    assert tile.gpr(0, 4) == 42\n\ndef test_hangs(tile):\n    tile.push(0, 'ttsemwait 1, 4, 1')\n"
                                        "    tile.push(0, 'ttdmanop')\n    tile.run()\n")
    said = inside("python3", "-m", "pytest", "-q", "--waitgate-arch=bh,wh", "/test_tile.py", status=1)
    assert "2 failed, 2 passed" in said and "semaphore" in said, said
    # The transport between processes compiles with MPICH.
    for part in ("src/mpi", "src/cluster", "include"):
        shutil.copytree(ROOT / part, CLEAN / "mpi" / part)
    inside("sh", "-c", "cd /mpi && cc -shared -fPIC -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -isystem /usr/include/x86_64-linux-gnu/mpich "
           "-Iinclude -Isrc src/mpi/mpi.c -o mpich.so -lmpich")
    shutil.rmtree(CLEAN / "mpi")
    inside("apt-get", "purge", "-y", "-qq", "waitgate-mpi", "waitgate", "libwaitgate0", "libwaitgate-dev", "python3-waitgate",
           "waitgate-doc")
    left = [p for p in CLEAN.rglob("*waitgate*") if "tmp" not in p.parts and "log" not in p.parts]
    assert not left, left
    shutil.rmtree(CLEAN)


if os.geteuid():
    sys.exit("test_packages.py: run this as root: it makes a chroot")
run()
