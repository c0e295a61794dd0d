//! Joins the small files of code that several lazily loaded views share.
//!
//! The splitter makes one file for each set of views that share something: more than a hundred, most with less than 500 bytes as
//! sent. A view needs dozens of them, so over HTTP/1.1 and a slow network its first display took as many requests. One file has
//! all of them instead, and compresses better; larger ones stay alone.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::site;

/// The module of the splitter that loads its files.
const LOADER: &str = "__wasm_split.js";

/// The file that has the others, one after the other.
const JOINED: &str = "chunks.bin";

/// The maximum size of a file that is joined, in bytes. A larger one is worth a request.
const MAX_JOINED_BYTES: u64 = 32 << 10;

/// Returns a part of the joined file as a response for `WebAssembly.instantiateStreaming`. A failed load is tried again by the
/// next call.
const FETCH_CHUNK: &str = r#"
let joined;
async function fetchChunk(start, length) {
    joined ??= fetch(new URL("./chunks.bin", import.meta.url)).then((response) => {
        if (!response.ok) throw new Error(`chunks.bin: HTTP ${response.status}`);
        return response.arrayBuffer();
    });
    const load = joined;
    load.catch(() => {
        if (joined === load) joined = undefined;
    });
    const part = new Uint8Array(await load, start, length);
    return new Response(part, { headers: { "Content-Type": "application/wasm" } });
}
"#;

/// Moves the small chunks of a folder into one file, and makes the loader read them from there.
pub fn join(folder: &Path) -> Result<()> {
    let loader = folder.join(LOADER);
    // Without a lazily loaded view there is none.
    let Ok(mut script) = fs::read_to_string(&loader) else {
        return Ok(());
    };
    let mut joined = Vec::new();
    for file in site::files_below(folder)? {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.starts_with("chunk_") || fs::metadata(&file)?.len() > MAX_JOINED_BYTES {
            continue;
        }
        let chunk = fs::read(&file)?;
        let fetched = format!("fetch(new URL(\"./{name}\", import.meta.url))");
        if !script.contains(&fetched) {
            bail!("{LOADER} does not fetch {name} as expected: has the splitter changed?");
        }
        let part = format!("fetchChunk({}, {})", joined.len(), chunk.len());
        script = script.replace(&fetched, &part);
        joined.extend(chunk);
        fs::remove_file(&file)?;
    }
    script.push_str(FETCH_CHUNK);
    fs::write(folder.join(JOINED), joined).with_context(|| format!("writing {JOINED}"))?;
    fs::write(&loader, script).with_context(|| format!("writing {LOADER}"))
}
