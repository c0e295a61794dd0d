//! `scripts/xtask test-layout`: checks the places of unit tests. CONTRIBUTING.md states the rule: short tests are
//! an inline module `tests` at the end of the file, longer ones are in `tests.rs` or `tests/` next to it.

use std::{fs, path::PathBuf};

use anyhow::{Result, bail};

/// The folders whose code has unit tests. Those of scenario tests are modules of a test crate.
const CHECKED_FOLDERS: [&str; 4] = ["src", "crates", "xtask/src", "benches/load/src"];

/// The maximum length of an inline test module, in lines.
const MAX_INLINE_LINES: usize = 120;

/// Fails if tests are elsewhere. Lists each file.
pub fn check() -> Result<()> {
    let mut folders: Vec<PathBuf> = CHECKED_FOLDERS.map(PathBuf::from).into();
    let mut faults = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let mut report = |fault: &str| faults.push_str(&format!("  {}: {fault}\n", path.display()));
            if path
                .file_stem()
                .is_some_and(|name| is_misnamed(&name.to_string_lossy()))
            {
                report("tests belong to `tests.rs` or `tests/` next to the module");
            }
            if path.extension().is_some_and(|extension| extension == "rs") {
                find_fault(&fs::read_to_string(&path)?)
                    .into_iter()
                    .for_each(&mut report);
            }
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("these tests are not where CONTRIBUTING.md says:\n{faults}")
}

/// Returns true for `stop_tests` and the like.
fn is_misnamed(stem: &str) -> bool {
    stem.ends_with("_tests")
}

/// Checks the inline test module of a file. Returns its fault, if any.
fn find_fault(text: &str) -> Option<&'static str> {
    let (_, module) = text.split_once("\n#[cfg(test)]\nmod ")?;
    let (name, body) = module.split_once(" {\n")?;
    if name.contains(';') {
        return None;
    }
    // With the attribute, and the line of the name.
    let length = body.lines().count() + 2;
    let is_last = body.find("\n}\n").is_some_and(|end| end + 3 == body.len());
    match name {
        "tests" if !is_last => Some("the module `tests` is the last item"),
        "tests" if length > MAX_INLINE_LINES => {
            Some("the inline tests are too long, move them into `tests.rs`")
        }
        "tests" => None,
        _ => Some("an inline test module is named `tests`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inline(name: &str, lines: usize) -> String {
        format!(
            "fn a() {{}}\n\n#[cfg(test)]\nmod {name} {{\n{}}}\n",
            "    // x\n".repeat(lines)
        )
    }

    #[test]
    fn accepts_short_tests_at_the_end() {
        assert_eq!(find_fault(&inline("tests", MAX_INLINE_LINES - 3)), None);
        assert_eq!(
            find_fault("fn a() {}\n\n#[cfg(test)]\nmod tests;\n\nmod b {\n}\n"),
            None
        );
    }

    #[test]
    fn names_each_fault() {
        let fault = |text: &str| find_fault(text).unwrap_or_default().to_owned();
        assert!(fault(&inline("tests", MAX_INLINE_LINES - 2)).contains("too long"));
        assert!(fault(&inline("examples", 1)).contains("named"));
        assert!(fault(&(inline("tests", 1) + "fn b() {}\n")).contains("last item"));
        assert!(is_misnamed("stop_tests") && !is_misnamed("tests") && !is_misnamed("contests"));
    }
}
