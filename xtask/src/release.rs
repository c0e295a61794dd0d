//! `dist/parlor`: one file that contains its assets, to copy to another machine.

use crate::{Profile, cargo, npm, package::Package, print_step, site};
use anyhow::{Result, ensure};
use std::{env, fs, path::Path, path::PathBuf, process::Command};

/// The npm package that optimises WASM, and its version. Distributions package older ones that reject current WASM.
const BINARYEN_PACKAGE: &str = "binaryen@132.0.0";

/// The npm package that minifies JavaScript.
const TERSER_PACKAGE: &str = "terser@5.51.2";

pub fn pack() -> Result<()> {
    site::build(Profile::Release, &Package::Parlor)?;
    print_step("building the server, optimised (several minutes the first time)");
    cargo::build_server(Profile::Release, &Package::Parlor)?;
    let dist = Path::new("dist");
    fs::create_dir_all(dist)?;
    let packed = dist.join(format!("parlor{}", env::consts::EXE_SUFFIX));
    let built = cargo::server_binary(Profile::Release, &Package::Parlor);
    let binary = fs::read(&built)?;
    ensure!(
        !has_symbol_table(&binary),
        "the binary has a table of symbols, a third of its size: is `strip` in Cargo.toml without effect?"
    );
    // A new file rather than new contents: the old one may be running.
    let _ = fs::remove_file(&packed);
    fs::copy(&built, &packed)?;
    print_step(&format!(
        "{} is ready ({:.1} MB)",
        packed.display(),
        fs::metadata(&packed)?.len() as f64 / 1e6
    ));
    print_sizes()
}

/// Prints the number of bytes that a browser loads. The release's site must be built.
pub fn print_sizes() -> Result<()> {
    for file in site::files_below(&site::site_folder(Profile::Release, &Package::Parlor).join("pkg"))? {
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

/// Returns whether a 64-bit ELF file has a section with symbols (`SHT_SYMTAB`). Other formats are not read.
fn has_symbol_table(binary: &[u8]) -> bool {
    const SYMBOL_TABLE: u64 = 2;
    let number = |at: usize, bytes: usize| -> Option<u64> {
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(binary.get(at..at + bytes)?);
        Some(u64::from_le_bytes(value))
    };
    let read_sections = || {
        let (start, size, count) = (number(0x28, 8)?, number(0x3a, 2)?, number(0x3c, 2)?);
        let kind_of = |section: u64| number(usize::try_from(start + section * size).ok()? + 4, 4);
        Some((0..count).any(|section| kind_of(section) == Some(SYMBOL_TABLE)))
    };
    binary.starts_with(b"\x7fELF\x02\x01") && read_sections().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_table_of_symbols() {
        let mut binary = vec![0; 0x40];
        binary[..6].copy_from_slice(b"\x7fELF\x02\x01");
        // Two sections of 64 bytes after the header.
        (binary[0x28], binary[0x3a], binary[0x3c]) = (0x40, 64, 2);
        binary.extend([0; 128]);
        assert!(!has_symbol_table(&binary));
        binary[0x40 + 64 + 4] = 2;
        assert!(has_symbol_table(&binary));
        assert!(!has_symbol_table(&binary[..0x50]));
    }
}
