# shellcheck shell=bash
# Sourced by scripts/test: Node, the packages of end2end/, and a Chromium. Each is installed where that is safe.

# shellcheck source=scripts/say.sh
source "$(dirname "${BASH_SOURCE[0]}")/say.sh"

node_is_new_enough() { # Playwright wants 20
    local version
    version=$(node --version 2>/dev/null) || return 1
    version=${version#v}
    ((${version%%.*} >= 20)) && command -v npx >/dev/null
}

node_is_new_enough || apt_install "Node.js, for the end-to-end tests" nodejs npm || true
node_is_new_enough || give_up "Node.js 20 or newer with npm is missing, for the end-to-end tests: get it from https://nodejs.org$how_else"

# Where a browser is installed as a package, Playwright need not download its own (playwright.config.ts looks here too).
packaged_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome; } 2>/dev/null

packaged_chromium >/dev/null || [[ ! -e /etc/debian_version ]] || apt_install "Chromium, for the end-to-end tests" chromium || true
if packaged_chromium >/dev/null; then
    export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
fi

if ! cmp -s end2end/package-lock.json end2end/node_modules/.installed-lock; then
    say "installing the packages of the end-to-end tests (npm)"
    (cd end2end && npm ci --no-audit --no-fund --loglevel=error >&2 && cp package-lock.json node_modules/.installed-lock)
fi

if ! packaged_chromium >/dev/null; then
    (cd end2end && npx --no-install playwright install chromium >&2) ||
        give_up "Chromium is missing, for the end-to-end tests: install your system's package, or: cd end2end && npx playwright install --with-deps chromium"
fi
