//! `dist/parlor`: one file that contains its assets, to copy to another machine.

use crate::{Profile, cargo, print_step, site};
use anyhow::{Context, Result};
use std::{env, fs, path::Path, path::PathBuf, process::Command};

/// The npm package of wasm-opt, and its version. Distributions package older ones that reject current WASM.
const BINARYEN_PACKAGE: &str = "binaryen@132.0.0";

/// The npm package that minifies JavaScript.
const TERSER_PACKAGE: &str = "terser@5.51.2";

pub fn pack() -> Result<()> {
    site::build(Profile::Release)?;
    print_step("building the server, optimised (several minutes the first time)");
    cargo::build_server(Profile::Release)?;
    let dist = Path::new("dist");
    fs::create_dir_all(dist)?;
    let packed = dist.join(format!("parlor{}", env::consts::EXE_SUFFIX));
    // A new file rather than new contents: the old one may be running.
    let _ = fs::remove_file(&packed);
    fs::copy(cargo::server_binary(Profile::Release), &packed)?;
    print_step(&format!(
        "{} is ready ({:.1} MB)",
        packed.display(),
        fs::metadata(&packed)?.len() as f64 / 1e6
    ));
    print_sizes()
}

/// Prints the number of bytes that a browser loads. The release's site must be built.
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

/// The features that rustc assumes of every browser, which wasm-opt has to be told.
const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// Optimises a WASM file in place. It must still have its names.
pub fn optimize_wasm(wasm_opt: &Path, wasm: &Path) -> Result<()> {
    print_step("making the WASM smaller (wasm-opt)");
    let run = |options: &[&str]| {
        let mut command = Command::new("node");
        command.arg(wasm_opt).args(WASM_FEATURES).args(options);
        cargo::run_checked(command.arg(wasm).arg("-o").arg(wasm))
    };
    // -Oz makes a smaller file that Brotli compresses to a larger one.
    // Functions with similar names are similar, and side by side Brotli compresses them better (1 %). The
    // first kilobyte of the memory is the end of the stack, which grows downwards: no pointer refers to it.
    // Twice, because the second pass still improves the result of the first.
    run(&[
        "-Os",
        "-Os",
        "--low-memory-unused",
        "--reorder-functions-by-name",
        "--debuginfo",
    ])?;
    // The names are no longer needed.
    run(&["--strip-debug"])
}

/// Finds wasm-opt, installed from npm. Without npm the release works as well, but is larger.
pub fn find_wasm_opt() -> Option<PathBuf> {
    let wasm_opt = install_npm_tool(BINARYEN_PACKAGE, "binaryen/bin/wasm-opt");
    if wasm_opt.is_none() {
        print_step("no npm here: leaving wasm-opt out, the WASM stays larger");
    }
    wasm_opt
}

/// Minifies a JavaScript module in place; its exports keep their names. Without npm it stays unchanged.
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

/// Returns a program of an npm package (`name@version`), installed once into the user's cache.
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
