//! Parlor's build helper, for the tasks that cargo alone can't do. It builds the browser half to WASM,
//! assembles it with the styles and the public files in one folder (`site`), builds the server, and starts,
//! tests or packs the result.
//!
//! Started by `scripts/xtask`, which finds the toolchain and runs in the repository's root; all paths here
//! are relative to it.

#![allow(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a command without a runtime, for a person at the terminal"
)]

mod cargo;
mod css;
mod dependencies;
mod dev;
mod doc_paths;
mod fuzz;
mod layers;
mod release;
mod site;
mod test;
mod test_layout;
mod wasm;

use anyhow::{Result, bail};

/// The build profile: quick to build, or quick to load.
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
        Some("test-layout") => test_layout::check(),
        Some("doc-paths") => doc_paths::check(),
        Some("dependencies") => dependencies::check(),
        other => bail!(
            "xtask knows build, run, dev, release, size, test, fuzz, layers, test-layout, doc-paths and dependencies, not {other:?}"
        ),
    }
}

/// Builds both halves for development.
fn build() -> Result<()> {
    site::build(Profile::Dev)?;
    print_step("building the server");
    cargo::build_server(Profile::Dev)
}

/// Prints one line about the current step.
fn print_step(line: &str) {
    eprintln!("parlor: {line}");
}
