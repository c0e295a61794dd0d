# shellcheck shell=bash
# Sourced by scripts/test: Node, the packages of end2end/, and a Chromium. Missing ones are installed where that is safe.

# shellcheck source=scripts/node.sh
source "$(dirname "${BASH_SOURCE[0]}")/node.sh"

# A browser from a package spares Playwright's download (end2end/support/chromium.mjs looks here too).
packaged_chromium() { command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome; } 2>/dev/null

if [[ -e /etc/debian_version ]] && ! command -v chromium-headless-shell >/dev/null; then
    apt_install "Chromium, for the end-to-end tests" chromium-headless-shell || true
fi
if packaged_chromium >/dev/null; then
    export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
fi

npm_packages end2end "the end-to-end tests"
npm_packages tests/oidc "the tests with an OpenID provider"

if ! packaged_chromium >/dev/null; then
    (cd end2end && npx --no-install playwright install chromium >&2) ||
        give_up "Chromium is missing, for the end-to-end tests: install your system's package, or: cd end2end && npx playwright install --with-deps chromium"
fi
