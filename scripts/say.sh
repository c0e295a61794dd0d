# shellcheck shell=bash
# Sourced. Messages of the scripts, and the installation of missing packages.

say() { printf 'parlor: %s\n' "$*" >&2; }

give_up() {
    printf 'parlor: %s\n' "$*" >&2
    exit 1
}

# Installs packages where that is safe (Debian's package manager, as root). Elsewhere it sets $how_else to advice for the
# final message.
how_else=""
apt_install() { # purpose, packages…
    local purpose=$1
    shift
    command -v apt-get >/dev/null || return 1
    local install=(apt-get install -y -qq --no-install-recommends "$@")
    if ((EUID != 0)); then
        apt-cache show "$@" >/dev/null 2>&1 && how_else=" or run: sudo ${install[*]}"
        return 1
    fi
    say "installing $purpose: $*"
    export DEBIAN_FRONTEND=noninteractive
    "${install[@]}" >/dev/null 2>&1 || { apt-get update -qq && "${install[@]}"; } >/dev/null
}
