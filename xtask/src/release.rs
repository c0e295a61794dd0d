//! `dist/parlor`: one file with its assets inside, to copy to another machine.

use crate::{Mode, cargo, say, site};
use anyhow::{Context, Result};
use std::{env, fs, path::Path, path::PathBuf, process::Command};

/// The npm package with wasm-opt, and its version. Distributions package older ones that refuse today's WASM.
const BINARYEN: &str = "binaryen@132.0.0";

pub fn pack() -> Result<()> {
    site::build(Mode::Release)?;
    say("building the server, optimised (several minutes the first time)");
    cargo::server(Mode::Release)?;
    let dist = Path::new("dist");
    fs::create_dir_all(dist)?;
    let packed = dist.join(format!("parlor{}", env::consts::EXE_SUFFIX));
    // A new file rather than new content: the old one may be running.
    let _ = fs::remove_file(&packed);
    fs::copy(cargo::server_binary(Mode::Release), &packed)?;
    say(&format!(
        "{} is ready ({:.1} MB)",
        packed.display(),
        fs::metadata(&packed)?.len() as f64 / 1e6
    ));
    say_sizes()
}

/// How many bytes a browser loads, once the release's site is built.
pub fn say_sizes() -> Result<()> {
    for file in site::files_below(&site::folder(Mode::Release).join("pkg"))? {
        if file.extension().is_some_and(|extension| extension == "br") {
            say(&format!(
                "  as sent: {:7} bytes  {}",
                fs::metadata(&file)?.len(),
                file.display()
            ));
        }
    }
    Ok(())
}

/// Makes a WASM file smaller, in place. Without npm the release is as good, only larger.
pub fn optimise(wasm: &Path) -> Result<()> {
    let Some(wasm_opt) = wasm_opt() else {
        say("no npm here: leaving wasm-opt out, the WASM stays about a fifth larger");
        return Ok(());
    };
    say("making the WASM smaller (wasm-opt)");
    let mut command = Command::new("node");
    command.arg(wasm_opt).arg("-Oz");
    // What rustc assumes of every browser, which wasm-opt has to be told.
    for feature in [
        "bulk-memory",
        "multivalue",
        "mutable-globals",
        "nontrapping-float-to-int",
        "reference-types",
        "sign-ext",
    ] {
        command.arg(format!("--enable-{feature}"));
    }
    cargo::check(command.arg(wasm).arg("-o").arg(wasm))
}

/// wasm-opt from npm, installed once into the user's cache.
fn wasm_opt() -> Option<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    let folder = cache.join("parlor").join(BINARYEN.replace('@', "-"));
    let wasm_opt = folder.join("node_modules/binaryen/bin/wasm-opt");
    if !wasm_opt.exists() {
        say(&format!("installing wasm-opt ({BINARYEN} from npm)"));
        fs::create_dir_all(&folder).ok()?;
        let mut npm = Command::new("npm");
        npm.args([
            "install",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            "--prefix",
        ])
        .arg(&folder)
        .arg(BINARYEN);
        cargo::check(&mut npm).context("npm").ok()?;
    }
    wasm_opt.exists().then_some(wasm_opt)
}
