//! The cargo commands. Each target has profiles of its own (`dev` and `wasm-dev`, `release` and `wasm-release`), and
//! with them folders and a lock of its own: both targets are compiled at the same time.

use crate::{Profile, package::Package, site};
use anyhow::{Context, Result, bail};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

const WASM_TARGET: &str = "wasm32-unknown-unknown";
const WASM_RUSTFLAGS: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";

/// Builds the browser code of a package. A browser cannot load the result yet; see `wasm`.
pub fn build_wasm(mode: Profile, package: &str) -> Result<PathBuf> {
    // The type is given here and not in Cargo.toml: the server's build would link a native library as well.
    let mut command = cargo_command("rustc");
    command
        .args([
            "--package",
            package,
            "--lib",
            "--crate-type",
            "cdylib",
            "--target",
            WASM_TARGET,
        ])
        .args(["--no-default-features", "--features", "hydrate"]);
    let profile = match mode {
        Profile::Dev => "wasm-dev",
        Profile::Release => "wasm-release",
    };
    command.args(["--profile", profile]);
    // Splitting (`wasm`) needs the relocations. All packages have the same flags, and with them the same built libraries.
    let flags = env::var(WASM_RUSTFLAGS).unwrap_or_default() + " -Clink-arg=--emit-relocs";
    run_checked(command.env(WASM_RUSTFLAGS, flags))?;
    Ok(target_folder()
        .join(WASM_TARGET)
        .join(profile)
        .join(package.replace('-', "_"))
        .with_extension("wasm"))
}

/// Builds the server of a package.
pub fn build_server(mode: Profile, package: &Package) -> Result<()> {
    let mut command = cargo_command("build");
    command.args(["--package", package.program(), "--bin", package.program()]);
    if mode == Profile::Release {
        command.arg("--release");
    }
    run_checked(&mut command)
}

/// Returns the path of a package's built server.
pub fn server_binary(mode: Profile, package: &Package) -> PathBuf {
    let folder = if mode == Profile::Dev { "debug" } else { "release" };
    target_folder()
        .join(folder)
        .join(format!("{}{}", package.program(), env::consts::EXE_SUFFIX))
}

/// Replaces this process by the server, so that signals and the terminal are its own.
pub fn exec_server(package: &Package, args: &[String]) -> Result<()> {
    let mut command = Command::new(server_binary(Profile::Dev, package));
    command.arg("serve").args(args);
    // The files in the program, or in their place, are Parlor's own.
    if let Package::Other(_) = package {
        command.env("PARLOR_SITE", site::site_folder(Profile::Dev, package));
    }
    of_checkout(&mut command);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(command.exec()).context("starting Parlor")
    }
    #[cfg(not(unix))]
    run_checked(&mut command)
}

/// Makes a started Parlor use the checkout's settings and the folder `data` in it, unless the environment says otherwise. Options in
/// its arguments have precedence over both.
pub fn of_checkout(command: &mut Command) {
    if env::var_os("PARLOR_CONFIG").is_none() {
        command.env("PARLOR_CONFIG", "Leptos.toml");
        // A data folder in that file counts as well.
        let settings = std::fs::read_to_string("Leptos.toml").unwrap_or_default();
        if settings.lines().any(|line| line.starts_with("data = ")) {
            return;
        }
    }
    if env::var_os("PARLOR_DATA").is_none() {
        command.env("PARLOR_DATA", "data");
    }
}

/// Returns a cargo command of the toolchain that `scripts/toolchain.sh` put on PATH.
pub fn cargo_command(subcommand: &str) -> Command {
    let mut command = Command::new("cargo");
    command.arg(subcommand);
    command
}

/// Runs a command to its end. An exit code other than 0 is an error.
pub fn run_checked(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("starting {command:?}"))?;
    if !status.success() {
        bail!("{:?} failed ({status})", command.get_program());
    }
    Ok(())
}

/// Returns cargo's target folder.
pub fn target_folder() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| Path::new("target").to_owned(), PathBuf::from)
}
