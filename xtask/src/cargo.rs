//! The cargo commands. Everything for development is built with cargo's own `dev` profile, for WASM too: then macros
//! and build scripts, which run on this machine for both halves, are compiled once.

use crate::Mode;
use anyhow::{Context, Result, bail};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

const WASM: &str = "wasm32-unknown-unknown";
const WASM_RUSTFLAGS: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";

/// Builds the browser half; the result is not yet what a browser can load (`site` sees to that).
pub fn wasm(mode: Mode) -> Result<PathBuf> {
    let mut command = command("build");
    command
        .args(["--package", "parlor", "--lib", "--target", WASM])
        .args(["--no-default-features", "--features", "hydrate"]);
    // What splitting needs to know (`wasm`): who refers to what.
    let mut flags = env::var(WASM_RUSTFLAGS).unwrap_or_default() + " -Clink-arg=--emit-relocs";
    let folder = match mode {
        Mode::Dev => {
            // What a profile could say only for this machine's half as well: a little optimisation, without which the
            // WASM is several times as large, and no line tables, which it couldn't show anyway.
            flags += " -Copt-level=1 -Cdebuginfo=0 -Cstrip=debuginfo";
            "debug"
        }
        Mode::Release => {
            command.args(["--profile", "wasm-release"]);
            "wasm-release"
        }
    };
    check(command.env(WASM_RUSTFLAGS, flags))?;
    Ok(target().join(WASM).join(folder).join("parlor.wasm"))
}

/// Builds the server.
pub fn server(mode: Mode) -> Result<()> {
    let mut command = command("build");
    command.args(["--package", "parlor", "--bin", "parlor", "--features", "ssr"]);
    if mode == Mode::Release {
        command.arg("--release");
    }
    check(&mut command)
}

/// Where `server` left it.
pub fn server_binary(mode: Mode) -> PathBuf {
    let folder = if mode == Mode::Dev { "debug" } else { "release" };
    target()
        .join(folder)
        .join(format!("parlor{}", env::consts::EXE_SUFFIX))
}

/// Becomes the server, so that signals and the terminal are its own.
pub fn replace_with_parlor(args: &[String]) -> Result<()> {
    let mut command = Command::new(server_binary(Mode::Dev));
    command.arg("serve").args(args);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(command.exec()).context("starting Parlor")
    }
    #[cfg(not(unix))]
    check(&mut command)
}

/// A cargo command, from the toolchain that `scripts/toolchain.sh` put on PATH.
pub fn command(subcommand: &str) -> Command {
    let mut command = Command::new("cargo");
    command.arg(subcommand);
    command
}

/// Runs to the end; an exit code other than 0 is an error.
pub fn check(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("starting {command:?}"))?;
    if !status.success() {
        bail!("{:?} failed ({status})", command.get_program());
    }
    Ok(())
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| Path::new("target").to_owned(), PathBuf::from)
}
