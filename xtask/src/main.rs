//! Parlor's build helper: what cargo alone can't do. It builds the browser half to WASM, makes it and the styles and
//! the public files into one folder (`site`), builds the server, and starts or tests or packs the result.
//!
//! Started by `scripts/xtask`, which finds the toolchain and stands in the repository's root; all paths here are
//! relative to it.

mod cargo;
mod css;
mod dev;
mod fuzz;
mod layers;
mod release;
mod site;
mod test;
mod wasm;

use anyhow::{Result, bail};

/// Which of the two builds: quick to make, or quick to load.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Dev,
    Release,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rest = args.get(1..).unwrap_or_default();
    match args.first().map(String::as_str) {
        Some("build") => build(),
        Some("run") => {
            build()?;
            cargo::exec_server(rest)
        }
        Some("dev") => dev::watch(rest),
        Some("release") => release::pack(),
        Some("size") => {
            site::build(Profile::Release)?;
            release::print_sizes()
        }
        Some("test") => test::run(rest),
        Some("fuzz") => fuzz::run(rest),
        Some("layers") => layers::check(),
        other => bail!("xtask knows build, run, dev, release, size, test, fuzz and layers, not {other:?}"),
    }
}

/// Both halves, for development.
fn build() -> Result<()> {
    site::build(Profile::Dev)?;
    print_step("building the server");
    cargo::build_server(Profile::Dev)
}

/// One plain line about what happens now.
fn print_step(line: &str) {
    eprintln!("parlor: {line}");
}
