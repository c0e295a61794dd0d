//! `scripts/xtask texts`: finds texts in views that belong into a `texts.rs`.
//!
//! A screen's folder has one module with all texts that people read in it, so that languages can follow without a search. Code
//! is read as text: the literals in `view!` that are children or values of attributes that people read, and those given to a
//! few functions whose first argument is a text.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};

/// Folders whose screens have modules of texts.
const FOLDERS: [&str; 2] = ["crates/ui/src", "src/http"];

/// Attributes whose value people read.
const READ_ATTRIBUTES: [&str; 4] = ["title", "aria-label", "placeholder", "alt"];

/// Properties of components whose value people read if it begins with a capital letter; as attributes they name form fields.
const READ_PROPERTIES: [&str; 2] = ["name", "label"];

/// Calls whose first argument people read.
const CALLS_WITH_TEXT: [&str; 3] = ["IconButton::new(", "Command::new(", ".show("];

/// The page of development builds, which only developers read.
const FOR_DEVELOPERS: [&str; 2] = ["crates/ui/src/design", "src/http/design.rs"];

/// Fails if a view has a text of its own. Lists each.
pub fn check() -> Result<()> {
    let mut faults = String::new();
    for folder in FOLDERS {
        check_folder(Path::new(folder), &mut faults)?;
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("these texts belong into texts.rs of their screen (docs/changes.md, A text):\n{faults}")
}

/// Checks the files of a folder, except those that only developers read.
fn check_folder(folder: &Path, faults: &mut String) -> Result<()> {
    let entries = fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_exception = FOR_DEVELOPERS.iter().any(|other| path == Path::new(other));
        if is_exception || ["tests", "tests.rs", "texts.rs"].contains(&&*name) {
            continue;
        }
        if path.is_dir() {
            check_folder(&path, faults)?;
        } else if name.ends_with(".rs") {
            for (line, fault) in find_texts(&fs::read_to_string(&path)?) {
                let _ = writeln!(faults, "  {}:{line}: {fault}", path.display());
            }
        }
    }
    Ok(())
}

/// Returns the lines and the texts of views in a file.
fn find_texts(source: &str) -> Vec<(usize, String)> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or(source);
    let mut faults = Vec::new();
    let mut views = Views::default();
    for token in Tokens(code, 0) {
        let before = code[..token.start].trim_end();
        let line = || 1 + code[..token.start].matches('\n').count();
        match token.kind {
            Kind::Text => {
                let text = &code[token.start..token.end];
                if is_read(before, &code[token.end..], text, views.is_inside()) {
                    faults.push((line(), format!("put {text} into texts.rs")));
                }
            }
            Kind::Open => views.open(before),
            Kind::Close => views.close(),
            // The macro would show the path itself.
            Kind::Path if views.is_inside() && ends_tag(before) => {
                faults.push((line(), "a text as a child needs braces: {texts::…}".to_owned()));
            }
            Kind::Path => {}
        }
    }
    faults
}

/// Returns true if people read a literal, by the code before and after it.
fn is_read(before: &str, after: &str, text: &str, is_in_view: bool) -> bool {
    if text.chars().filter(|c| c.is_alphabetic()).nth(1).is_none() {
        return false;
    }
    let begins_with_capital = text
        .chars()
        .find(|c| c.is_alphabetic())
        .is_some_and(char::is_uppercase);
    if CALLS_WITH_TEXT.iter().any(|call| before.ends_with(call)) {
        return true;
    }
    if !is_in_view {
        return false;
    }
    if let Some(before) = before.strip_suffix('=') {
        let from = before.rfind(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
        let name = &before[from.map_or(0, |from| from + 1)..];
        return READ_ATTRIBUTES.contains(&name) || (READ_PROPERTIES.contains(&name) && begins_with_capital);
    }
    let is_block = before.ends_with('{') && after.trim_start().starts_with('}');
    ends_tag(before) || before.ends_with(['}', '"']) || (is_block && begins_with_capital)
}

/// Returns true if the code ends with a tag of a view, and not with an arrow or a comparison.
fn ends_tag(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before).trim_start();
    before.ends_with('>') && !["=>", "->", " >"].iter().any(|end| line.ends_with(end))
}

/// The open brackets, and those of them that a `view!` has opened.
#[derive(Default)]
struct Views {
    open: Vec<bool>,
}

impl Views {
    fn open(&mut self, before: &str) {
        self.open.push(before.ends_with("view!"));
    }

