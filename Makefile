# Parlor's commands. Each finds or installs the tools that it needs, and says so.
#
# ARGS goes to the program that is started:  make run ARGS="--addr 127.0.0.1:9000"

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help run dev build test test-rust test-e2e fuzz lint fmt bench release try-local-model compare-prompts clean

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-16s %s\n", $$1, $$2 }'

run: ## build what is needed, start Parlor, print its address
	@scripts/xtask run $(ARGS)

dev: ## the same, then rebuild on every change and reload the page
	@scripts/xtask dev $(ARGS)

build: ## only build (for development)
	@scripts/xtask build

test: ## every test: Rust, then end to end in a real Chromium
	@scripts/test

test-rust: ## only the Rust tests
	@scripts/test rust $(ARGS)

test-e2e: ## only the end-to-end tests (ARGS goes to Playwright)
	@scripts/test e2e $(ARGS)

fuzz: ## the randomised tests with new seeds, for 20 minutes (PARLOR_FUZZ_SECONDS; ARGS names some)
	@scripts/xtask fuzz $(ARGS)

lint: ## formatting, clippy for both halves, where cfg may stand
	@scripts/lint

fmt: ## format the Rust code
	@scripts/with-toolchain cargo fmt --all

bench: ## measure speed and size with the release build
	@scripts/xtask release
	@scripts/with-toolchain cargo build --release --package upstream
	@scripts/with-toolchain cargo run --release --package parlor-bench -- $(ARGS)

release: ## dist/parlor: one file, its assets inside
	@scripts/xtask release

try-local-model: ## start a small real model from packages, and Parlor with it
	@scripts/try-local-model $(ARGS)

compare-prompts: ## the same questions to that model directly and through Parlor, side by side (ARGS: files of questions)
	@scripts/compare-prompts $(ARGS)

clean: ## remove what was built (not your conversations)
	rm -rf target dist end2end/node_modules tests/mcp/node_modules end2end/test-results end2end/playwright-report
