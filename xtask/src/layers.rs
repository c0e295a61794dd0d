//! `scripts/xtask layers`: compares the imports between the top-level modules of `src` with the table in
//! ARCHITECTURE.md.
//!
//! Reads the source as text: `crate::module` paths and the heads of `use crate::{…}` groups. Tests may import
//! anything, so test modules are skipped, and so are `lib.rs` and `main.rs`, which name every module.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
};

use anyhow::{Context, Result, bail};

/// The dependencies of each top-level module.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// Modules at the crate's root that only tests or macros use. They are not part of the architecture.
const IGNORED_MODULES: [&str; 4] = ["lib", "main", "crash_point", "test_log"];

/// Fails if the imports and the table differ. Lists each difference.
pub fn check() -> Result<()> {
    let source = read_source(Path::new("src"))?;
    let document = fs::read_to_string("ARCHITECTURE.md").context("reading ARCHITECTURE.md")?;
    let real = import_edges(&source);
    let mut faults = format_differences(&real, &table_edges(&document));
    let cyclic = modules_in_cycles(&real);
    if !cyclic.is_empty() {
        let _ = writeln!(faults, "  {} import each other in a circle", cyclic.join(", "));
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("ARCHITECTURE.md's table and the imports in src differ:\n{faults}")
}

/// Returns every source file that is not a test, with its path below `src`.
fn read_source(root: &Path) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
            if is_test(&name) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") {
                files.push((name, fs::read_to_string(&path)?));
            }
        }
    }
    Ok(files)
}

/// Returns true for `tests.rs` and `tests/`.
fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".rs").unwrap_or(name);
    stem == "tests"
}

/// Returns the edges in the source.
fn import_edges(files: &[(String, String)]) -> Edges {
    let modules: BTreeSet<String> = files.iter().map(|(path, _)| top_module(path)).collect();
    let mut edges = Edges::new();
    for (path, text) in files {
        let module = top_module(path);
        if IGNORED_MODULES.contains(&module.as_str()) {
            continue;
        }
        let from = edges.entry(module.clone()).or_default();
        from.extend(
            named_modules(&without_tests(text)).into_iter().filter(|to| {
                modules.contains(to) && *to != module && !IGNORED_MODULES.contains(&to.as_str())
            }),
        );
    }
    edges
}

fn top_module(path: &str) -> String {
    let first = path.split('/').next().unwrap_or(path);
    first.strip_suffix(".rs").unwrap_or(first).to_owned()
}

/// Returns the text without comments and without an inline `#[cfg(test)]` module, which is last in a file.
fn without_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.fold(String::new(), |mut code, line| {
        code.push_str(line);
        code.push('\n');
        code
    })
}

/// Returns the modules right after `crate::`, alone or as the heads of a group.
fn named_modules(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (_, rest) in code
        .match_indices("crate::")
        .map(|(at, word)| (at, &code[at + word.len()..]))
    {
        match rest.strip_prefix('{') {
            Some(group) => names.extend(group_heads(group)),
            None => names.extend(leading_identifier(rest)),
        }
    }
    names
}

/// Returns the first identifier of each item of a `use` group, up to its closing brace.
fn group_heads(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut heads = vec![];
    let mut expects_head = true;
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => expects_head = true,
            _ if expects_head && depth == 0 && !character.is_whitespace() => {
                heads.extend(leading_identifier(&group[at..]));
                expects_head = false;
            }
            _ => {}
        }
    }
    heads
}

fn leading_identifier(text: &str) -> Option<String> {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

/// Returns the edges in the document's table: rows of "| `module` | what | `other`, `another` |".
fn table_edges(document: &str) -> Edges {
    let rows = document.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ");
        let module = cells.next()?.strip_suffix('`')?;
        let depends = cells.last()?;
        let names = depends.split('`').skip(1).step_by(2).map(str::to_owned);
        Some((module.to_owned(), names.collect()))
    });
    rows.collect()
}

/// Returns the modules that are on a cycle, or between two cycles. Modules without an edge to the rest are
/// removed until none is left.
fn modules_in_cycles(edges: &Edges) -> Vec<String> {
    let mut rest = edges.clone();
    loop {
        let used: BTreeSet<String> = rest.values().flatten().cloned().collect();
        let known: BTreeSet<String> = rest.keys().cloned().collect();
        let before = rest.len();
        rest.retain(|module, to| used.contains(module) && !to.is_disjoint(&known));
        if rest.len() == before {
            return rest.into_keys().collect();
        }
    }
}

/// Returns one line for each edge or module that only one of the two has.
fn format_differences(real: &Edges, written: &Edges) -> String {
    let mut faults = String::new();
    let none = BTreeSet::new();
    for module in real.keys().chain(written.keys()).collect::<BTreeSet<_>>() {
        let (real_edges, written_edges) = (real.get(module), written.get(module));
        if written_edges.is_none() {
            let _ = writeln!(faults, "  {module} is not in the table");
        }
        if real_edges.is_none() {
            let _ = writeln!(faults, "  {module} is in the table and not in src");
        }
        let (real_edges, written_edges) = (real_edges.unwrap_or(&none), written_edges.unwrap_or(&none));
        for to in real_edges.difference(written_edges) {
            let _ = writeln!(faults, "  {module} imports {to}; the table does not allow it");
        }
        for to in written_edges.difference(real_edges) {
            let _ = writeln!(
                faults,
                "  the table says that {module} depends on {to}; it does not"
            );
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(pairs: &[(&str, &[&str])]) -> Edges {
        pairs
            .iter()
            .map(|(from, to)| {
                (
                    (*from).to_owned(),
                    to.iter().map(|name| (*name).to_owned()).collect(),
                )
            })
            .collect()
    }

    fn files(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn finds_paths_and_groups() {
        let source = files(&[
            (
                "a/mod.rs",
                "use crate::{\n    b::{C, d::E},\n    f,\n};\nfn x() { crate::g::h() }\n",
            ),
            (
                "b.rs",
                "// crate::a is not meant\nuse crate::b::own;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n",
            ),
            ("f.rs", "use crate::Unknown;"),
            ("g.rs", ""),
        ]);
        let expected = edges(&[("a", &["b", "f", "g"]), ("b", &[]), ("f", &[]), ("g", &[])]);
        assert_eq!(import_edges(&source), expected);
    }

    #[test]
    fn ignores_test_files() {
        assert!(is_test("http/tests.rs") && is_test("storage/tests"));
        assert!(!is_test("http/contests.rs") && !is_test("runs/stop_tests.rs") && !is_test("latest"));
    }

    #[test]
    fn reads_the_table() {
        let document = "| part | what | depends on |\n|---|---|---|\n| `a` | one \\| two | `b`, `c` |\n| `b` | three | nothing |\n";
        assert_eq!(table_edges(document), edges(&[("a", &["b", "c"]), ("b", &[])]));
    }

    #[test]
    fn finds_cycles() {
        let tree = edges(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
        assert!(modules_in_cycles(&tree).is_empty());
        let cycle = edges(&[("a", &["b"]), ("b", &["c", "d"]), ("c", &["b"]), ("d", &[])]);
        assert_eq!(modules_in_cycles(&cycle), ["b", "c"]);
    }

    #[test]
    fn names_each_difference() {
        let real = edges(&[("a", &["b"]), ("b", &[])]);
        let written = edges(&[("a", &["c"]), ("c", &[])]);
        let expected = "  a imports b; the table does not allow it\n  the table says that a depends on c; it does not\n  \
                        b is not in the table\n  c is in the table and not in src\n";
        assert_eq!(format_differences(&real, &written), expected);
    }
}
