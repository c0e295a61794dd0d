mod golden;

use std::cell::Cell;

use fuzzing::properties;
use proptest::prelude::*;

use super::{TokenKind::*, *};

/// Names of all families, and of none.
const LANGUAGES: [&str; 26] = [
    "rust",
    "c",
    "go",
    "ts",
    "java",
    "css",
    "python",
    "ruby",
    "lua",
    "haskell",
    "julia",
    "perl",
    "powershell",
    "php",
    "dockerfile",
    "sql",
    "bash",
    "json",
    "query",
    "html",
    "yaml",
    "toml",
    "diff",
    "",
    "brainfuck",
    "Rust,ignore",
];

/// The tokens of a text that are not plain.
fn non_plain_tokens<'a>(text: &'a str, language: &str) -> Vec<(TokenKind, &'a str)> {
    let mut tokens = highlight(text, language);
    tokens.retain(|(kind, _)| *kind != Plain);
    tokens
}

#[test]
fn distinguishes_words_strings_numbers_comments() {
    let rust =
        "fn f<'a>(x: &'a str) -> char { g(x, 0x1F, 'y', \"z // \\\" \") } // end\n/* a\nb */ let s = r;";
    assert_eq!(
        non_plain_tokens(rust, "rust"),
        [
            (Keyword, "fn"),
            (Name, "g"),
            (Number, "0x1F"),
            (Text, "'y'"),
            (Text, "\"z // \\\" \""),
            (Comment, "// end"),
            (Comment, "/* a\nb */"),
            (Keyword, "let"),
        ]
    );
    let python =
        "@cached\ndef f(n=1_000):  # why\n    \"\"\"Long\n    text.\"\"\"\n    return None if n else 'x'";
    assert_eq!(
        non_plain_tokens(python, "Python"),
        [
            (Keyword, "def"),
            (Name, "f"),
            (Number, "1_000"),
            (Comment, "# why"),
            (Text, "\"\"\"Long\n    text.\"\"\""),
            (Keyword, "return"),
            (Keyword, "None"),
            (Keyword, "if"),
            (Keyword, "else"),
            (Text, "'x'"),
        ]
    );
}

#[test]
fn highlights_search_queries() {
    let json = "{\n  \"query\": \"a \\\" b\",\n  \"count\": -15.5,\n  \"deep\": [true, null]\n}";
    assert_eq!(
        non_plain_tokens(json, "json"),
        [
            (Name, "\"query\""),
            (Text, "\"a \\\" b\""),
            (Name, "\"count\""),
            (Number, "15.5"),
            (Name, "\"deep\""),
            (Keyword, "true"),
            (Keyword, "null"),
        ]
    );
    let query = "(\"base editing\"[Title] AND 2024[dp]) NOT site:example.org";
    assert_eq!(
        non_plain_tokens(query, "query"),
        [
            (Text, "\"base editing\""),
            (Keyword, "AND"),
            (Number, "2024"),
            (Keyword, "NOT"),
            (Name, "site"),
        ]
    );
    let sql = "select Count(*) FROM t WHERE a = 'it''s' -- all\n";
    assert_eq!(
        non_plain_tokens(sql, "sql"),
        [
            (Keyword, "select"),
            (Name, "Count"),
            (Keyword, "FROM"),
            (Keyword, "WHERE"),
            (Text, "'it''s'"),
            (Comment, "-- all"),
        ]
    );
    let shell = "for f in *.txt; do echo \"$f\" $HOME ${#f}#no; done # yes";
    assert_eq!(
        non_plain_tokens(shell, "sh"),
        [
            (Keyword, "for"),
            (Keyword, "in"),
            (Keyword, "do"),
            (Keyword, "echo"),
            (Text, "\"$f\""),
            (Name, "$HOME"),
            (Name, "${"),
            (Keyword, "done"),
            (Comment, "# yes"),
        ]
    );
    assert_eq!(
        non_plain_tokens("cut -c 1'a'", "sh"),
        [(Number, "1"), (Text, "'a'")]
    );
    assert_eq!(
        non_plain_tokens("1'000 + 1", "cpp"),
        [(Number, "1'000"), (Number, "1")]
    );
}

