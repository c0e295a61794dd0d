//! `scripts/xtask layers`: compares the imports between the top-level modules of `src` with the table in
//! ARCHITECTURE.md, and finds circles between the modules of `src/ui`.
//!
//! Reads the source as text: paths that begin with `crate::` or `super::`, with their groups. Tests may import
//! anything, so test modules are skipped, and so are `lib.rs` and `main.rs`, which name every module.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
};

use anyhow::{Context, Result, bail};

/// The dependencies of each module in a folder.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// Modules at the crate's root that only tests or macros use. They are not part of the architecture.
const IGNORED_MODULES: [&str; 4] = ["lib", "main", "crash_point", "test_log"];

/// Folders of `src` whose modules must not import each other in a circle either.
const FOLDERS_WITHOUT_CIRCLES: [&str; 1] = ["ui"];

/// Fails if the imports and the table differ, or if there is a circle. Lists each fault.
pub fn check() -> Result<()> {
    let source = read_source(Path::new("src"))?;
    let document = fs::read_to_string("ARCHITECTURE.md").context("reading ARCHITECTURE.md")?;
    let real = import_edges(&source, None);
    let mut faults = format_differences(&real, &table_edges(&document));
    faults.push_str(&format_circle("src", &real));
    for folder in FOLDERS_WITHOUT_CIRCLES {
        let edges = import_edges(&source, Some(folder));
        faults.push_str(&format_circle(&format!("src/{folder}"), &edges));
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("the imports in src and ARCHITECTURE.md's table differ, or there is a circle:\n{faults}")
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

/// Returns the edges between the modules of a folder, or between the top-level modules.
fn import_edges(files: &[(String, String)], folder: Option<&str>) -> Edges {
    let depth = usize::from(folder.is_some());
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (module_path(path), text))
        .filter(|(module, _)| folder.is_none() || module.first().map(String::as_str) == folder)
        .filter(|(module, _)| {
            let name = module.get(depth);
            name.is_some_and(|name| !IGNORED_MODULES.contains(&name.as_str()))
        })
        .collect();
    let modules: BTreeSet<String> = files.iter().map(|(module, _)| module[depth].clone()).collect();
    let mut edges = Edges::new();
    for (module, text) in files {
        let from = edges.entry(module[depth].clone()).or_default();
        let is_near = |path: &Vec<String>| path.iter().take(depth).eq(module.iter().take(depth));
        let named = named_paths(&without_tests(text), &module);
        let named = named.into_iter().filter(is_near);
        from.extend(
            named
                .filter_map(|path| path.get(depth).cloned())
                .filter(|to| modules.contains(to) && *to != module[depth]),
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
        assert_eq!(import_edges(&source, None), expected);
    }

    #[test]
    fn finds_paths_inside_a_folder() {
        let source = files(&[
            ("ui/mod.rs", "use self::{a::A, b::B};\n"),
            ("ui/a/mod.rs", "use super::{b, c::{self, C}};\nuse crate::x::b;\n"),
            ("ui/a/part.rs", "use super::super::d;\nuse super::c;\n"),
            ("ui/b.rs", "use crate::{x, ui::{c::*, d as other}};\n"),
            ("ui/c.rs", ""),
            ("ui/d.rs", "pub(in crate::ui) fn f() { super::a::g() }\n"),
            ("x.rs", "use crate::ui::a;\n"),
        ]);
        let expected = edges(&[
            ("a", &["b", "c", "d"]),
            ("b", &["c", "d"]),
            ("c", &[]),
            ("d", &["a"]),
        ]);
        let found = import_edges(&source, Some("ui"));
        assert_eq!(found, expected);
        assert_eq!(
            format_circle("src/ui", &found),
            "  src/ui: a, b, d import each other in a circle\n"
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
        let expected = "  a imports b; the table does not allow it\n  the table says that a depends on c; it does not\n  \
                        b is not in the table\n  c is in the table and not in src\n";
        assert_eq!(format_differences(&real, &written), expected);
    }
}
