# SPDX-License-Identifier: Apache-2.0
# A thin front for meson and ninja. Every target installs what is missing (scripts/setup) first.
# docs: the generated pages; run it after changing options.def, findings.def or insns.def
.PHONY: all docs demo test bench mutants soak format lint install setup debug sanitize thread fuzz clang clean
SHELL := /bin/bash
.SHELLFLAGS := -eo pipefail -c
B := build
# Quiet when all is well; all of ninja's output when not.
NINJA = ninja -C $(1) >$(1)/ninja.log 2>&1 || { cat $(1)/ninja.log; exit 1; }
CONFIGURE = mkdir -p $(1); [ -f $(1)/build.ninja ] || $(2) meson setup $(1) $(3) >$(1)/setup.log 2>&1 || { cat $(1)/setup.log; exit 1; }

all: setup
	@$(call CONFIGURE,$(B),,--buildtype=release -Dwerror=true -Db_lto=false --prefix=$(or $(PREFIX),/usr/local))
	@$(call NINJA,$(B))

setup:
	@scripts/setup

debug: setup
	@$(call CONFIGURE,$(B)/debug,,--buildtype=debug -Dwerror=true)
	@$(call NINJA,$(B)/debug)

sanitize: setup
	@$(call CONFIGURE,$(B)/sanitize,,--buildtype=debugoptimized -Db_sanitize=address$(comma)undefined -Db_lundef=false)
	@$(call NINJA,$(B)/sanitize)

thread: setup
	@$(call CONFIGURE,$(B)/thread,,--buildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false)
	@$(call NINJA,$(B)/thread)

clang: setup
	@$(call CONFIGURE,$(B)/clang,CC=clang,--buildtype=release -Dwerror=true)
	@$(call NINJA,$(B)/clang)

fuzz: setup
	@$(call CONFIGURE,$(B)/fuzz,CC=clang,--buildtype=debugoptimized -Dwerror=true -Dfuzz=true -Dtests=false -Db_lundef=false)
	@$(call NINJA,$(B)/fuzz)

demo: all
	@scripts/demo

test: all sanitize fuzz
	@python3 tests/run.py

bench: all
	@status=0; $(B)/bench/timing || status=1; python3 bench/run.py || status=1; python3 bench/events.py || status=1; exit $$status

mutants: all
	@python3 tests/mutants.py

soak: all sanitize thread fuzz
	@WG_SOAK=1 python3 tests/run.py --soak

format: setup
	@git ls-files '*.c' '*.h' | xargs clang-format -i

lint: all clang
	@git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror
	@git ls-files 'src/*.c' | xargs -n 8 -P 2 clang-tidy -p $(B)/clang --quiet

docs: all
	@scripts/clauses
	@$(B)/waitgate --help-markdown >docs/cli.md
	@$(B)/waitgate explain --markdown --examples examples/findings >docs/findings.md
	@[ -f $(B)/isa_tests.tsv ] || { echo "make docs: run make test first, which finds out what is tested"; exit 1; }
	@$(B)/waitgate isa --markdown >docs/isa.md
	@$(B)/waitgate isa --support >docs/support.md

install: all
	@ninja -C $(B) install | tail -n 1

clean:
	@rm -rf $(B)

comma := ,