#[test]
fn highlights_markup_settings_and_diffs() {
    let html = "<!-- a --><a href='x>y' data-b>a < b &amp; c</a>";
    assert_eq!(
        non_plain_tokens(html, "html"),
        [
            (Comment, "<!-- a -->"),
            (Keyword, "a"),
            (Name, "href"),
            (Text, "'x>y'"),
            (Name, "data-b"),
            (Keyword, "a"),
        ]
    );
    let yaml = "# note\n- name: \"x\" # why\n  port: 80\n[table]\nkey.sub = true\n; old";
    assert_eq!(
        non_plain_tokens(yaml, "toml"),
        [
            (Comment, "# note"),
            (Name, "name"),
            (Text, "\"x\""),
            (Comment, "# why"),
            (Name, "port"),
            (Number, "80"),
            (Keyword, "[table]"),
            (Name, "key.sub"),
            (Keyword, "true"),
            (Comment, "; old"),
        ]
    );
    let diff = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\n";
    assert_eq!(
        non_plain_tokens(diff, "diff"),
        [
            (Comment, "--- a\n+++ b\n"),
            (Keyword, "@@ -1 +1 @@\n"),
            (Removed, "-x\n"),
            (Added, "+y\n"),
        ]
    );
}

#[test]
fn unfinished_tokens_end_with_line_or_text() {
    assert_eq!(
        non_plain_tokens("let a = \"x\nlet", "js"),
        [(Keyword, "let"), (Text, "\"x"), (Keyword, "let")]
    );
    assert_eq!(non_plain_tokens("/* x\n", "js"), [(Comment, "/* x\n")]);
    assert_eq!(non_plain_tokens("`x\ny", "js"), [(Text, "`x\ny")]);
    assert_eq!(non_plain_tokens("let x", "klingon"), []);
}

thread_local! {
    /// The number of bytes that searches have read in this thread.
    pub static SCANNED_BYTES: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn work_is_linear() {
    let hard = [
        "\"", "'", "`", "/*", "/* ", "<", "<a ", "a:", "#", "\"\"\"", "\"a\" ", "a ", "[\n", "\\", "\" \n",
        "é(", "$", " ", "\n", "<!--", "<a b=\"", "-", "a\t", "{-", "#=", "<#", "--[[", "1'", "1e-", "a'",
        "a.",
    ];
    for begin in hard {
        for language in LANGUAGES {
            let text = begin.repeat(40_000 / begin.len());
            let before = SCANNED_BYTES.get();
            let tokens = highlight(&text, language).len();
            let scanned = SCANNED_BYTES.get() - before;
            // Each byte is read at most three times: by the search that consumes it, by one through its line,
            // and by one that looks ahead from an earlier token.
            assert!(
                scanned <= 3 * text.len(),
                "{begin:?} as {language}: {scanned} bytes for {}, {tokens} tokens",
                text.len()
            );
        }
    }
}

/// Text that looks like code of some kind.
fn code_like_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "\"", "'", "`", "\\", "/*", "*/", "//", "#", "--", "<", ">", "</", "<!--", "-->", "=", ":", "\n",
        " ", "\t", "a", "fn", "SELECT", "12", ".5", "é", "😀", "\u{301}", "$", "{", "}", "(", "[x]", "+",
        "-", "@", "\"\"\"", "'''", "\r\n", "\0", "_",
    ]);
    prop_oneof![
        prop::collection::vec(word, 0..60).prop_map(|words| words.concat()),
        any::<String>()
    ]
}

properties! {
    256;

    #[test]
    fn joined_tokens_equal_the_text(text in code_like_text(), language in prop::sample::select(LANGUAGES.to_vec())) {
        let tokens = highlight(&text, language);
        let joined: String = tokens.iter().map(|(_, token)| *token).collect();
        prop_assert_eq!(&joined, &text);
        prop_assert!(tokens.iter().all(|(_, token)| !token.is_empty()));
        prop_assert!(tokens.windows(2).all(|pair| pair[0].0 != pair[1].0));
    }
}
