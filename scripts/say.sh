# shellcheck shell=bash
# Sourced: how the scripts speak, and how they ask for what is missing.

say() { printf 'parlor: %s\n' "$*" >&2; }

give_up() {
    printf 'parlor: %s\n' "$*" >&2
    exit 1
}

# Installs packages where that is safe (Debian's package manager, as root). Where it isn't, leaves in $how_else what the
# closing message should add.
how_else=""
apt_install() { # what they are for, packages…
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
