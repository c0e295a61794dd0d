//! `dist/parlor`: one file that contains its assets, to copy to another machine.

use crate::{Profile, cargo, npm, print_step, site};
use anyhow::Result;
use std::{env, fs, path::Path, path::PathBuf, process::Command};

/// The npm package that optimises WASM, and its version. Distributions package older ones that reject current WASM.
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

/// Optimises WASM files in place. They must still have their names.
pub fn optimize_wasm(binaryen: &Path, files: &[PathBuf]) -> Result<()> {
    print_step("making the WASM smaller (Binaryen)");
    let mut command = Command::new("node");
    command.arg("xtask/src/optimize-wasm.mjs").arg(binaryen);
    cargo::run_checked(command.args(files))
}

/// Finds Binaryen, installed from npm. Without npm the release works as well, but is larger.
pub fn find_binaryen() -> Option<PathBuf> {
    let binaryen = npm::install(BINARYEN_PACKAGE, "binaryen/index.js");
    if binaryen.is_none() {
        print_step("no npm here: leaving Binaryen out, the WASM stays larger");
    }
    binaryen
}

/// Minifies a JavaScript module in place; its exports keep their names. Without npm it stays unchanged.
pub fn minify_js(js: &Path) -> Result<()> {
    let Some(terser) = npm::install(TERSER_PACKAGE, "terser/bin/terser") else {
        return Ok(());
    };
    let mut command = Command::new("node");
    command
        .arg(terser)
        .args(["--module", "--compress", "--mangle", "--output"]);
    cargo::run_checked(command.arg(js).arg("--").arg(js))
}
