//! Parlor's build helper, for the tasks that cargo alone can't do. It builds the browser code to WASM,
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
mod chunks;
mod css;
mod dependencies;
mod dev;
mod doc_paths;
mod fuzz;
mod layers;
mod npm;
mod package;
mod release;
mod site;
mod test;
mod test_layout;
mod texts;
mod wasm;

use anyhow::{Result, bail};
use package::Package;
use std::{panic::resume_unwind, thread};

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
        Some("build") => {
            let (package, _) = Package::take(rest)?;
            build_package(&package)
        }
        Some("run") => {
            let (package, rest) = Package::take(rest)?;
            build_package(&package)?;
            cargo::exec_server(&package, rest)
        }
        Some("site") => {
            let (package, rest) = Package::take(rest)?;
            let is_release = rest.iter().any(|option| option == "--release");
            let mode = if is_release {
                Profile::Release
            } else {
                Profile::Dev
            };
            site::build(mode, &package)?;
            print_step(&format!(
                "{} is ready",
                site::site_folder(mode, &package).display()
            ));
            Ok(())
        }
        Some("dev") => dev::watch(rest),
        Some("release") => release::pack(),
        Some("size") => {
            site::build(Profile::Release, &Package::Parlor)?;
            release::print_sizes()
        }
        Some("test") => test::run(rest),
        Some("fuzz") => fuzz::run(rest),
        Some("layers") => layers::check(),
        Some("test-layout") => test_layout::check(),
        Some("texts") => texts::check(),
        Some("doc-paths") => doc_paths::check(),
        Some("dependencies") => dependencies::check(),
        other => bail!(
            "xtask knows build, run, site, dev, release, size, test, fuzz, layers, test-layout, texts, doc-paths and dependencies, not {other:?}"
        ),
    }
}

/// Builds both targets of Parlor for development at the same time, the server by the given function: rustc uses one core much of
/// the time.
fn build_both(build_server: impl FnOnce() -> Result<()>) -> Result<()> {
    run_together(|| site::build(Profile::Dev, &Package::Parlor), build_server)
}

/// Builds the server and the browser code of a package for development.
fn build_package(package: &Package) -> Result<()> {
    run_together(
        || site::build(Profile::Dev, package),
        || cargo::build_server(Profile::Dev, package),
    )
}

/// Runs both functions at the same time and waits for both. Returns the first one's error if both fail.
fn run_together(
    first: impl FnOnce() -> Result<()> + Send,
    second: impl FnOnce() -> Result<()>,
) -> Result<()> {
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        match first.join() {
            Ok(first) => first.and(second),
            Err(panic) => resume_unwind(panic),
        }
    })
}

/// Prints one line about the current step.
fn print_step(line: &str) {
    eprintln!("parlor: {line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;
    use std::{cell::Cell, sync::mpsc};

    #[test]
    fn runs_at_the_same_time() {
        let (ask, asked) = mpsc::channel();
        let (answer, answered) = mpsc::channel();
        let both = run_together(
            move || Ok(answer.send(asked.recv()?)?),
            || {
                ask.send(7)?;
                assert_eq!(answered.recv()?, 7);
                Ok(())
            },
        );
        both.unwrap();
    }

    #[test]
    fn error_of_one_leaves_the_other_running() {
        let ran = Cell::new(false);
        let both = run_together(
            || Err(anyhow!("no WASM")),
            || {
                ran.set(true);
                Ok(())
            },
        );
        assert_eq!(both.unwrap_err().to_string(), "no WASM");
        assert!(ran.get());
        let both = run_together(|| Ok(()), || Err(anyhow!("no server")));
        assert_eq!(both.unwrap_err().to_string(), "no server");
    }
}
