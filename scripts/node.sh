# shellcheck shell=bash
# Sourced by the scripts that install the tests' tools: Node, and the npm packages of a folder.

# shellcheck source=scripts/say.sh
source "$(dirname "${BASH_SOURCE[0]}")/say.sh"

node_is_new_enough() { # required by Playwright: 20
    local version
    version=$(node --version 2>/dev/null) || return 1
    version=${version#v}
    ((${version%%.*} >= 20)) && command -v npx >/dev/null
}

node_is_new_enough || apt_install "Node.js, for the tests" nodejs npm || true
node_is_new_enough || give_up "Node.js 20 or newer with npm is missing, for the tests: get it from https://nodejs.org$how_else"

npm_packages() { # folder, purpose
    if ! cmp -s "$1/package-lock.json" "$1/node_modules/.installed-lock"; then
        say "installing the packages of $2 (npm)"
        (cd "$1" && npm ci --no-audit --no-fund --loglevel=error >&2 && cp package-lock.json node_modules/.installed-lock)
    fi
}
