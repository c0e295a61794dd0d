# shellcheck shell=bash
# Sourced by scripts/test: nginx as a proxy in front of Parlor, Postgres for the page Data, ip for a test in its own
# network, the MCP reference server, which runs on Node, and the examples' languages.
# Missing ones are installed where that is safe.

# shellcheck source=scripts/node.sh
source "$(dirname "${BASH_SOURCE[0]}")/node.sh"

nginx_is_there() { PATH="$PATH:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin" command -v nginx >/dev/null; }

nginx_is_there || apt_install "nginx, for the test through a proxy" nginx-light || true
nginx_is_there || give_up "nginx is missing, for the test through a proxy: install your system's package$how_else"

# Debian's lies in a folder of its version. The tests start their own server, and not as root.
postgres_is_there() { command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }

postgres_is_there || apt_install "Postgres, for the tests of databases" postgresql || true
postgres_is_there || give_up "Postgres is missing, for the tests of databases: install your system's package$how_else"

# Without it that test reports that it was skipped, and fails if CI is set.
command -v ip >/dev/null || apt_install "iproute2, for the test of fetched URLs in a network of its own" iproute2 || true

npm_packages tests/mcp "the tests with MCP servers"
npm_packages tests/oidc "the tests with an OpenID provider"
npm_packages examples "the test of the TypeScript example"

for program in curl python3; do
    command -v "$program" >/dev/null || apt_install "$program, for the tests of the examples" "$program" || true
    command -v "$program" >/dev/null || give_up "$program is missing, for the tests of the examples: install your system's package$how_else"
done
