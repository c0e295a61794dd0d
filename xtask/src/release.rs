//! `dist/parlor`: one file with its assets inside, to copy to another machine.

use crate::{Profile, cargo, print_step, site};
use anyhow::{Context, Result};
use std::{env, fs, path::Path, path::PathBuf, process::Command};

/// The npm package with wasm-opt, and its version. Distributions package older ones that refuse today's WASM.
const BINARYEN_PACKAGE: &str = "binaryen@132.0.0";

/// The one that makes JavaScript smaller.
const TERSER_PACKAGE: &str = "terser@5.51.2";

pub fn pack() -> Result<()> {
    site::build(Profile::Release)?;
    print_step("building the server, optimised (several minutes the first time)");
    cargo::build_server(Profile::Release)?;
    let dist = Path::new("dist");
    fs::create_dir_all(dist)?;
    let packed = dist.join(format!("parlor{}", env::consts::EXE_SUFFIX));
    // A new file rather than new content: the old one may be running.
    let _ = fs::remove_file(&packed);
    fs::copy(cargo::server_binary(Profile::Release), &packed)?;
    print_step(&format!(
        "{} is ready ({:.1} MB)",
        packed.display(),
        fs::metadata(&packed)?.len() as f64 / 1e6
    ));
    print_sizes()
}

/// How many bytes a browser loads, once the release's site is built.
pub fn print_sizes() -> Result<()> {
    for file in site::files_below(&site::site_folder(Profile::Release).join("pkg"))? {
        if file.extension().is_some_and(|extension| extension == "br") {
            print_step(&format!(
                "  as sent: {:7} bytes  {}",
                fs::metadata(&file)?.len(),
                file.display()
            ));
        }
    }
    Ok(())
}

/// What rustc assumes of every browser, which wasm-opt has to be told.
const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// Makes a WASM file smaller, in place. It must have its names still.
pub fn optimize_wasm(wasm_opt: &Path, wasm: &Path) -> Result<()> {
    print_step("making the WASM smaller (wasm-opt)");
    let run = |options: &[&str]| {
        let mut command = Command::new("node");
        command.arg(wasm_opt).args(WASM_FEATURES).args(options);
        cargo::run_checked(command.arg(wasm).arg("-o").arg(wasm))
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

/// wasm-opt from npm. Without npm the release is as good, only larger.
pub fn find_wasm_opt() -> Option<PathBuf> {
    let wasm_opt = install_npm_tool(BINARYEN_PACKAGE, "binaryen/bin/wasm-opt");
    if wasm_opt.is_none() {
        print_step("no npm here: leaving wasm-opt out, the WASM stays larger");
    }
    wasm_opt
}

/// Makes a JavaScript module smaller, in place; its exports keep their names. Without npm it stays as it is.
pub fn minify_js(js: &Path) -> Result<()> {
    let Some(terser) = install_npm_tool(TERSER_PACKAGE, "terser/bin/terser") else {
        return Ok(());
    };
    let mut command = Command::new("node");
    command
        .arg(terser)
        .args(["--module", "--compress", "--mangle", "--output"]);
    cargo::run_checked(command.arg(js).arg("--").arg(js))
}

/// A program of an npm package (`name@version`), installed once into the user's cache.
fn install_npm_tool(package: &str, program: &str) -> Option<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    let folder = cache.join("parlor").join(package.replace('@', "-"));
    let program = folder.join("node_modules").join(program);
    if !program.exists() {
        print_step(&format!("installing {package} from npm"));
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
        .arg(package);
        cargo::run_checked(&mut npm).context("npm").ok()?;
    }
    program.exists().then_some(program)
}
