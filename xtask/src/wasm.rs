//! Converts cargo's WASM to files that a browser can load:
//!
//! ```text
//! parlor.js          the JavaScript side
//! parlor_bg.wasm     what every page needs
//! __wasm_split.js    fetches the rest, a view's file when the view is first shown (`src/ui/runtime/lazy.rs`)
//! split_*.wasm       what one such view alone needs
//! chunk_*.wasm       what several of them need
//! snippets/          files that libraries bring along
//! ```
//!
//! Splitting comes first, since it needs the linker's relocations, which are lost afterwards. Without a
//! lazily loaded view there is one WASM file, and no `__wasm_split.js` is loaded.

use crate::{Profile, release, site};
use anyhow::{Result, anyhow};
use std::{ffi::OsStr, fs, path::Path};
use wasm_bindgen_cli_support::Bindgen;
use wasm_split_cli_support::Options;

/// Writes all of it into `folder`.
pub fn pack(mode: Profile, wasm: &[u8], folder: &Path) -> Result<()> {
    let main = split(wasm, folder)?;
    let wasm_opt = match mode {
        Profile::Dev => None,
        Profile::Release => release::find_wasm_opt(),
    };
    Bindgen::new()
        .web(true)?
        .typescript(false)
        // wasm-opt needs the names, and drops them afterwards.
        .remove_name_section(mode == Profile::Release && wasm_opt.is_none())
        .remove_producers_section(true)
        // These include the function table, through which the other files call functions of this one.
        .keep_lld_exports(true)
        .input_bytes("parlor", main)
        .generate(folder)?;
    if mode == Profile::Dev {
        return Ok(());
    }
    for file in site::files_below(folder)? {
        match (file.extension().and_then(OsStr::to_str), &wasm_opt) {
            (Some("wasm"), Some(wasm_opt)) => release::optimize_wasm(wasm_opt, &file)?,
            (Some("js"), _) => release::minify_js(&file)?,
            _ => {}
        }
    }
    Ok(())
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
