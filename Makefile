# Parlor's commands. Each finds or installs the tools that it needs, and says so.
#
# ARGS is passed to the started program:  make run ARGS="--addr 127.0.0.1:9000"

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help run dev build test test-rust test-e2e test-page photos fuzz lint fmt openapi bench release packages packages-test nodes-test try-local-model try-data-agent compare-prompts schemathesis clean

help: ## print this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-16s %s\n", $$1, $$2 }'

run: ## build if necessary, start Parlor, print its URL
	@scripts/xtask run $(ARGS)

dev: ## the same, and rebuild and reload the page on every change
	@scripts/xtask dev $(ARGS)

build: ## build only (for development)
	@scripts/xtask build

test: ## all tests: Rust, then end to end in Chromium
	@scripts/test

test-rust: ## only the Rust tests
	@scripts/test rust $(ARGS)

test-e2e: ## only the end-to-end tests (ARGS is passed to Playwright)
	@scripts/test e2e $(ARGS)

test-page: ## only the test of a program with a page of its own, in Chromium (docs/pages.md)
	@scripts/test-page $(ARGS)

photos: ## photograph every screen into target/photos, light and dark and in forced colours, at five widths (ARGS as above)
	@scripts/test e2e --config photos.config.ts $(ARGS)

fuzz: ## randomized tests with new seeds, for 20 minutes (PARLOR_FUZZ_SECONDS; ARGS selects some)
	@scripts/xtask fuzz $(ARGS)

schemathesis: ## generated requests to every operation of the API, by schemathesis from PyPI (ARGS is passed to it)
	@scripts/schemathesis $(ARGS)

lint: ## check formatting, clippy for both targets, module imports, dependencies, links in docs
	@scripts/lint

fmt: ## format the Rust code
	@scripts/with-toolchain cargo fmt --all

openapi: ## write docs/openapi.json anew, after a change of the public API
	@UPDATE_GOLDEN=1 scripts/with-toolchain cargo test --quiet --lib committed_document_is_current

bench: ## measure speed and size with the program of the packages (PARLOR_PROGRAM: with another one)
	@scripts/bench $(ARGS)

packages: ## make all packages in dist/packages: programs, .deb, container images (PARLOR_PROCESSORS="x86_64" makes some)
	@scripts/packages

packages-test: ## start each package in bare systems, as root: debootstrap, bubblewrap
	@scripts/packages-test $(ARGS)

nodes-test: ## three nodes, nginx and Postgres that fail in turn, as root (ARGS: see tests/nodes/main.py)
	@scripts/nodes-test $(ARGS)

release: ## build dist/parlor: one file with its assets
	@scripts/xtask release

try-local-model: ## start a small real model and Parlor with it
	@scripts/try-local-model $(ARGS)

try-data-agent: ## start Parlor with a sample database, and a scripted model if none is configured
	@scripts/try-data-agent $(ARGS)

compare-prompts: ## compare that model's answers directly and through Parlor (ARGS: files of questions)
	@scripts/compare-prompts $(ARGS)

clean: ## remove built files (not your conversations)
	rm -rf target dist end2end/node_modules tests/mcp/node_modules tests/oidc/node_modules examples/node_modules end2end/test-results end2end/playwright-report
