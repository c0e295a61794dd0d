//! `scripts/xtask layers`: compares the dependencies between the crates with the table in ARCHITECTURE.md, and finds
//! circles between the modules of the crates that are large.
//!
//! Cargo keeps the crates in layers, so of the crates only the document is checked. Modules are read as text: paths that
//! begin with `crate::` or `super::`, with their groups. Tests may import anything, so test modules are skipped, and so are
//! `lib.rs` and `main.rs`, which name every module.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
};

use anyhow::{Context, Result, bail};

/// The dependencies of each crate, or of each module in a folder.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// Modules at a crate's root that are not part of the architecture.
const IGNORED_MODULES: [&str; 2] = ["lib", "main"];

/// Each crate costs a manifest and a build of its own. A part that changes with another one is a module of that.
const MAX_CRATES: usize = 15;

/// Folders whose modules must not import each other in a circle.
const FOLDERS_WITHOUT_CIRCLES: [&str; 2] = ["src", "crates/ui/src"];

/// Fails if the dependencies of the crates and the table differ, or if there is a circle. Lists each fault.
pub fn check() -> Result<()> {
    let document = fs::read_to_string("ARCHITECTURE.md").context("reading ARCHITECTURE.md")?;
    let crates = crate_edges(Path::new("crates"))?;
    let mut faults = format_differences(&crates, &table_edges(&document));
    if crates.len() > MAX_CRATES {
        writeln!(faults, "  {} crates; at most {MAX_CRATES}", crates.len())?;
    }
    for folder in FOLDERS_WITHOUT_CIRCLES {
        let edges = import_edges(&read_source(Path::new(folder))?);
        faults.push_str(&format_circle(folder, &edges));
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("the crates and ARCHITECTURE.md's table differ, or there is a circle:\n{faults}")
}

/// Returns the edges between the crates in a folder.
fn crate_edges(folder: &Path) -> Result<Edges> {
    let mut edges = Edges::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let manifest = entry.path().join("Cargo.toml");
        let text =
            fs::read_to_string(&manifest).with_context(|| format!("reading {}", manifest.display()))?;
        edges.insert(
            entry.file_name().to_string_lossy().into_owned(),
            local_dependencies(&text),
        );
    }
    Ok(edges)
}

/// Returns the crates of this workspace in the section `[dependencies]` of a manifest.
fn local_dependencies(manifest: &str) -> BTreeSet<String> {
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section.lines().filter_map(|line| line.strip_prefix("parlor-"));
    names
        .filter_map(|name| name.split(['.', ' ']).next())
        .map(str::to_owned)
        .collect()
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

/// Returns the edges between the modules at a crate's root.
fn import_edges(files: &[(String, String)]) -> Edges {
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (module_path(path), text))
        .filter(|(module, _)| !IGNORED_MODULES.contains(&module[0].as_str()))
        .collect();
    let modules: BTreeSet<String> = files.iter().map(|(module, _)| module[0].clone()).collect();
    let mut edges = Edges::new();
    for (module, text) in files {
        let from = edges.entry(module[0].clone()).or_default();
        let named = named_paths(&without_tests(text), &module).into_iter();
        from.extend(
            named
                .filter_map(|path| path.first().cloned())
                .filter(|to| modules.contains(to) && *to != module[0]),
        );
    }
    edges
}

/// Returns the module of a file by its path below `src`.
fn module_path(path: &str) -> Vec<String> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.split('/').map(str::to_owned).collect()
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

/// Returns the paths in the crate that the code of a module names, from the crate's root.
fn named_paths(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let parent = &module[..module.len() - 1];
    let mut paths = Vec::new();
    for (word, base) in [("crate::", &[][..]), ("super::", parent)] {
        for (at, _) in code.match_indices(word) {
            expand_path(&code[at + word.len()..], base.to_vec(), &mut paths);
        }
    }
    paths
}

/// Adds the paths that the code begins with, below `path`. Returns the code after them.
fn expand_path<'a>(code: &'a str, mut path: Vec<String>, paths: &mut Vec<Vec<String>>) -> &'a str {
    let mut rest = code;
    while let Some(name) = leading_identifier(rest) {
        rest = &rest[name.len()..];
        if name == "super" {
            path.pop();
        } else {
            path.push(name);
        }
        match rest.strip_prefix("::") {
            Some(more) => rest = more,
            None => break,
        }
    }
    let Some(mut group) = rest.strip_prefix('{') else {
        paths.push(path);
        return rest;
    };
    loop {
        group = expand_path(group.trim_start(), path.clone(), paths);
        // An item may end with a star or another name.
        let end = group.find([',', '}']).unwrap_or(group.len());
        match group[end..].strip_prefix(',') {
            Some(more) => group = more,
            None => return group.get(end + 1..).unwrap_or_default(),
        }
    }
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

/// Returns a line about the circle in a folder, if there is one.
fn format_circle(folder: &str, edges: &Edges) -> String {
    match modules_in_cycles(edges) {
        cyclic if cyclic.is_empty() => String::new(),
        cyclic => format!(
            "  {folder}: {} import each other in a circle\n",
            cyclic.join(", ")
        ),
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
            let _ = writeln!(faults, "  {module} is in the table and not in crates");
        }
        let (real_edges, written_edges) = (real_edges.unwrap_or(&none), written_edges.unwrap_or(&none));
        for to in real_edges.difference(written_edges) {
            let _ = writeln!(faults, "  {module} depends on {to}; the table does not say so");
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
    fn finds_paths_from_the_parent() {
        let source = files(&[
            ("a/mod.rs", "use super::{b, c::{self, C}};\n"),
            ("a/part.rs", "use super::super::d;\nuse super::other;\n"),
            ("b.rs", "use crate::{c::*, d as other};\n"),
            ("c.rs", ""),
            ("d.rs", "pub(in crate::d) fn f() { super::a::g() }\n"),
        ]);
        let expected = edges(&[
            ("a", &["b", "c", "d"]),
            ("b", &["c", "d"]),
            ("c", &[]),
            ("d", &["a"]),
        ]);
        let found = import_edges(&source);
        assert_eq!(found, expected);
        assert_eq!(
            format_circle("src", &found),
            "  src: a, b, d import each other in a circle\n"
        );
    }

    #[test]
    fn finds_dependencies_in_a_manifest() {
        let manifest = "[package]\nname = \"parlor-x\"\n\n[dependencies]\nbytes = \"1\"\nparlor-a.workspace = true\n\
                        parlor-b = { workspace = true, features = [\"f\"] }\n\n[dev-dependencies]\nparlor-c.workspace = true\n";
        assert_eq!(
            local_dependencies(manifest),
            BTreeSet::from(["a".to_owned(), "b".to_owned()])
        );
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
        let expected = "  a depends on b; the table does not say so\n  the table says that a depends on c; it does not\n  \
                        b is not in the table\n  c is in the table and not in crates\n";
        assert_eq!(format_differences(&real, &written), expected);
    }
}