    fn close(&mut self) {
        self.open.pop();
    }

    fn is_inside(&self) -> bool {
        self.open.contains(&true)
    }
}

/// A part of code.
#[derive(Debug, PartialEq, Eq)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A string literal, with its quotes.
    Text,
    Open,
    Close,
    /// The beginning of a path `texts::…`.
    Path,
}

/// The tokens of code from a position, without comments and characters.
struct Tokens<'a>(&'a str, usize);

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let Self(code, start) = *self;
            let rest = &code[start..];
            let first = rest.chars().next()?;
            let (kind, length) = match first {
                '/' if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
                '"' => (Some(Kind::Text), string_length(rest)),
                'r' if rest.starts_with("r\"") || rest.starts_with("r#\"") => (None, raw_string_length(rest)),
                // A lifetime has no end.
                '\'' => (None, character_length(rest)),
                '{' | '(' | '[' => (Some(Kind::Open), 1),
                '}' | ')' | ']' => (Some(Kind::Close), 1),
                _ if first.is_alphanumeric() || first == '_' => {
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                    let length = end.unwrap_or(rest.len());
                    let is_path = rest[length..].starts_with("::") && &rest[..length] == "texts";
                    (is_path.then_some(Kind::Path), length)
                }
                _ => (None, first.len_utf8()),
            };
            self.1 = start + length;
            if let Some(kind) = kind {
                return Some(Token {
                    kind,
                    start,
                    end: self.1,
                });
            }
        }
    }
}

fn string_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw_string_length(rest: &str) -> usize {
    let (open, end) = if rest.starts_with("r#") {
        (3, "\"#")
    } else {
        (2, "\"")
    };
    rest[open..]
        .find(end)
        .map_or(rest.len(), |at| open + at + end.len())
}

fn character_length(rest: &str) -> usize {
    let mut inside = rest.chars().skip(1);
    match (inside.next(), inside.next()) {
        (Some('\\'), _) => rest[3..].find('\'').map_or(1, |at| 3 + at + 1),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> Vec<String> {
        find_texts(code).into_iter().map(|(_, fault)| fault).collect()
    }

    #[test]
    fn finds_children_and_read_attributes() {
        for (view, text) in [
            (r#"<p>"Hello there"</p>"#, "Hello there"),
            (r#"<p class="a">{icon()} "Save"</p>"#, "Save"),
            (r#"<b>{x}</b> " and more""#, " and more"),
            (
                r#"<p>{move || if a > 1 { "Many" } else { texts::ONE }}</p>"#,
                "Many",
            ),
            (r#"<a aria-label="Close" href="/x">{icon}</a>"#, "Close"),
            (r#"<img alt="A picture"/>"#, "A picture"),
            (r#"<input placeholder="ann"/>"#, "ann"),
            (r#"<CopyButton name="Copy" text=x/>"#, "Copy"),
            (r#"{IconButton::new("Close", icon, press).view()}"#, "Close"),
        ] {
            let code = ["fn f() {\n    view! {\n        ", view, "\n    }\n}\n"].concat();
            let expected = [(3, ["put \"", text, "\" into texts.rs"].concat())];
            assert_eq!(find_texts(&code), expected, "{view}");
        }
        assert_eq!(found(r#"toasts.show("It is done.");"#).len(), 1);
    }

    #[test]
    fn leaves_what_people_do_not_read() {
        for code in [
            r#"view! { <p class="notice" role="status">{texts::HELLO} " · " {x}</p> }"#,
            r#"view! { <a class=move || if x { "open now" } else { "" } title=texts::OPEN name="q">{y}</a> }"#,
            r#"view! { <p>{match x { A => text("b", 'c'), _ => f("d e") }}</p> } // <p>"No"</p>"#,
            "view! { <p>{x}</p> }\n#[cfg(test)]\nmod tests {\n    view! { <p>\"Hello\"</p> }\n}\n",
            r#"let size = if width > "wide".len() { "Large" } else { '"'.to_string() };"#,
        ] {
            assert_eq!(found(code), Vec::<String>::new(), "{code}");
        }
    }

    #[test]
    fn texts_as_children_need_braces() {
        let faults =
            found("view! { <p>texts::HELLO</p> <p title=texts::B>{texts::C} {x.then_some(texts::D)}</p> }");
        assert_eq!(faults, ["a text as a child needs braces: {texts::…}"]);
    }
}
