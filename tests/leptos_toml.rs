//! `Leptos.toml` repeats a part of Cargo.toml: Leptos reads the former and `cargo leptos` the latter.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may panic"
)]

use toml::{Table, Value};

fn leptos_section(file: &str) -> Table {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    // Leptos searches for the heading at the start of a line.
    assert!(
        text.contains("\n[package.metadata.leptos]\n"),
        "{file} has no Leptos section at column 0"
    );
    let mut table: Table = text.parse().unwrap();
    for key in ["package", "metadata", "leptos"] {
        let Some(Value::Table(inner)) = table.remove(key) else {
            panic!("{file} has no table {key}")
        };
        table = inner;
    }
    table
}

#[test]
fn leptos_toml_matches_cargo_toml() {
    let cargo = leptos_section("Cargo.toml");
    let leptos = leptos_section("Leptos.toml");
    assert!(
        leptos.contains_key("output-name") && leptos.contains_key("site-root"),
        "{leptos:?}"
    );
    for (key, value) in leptos {
        assert_eq!(cargo.get(&key), Some(&value), "{key}");
    }
}

#[test]
fn leptos_reads_its_options_from_leptos_toml() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Leptos.toml");
    let options = leptos::config::get_configuration(Some(path))
        .unwrap()
        .leptos_options;
    assert_eq!((&*options.output_name, &*options.site_pkg_dir), ("parlor", "pkg"));
}
