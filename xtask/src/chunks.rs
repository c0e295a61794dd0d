//! Joins the small files of code that several lazily loaded views share.
//!
//! The splitter makes one file for each set of views that share something: more than a hundred, most with less than 500 bytes as
//! sent. A view needs dozens of them, so over HTTP/1.1 and a slow network its first display took as many requests. Two files have
//! all of them instead, and compress better: one has what conversations need, the other one the rest. Larger ones stay alone.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::site;

/// The module of the splitter that loads its files.
const LOADER: &str = "__wasm_split.js";

/// The file of the chunks that a view of [`CONVERSATION_VIEWS`] needs, one after the other.
const CONVERSATION_CHUNKS: &str = "conversation_chunks.bin";

/// The file of the other chunks.
const OTHER_CHUNKS: &str = "other_chunks.bin";

/// The lazily loaded files that every conversation needs, or any answer with code or formulas.
const CONVERSATION_VIEWS: [&str; 3] = ["colours", "conversation", "math"];

/// The maximum size of a file that is joined, in bytes. A larger one is worth a request.
const MAX_JOINED_BYTES: u64 = 32 << 10;

/// Returns a part of a joined file as a response for `WebAssembly.instantiateStreaming`. A failed load is tried again by the
/// next call.
const FETCH_CHUNK: &str = r#"
const joined = {};
async function fetchChunk(name, start, length) {
    joined[name] ??= fetch(new URL(name, import.meta.url)).then((response) => {
        if (!response.ok) throw new Error(`${name}: HTTP ${response.status}`);
        return response.arrayBuffer();
    });
    const load = joined[name];
    load.catch(() => {
        if (joined[name] === load) joined[name] = undefined;
    });
    const part = new Uint8Array(await load, start, length);
    return new Response(part, { headers: { "Content-Type": "application/wasm" } });
}
"#;

/// Moves the small chunks of a folder into the two files, and makes the loader read them from there.
pub fn join(folder: &Path) -> Result<()> {
    let loader = folder.join(LOADER);
    // Without a lazily loaded view there is none.
    let Ok(mut script) = fs::read_to_string(&loader) else {
        return Ok(());
    };
    for view in CONVERSATION_VIEWS {
        if !folder.join(format!("split_{view}.wasm")).exists() {
            bail!("no view is split into the file {view}, which {} names", file!());
        }
    }
    let mut joined: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
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
        let Some((before, after)) = script.split_once(&fetched) else {
            bail!("{LOADER} does not fetch {name} as expected: has the splitter changed?");
        };
        let target = match views_of_next_chunk(before)?.any(|view| CONVERSATION_VIEWS.contains(&view)) {
            true => CONVERSATION_CHUNKS,
            false => OTHER_CHUNKS,
        };
        let content = joined.entry(target).or_default();
        let (start, length) = (content.len(), chunk.len());
        script = format!("{before}fetchChunk(\"./{target}\", {start}, {length}){after}");
        content.extend(chunk);
        fs::remove_file(&file)?;
    }
    script.push_str(FETCH_CHUNK);
    for (name, content) in joined {
        fs::write(folder.join(name), content).with_context(|| format!("writing {name}"))?;
    }
    fs::write(&loader, script).with_context(|| format!("writing {LOADER}"))
}

/// Returns the names of the views that need a chunk: the splitter writes them as a comment before its loader.
fn views_of_next_chunk(script: &str) -> Result<impl Iterator<Item = &str>> {
    let comment = script
        .rsplit_once("/*")
        .and_then(|(_, rest)| rest.split_once("*/"));
    let (views, _) = comment.with_context(|| format!("{LOADER} does not name the views of a chunk"))?;
    Ok(views.split(',').map(str::trim))
}
