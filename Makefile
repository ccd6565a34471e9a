# Plimsoll from a fresh clone: `make demo` or `make test`; both may be repeated.

VENV := .venv
BIN := $(VENV)/bin
# Each stamp is newer than all that it was made from.
RUN_REQUIREMENTS := $(VENV)/.run-requirements
DEV_REQUIREMENTS := $(VENV)/.dev-requirements
INSTALLED := $(VENV)/.installed

# Folders too, so that a removed file counts as a change.
SOURCES := meson.build meson_options.txt pyproject.toml build-aux/list-package-files \
	$(shell find plimsoll packages/plimsoll-search/src/plimsoll_search engine/meson.build engine/src trace/meson.build trace/src -name __pycache__ -prune -o -print)
C_SOURCES = $(shell find engine trace tests -name '*.[ch]')

PIP_INSTALL := $(BIN)/python -m pip install --progress-bar off --disable-pip-version-check
# meson-python and ninja call meson by name.
WITH_TOOLS := PATH="$(CURDIR)/$(BIN):$$PATH"

# But for what `make test` prepares, where one job waits for a registry while another compiles.
ifndef PREPARING
.NOTPARALLEL:
endif
.DELETE_ON_ERROR:
.PHONY: help setup build demo plugfest-demo plugfest-packages churn-demo churn-packages test test-slow test-full lock bench bench-search bench-metrics bench-observe bench-repeat bench-durations test-repeated bench-report bench-attribution lint style types format wording clean \
	fuzz properties soak-engine system-packages test-packages fuzz-packages vm-packages vm-kernel vm-testpmd \
	vm-nics vm-timesync vm-captures sshd grout prometheus kube-apiserver cluster-openapi \
	prepared slow-checks engine-tests engine-unsanitized engine-sanitized engine-threads delay-dut compiled-tests python-tests slow-python-tests \
	full-python-tests
.PHONY: docs sentences packages chroot-install deb deb-install image pod-image control-plane kubelet kueue multus

help: ## Show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: test-packages $(DEV_REQUIREMENTS) ## Install what building, running and testing need

# Of optional dependencies, EXTRAS such as `EXTRAS="kube serve"`.
build: $(INSTALLED) ## Build the engine and install plimsoll into .venv
	@[ -z '$(EXTRAS)' ] || build-aux/install-extras $(BIN)/python $(EXTRAS)

demo: $(INSTALLED) ## Run the main job: find and validate the load line of dpdk-testpmd
	$(BIN)/plimsoll run examples/demo.yaml

plugfest-demo: plugfest-packages $(INSTALLED) ## Hold seven DUTs against each other, as root: some 15 minutes
	$(BIN)/plimsoll plugfest examples/plugfest.yaml

churn-demo: churn-packages control-plane $(INSTALLED) ## Churn a cluster of one's own next to streams over macvlan, host and OVN, as root: some 15 minutes
	PATH="$(CURDIR)/build/kube-apiserver:$$PATH" $(BIN)/plimsoll churn examples/churn.yaml

test: prepared python-tests ## Check style and types, and prove each promise once

test-slow: slow-checks slow-python-tests ## Fuzzers, TSan, and tests left out only because they take long

# All that needs no CPU of its own: packages, builds, linters and the engine's unit tests.
prepared:
	@$(MAKE) --no-print-directory PREPARING=yes --jobs=3 --output-sync=line \
		test-packages lint $(INSTALLED) engine-unsanitized engine-sanitized sshd cluster-openapi \
		compiled-tests

slow-checks: fuzz-packages $(RUN_REQUIREMENTS)
	@$(MAKE) --no-print-directory PREPARING=yes --jobs=2 --output-sync=target \
		engine-tests engine-threads fuzz

test-full: FUZZ_SECONDS = 60
test-full: test test-slow full-python-tests ## All of them: more kills, virtual machines, an API server

bench: $(DEV_REQUIREMENTS) $(INSTALLED) build/bench/.built ## Measure the engine's speed against dpdk-testpmd's
	$(BIN)/python engine/bench/run.py

bench-search: $(DEV_REQUIREMENTS) $(INSTALLED) ## Try every search on simulated DUTs: overhead, load, survival
	$(BIN)/python -m benchmarks.search.mlrsearch_peer
	$(BIN)/python -m benchmarks.search.run

bench-metrics: $(INSTALLED) ## Ask large records questions, list many runs: milliseconds
	$(BIN)/python benchmarks/metrics/query.py
	$(BIN)/python benchmarks/metrics/runs_list.py

