//! README.md lists the keyboard shortcuts. The source of the views is read as text.

use std::{collections::BTreeSet, fs, path::Path};

/// Collects the values of `aria-keyshortcuts` in the views of a folder.
fn collect_shortcuts(folder: &Path, shortcuts: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                collect_shortcuts(&path, shortcuts);
            }
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for value in source.split("aria-keyshortcuts=").skip(1) {
            // The value may be an expression with the text.
            let line = value.lines().next().unwrap_or_default();
            let text = line.split('"').nth(1);
            let text = text.unwrap_or_else(|| panic!("{}: no text in this line: {line}", path.display()));
            shortcuts.extend(text.split_whitespace().map(str::to_owned));
        }
    }
}

#[test]
fn readme_lists_every_shortcut() {
    let mut shortcuts = BTreeSet::new();
    collect_shortcuts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut shortcuts);
    assert!(shortcuts.len() > 3, "{shortcuts:?}");
    let readme = include_str!("../../../../README.md");
    for shortcut in shortcuts {
        let key = shortcut.replace("Control", "Ctrl").replace("Escape", "Esc");
        assert!(
            readme.contains(&format!("`{key}`")),
            "README.md must list `{key}`"
        );
    }
}
