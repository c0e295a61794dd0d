//! Merges the small files of code that several lazily loaded views share.
//!
//! The splitter makes one file for each set of views that share something: more than a hundred, most with less than 500 bytes as
//! sent. A view needs dozens of them, so over HTTP/1.1 and a slow network its first display took as many requests. Two files have
//! all of them instead: one has what conversations need, the other one the rest.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    ops::Range,
    path::Path,
};

use anyhow::{Context, Result, bail};

use crate::{merge, site};

/// The module of the splitter that loads its files.
const LOADER: &str = "__wasm_split.js";

/// The file of the chunks that a view of [`CONVERSATION_VIEWS`] needs.
const CONVERSATION_CHUNKS: &str = "conversation_chunks";

/// The file of the other chunks.
const OTHER_CHUNKS: &str = "other_chunks";

/// The lazily loaded files that every conversation needs, or any answer with code or formulas.
const CONVERSATION_VIEWS: [&str; 3] = ["colours", "conversation", "math"];

/// Merges the chunks of a folder into the two files, and makes the loader load these.
pub fn merge_chunks(folder: &Path) -> Result<()> {
    let loader = folder.join(LOADER);
    // Without a lazily loaded view there is none.
    let Ok(mut script) = fs::read_to_string(&loader) else {
        return Ok(());
    };
    let mut merged: BTreeMap<&str, Vec<Vec<u8>>> = BTreeMap::new();
    // How each of the two is loaded, as the splitter loads a chunk of it.
    let mut definitions = BTreeMap::new();
    // The files by the variables of the loader for the chunks in them.
    let mut files = BTreeMap::new();
    for path in site::files_below(folder)? {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.starts_with("chunk_") {
            continue;
        }
        let variable = ["__", &name].concat();
        let Some(place) = place_of_definition(&script, &variable) else {
            bail!("{LOADER} does not load {name} as expected: has the splitter changed?");
        };
        let (before, after) = (&script[..place.start], &script[place.end..]);
        let target = match views_of_next_chunk(before)?.any(|view| CONVERSATION_VIEWS.contains(&view)) {
            true => CONVERSATION_CHUNKS,
            false => OTHER_CHUNKS,
        };
        definitions.entry(target).or_insert_with(|| {
            let definition = script[place].replace(&variable, target);
            definition.replace(&[&name, ".wasm"].concat(), &[target, ".wasm"].concat())
        });
        script = [before, after].concat();
        merged.entry(target).or_default().push(fs::read(&path)?);
        files.insert(variable, target);
        fs::remove_file(&path)?;
    }
    for (name, modules) in merged {
        let path = folder.join(name).with_extension("wasm");
        let module = merge::merge(&modules).with_context(|| format!("merging {name}"))?;
        fs::write(&path, module).with_context(|| format!("writing {}", path.display()))?;
    }
    let definitions: String = definitions.into_values().collect();
    let (imports, rest) = script
        .split_once('\n')
        .with_context(|| format!("{LOADER} is one line"))?;
    let script = [imports, "\n", &definitions, &with_files(rest, &files)].concat();
    fs::write(&loader, script).with_context(|| format!("writing {LOADER}"))
}

/// Returns the place of the statement that defines how a chunk is loaded.
fn place_of_definition(script: &str, variable: &str) -> Option<Range<usize>> {
    const END: &str = ", []);\n";
    let start = script.find(&format!("const {variable} = makeLoad("))?;
    let length = script[start..].find(END)? + END.len();
    Some(start..start + length)
}

/// Names files in the lists of the chunks that a view needs, each of them once.
fn with_files(script: &str, files: &BTreeMap<String, &str>) -> String {
    let mut changed = String::new();
    let mut rest = script;
    while let Some((before, list)) = rest.split_once("[__chunk_") {
        let (list, after) = list.split_once(']').unwrap_or((list, ""));
        let names = list.split(", __chunk_").map(|number| format!("__chunk_{number}"));
        let found: BTreeSet<_> = names.filter_map(|name| files.get(&name).copied()).collect();
        let found: Vec<_> = found.into_iter().collect();
        changed.extend([before, "[", &found.join(", "), "]"]);
        rest = after;
    }
    changed + rest
}

/// Returns the names of the views that need a chunk: the splitter writes them as a comment before its loader.
fn views_of_next_chunk(script: &str) -> Result<impl Iterator<Item = &str>> {
    let comment = script
        .rsplit_once("/*")
        .and_then(|(_, rest)| rest.split_once("*/"));
    let (views, _) = comment.with_context(|| format!("{LOADER} does not name the views of a chunk"))?;
    Ok(views.split(',').map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_load_each_file_once() {
        let files = [(1, "a"), (2, "b"), (12, "a")].map(|(number, file)| (format!("__chunk_{number}"), file));
        let lists =
            "first(load, [__chunk_1, __chunk_12]); second(load, [__chunk_12, __chunk_2]); third(load, []);";
        let expected = "first(load, [a]); second(load, [a, b]); third(load, []);";
        assert_eq!(with_files(lists, &files.into()), expected);
    }
}
