#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs into an empty folder and uses the result as a stranger would: pkg-config, headers, man pages, completion.

usage: test_install.py BUILD_DIRECTORY SOURCE_ROOT
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <stdio.h>
#include <waitgate/waitgate.h>

int main(void)
{
    wg_device_desc desc = {.struct_size = sizeof desc, .arch = WG_ARCH_BH};
    wg_device *dev;
    if (wg_create(&desc, &dev) != WG_OK)
        return 1;
    wg_push(dev, 0, 0x45000000u | 7 << 8 | 4); /* SETDMAREG: GPR 2, low half */
    wg_stop stop;
    wg_run(dev, 1000, &stop);
    uint32_t value = 0;
    wg_peek(dev, WG_SPACE_GPR, 2, &value);
    printf("%s %u %u\n", wg_version(), (unsigned)stop, (unsigned)value);
    wg_destroy(dev);
    return 0;
}
"""
TOOLS = r"""
#include <stdio.h>
#include <string.h>
#include <waitgate/tools.h>

int main(int argc, char **argv)
{
    char error[512], text[WG_DIS_MAX], *out, *complaint;
    uint32_t word = 0;
    wg_elf *elf = wg_elf_open_file(argv[1], error, sizeof error);
    printf("%s\n", elf ? "opened" : error);
    wg_elf_close(elf);
    wg_assemble_line(WG_ARCH_BH, "ttnop", 5, &word, NULL);
    wg_disassemble(WG_ARCH_BH, word, 0, text, sizeof text);
    printf("%s\n", text);
    const char *words[] = {"run", argv[argc - 1]};
    int status = wg_run_command(2, words, &out, &complaint);
    printf("%d %.*s\n", status, (int)strcspn(out, "\n"), out);
    wg_free(out);
    wg_free(complaint);
    return 0;
}
"""
KERNEL = r"""
#include <wg_kernel.h>
void _start(void) { TTI_STALLWAIT(WG_STALL_CFG, WG_MATH); TTI_NOP; for (;;); }
"""
passed = failed = 0


def check(condition, what):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print("FAIL", what)


def sh(*cmd, **kw):
    r = subprocess.run(list(map(str, cmd)), capture_output=True, text=True, **kw)
    check(r.returncode == 0, f"{cmd}: {r.stdout}{r.stderr}")
    return r.stdout


with tempfile.TemporaryDirectory() as scratch:
    d = pathlib.Path(scratch)
    sh("meson", "install", "-C", sys.argv[1], "--no-rebuild", "--destdir", d / "root", "--quiet")
    pc = next((d / "root").rglob("waitgate.pc"), None)
    check(pc, "waitgate.pc is not installed")
    prefix = pc.parent
    while prefix.name not in ("lib", "lib64"):
        prefix = prefix.parent
    prefix = prefix.parent
    env = dict(os.environ, PKG_CONFIG_LIBDIR=str(pc.parent), PKG_CONFIG_SYSROOT_DIR=str(d / "root"))
    flags = sh("pkg-config", "--cflags", "--libs", "waitgate", env=env).split()
    version = sh("pkg-config", "--modversion", "waitgate", env=env).strip()
    (d / "user.c").write_text(PROGRAM)
    for compiler in ("gcc", "clang"):
        sh(compiler, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", d / "user.c", "-o", d / "user", *flags)
        out = sh(d / "user", env=dict(os.environ, LD_LIBRARY_PATH=str(pc.parent.parent)))
        check(out == f"{version} 1 7\n", f"the program says {out!r}")
    archive = next((d / "root").rglob("libwaitgate.a"))
    sh("gcc", "-std=c11", d / "user.c", archive, "-o", d / "static", *(f for f in flags if f.startswith("-I")))
    check(sh(d / "static") == f"{version} 1 7\n", "the program that was linked with the archive")
    # The example of docs/api.md.
    page = (pathlib.Path(sys.argv[2]) / "docs/api.md").read_text()
    (d / "api.c").write_text(re.search(r"^```c\n(.*?)^```", page, re.S | re.M)[1])
    sh("gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", d / "api.c", "-o", d / "api", *flags)
    out = sh(d / "api", env=dict(os.environ, LD_LIBRARY_PATH=str(pc.parent.parent)))
    check(re.fullmatch(r"cycle \d+: thread 0 issues 0x45002a08 to the Scalar Unit\ndone after \d+ cycles: GPR 4 is 42\n", out),
          f"the example of docs/api.md says {out!r}")
    (d / "user.cc").write_text("#include <waitgate/waitgate.h>\nint main() { return wg_version() == nullptr; }\n")
    sh("clang", "-x", "c++", "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", d / "user.cc",
       *(f for f in flags if f.startswith("-I")))
    # All headers together, in either order, as C and as C++.
    public = [f"#include <waitgate/{p.name}>\n" for p in sorted((prefix / "include/waitgate").glob("*.h"))]
    for name, lines in (("first", ["#include <wg_kernel.h>\n", *public]), ("last", [*public, "#include <wg_kernel.h>\n"])):
        (d / f"{name}.c").write_text("".join(lines) + "int main(void) { return WG_ARCH_BH; }\n")
        for language in (["gcc", "-std=c11"], ["clang", "-x", "c++", "-std=c++17"]):
            sh(*language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", d / f"{name}.c", "-I", prefix / "include")
    # A program that loads ELF files and runs commands.
    (d / "tools.c").write_text(TOOLS)
    tools = sh("pkg-config", "--cflags", "--libs", "waitgate-tools", env=env).split()
    sh("gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", d / "tools.c", "-o", d / "tools", *tools)
    example = pathlib.Path(sys.argv[2]) / "examples/deadlock.tasm"
    out = sh(d / "tools", d / "no.elf", example, env=dict(os.environ, LD_LIBRARY_PATH=str(pc.parent.parent)))
    check(re.search(r"no\.elf.*\nttnop\n3 .*hangs after 12 cycles", out), f"the program with tools says {out!r}")
    # The same, linked statically with what pkg-config names.
    private = sh("pkg-config", "--static", "--libs", "waitgate-tools", env=env).split()
    tools_archive = next((d / "root").rglob("libwaitgate_tools.a"))
    sh("gcc", "-std=c11", d / "tools.c", "-o", d / "static_tools", "-I", prefix / "include", tools_archive, *(f for f in private if f != "-lwaitgate_tools"))
    check("libwaitgate" not in sh("ldd", d / "static_tools"), "the static program needs the shared library")
    check("hangs after 12 cycles" in sh(d / "static_tools", d / "no.elf", example), "the program with tools that was linked statically")
    # A project of CMake.
    (d / "project").mkdir()
    (d / "project/CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.18)\nproject(user C)\n"
        "find_package(waitgate 0.1 REQUIRED)\nadd_executable(user ../user.c)\ntarget_link_libraries(user waitgate::waitgate)\n"
        "add_executable(tools ../tools.c)\ntarget_link_libraries(tools waitgate::tools)\n")
    sh("cmake", "-S", d / "project", "-B", d / "project/build", f"-DCMAKE_PREFIX_PATH={prefix}")
    sh("cmake", "--build", d / "project/build")
    check(sh(d / "project/build/user") == f"{version} 1 7\n", "the program that CMake built")
    check("hangs after 12 cycles" in sh(d / "project/build/tools", "no.elf", example), "the program with tools that CMake built")
    # Linked with the archives.
    (d / "static_project").mkdir()
    (d / "static_project/CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.18)\nproject(user C)\n"
        "find_package(waitgate 0.1 REQUIRED)\nadd_executable(user ../user.c)\ntarget_link_libraries(user waitgate::waitgate_static)\n"
        "add_executable(tools ../tools.c)\ntarget_link_libraries(tools waitgate::tools_static)\n")
    sh("cmake", "-S", d / "static_project", "-B", d / "static_project/build", f"-DCMAKE_PREFIX_PATH={prefix}")
    sh("cmake", "--build", d / "static_project/build")
    for name in ("user", "tools"):
        check("libwaitgate" not in sh("ldd", d / "static_project/build" / name), f"CMake's static {name} needs the shared library")
    check(sh(d / "static_project/build/user") == f"{version} 1 7\n", "the program that CMake linked statically")
    check("hangs after 12 cycles" in sh(d / "static_project/build/tools", "no.elf", example), "the static program with tools")
    # The folder was moved: pkg-config finds it where it is.
    moved = dict(os.environ, PKG_CONFIG_LIBDIR=str(pc.parent))
    moved.pop("PKG_CONFIG_SYSROOT_DIR", None)
    sh("gcc", "-std=c11", d / "user.c", "-o", d / "moved", *sh("pkg-config", "--cflags", "--libs", "waitgate", env=moved).split())
    check(sh(d / "moved", env=dict(os.environ, LD_LIBRARY_PATH=str(pc.parent.parent))) == f"{version} 1 7\n", "a program by pkg-config of a folder that was moved")
    headers = "".join(p.read_text() for p in (prefix / "include/waitgate").glob("*.h"))
    for name in ("libwaitgate.so", "libwaitgate_tools.so"):
        versions = sh("readelf", "--dyn-syms", "-W", next((d / "root").rglob(name)))
        exported = set(re.findall(r"GLOBAL DEFAULT +\d+ (\w+)@@WAITGATE_0$", versions, re.M))
        others = re.findall(r"GLOBAL DEFAULT +\d+ (?!WAITGATE)([\w@.]+)$", versions, re.M)
        check("wg_create" in exported and set(others) <= {f"{e}@@WAITGATE_0" for e in exported}, f"{name}: symbols without a version: {others}")
        private = {e for e in exported if not re.search(rf"\b{e}\(", headers)}
        check(not private, f"{name} exports what no header declares: {private}")
    (d / "kernel.c").write_text(KERNEL)
    for arch in ("BH", "WH"):
        sh("riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-O2", "-Wall", "-Werror", "-ffreestanding", f"-DWG_ARCH_{arch}",
           "-nostdlib", "-Wl,-Ttext=0x6000", d / "kernel.c", "-o", d / "kernel.elf", "-I", prefix / "include")
    text = sh(prefix / "bin/waitgate", "dis", "--symbolic", d / "kernel.elf")
    check("ttstallwait" in text and "ttnop" in text, text)
    for path in ("share/man/man1/waitgate.1", "share/man/man1/waitgate-run.1", "share/bash-completion/completions/waitgate",
                 "share/zsh/site-functions/_waitgate", "share/fish/vendor_completions.d/waitgate.fish"):
        check((prefix / path).is_file() and (prefix / path).stat().st_size > 100, f"{path} is missing")
    check(sh(prefix / "bin/waitgate", "--version") == f"waitgate {version}\n", "--version")
    for library in ("libttsim_bh.so", "libttsim_wh.so", "libwaitgate_symbols.so"):
        check(list((d / "root").rglob(library)), f"{library} is missing")
    needed = sh("readelf", "-d", next((d / "root").rglob("libwaitgate.so")))
    needed = [line.split("[")[1].rstrip("]") for line in needed.splitlines() if "(NEEDED)" in line]
    check(needed == ["libc.so.6"], f"the core library needs {needed}")
    # Installed binaries are hardened (a release build): read-only relocations, and a stack protector where input is
    # parsed.
    if '"value": "release"' in sh("meson", "introspect", sys.argv[1], "--buildoptions").split('"buildtype"')[1][:400]:
        for file in [prefix / "bin/waitgate", *(next((d / "root").rglob(f"lib{n}.so")) for n in ("waitgate", "ttsim_bh", "ttsim_wh"))]:
            headers, dynamic = sh("readelf", "-lW", file), sh("readelf", "-dW", file)
            check("GNU_RELRO" in headers and "BIND_NOW" in dynamic, f"{file.name}: relocations can be written")
            check(not re.search(r"GNU_STACK.* RWE", headers), f"{file.name}: the stack can be executed")
        command = prefix / "bin/waitgate"
        check("DYN" in sh("readelf", "-hW", command), "the command is not position-independent")
        symbols = sh("readelf", "-sW", command)
        for name in ("__stack_chk_fail", "__memcpy_chk|__snprintf_chk|__vsnprintf_chk"):
            check(re.search(name, symbols), f"the command has no {name}")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
