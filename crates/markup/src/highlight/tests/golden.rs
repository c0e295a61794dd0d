//! A golden file for each of 32 languages: below each line of code, the kinds of its characters.
//!
//! After an intended change, `UPDATE_GOLDEN=1 make test-rust ARGS="highlight"` rewrites them.

use std::fs;
use std::path::PathBuf;

use super::super::{TokenKind, highlight};

const LANGUAGES: [&str; 32] = [
    "bash",
    "c",
    "cpp",
    "csharp",
    "css",
    "dart",
    "diff",
    "dockerfile",
    "elixir",
    "go",
    "haskell",
    "html",
    "java",
    "javascript",
    "json",
    "julia",
    "kotlin",
    "lua",
    "perl",
    "php",
    "powershell",
    "python",
    "r",
    "ruby",
    "rust",
    "scala",
    "sql",
    "swift",
    "toml",
    "typescript",
    "xml",
    "yaml",
];

fn mark(kind: TokenKind) -> char {
    match kind {
        TokenKind::Plain => ' ',
        TokenKind::Comment => 'c',
        TokenKind::Keyword => 'k',
        TokenKind::Text => 't',
        TokenKind::Number => '0',
        TokenKind::Name => 'n',
        TokenKind::Added => '+',
        TokenKind::Removed => '-',
    }
}

/// The lines of a text, each with its marks below.
fn marked(text: &str, language: &str) -> String {
    let mut characters = highlight(text, language)
        .into_iter()
        .flat_map(|(kind, token)| token.chars().map(move |c| (c, mark(kind))));
    let mut out = String::new();
    for line in text.lines() {
        let marks: String = characters
            .by_ref()
            .take_while(|(c, _)| *c != '\n')
            .map(|(c, mark)| if c == '\t' && mark == ' ' { c } else { mark })
            .collect();
        out.push_str(&[line, "\n", marks.trim_end(), "\n"].concat());
    }
    out
}

#[test]
fn languages_match_their_golden_files() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/highlight");
    for language in LANGUAGES {
        let file = folder.join([language, ".txt"].concat());
        let golden = fs::read_to_string(&file).expect("the fixture can be read");
        let code: String = golden
            .lines()
            .step_by(2)
            .map(|line| [line, "\n"].concat())
            .collect();
        let now = marked(&code, language);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&file, now).expect("the fixture can be written");
            continue;
        }
        for (now, expected) in now.lines().zip(golden.lines()) {
            assert_eq!(now, expected, "{language}: UPDATE_GOLDEN=1 writes it anew");
        }
        assert_eq!(now.lines().count(), golden.lines().count(), "{language}");
    }
}
