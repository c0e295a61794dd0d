//! `scripts/xtask doc-paths`: checks that the paths and tests that the documents name in backticks exist.
//!
//! `crates/journal/src/hub/mod.rs` is a path, `crates/journal/src/hub/tests.rs::delivers_in_order` a test, and
//! `end2end/tests/stop.spec.ts: stops at once` the title of an end-to-end test.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

/// The folders whose paths are checked.
const FOLDERS: [&str; 13] = [
    "benches",
    "crates",
    "docs",
    "elements",
    "end2end",
    "examples",
    "migrations",
    "public",
    "scripts",
    "src",
    "style",
    "tests",
    "xtask",
];

/// Fails if a document names a path or a test that does not exist. Lists each.
pub fn check() -> Result<()> {
    let mut documents = vec![
        "ARCHITECTURE.md".into(),
        "CONTRIBUTING.md".into(),
        "README.md".into(),
        "SECURITY.md".into(),
    ];
    for entry in fs::read_dir("docs")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            documents.push(path);
        }
    }
    let mut faults = String::new();
    for document in documents {
        let text =
            fs::read_to_string(&document).with_context(|| format!("reading {}", document.display()))?;
        for name in quoted(&text) {
            if let Some(fault) = find_fault(name) {
                faults.push_str(&format!("  {}: `{name}`: {fault}\n", document.display()));
            }
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("these do not exist:\n{faults}")
}

/// Returns the texts in backticks.
pub fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.starts_with("```"));
    lines.flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Checks a name that is a path of the repository. Returns its fault, if any.
fn find_fault(name: &str) -> Option<&'static str> {
    let (path, test) = match name.split_once("::").or_else(|| name.split_once(": ")) {
        Some((path, test)) => (path, Some(test)),
        None => (name, None),
    };
    let folder = path.split('/').next().unwrap_or_default();
    let is_path = path.contains('/') && FOLDERS.contains(&folder);
    if !is_path || path.contains(['*', '{', '<', ' ']) {
        return None;
    }
    let path = Path::new(path);
    match test {
        _ if !path.exists() => Some("no such file"),
        Some(test) if !fs::read_to_string(path).is_ok_and(|text| has_test(&text, test)) => {
            Some("no such test")
        }
        _ => None,
    }
}

/// Returns true if a source file has a Rust test with this name, or an end-to-end test with this title.
fn has_test(source: &str, test: &str) -> bool {
    let function = format!("fn {test}(");
    let mut functions = source.match_indices(&function);
    functions.any(|(start, _)| is_test(&source[..start])) || source.contains(&format!("test('{test}'"))
}

/// Returns true if the function after this text is a test: it has such an attribute, or is a case of the storage's suite.
fn is_test(before: &str) -> bool {
    let attributes = before.rsplit("\n\n").next().unwrap_or_default();
    attributes.contains("test]")
        || attributes.contains("test(")
        || attributes.trim_end().ends_with("pub async")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_paths_in_backticks() {
        let text = "See `src/a.rs` and `x`.\n```text\nsrc/b.rs\n```\n";
        assert_eq!(quoted(text).collect::<Vec<_>>(), ["src/a.rs", "x"]);
    }

    #[test]
    fn names_missing_files_only() {
        assert_eq!(find_fault("src/no_such_file.rs"), Some("no such file"));
        assert_eq!(find_fault("/api/events"), None);
        assert!(has_test("#[test]\nfn begins() {}\ntest('stops', …", "begins"));
        assert!(!has_test("#[test]\nfn other() {}\n\nfn begins() {}", "begins"));
        assert!(has_test("test('stops at once', …", "stops at once"));
        assert!(!has_test("// begins, stops", "begins"));
        assert_eq!(find_fault("application/json"), None);
    }
}
