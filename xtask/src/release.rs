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

/// What rustc assumes of every browser, which wasm-opt has to be told.
const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// Makes a WASM file smaller, in place. It must have its names still.
pub fn optimise(wasm_opt: &Path, wasm: &Path) -> Result<()> {
    say("making the WASM smaller (wasm-opt)");
    let run = |options: &[&str]| {
        let mut command = Command::new("node");
        command.arg(wasm_opt).args(FEATURES).args(options);
        cargo::check(command.arg(wasm).arg("-o").arg(wasm))
    };
    // -Oz makes a smaller file of which Brotli makes a larger one.
    // Functions of one name are much alike: side by side, Brotli makes less of them (1 %). And the first kilobyte of
    // the memory is the very end of the stack, which grows downwards: no pointer points there.
    // Twice, because what the first pass leaves gives the second one something to do.
    run(&[
        "-Os",
        "-Os",
        "--low-memory-unused",
        "--reorder-functions-by-name",
        "--debuginfo",
    ])?;
    // The names have done their work.
    run(&["--strip-debug"])
}

/// wasm-opt from npm, installed once into the user's cache. Without npm the release is as good, only larger.
pub fn wasm_opt() -> Option<PathBuf> {
    let wasm_opt = installed_wasm_opt();
    if wasm_opt.is_none() {
        say("no npm here: leaving wasm-opt out, the WASM stays larger");
    }
    wasm_opt
}

fn installed_wasm_opt() -> Option<PathBuf> {
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
