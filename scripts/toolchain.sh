# shellcheck shell=bash
# Sourced by the other scripts. Puts a `cargo` on PATH that builds Parlor for both targets, the server and the browser,
# with one compiler, so that shared parts (macros, build scripts) are compiled once.
#
# In this order:
#   1. the Rust on PATH, if it is recent enough and has the WASM target;
#   2. a private WASM library built earlier by 4;
#   3. rustup: adds the target, or a second toolchain if yours is too old;
#   4. a distribution's packaged Rust with its library sources (installed on Debian when root), for machines
#      without access to rustup's server: the WASM standard library is built from those sources, into the cache.
# PARLOR_RUST=distribution skips 1 and 3.

# A build that nothing follows does not prepare the next one, which takes a quarter of its time.
# Without it, few parts of a crate are enough for all cores: each part compiles the inline functions of others again.
if [[ -n "${CI:-}" ]]; then
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=4 CARGO_PROFILE_WASM_DEV_CODEGEN_UNITS=4 \
        CARGO_PROFILE_DEV_BUILD_OVERRIDE_CODEGEN_UNITS=4
fi

parlor_cache="${XDG_CACHE_HOME:-$HOME/.cache}/parlor"
wasm=wasm32-unknown-unknown
oldest_minor=94   # sqlx 0.9 needs Rust 1.94
pinned_rust=1.96.0 # installed with rustup if the Rust on PATH is too old

# shellcheck source=scripts/say.sh
source "$(dirname "${BASH_SOURCE[0]}")/say.sh"

# Runs "$2…" for at most $1 seconds, if `timeout` is available.
limited() {
    if command -v timeout >/dev/null; then timeout "$@"; else "${@:2}"; fi
}

new_enough() { # rustc
    local version minor
    version=$("$1" --version 2>/dev/null) || return 1
    minor=${version#rustc 1.}
    minor=${minor%%.*}
    [[ $minor =~ ^[0-9]+$ ]] && ((minor >= oldest_minor))
}

has_wasm() { # rustc
    compgen -G "$("$1" --print target-libdir --target $wasm 2>/dev/null)/libcore-*.rlib" >/dev/null
}

# The distribution's compiler is found under its own name only if no rustup precedes it on PATH.
distribution_rustc=/usr/bin/rustc

private_sysroot() { printf '%s/rust-%s-wasm32' "$parlor_cache" "$("$distribution_rustc" --version | cut -d' ' -f2)"; }

use_distribution() {
    local links tool lld
    links="$(private_sysroot)/bin"
    mkdir -p "$links"
    for tool in rustc cargo rustdoc rustfmt cargo-fmt cargo-clippy clippy-driver; do
        [[ -x /usr/bin/$tool ]] && ln -sf "/usr/bin/$tool" "$links/$tool"
    done
    # rustc looks for a linker of this name on PATH; the distribution's packages lack it.
    lld=$(find_lld) && ln -sf "$lld" "$links/rust-lld"
    export PATH="$links:$PATH" RUSTC="$links/rustc"
    # Flags for this target only; cargo ignores them if RUSTFLAGS is set.
    unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="--sysroot $(private_sysroot)"
}

# The newest version; the package names contain it.
find_lld() {
    compgen -G '/usr/bin/lld-[0-9]*' | sort -V | tail -1 | grep . || command -v lld
}

private_library_is_built() {
    new_enough "$distribution_rustc" && [[ -f $(private_sysroot)/complete ]] && find_lld >/dev/null
}

with_rustup() {
    command -v rustup >/dev/null || return 1
    if new_enough rustc; then
        say "Rust: adding the target $wasm with rustup"
        RUST_BACKTRACE=0 limited 300 rustup target add $wasm >&2 || return 1
    elif RUSTUP_TOOLCHAIN=$pinned_rust RUSTUP_AUTO_INSTALL=0 has_wasm rustc; then
        export RUSTUP_TOOLCHAIN=$pinned_rust
    else
        say "Rust: installing $pinned_rust with rustup (the installed one is older than 1.$oldest_minor)"
        RUST_BACKTRACE=0 limited 900 rustup toolchain install $pinned_rust --profile minimal --component rustfmt,clippy \
            --target $wasm --no-self-update >&2 || return 1
        export RUSTUP_TOOLCHAIN=$pinned_rust
    fi
    new_enough rustc && has_wasm rustc
}

with_distribution() {
    if ! new_enough "$distribution_rustc" || ! library_sources >/dev/null || ! find_lld >/dev/null; then
        apt_install "a Rust that builds WASM" rustc-web cargo-web rust-web-src rustfmt-web rust-web-clippy lld-22 ||
            return 1
    fi
    new_enough "$distribution_rustc" && library_sources >/dev/null || return 1
    [[ -f $(private_sysroot)/complete ]] || build_wasm_library
    use_distribution
}

library_sources() { ls -d "$("$distribution_rustc" --print sysroot)/lib/rustlib/src/rust/library" 2>/dev/null; }

# Builds the standard library as a by-product of an empty crate (a feature that a stable compiler offers only in its
# bootstrap mode).
build_wasm_library() {
    local work sysroot
    sysroot=$(private_sysroot)
    work=$(mktemp -d)
    say "Rust: building the standard library for WASM, once (about a minute)"
    mkdir -p "$work/src" "$sysroot/lib/rustlib/$wasm/lib"
    printf '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2024"\n' >"$work/Cargo.toml"
    printf '#![no_std]\n' >"$work/src/lib.rs"
    # One chain: `set -e` has no effect in a function called from a condition.
    (
        unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_DIR CARGO_BUILD_TARGET
        cd "$work" &&
            RUSTC=$distribution_rustc RUSTC_BOOTSTRAP=1 /usr/bin/cargo build --quiet --release --target $wasm \
                -Zbuild-std=core,alloc,std,panic_abort,panic_unwind,proc_macro,test >&2 &&
            rm target/$wasm/release/deps/libempty-* &&
            cp target/$wasm/release/deps/*.rlib "$sysroot/lib/rustlib/$wasm/lib/" &&
            touch "$sysroot/complete"
    )
    local status=$?
    rm -rf "$work"
    return $status
}

# A newly installed rustup is often not on PATH yet.
[[ -d $HOME/.cargo/bin ]] && ! command -v rustup >/dev/null && export PATH="$PATH:$HOME/.cargo/bin"

if [[ ${PARLOR_RUST:-} != distribution ]] && new_enough rustc && has_wasm rustc; then
    :
elif private_library_is_built; then
    use_distribution
elif [[ ${PARLOR_RUST:-} != distribution ]] && with_rustup; then
    :
elif with_distribution; then
    :
else
    give_up "Rust 1.$oldest_minor or newer with the target $wasm is missing: install rustup (https://rustup.rs)$how_else, then run this again."
fi

command -v cc >/dev/null || apt_install "a C compiler, for SQLite" gcc libc6-dev ||
    give_up "a C compiler is missing (Parlor compiles SQLite into itself): install gcc or clang$how_else, then run this again."
