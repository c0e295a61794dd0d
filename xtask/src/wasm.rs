//! Converts cargo's WASM to files that a browser can load:
//!
//! ```text
//! parlor.js          the JavaScript side
//! parlor_bg.wasm     what every page needs
//! __wasm_split.js    fetches the rest, a view's file when the view is first shown (`crates/ui/src/runtime/lazy.rs`)
//! split_*.wasm       what one such view alone needs
//! chunk_*.wasm       what several of them need
//! *_chunks.bin       the small ones of these in two files (`chunks`)
//! snippets/          files that libraries bring along
//! ```
//!
//! Splitting comes first, since it needs the linker's relocations, which are lost afterwards. Without a
//! lazily loaded view there is one WASM file, and no `__wasm_split.js` is loaded.

use crate::{Profile, chunks, release, site};
use anyhow::{Result, anyhow};
use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};
use wasm_bindgen_cli_support::Bindgen;
use wasm_split_cli_support::Options;

/// Writes all of it into `folder`.
pub fn pack(mode: Profile, wasm: &[u8], folder: &Path) -> Result<()> {
    let main = split(wasm, folder)?;
    let binaryen = match mode {
        Profile::Dev => None,
        Profile::Release => release::find_binaryen(),
    };
    Bindgen::new()
        .web(true)?
        .typescript(false)
        // Binaryen needs the names, and drops them afterwards.
        .remove_name_section(mode == Profile::Release && binaryen.is_none())
        .remove_producers_section(true)
        // These include the function table, through which the other files call functions of this one.
        .keep_lld_exports(true)
        .input_bytes("parlor", main)
        .generate(folder)?;
    let files = site::files_below(folder)?;
    let with_extension = |extension: &str| -> Vec<PathBuf> {
        let has_it = |file: &&PathBuf| file.extension().and_then(OsStr::to_str) == Some(extension);
        files.iter().filter(has_it).cloned().collect()
    };
    if let Some(binaryen) = binaryen {
        release::optimize_wasm(&binaryen, &with_extension("wasm"))?;
    }
    chunks::join(folder)?;
    if mode == Profile::Release {
        for file in with_extension("js") {
            release::minify_js(&file)?;
        }
    }
    Ok(())
}

/// Writes a test page, which has neither lazily loaded views nor a release, into `folder`.
pub fn pack_test_page(name: &str, wasm: &[u8], folder: &Path) -> Result<()> {
    let mut bindgen = Bindgen::new();
    let bindgen = bindgen.web(true)?.typescript(false);
    bindgen.input_bytes(name, wasm.to_vec()).generate(folder)
}

/// Writes the lazily loaded files, and returns the rest.
fn split(wasm: &[u8], folder: &Path) -> Result<Vec<u8>> {
    let main = folder.join("main.wasm");
    let mut options = Options::new(wasm);
    options.output_dir = folder;
    options.main_out_path = &main;
    options.main_module = "./parlor.js";
    wasm_split_cli_support::transform(options).map_err(|error| anyhow!("splitting the WASM: {error:#}"))?;
    let content = fs::read(&main)?;
    fs::remove_file(&main)?;
    Ok(content)
}
