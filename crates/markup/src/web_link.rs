//! Web URLs outside of Markdown: URLs from models, tools or pages that may become links.

use reqwest::Url;

use crate::markdown::{is_allowed_link, is_invisible};

/// The maximum length of a URL that becomes a link, in bytes.
const MAX_LINK_BYTES: usize = 2000;

const SCHEMES: [&str; 2] = ["https://", "http://"];

/// Labels that precede a URL with `:` or `=`.
const LABELS: [&str; 5] = ["url", "uri", "href", "link", "source"];

/// Parses a complete web URL as a browser does. Returns `None` for other schemes, and for URLs that
/// could be mistaken for another one: with user info, white space or invisible characters.
pub fn parse(url: &str) -> Option<Url> {
    let is_odd = |c: char| c.is_whitespace() || is_invisible(c);
    if url.len() > MAX_LINK_BYTES || url.chars().any(is_odd) || !is_allowed_link(url) {
        return None;
    }
    let url = Url::parse(url).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    let is_plain = url.username().is_empty() && url.password().is_none();
    (is_web && is_plain && url.as_str().len() <= MAX_LINK_BYTES).then_some(url)
}

/// Returns true if a text contains this URL as a whole, and not as a part of another one, such as its
/// beginning or its query. A trailing slash makes no difference.
pub fn contains_url(url: &str, text: &str) -> bool {
    let url = url.trim_end_matches('/');
    let mut rest = text;
    while let Some(at) = find_url(rest) {
        let from = &rest[at..];
        // All characters that a URL can have belong to this one, including other URLs.
        let end = from.find(is_url_end).unwrap_or(from.len());
        let (written, after) = from.split_at(end);
        if is_url_as_written(url, written, rest[..at].chars().next_back()) {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns the start of the next URL: a scheme that is not a part of a longer word.
fn find_url(text: &str) -> Option<usize> {
    let begins = |at: &usize| {
        let (before, scheme) = text.split_at(*at);
        let is_web = SCHEMES.iter().any(|web| scheme.starts_with(web));
        is_web && (ends_word(before) || is_escape(before) || ends_in_label(before))
    };
    text.match_indices("http").map(|(at, _)| at).find(begins)
}

/// Returns true if a text ends at a word boundary.
fn ends_word(text: &str) -> bool {
    let last = text.chars().next_back();
    last.is_none_or(|c| c.is_whitespace() || !c.is_ascii() || "\"'`<>()[]{}|*_~,;".contains(c))
}

/// Returns true if a text ends in white space as escaped in JSON.
fn is_escape(text: &str) -> bool {
    ["\\n", "\\r", "\\t"].iter().any(|escape| text.ends_with(escape))
}

/// Returns true if a text ends in a label, as in `URL: https://…` without its space. Only known labels: another
/// word before the colon may be a scheme (`view-source:https://…`).
fn ends_in_label(text: &str) -> bool {
    let Some(text) = text.strip_suffix([':', '=']) else {
        return false;
    };
    LABELS.iter().any(|label| {
        let before = text.len().checked_sub(label.len());
        before
            .and_then(|at| text.split_at_checked(at))
            .is_some_and(|(before, word)| {
                word.eq_ignore_ascii_case(label) && (ends_word(before) || is_escape(before))
            })
    })
}

fn is_url_end(c: char) -> bool {
    c.is_whitespace() || c.is_control() || is_invisible(c) || "\"'`<>{}|\\^".contains(c)
}

/// Returns true if `written` is the URL, apart from the sentence's punctuation and surrounding brackets.
/// `before` is the character before it.
fn is_url_as_written(url: &str, written: &str, before: Option<char>) -> bool {
    let Some(rest) = written.strip_prefix(url) else {
        return false;
    };
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let is_balanced = url.matches('(').count() == url.matches(')').count();
    let closes = match before {
        Some('(') if is_balanced => rest.starts_with(')'),
        Some('[') => rest.starts_with(']'),
        _ => false,
    };
    let mark = |c: char| ".,;:!?*_~[]".contains(c) || (c == ')' && is_balanced);
    closes || rest.trim_start_matches(mark).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_web_urls() {
        assert_eq!(parse("https://a.b/c?d#e").unwrap().as_str(), "https://a.b/c?d#e");
        for url in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "ftp://a.example/",
            "mailto:a@b.example",
            "xhttps://a.example/",
            "//a.b/",
            "/c/x",
            "a.b",
            "",
            "https:a.b",
            "https:/a.b",
            "https:///x",
            "https://",
            "https://bank.example@evil.example/",
            "https://a.example\\@b.example/",
            "https://a\u{202e}.example/",
            "https://a.example/\u{202e}fdp.exe",
            "https://a\u{200b}.example/",
            "https://a.example/b c",
            " https://a.example/",
            "https://a.example/\u{a0}",
            "vbscript:x",
        ] {
            assert_eq!(parse(url), None, "{url}");
        }
    }

    #[test]
    fn finds_whole_urls_only() {
        let url = "https://a.example/1";
        for text in [
            "https://a.example/1",
            "see https://a.example/1.",
            "(https://a.example/1)",
            "[A](https://a.example/1), and [B](https://b.example/)",
            "[A](https://a.example/1)[B](https://b.example/)",
            r#"{"url":"https://a.example/1"}"#,
            "**https://a.example/1**",
            "https://a.example/1/ and more",
            "| https://a.example/1 |",
            "1,A,https://a.example/1",
            "\u{770b}https://a.example/1",
            r#"{"text":"see\nhttps://a.example/1\nhttps://b.example/"}"#,
            r"One\thttps://b.example/\r\nURL:https://a.example/1\n",
            "URL:https://a.example/1",
            "url=https://a.example/1, title=A",
            "<a href=https://a.example/1>A</a>",
            "Source:https://a.example/1.",
        ] {
            assert!(contains_url(url, text), "{text}");
        }
        for text in [
            "https://a.example/12",
            "https://a.example/1/2",
            "https://a.example/1?q",
            "https://a.example/1.html",
            "https://evil.example/?u=https://a.example/1",
            "https://evil.example/#(https://a.example/1)",
            "https://evil.example/,https://a.example/1",
            "evil.example/?u=https://a.example/1",
            "evil.example/?url=https://a.example/1",
            "evil.example/?a=b&url=https://a.example/1",
            "https://evil.example/?a,url=https://a.example/1",
            "curl:https://a.example/1",
            "view-source:https://a.example/1",
            "blob:https://a.example/1",
            r"\xhttps://a.example/1",
            "xhttps://a.example/1",
            "https://a.example/1@evil.example",
            "https://a.example/1)/2",
            "",
        ] {
            assert!(!contains_url(url, text), "{text}");
        }
        assert!(!contains_url(
            "http://a.example/1",
            "httphttps://a.example/1 http:// http:/"
        ));
        let wiki = "https://a.example/wiki/A_(b)";
        assert!(contains_url(wiki, "(see https://a.example/wiki/A_(b))"));
        assert!(!contains_url("https://a.example/wiki/A_", wiki));
        assert!(!contains_url("https://a.example/wiki/A_(b", wiki));
    }
    #[test]
    fn looks_at_long_texts_once() {
        // Searching to the end of the text for each of these URLs would take minutes.
        let text = "http:// xhttp https:/ http".repeat(400_000);
        assert!(!contains_url("https://a.example/1", &text));
    }
}
