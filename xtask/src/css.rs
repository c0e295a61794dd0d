//! Bundles one style sheet from many: `style/main.css` and its imports.
//!
//! Browsers support all features of the styles, so nothing is translated. `@import "file.css";` lines at the
//! start of a file are replaced by the file, inside its cascade layer if they name one (`layer(name)`), and
//! comments and indentation are dropped.

use anyhow::{Context, Result, bail};
use std::{fs, path::Path};

/// Returns the bundled style sheet that starts at `file`.
pub fn bundle(file: &Path) -> Result<String> {
    let source = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let mut out = String::with_capacity(source.len());
    for line in without_comments(&source)
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        match line.strip_prefix("@import ") {
            Some(import) => {
                let (name, layer) = parse_import(import)
                    .with_context(|| format!("{}: can't follow `{line}`", file.display()))?;
                let inner = bundle(&file.with_file_name(name))?;
                match layer {
                    Some(layer) => out.push_str(&format!("@layer {layer} {{\n{inner}}}\n")),
                    None => out.push_str(&inner),
                }
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    Ok(out)
}

/// Parses `"name.css" layer(base);`, with or without the layer.
fn parse_import(import: &str) -> Result<(&str, Option<&str>)> {
    let rest = import
        .trim()
        .strip_suffix(';')
        .context("it must end in a semicolon on the same line")?;
    let rest = rest
        .trim()
        .strip_prefix('"')
        .context("the file must be in double quotes")?;
    let (name, rest) = rest
        .split_once('"')
        .context("the file must be in double quotes")?;
    match rest.trim() {
        "" => Ok((name, None)),
        condition => match condition
            .strip_prefix("layer(")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            Some(layer) => Ok((name, Some(layer))),
            None => bail!("only `layer(name)` may follow the file"),
        },
    }
}

/// Drops comments, but not comment-like text inside a string.
fn without_comments(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut quote = None;
    let mut rest = source;
    while let Some(character) = rest.chars().next() {
        if quote.is_none() && rest.starts_with("/*") {
            rest = rest[2..].split_once("*/").map_or("", |(_, after)| after);
            continue;
        }
        let mut length = character.len_utf8();
        match (character, quote) {
            // An escaped character never ends a string.
            ('\\', _) => length += rest[1..].chars().next().map_or(0, char::len_utf8),
            ('"' | '\'', None) => quote = Some(character),
            (_, Some(open)) if character == open => quote = None,
            _ => {}
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inlines_imports_in_their_layers() {
        let folder = std::env::temp_dir().join(format!("parlor-css-{}", std::process::id()));
        fs::create_dir_all(folder.join("parts")).unwrap();
        fs::write(
            folder.join("main.css"),
            "/* all */\n@layer base, parts;\n@import \"base.css\" layer(base);\n@import \"parts/a.css\";\nmain { gap: 1px }\n",
        )
        .unwrap();
        fs::write(folder.join("base.css"), "a { color: red } /* why */\n\n").unwrap();
        fs::write(folder.join("parts/a.css"), "@import \"b.css\";\n").unwrap();
        fs::write(
            folder.join("parts/b.css"),
            "b::after { content: \"/* kept */\" }\n",
        )
        .unwrap();

        let bundled = bundle(&folder.join("main.css")).unwrap();

        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            bundled,
            "@layer base, parts;\n@layer base {\na { color: red }\n}\nb::after { content: \"/* kept */\" }\nmain { gap: 1px }\n"
        );
    }

    #[test]
    fn rejects_imports_left_to_the_browser() {
        assert!(parse_import("url(other.css);").is_err());
        assert!(parse_import("\"other.css\" print;").is_err());
        assert_eq!(
            parse_import("\"other.css\"  layer(x) ;").unwrap(),
            ("other.css", Some("x"))
        );
    }

    #[test]
    fn removes_comments_and_keeps_strings() {
        assert_eq!(without_comments("a/*x*/b"), "ab");
        assert_eq!(without_comments(r#"'\'/*'"é/*"/* é */"#), r#"'\'/*'"é/*""#);
        assert_eq!(without_comments("a /* never closed"), "a ");
    }
}
