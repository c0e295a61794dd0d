//! Packages from npm, installed once into the user's cache. A build without npm works as well, with less.

use crate::{cargo, print_step};
use anyhow::{Context, Result};
use std::{collections::BTreeSet, env, fs, path::PathBuf, process::Command};

/// Mermaid, which draws diagrams: the build without mind maps, architecture diagrams and formulas, which is half as large.
const MERMAID_PACKAGE: &str = "@mermaid-js/tiny@12.0.0";

/// The packages that this process could not install. `make dev` builds again and again, perhaps without a network.
#[expect(
    clippy::disallowed_types,
    reason = "a crate only for this; if the lock is poisoned, the build has failed"
)]
static MISSING: std::sync::Mutex<BTreeSet<String>> = std::sync::Mutex::new(BTreeSet::new());

/// Returns a file of an npm package (`name@version`), installed if necessary. It is tried once in a process.
pub fn install(package: &str, file: &str) -> Option<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    let folder = cache.join("parlor").join(package.replace(['@', '/'], "-"));
    let file = folder.join("node_modules").join(file);
    if !file.exists() {
        let mut missing = MISSING.lock().ok()?;
        if !missing.insert(package.to_owned()) {
            return None;
        }
        print_step(&format!("installing {package} from npm"));
        fs::create_dir_all(&folder).ok()?;
        let mut npm = Command::new("npm");
        npm.args([
            "install",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            "--fetch-retries=1",
            "--prefix",
        ])
        .arg(&folder)
        .arg(package);
        cargo::run_checked(&mut npm).context("npm").ok()?;
        missing.remove(package);
    }
    file.exists().then_some(file)
}

/// Returns Mermaid's script, after its licence. Without npm, diagrams are shown as their source.
pub fn mermaid() -> Result<Option<String>> {
    let Some(script) = install(MERMAID_PACKAGE, "@mermaid-js/tiny/dist/mermaid.tiny.js") else {
        print_step("no npm here: leaving Mermaid out, diagrams are shown as their source");
        return Ok(None);
    };
    let package = script
        .parent()
        .and_then(|dist| dist.parent())
        .context("a package")?;
    let licence = fs::read_to_string(package.join("LICENSE")).context("Mermaid's licence")?;
    let script = fs::read_to_string(script).context("Mermaid's script")?;
    Ok(Some(format!("/*!\n{MERMAID_PACKAGE}\n\n{licence}*/\n{script}")))
}