bench-observe: $(INSTALLED) ## What observing and recording cost, against sysstat's sadc
	$(BIN)/python -m benchmarks.observe.cost
	$(BIN)/python -m benchmarks.observe.record
	$(BIN)/python benchmarks/record/interval_cost.py

test-repeated: ## Run `make test` RUNS times from fresh clones, BUSY=yes next to busy processes, into benchmarks/tests/runs.csv
	python3 -m benchmarks.tests.repeated --runs $(RUNS) $(if $(BUSY),--busy)

bench-repeat: $(INSTALLED) ## Valid trials, and ten searches in a row, quiet and busy: do they repeat?
	$(BIN)/python -m benchmarks.repeat.trials
	$(BIN)/python -m benchmarks.repeat.searches
	$(BIN)/python -m benchmarks.repeat.searches --busy

bench-durations: $(DEV_REQUIREMENTS) $(INSTALLED) ## How late TRex's clients hear of begins and ends, in ms
	$(BIN)/python -m benchmarks.remote.trex_durations

bench-report: $(DEV_REQUIREMENTS) $(INSTALLED) ## What the page of a three-hour run weighs, and how soon a browser shows it
	$(BIN)/python -m benchmarks.report.page

bench-attribution: $(INSTALLED) ## What recording kernel events costs: trials with and without, by turns
	$(BIN)/python -m benchmarks.attribution.cost

RUNS ?= 5

# For each fuzzer: long enough in `make test` to notice what was broken, overnight to find more.
FUZZ_SECONDS ?= 5

fuzz: fuzz-packages $(RUN_REQUIREMENTS) ## Fuzz the engine's readers for FUZZ_SECONDS each
	$(WITH_TOOLS) $(BIN)/python engine/fuzz/run.py --seconds $(FUZZ_SECONDS)

properties: $(DEV_REQUIREMENTS) $(INSTALLED) ## Run the unit tests on newly drawn examples, not on the same each time
	$(BIN)/pytest --hypothesis-profile=drawn --numprocesses auto --dist loadfile tests/unit

SOAK_SECONDS ?= 3600

soak-engine: $(DEV_REQUIREMENTS) $(INSTALLED) ## Trials back to back for SOAK_SECONDS: nothing may grow
	$(BIN)/python engine/bench/leak.py --seconds $(SOAK_SECONDS)

lint: style types ## Check style and types

style: $(DEV_REQUIREMENTS)
	@build-aux/timed linters $(BIN)/ruff check .
	@build-aux/timed linters $(BIN)/ruff format --check .
	@build-aux/timed linters $(BIN)/clang-format --dry-run -Werror $(C_SOURCES)

types: $(DEV_REQUIREMENTS)
	@build-aux/timed linters $(BIN)/mypy --strict --explicit-package-bases plimsoll benchmarks

format: $(DEV_REQUIREMENTS) ## Format the Python and C sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_SOURCES)

# Tests that hold what the program says, but for those that need more than make test installs.
WORDED = $$(grep -rl --include='test_*.py' tests.worded.says tests)

wording: $(DEV_REQUIREMENTS) $(INSTALLED) ## Write tests/wording anew from what the tests say, to be reviewed
	@$(BIN)/pytest --quiet --numprocesses $(WORKERS) --dist loadfile --rewrite-wording \
		-m 'not full and not alone' $(WORDED)
	@git --no-pager diff --stat -- tests/wording

clean: ## Remove what was built and the virtual environment; runs/ stays
	rm -rf build $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find plimsoll packages tests -name __pycache__ -prune -exec rm -rf {} +

# apt has one lock: each of these waits for the one before.
system-packages:
	@build-aux/timed set-up build-aux/install-system-packages run

plugfest-packages:
	@build-aux/install-system-packages run plugfest

churn-packages:
	@build-aux/install-system-packages run churn

test-packages: system-packages
	@build-aux/timed set-up build-aux/install-system-packages test

# Without them fuzzing is skipped, and says so.
fuzz-packages:
	-@build-aux/install-system-packages fuzz

# Without them the tests that boot virtual machines are skipped, and say so.
vm-packages:
	-@build-aux/install-system-packages vm

vm-kernel: vm-packages build/vm-kernel/vmlinuz ## Fetch the kernel of the tests' virtual machines

build/vm-kernel/vmlinuz: build-aux/unpack-vm-kernel
	-@build-aux/unpack-vm-kernel $(@D)

