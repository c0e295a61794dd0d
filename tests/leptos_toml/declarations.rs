//! Reads the settings' names, types and docs from their source: plain text, as rustfmt writes it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// A setting as declared in `crates/base/src/settings`.
#[derive(Debug)]
pub struct Setting {
    /// The section's path, such as `tools.pubmed`.
    pub section: String,
    pub name: String,
    /// The Rust type.
    pub kind: String,
    pub doc: String,
    /// False for optional settings and for those of list entries.
    pub has_default: bool,
}

/// The fields of a struct, or of an enum's variant.
#[derive(Debug, Default)]
pub struct Struct {
    pub fields: Vec<Field>,
    /// The struct that it is read as (`try_from`).
    read_as: Option<String>,
}

#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub kind: String,
    /// The doc comment in one line, without backticks.
    pub doc: String,
}

/// Returns all settings in the order of their declaration.
pub fn declared_settings() -> Vec<Setting> {
    let folder = Path::new("crates/base/src/settings");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| !path.ends_with("tests.rs"))
        .collect();
    files.sort();
    let structs = read_structs(&files);
    let mut settings = Vec::new();
    collect_settings(&structs, "Settings", "", true, &mut settings);
    settings
}

fn collect_settings(
    structs: &BTreeMap<String, Struct>,
    name: &str,
    section: &str,
    has_defaults: bool,
    settings: &mut Vec<Setting>,
) {
    let name = structs[name].read_as.as_deref().unwrap_or(name);
    for field in &structs[name].fields {
        if field.kind == "IgnoredAny" {
            continue;
        }
        let inner = field
            .kind
            .strip_prefix("Vec<")
            .or_else(|| field.kind.strip_prefix("Option<"));
        let has_default = has_defaults && !field.kind.starts_with("Option<");
        let kind = inner.map_or(&*field.kind, |inner| inner.trim_end_matches('>'));
        if structs.contains_key(kind) {
            let path = [section, &field.name].join(".");
            let path = path.trim_start_matches('.');
            collect_settings(structs, kind, path, has_defaults && inner.is_none(), settings);
        } else {
            settings.push(Setting {
                section: section.to_owned(),
                name: field.name.clone(),
                kind: field.kind.clone(),
                doc: field.doc.clone(),
                has_default,
            });
        }
    }
}

/// Returns the structs of the files by their names. Fields that are not read (`serde(skip)`) are left out.
pub fn read_structs(files: &[PathBuf]) -> BTreeMap<String, Struct> {
    let mut structs: BTreeMap<String, Struct> = BTreeMap::new();
    for file in files {
        let (mut name, mut read_as) = (None, None);
        let (mut doc, mut is_skipped) = (Vec::new(), false);
        for line in fs::read_to_string(file).unwrap().lines() {
            let line = line.trim();
            let line = line.strip_prefix("pub ").unwrap_or(line);
            if let Some(text) = line.strip_prefix("///") {
                doc.push(text.trim().replace('`', ""));
            } else if let Some(entry) = line.strip_prefix("#[serde(try_from = \"") {
                read_as = entry.split('"').next().map(ToOwned::to_owned);
            } else if line.starts_with("#[") {
                is_skipped |= line == "#[serde(skip)]";
            } else {
                let opened = line.strip_suffix(" {").unwrap_or_default();
                let opened = opened.strip_prefix("struct ").unwrap_or(opened);
                let field = line.strip_suffix(',').and_then(|line| line.split_once(": "));
                if is_identifier(opened) {
                    name = Some(opened.to_owned());
                    structs.entry(opened.to_owned()).or_default().read_as = read_as.take();
                } else if let (Some(name), Some((field, kind)), false) = (&name, field, is_skipped)
                    && is_identifier(field)
                {
                    structs.entry(name.clone()).or_default().fields.push(Field {
                        name: field.to_owned(),
                        kind: kind.to_owned(),
                        doc: doc.join(" "),
                    });
                } else if line == "}" {
                    name = None;
                }
                doc.clear();
                is_skipped = false;
            }
        }
    }
    structs
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
