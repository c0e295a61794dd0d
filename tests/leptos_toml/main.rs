//! The shipped `Leptos.toml`: it names every setting of `crates/base/src/settings` with its doc and its default, and it
//! repeats a part of Cargo.toml, since Leptos reads the former and `cargo leptos` the latter.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may panic"
)]

mod declarations;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use parlor_base::settings::{Overrides, Settings};
use toml::Table;

use self::declarations::{Setting, declared_settings, read_structs};

fn read_file(file: &str) -> String {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(path).unwrap()
}

/// A line `# name = value` of the file, with the comment above it.
#[derive(Debug)]
struct ShippedSetting {
    doc: String,
    /// The value as written, without the comment after it.
    value: String,
}

/// Returns all settings that the file names, by their section and name. Examples may repeat one.
fn shipped_settings() -> BTreeMap<(String, String), Vec<ShippedSetting>> {
    let mut settings: BTreeMap<_, Vec<ShippedSetting>> = BTreeMap::new();
    let (mut section, mut doc) = (String::new(), Vec::new());
    for line in read_file("Leptos.toml").lines() {
        let text = line.trim_start_matches('#').trim_start();
        let name = text.split_once(" = ").map(|(name, _)| name);
        if let Some(heading) = text.strip_prefix('[') {
            section = heading.trim_matches(['[', ']']).to_owned();
            doc.clear();
        } else if let Some(name) =
            name.filter(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
        {
            // A comment after the value stands apart from it.
            let value = text[name.len() + 3..]
                .split("   #")
                .next()
                .unwrap_or_default()
                .trim();
            settings
                .entry((section.clone(), name.to_owned()))
                .or_default()
                .push(ShippedSetting {
                    doc: doc.join(" "),
                    value: value.to_owned(),
                });
            doc.clear();
        } else if text.is_empty() {
            doc.clear();
        } else {
            doc.push(text);
        }
    }
    settings.retain(|(section, _), _| !section.starts_with("package"));
    settings
}

fn read_settings(text: &str) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Leptos.toml");
    fs::write(&file, text).unwrap();
    let overrides = Overrides {
        file: Some(file),
        ..Overrides::default()
    };
    let mut settings = Settings::read(&overrides, |_| None).map_err(|error| error.to_string())?;
    // Its default is of the user.
    settings.server.data = None;
    settings.file = None;
    Ok(settings)
}

#[test]
fn every_setting_is_listed_with_its_doc() {
    let (declared, shipped) = (declared_settings(), shipped_settings());
    assert!(declared.len() > 80, "{} settings", declared.len());
    for Setting {
        section, name, doc, ..
    } in &declared
    {
        assert!(!doc.is_empty(), "the setting {section}.{name} has no doc comment");
        let found = shipped.get(&(section.clone(), name.clone()));
        let docs: BTreeSet<&str> = found
            .into_iter()
            .flatten()
            .map(|setting| setting.doc.as_str())
            .filter(|doc| !doc.is_empty())
            .collect();
        assert_eq!(
            docs,
            BTreeSet::from([doc.as_str()]),
            "Leptos.toml must have in its section {section}:\n# {doc}\n# {name} = …\n"
        );
    }
    let declared: BTreeSet<_> = declared
        .into_iter()
        .map(|setting| (setting.section, setting.name))
        .collect();
    let unknown: Vec<_> = shipped.keys().filter(|key| !declared.contains(key)).collect();
    assert!(unknown.is_empty(), "not in crates/base/src/settings: {unknown:?}");
}

#[test]
fn stated_values_are_the_defaults() {
    assert_eq!(
        read_settings(&read_file("Leptos.toml")).unwrap(),
        Settings::default()
    );
    let shipped = shipped_settings();
    let mut tables: BTreeMap<String, String> = BTreeMap::new();
    for setting in declared_settings().iter().filter(|setting| setting.has_default) {
        let values = &shipped[&(setting.section.clone(), setting.name.clone())];
        let lines = tables.entry(setting.section.clone()).or_default();
        *lines += &format!("{} = {}\n", setting.name, values[0].value);
    }
    assert!(tables.len() > 9, "{tables:?}");
    for (section, lines) in tables {
        let settings = read_settings(&format!("[{section}]\n{lines}")).unwrap();
        assert_eq!(settings, Settings::default(), "{section}");
    }
}

#[test]
fn durations_must_be_positive() {
    const MAY_BE_ZERO: [&str; 2] = ["log.keep", "timeouts.undo"];
    let mut checked = 0;
    for setting in declared_settings() {
        let (section, name) = (&setting.section, &setting.name);
        if setting.kind != "Duration" || section == "mcp" {
            continue;
        }
        let read = |value: &str| read_settings(&format!("[{section}]\n{name} = {value}"));
        assert!(read("'5s'").is_ok(), "{section}.{name}");
        for value in ["'-1s'", "'nan'", "'1e300s'", "'5'", "5", "5.0"] {
            assert!(read(value).is_err(), "{section}.{name} = {value}");
        }
        let may_be_zero = MAY_BE_ZERO.contains(&&*format!("{section}.{name}"));
        for value in ["'0s'", "'0.0001us'", "'900000h'"] {
            assert_eq!(read(value).is_ok(), may_be_zero, "{section}.{name} = {value}");
        }
        checked += 1;
    }
    assert!(checked > 15, "{checked} durations");
}

/// Checks that `parlor serve --help` says of a setting what its doc begins with, and its default.
#[test]
fn help_matches_the_settings() {
    let structs = read_structs(&[PathBuf::from("src/command_line/mod.rs")]);
    let (declared, shipped) = (declared_settings(), shipped_settings());
    let mut checked = 0;
    for option in &structs["ServeOptions"].fields {
        let Some(setting) = declared
            .iter()
            .find(|setting| setting.section == "server" && setting.name == option.name)
        else {
            continue;
        };
        let subject = setting.doc.split(['.', ';', ',']).next().unwrap_or_default();
        assert!(option.doc.starts_with(subject), "{}: {}", option.name, option.doc);
        if setting.has_default {
            let default = &shipped[&("server".to_owned(), option.name.clone())][0].value;
            let default = format!("[default: {}]", default.trim_matches('"'));
            assert!(option.doc.contains(&default), "{}: {}", option.name, option.doc);
        }
        checked += 1;
    }
    assert_eq!(checked, 2, "addr and data");
}

/// Returns the Leptos section of the settings file, as Leptos finds it.
fn section_of_settings_file() -> Table {
    let text = read_file("Leptos.toml");
    // Leptos searches for the heading at the start of a line.
    assert!(
        text.contains("\n[package.metadata.leptos]\n"),
        "Leptos.toml has no Leptos section at column 0"
    );
    let file: Table = text.parse().unwrap();
    let section = file["package"]["metadata"]["leptos"].as_table();
    section.expect("the section is a table").clone()
}

#[test]
fn leptos_toml_matches_cargo_toml() {
    let cargo: Table = read_file("Cargo.toml").parse().unwrap();
    // A list of applications, each made of two packages.
    let cargo = &cargo["workspace"]["metadata"]["leptos"][0];
    let leptos = section_of_settings_file();
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