vm-testpmd: vm-kernel build/vm-kernel/testpmd ## Collect dpdk-testpmd for virtual machines as guests of a switch

build/vm-kernel/testpmd: build-aux/collect-vm-testpmd
	-@build-aux/collect-vm-testpmd $(@D)

vm-nics: vm-packages build/vm-nics/vmlinuz ## Fetch QEMU and a kernel for tests on emulated network cards

build/vm-nics/vmlinuz: build-aux/unpack-vm-nics
	-@build-aux/unpack-vm-nics $(@D)

vm-timesync: vm-nics build/vm-timesync/librte_net_e1000.so ## Build DPDK's driver of Intel's 82576 so that it stamps frames, for tests on emulated cards

build/vm-timesync/librte_net_e1000.so: build-aux/build-vm-timesync
	-@build-aux/build-vm-timesync $(@D)

vm-captures: vm-kernel $(DEV_REQUIREMENTS) ## Capture the tests' virtual machines anew, after a check reads more
	$(BIN)/python -m tests.integration.vm.keep_captures

kube-apiserver: build/kube-apiserver/kube-apiserver ## Build the API server that tests of tune audit --kube ask

build/kube-apiserver/kube-apiserver: build-aux/build-kube-apiserver
	-@build-aux/build-kube-apiserver $(@D)

control-plane: kube-apiserver build/kube-apiserver/kube-scheduler ## Build the rest of a control plane, for churn of a cluster of one's own

build/kube-apiserver/kube-scheduler: build-aux/build-kube-apiserver
	-@build-aux/build-kube-apiserver $(@D) kube-controller-manager kube-scheduler

# Opt-in, with pod-image: real pods, on containerd, runc and CNI's plugins of the distribution.
kubelet: build/kube-apiserver/kubelet ## Opt-in: build all of a cluster with a node, for tests that run real pods (some 20 CPU-minutes)
	@build-aux/install-system-packages node

# All at once, for they share most of what is compiled.
build/kube-apiserver/kubelet: build-aux/build-kube-apiserver
	-@build-aux/build-kube-apiserver $(@D) \
		kube-apiserver kube-controller-manager kube-scheduler kubelet

kueue: build/kube-apiserver/kueue ## Opt-in: build Kueue, for tests of a matrix whose jobs it lets begin (minutes)

multus: build/kube-apiserver/multus ## Opt-in: build Multus, for tests of streams over attached networks (minutes)

build/kube-apiserver/kueue build/kube-apiserver/multus: build-aux/build-addon
	-@build-aux/build-addon $(@F) $(@D)

cluster-openapi: build/cluster-openapi/kinds.json.gz ## Fetch the OpenAPI that rendered manifests are held against

build/cluster-openapi/kinds.json.gz: build-aux/cluster-openapi.txt build-aux/unpack-cluster-openapi | $(RUN_REQUIREMENTS)
	-@build-aux/timed set-up build-aux/unpack-cluster-openapi $(BIN)/python $(@D)

