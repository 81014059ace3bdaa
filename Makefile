# SPDX-License-Identifier: Apache-2.0
# A thin front for meson and ninja. `make demo` and `make test` install what is missing first (scripts/setup); the other
# targets say what is missing and how to get it.
# docs: the generated pages; run it after changing options.def, findings.def or insns.def
.PHONY: all all-tests tools tools-test docs demo dist package package-test site test bench silicon mutants soak format lint install setup setup-test debug sanitize plain thread fuzz clang clean
SHELL := /bin/bash
.SHELLFLAGS := -eo pipefail -c
B := build
NINJA = scripts/build $(1) $(2)
CONFIGURE = mkdir -p $(1); [ -f $(1)/build.ninja ] || { [ ! -t 2 ] || printf '\r\033[K%s: configuring' $(1) >&2; \
	$(2) meson setup $(1) $(3) >$(1)/setup.log 2>&1 || { cat $(1)/setup.log; exit 1; }; }

# What `make test` runs in a build, and no more; `make soak` needs all of it. Ninja configures again first if the list of tests has changed.
NEEDED = $(if $(ALL_TARGETS),,$$(ninja -C $(B)/$(1) build.ninja >/dev/null && python3 tests/run.py --targets $(1)))
# Builds for tests alone: half the time to compile, and places in the source are known all the same.
QUICK = --buildtype=plain -Doptimization=1 -Dc_args=-g1

all: tools
	@$(call CONFIGURE,$(B),,--buildtype=release -Dwerror=true -Db_lto=false --prefix=$(INSTALLED))
	@$(call NINJA,$(B))

# With tests and benchmarks, even if the first build had none because their libraries were not installed.
all-tests: tools-test all
	@grep -q libwgtest $(B)/build.ninja || { meson configure $(B) -Dtests=enabled && $(call NINJA,$(B)); }

setup:
	@scripts/setup

setup-test:
	@scripts/setup --test

tools:
	@scripts/setup --check

tools-test:
	@scripts/setup --test --check

debug: tools
	@$(call CONFIGURE,$(B)/debug,,--buildtype=debug -Dwerror=true)
	@$(call NINJA,$(B)/debug)

sanitize: tools-test
	@$(call CONFIGURE,$(B)/sanitize,,$(QUICK) -Db_sanitize=address$(comma)undefined -Db_lundef=false)
	@$(call NINJA,$(B)/sanitize,$(call NEEDED,sanitize))

# The plain machine: no shortcuts. `make test` runs a part of the suite in it, `make soak` all of it.
plain: tools-test
	@$(call CONFIGURE,$(B)/plain,,$(QUICK) -Dwerror=true -Dfast=false)
	@$(call NINJA,$(B)/plain,$(call NEEDED,plain))

thread: tools-test
	@$(call CONFIGURE,$(B)/thread,,--buildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false)
	@$(call NINJA,$(B)/thread)

clang: tools-test
	@$(call CONFIGURE,$(B)/clang,CC=clang,--buildtype=release -Dwerror=true)
	@$(call NINJA,$(B)/clang)

# Short runs spend more time in the compiler than in the targets: only `make soak` optimises.
fuzz: tools-test
	@$(call CONFIGURE,$(B)/fuzz,CC=clang,$(QUICK) -Doptimization=0 -Dwerror=true -Dfuzz=true -Dtests=disabled -Db_lundef=false)
	@$(if $(ALL_TARGETS),meson configure $(B)/fuzz -Doptimization=1)
	@$(call NINJA,$(B)/fuzz,$(call NEEDED,fuzz))

demo: setup
	@$(MAKE) --no-print-directory all
	@scripts/demo

test: setup-test
	@$(MAKE) --no-print-directory all-tests sanitize plain fuzz
	@python3 tests/run.py

bench: all-tests
	@status=0; $(B)/bench/timing || status=1; python3 bench/run.py || status=1; python3 bench/profile.py || status=1; python3 bench/events.py || status=1; python3 bench/cluster.py --page docs/cluster_speed.md || status=1; exit $$status

# The model against what was measured on cards: every row, and the page of the docs.
silicon: all-tests
	@$(B)/bench/silicon --markdown >docs/silicon.md
	@$(B)/bench/silicon

mutants: all-tests
	@python3 tests/mutants.py

soak: ALL_TARGETS = 1
soak: all-tests sanitize plain thread fuzz
	@WG_SOAK=1 python3 tests/run.py --soak

format: tools-test
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
	@$(B)/waitgate isa --timing >docs/timing_constants.md
	@scripts/pictures $(B)/waitgate

# The documents as a site, with the playground in it; looked at with a browser.
site: all
	@scripts/setup --site --check
	@$(call CONFIGURE,$(B)/browser,NODE_PATH=/usr/share/nodejs,--cross-file site/emscripten.ini --buildtype=release -Dbrowser=true)
	@export NODE_PATH=/usr/share/nodejs; $(call NINJA,$(B)/browser,site/playground.js)
	@scripts/site $(B)/browser/site/playground.js $(B)/site
	@python3 tests/browser/test_site.py $(B)/waitgate . $(B)/site/html

# A tarball that builds without git, with its checksum, and with SIGN=KEY its signature; and Debian packages made from it.
VERSION = $(shell sed -n "s/^  version: '\([^']*\)'.*/\1/p" meson.build)
dist:
	@mkdir -p $(B)/dist
	@if git rev-parse --git-dir >/dev/null 2>&1; then \
		git archive --format=tar.gz --prefix=waitgate-$(VERSION)/ -o $(B)/dist/waitgate-$(VERSION).tar.gz HEAD; \
	else tar -czf $(B)/dist/waitgate-$(VERSION).tar.gz --sort=name --owner=0 --group=0 --numeric-owner --exclude=./$(B) --exclude='./build-*' \
		--transform 's,^\.,waitgate-$(VERSION),' .; fi
	@cd $(B)/dist && sha256sum waitgate-$(VERSION).tar.gz >waitgate-$(VERSION).tar.gz.sha256
	@$(if $(SIGN),cd $(B)/dist && gpg --batch --yes --armor --local-user "$(SIGN)" --detach-sign waitgate-$(VERSION).tar.gz)
	@echo $(B)/dist/waitgate-$(VERSION).tar.gz

package: dist
	@scripts/setup --package --check
	@rm -rf $(B)/package && mkdir -p $(B)/package && tar -xf $(B)/dist/waitgate-$(VERSION).tar.gz -C $(B)/package
	@cd $(B)/package/waitgate-$(VERSION) && dpkg-buildpackage -b -us -uc >../package.log 2>&1 || { tail -30 ../package.log; exit 1; }
	@ls $(B)/package/*.deb

# The packages built again, and installed in a clean Debian (debootstrap, root).
package-test: package
	@scripts/setup --package --check
	@python3 tests/packages/test_packages.py .

# PREFIX is that of this installation alone.
INSTALLED = $(abspath $(or $(PREFIX),/usr/local))
install: all
	@grep -q '"prefix", "value": "$(INSTALLED)"' $(B)/meson-info/intro-buildoptions.json || \
		{ meson configure $(B) --prefix=$(INSTALLED) && $(call NINJA,$(B)); }
	@meson install -C $(B) --no-rebuild --quiet
	@echo "installed in $(DESTDIR)$(INSTALLED)"

clean:
	@rm -rf $(B)

comma := ,
