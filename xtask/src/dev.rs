//! `make dev`: builds, starts Parlor, and on every change of a source builds again, restarts it if the server
//! changed, and reloads open pages (they request the server's version when `PARLOR_DEV_RELOAD` is set).

use crate::{Profile, build_package, cargo, package::Package, print_step, site};
use anyhow::Result;
use std::{
    fs,
    path::Path,
    process::{Child, Command},
    thread::sleep,
    time::{Duration, SystemTime},
};

const WATCHED_PATHS: [&str; 7] = [
    "src",
    "crates",
    "style",
    "public",
    "migrations",
    "Cargo.toml",
    "Leptos.toml",
];

pub fn watch(args: &[String]) -> Result<()> {
    let mut server: Option<Child> = None;
    let mut built = None;
    loop {
        let seen = source_state();
        if let Err(error) = build_package(&Package::Parlor) {
            // The compiler has printed the error. The running server stays.
            print_step(&format!("{error:#}; waiting for the next change"));
        } else {
            let program = cargo::server_binary(Profile::Dev, &Package::Parlor);
            let binary = fs::metadata(&program)?.modified()?;
            let settings = modified_at(Path::new("Leptos.toml"));
            if built != Some((binary, settings)) {
                built = Some((binary, settings));
                if let Some(mut old) = server.take() {
                    old.kill()?;
                    old.wait()?;
                }
                let mut parlor = Command::new(&program);
                parlor.args(["serve", "--no-browser"]).args(args);
                cargo::of_checkout(&mut parlor);
                server = Some(parlor.env("PARLOR_DEV_RELOAD", "1").spawn()?);
            }
        }
        while source_state() == seen {
            sleep(Duration::from_millis(300));
        }
    }
}

/// Returns the number of watched files and the time of their last change. Polling a few hundred files three
/// times a second is cheap, works on every system and needs no library.
fn source_state() -> (usize, Option<SystemTime>) {
    let all_in = |place: &str| match Path::new(place) {
        file if file.is_file() => vec![file.to_owned()],
        folder => site::files_below(folder).unwrap_or_default(),
    };
    let files: Vec<_> = WATCHED_PATHS.into_iter().flat_map(all_in).collect();
    (
        files.len(),
        files.iter().filter_map(|file| modified_at(file)).max(),
    )
}

fn modified_at(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
}