# What is committed, for that is what meson packs.
packages: $(DEV_REQUIREMENTS) ## Make the sdist, the wheel for this distribution, and that of plimsoll-search, in build/packages
	@rm -rf build/packages
	$(BIN)/uv build --quiet --no-sources --out-dir build/packages .
	$(BIN)/uv build --quiet --no-sources --wheel --out-dir build/packages packages/plimsoll-search
	@ls build/packages/*

SUITES ?= bookworm trixie

chroot-install: packages ## As root, install the sdist by pip in chroots of Debian 12 and 13, and look
	@build-aux/install-system-packages packages
	@for suite in $(SUITES); do \
		build-aux/install-in-chroot $$suite build/chroots/$$suite build/packages/*.tar.gz || exit; \
	done

# The package was built and tried on bookworm alone.
DEB_SUITES ?= bookworm

# What is committed, in a Debian of its own with the build dependencies and nothing else.
deb: ## As root, build the Debian package in chroots of DEB_SUITES, into build/deb
	@build-aux/install-system-packages deb
	@for suite in $(DEB_SUITES); do \
		build-aux/build-deb $$suite build/chroots/$$suite-build build/deb/$$suite || exit; \
	done

deb-install: ## As root, install what make deb left in chroots of DEB_SUITES, look, and purge it
	@build-aux/install-system-packages deb
	@for suite in $(DEB_SUITES); do \
		build-aux/try-deb $$suite build/chroots/$$suite-install build/deb/$$suite/plimsoll_*.deb || exit; \
	done

IMAGE ?= localhost/plimsoll:$(shell build-aux/print-version)

# IMAGE_OPTIONS such as --build-arg BASE=…, where no registry can be reached.
docs: $(INSTALLED) ## Build the documentation, with all checks and the JSON Schemas, into build/docs
	@$(BIN)/python build-aux/build-docs.py build/docs

sentences: $(INSTALLED) ## Collect every sentence that a user can meet into build/sentences.txt, for a fresh reader
	@$(BIN)/python build-aux/collect-sentences.py build/sentences.txt

image: packages ## Build the container image of pods (docs/kubernetes.md), by buildah
	@build-aux/install-system-packages packages
	buildah build --layers $(IMAGE_OPTIONS) --tag $(IMAGE) .

# Where no registry can be reached, as nodes of the tests cannot.
pod-image: packages ## Opt-in: build the same image on a base of mmdebstrap's, as root, into build/image/plimsoll.tar
	@build-aux/install-system-packages packages
	build-aux/build-image-archive $(IMAGE) build/image/plimsoll.tar

sshd: build/sshd/usr/sbin/sshd ## Fetch the sshd of the tests of other hosts; nothing listens

build/sshd/usr/sbin/sshd: build-aux/unpack-sshd | test-packages $(RUN_REQUIREMENTS)
	-@build-aux/timed set-up build-aux/unpack-sshd build/sshd

prometheus: build/prometheus/prometheus ## Fetch Debian's prometheus and etcd for the tests of what they say; nothing is installed

build/prometheus/prometheus: build-aux/unpack-prometheus
	-@build-aux/unpack-prometheus build/prometheus

grout: build/grout/bin/grout ## Fetch grout of Debian's sid for the tests of that lab; nothing is installed

build/grout/bin/grout: build-aux/unpack-grout
	-@build-aux/unpack-grout build/grout

# Exactly the versions that requirements/ locks, each file checked against its hash; Python
# compiles of them what is imported. Tools of another version cannot continue in an old build
# folder, so that goes too.
$(RUN_REQUIREMENTS): requirements/run.txt requirements/uv.txt | system-packages
	@$(BIN)/python -c '' 2>/dev/null || \
		{ python=$$(build-aux/find-python) && "$$python" -m venv --clear $(VENV); }
	@build-aux/timed set-up build-aux/with-progress \
		"installing into $(VENV) what requirements/run.txt lists" $(VENV)/run-requirements.log \
		build-aux/install-requirements $(BIN)/python requirements/run.txt
	@rm -rf build
	@touch $@

$(DEV_REQUIREMENTS): requirements/dev.txt $(RUN_REQUIREMENTS)
	@build-aux/timed set-up build-aux/with-progress \
		"installing into $(VENV) what the tests need: requirements/dev.txt" \
		$(VENV)/dev-requirements.log build-aux/install-requirements $(BIN)/python requirements/dev.txt
	@touch $@

# For every Python from the oldest on and every architecture at once: markers tell them apart.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	--custom-compile-command 'make lock'

# In the Debian package, to which nobody adds by pip. analysis and trend would add half a GB.
PACKAGED_EXTRAS := console kube otg redfish s3 serve trex
# In the image of pods: observers on other nodes are reached, records are put into a store.
IMAGE_EXTRAS := kube s3

lock: $(DEV_REQUIREMENTS) ## Renew requirements/: the newest versions that pyproject.toml allows
	$(BIN)/python build-aux/list-requirements.py dev analysis | $(LOCK) - -o requirements/dev.txt
	$(BIN)/python build-aux/list-requirements.py | $(LOCK) - -c requirements/dev.txt -o requirements/run.txt
	$(LOCK) $(PACKAGED_EXTRAS:%=--extra %) pyproject.toml -c requirements/dev.txt -o requirements/package.txt
	$(LOCK) $(IMAGE_EXTRAS:%=--extra %) pyproject.toml -c requirements/dev.txt -o requirements/image.txt
	echo uv | $(LOCK) - -c requirements/dev.txt -o requirements/uv.txt

# The build folder is kept, so that only what changed is compiled again.
$(INSTALLED): $(RUN_REQUIREMENTS) $(SOURCES)
	@# Of an earlier version, whose distribution had the name of somebody else's project.
	@if ls -d $(VENV)/lib/python3.*/site-packages/plimsoll-*.dist-info >/dev/null 2>&1; then \
		$(BIN)/python -m pip --disable-pip-version-check uninstall --quiet --yes plimsoll; fi
	@$(WITH_TOOLS) build-aux/timed build build-aux/with-progress "building the engine, installing plimsoll into $(VENV)" \
		$(VENV)/install.log $(PIP_INSTALL) --verbose --no-build-isolation --no-deps \
		--config-settings=builddir=build/wheel .
	@touch $@

