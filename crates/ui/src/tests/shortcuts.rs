//! README.md lists the keyboard shortcuts, and no view has keys of its own. The source of the views is read as text.

use std::{fs, path::Path};

use crate::commands::{Scope, Shortcut, key_labels};

/// Calls for each file of a folder, without the tests.
fn for_each_source(folder: &Path, call: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                for_each_source(&path, call);
            }
        } else {
            call(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn views_take_their_keys_from_the_table() {
    let mut found = 0;
    for_each_source(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut |path, source| {
            for value in source.split("aria-keyshortcuts=").skip(1) {
                let line = value.lines().next().unwrap_or_default();
                found += 1;
                assert!(
                    line.contains(".aria()"),
                    "{}: not of the table: {line}",
                    path.display()
                );
            }
            let listens = source.contains("window_event_listener(ev::keydown");
            assert_eq!(listens, path.ends_with("commands/mod.rs"), "{}", path.display());
        },
    );
    assert!(found > 3, "{found}");
}

#[test]
fn readme_lists_every_shortcut() {
    let mut expected = String::from("| keys | action | place |\n|---|---|---|\n");
    for scope in Scope::ALL {
        let of_scope = Shortcut::ALL
            .iter()
            .filter(|shortcut| shortcut.entry().scope == *scope);
        for entry in of_scope.map(|shortcut| shortcut.entry()) {
            let keys: Vec<_> = key_labels(entry.keys, false)
                .into_iter()
                .map(|keys| format!("`{keys}`"))
                .collect();
            let place = scope.heading().to_lowercase();
            expected.push_str(&format!("| {} | {} | {place} |\n", keys.join(" "), entry.name));
        }
    }
    let readme = include_str!("../../../../README.md");
    assert!(
        readme.contains(&expected),
        "README.md must have these lines below *Keys*:\n\n{expected}"
    );
}