build/engine-tests/build.ninja: | test-packages $(RUN_REQUIREMENTS)
	$(WITH_TOOLS) meson setup --buildtype=debugoptimized -Dengine_tests=true $(@D)

build/engine-sanitized/build.ninja: | test-packages $(RUN_REQUIREMENTS)
	$(WITH_TOOLS) meson setup --buildtype=debug -Dengine_tests=true \
		-Db_sanitize=address,undefined $(@D)

build/bench/build.ninja: | $(DEV_REQUIREMENTS)
	$(WITH_TOOLS) meson setup $(@D) engine/bench

build/bench/.built: build/bench/build.ninja $(wildcard engine/bench/*.c engine/tests/delay_dut/*.[ch])
	$(WITH_TOOLS) meson compile -C $(@D)
	@touch $@

build/engine-threads/build.ninja: | test-packages $(RUN_REQUIREMENTS)
	$(WITH_TOOLS) meson setup --buildtype=debugoptimized -Dengine_tests=true \
		-Db_sanitize=thread $(@D)

# Meson ends a test after half a minute, in which a busy machine may not have begun it.
TEST_OPTIONS := --print-errorlogs --timeout-multiplier 20

engine-tests: build/engine-tests/build.ninja
	@build-aux/timed build env $(WITH_TOOLS) meson test -C $(<D) $(TEST_OPTIONS)

engine-sanitized: build/engine-sanitized/build.ninja
	@build-aux/timed build env $(WITH_TOOLS) meson test -C $(<D) $(TEST_OPTIONS)

# What sanitizers leave out, the filter of system calls, and the DUT of
# tests/integration/engine/test_truth_*.py. The rest is tested optimised by make test-slow.
engine-unsanitized: delay-dut
	@build-aux/timed build env $(WITH_TOOLS) meson test -C build/engine-tests $(TEST_OPTIONS) confinement

delay-dut: build/engine-tests/build.ninja
	@build-aux/timed build env $(WITH_TOOLS) meson compile -C $(<D) delay-dut

# Those whose matter is what threads share.
engine-threads: build/engine-threads/build.ninja
	$(WITH_TOOLS) meson test -C $(<D) $(TEST_OPTIONS) --suite threads

# They start no engine. Polling loops, which come before ordinary programs, would starve their
# browsers, so they run with the unit tests, before them: a file of few tests that takes minutes,
# begun last, would leave the other workers idle.
POLLING_NOTHING := tests/integration/parallel
# All tests wait: for other processes, for a disk, for a lab to come up.
WORKERS := $$(( 2 * $$(nproc) ))
RESULTS := build/test-results

# The tests start the command hundreds of times: it is compiled once, whatever the shell asks for,
# and so are they, before all workers load them at the same time.
compiled-tests python-tests slow-python-tests full-python-tests: export PYTHONDONTWRITEBYTECODE :=

compiled-tests: $(DEV_REQUIREMENTS)
	@build-aux/timed build $(BIN)/pytest --quiet --collect-only tests >/dev/null

python-tests: TESTS = not slow and not full
slow-python-tests: TESTS = slow and not full
python-tests slow-python-tests: $(DEV_REQUIREMENTS) $(INSTALLED) delay-dut sshd cluster-openapi
	@build-aux/timed unit $(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile \
		--no-loadscope-reorder --junitxml $(RESULTS)/unit.xml \
		-m '$(TESTS) and not alone' $(POLLING_NOTHING) tests/unit
	@build-aux/timed integration $(BIN)/pytest --numprocesses $(WORKERS) --dist loadfile \
		--junitxml $(RESULTS)/integration.xml -m '$(TESTS) and not alone' \
		--ignore $(POLLING_NOTHING) tests/integration
	@build-aux/timed integration $(BIN)/pytest \
		--junitxml $(RESULTS)/alone.xml -m '$(TESTS) and alone' tests/integration

full-python-tests: $(DEV_REQUIREMENTS) $(INSTALLED) delay-dut sshd grout vm-testpmd vm-timesync prometheus control-plane kueue
	$(BIN)/pytest --numprocesses auto --dist loadfile -m full tests/unit
	$(BIN)/pytest -m full tests/integration
