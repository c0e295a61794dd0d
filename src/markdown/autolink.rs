//! Bare URLs in a text, linked by the rules of GitHub's Markdown ("extended autolinks").

use super::blocks::Inline;
use super::cjk;
use super::link_policy;

/// The prefixes of bare URLs. The second text of each is prepended to the link's URL.
const URL_PREFIXES: [(&str, &str); 3] = [("https://", ""), ("http://", ""), ("www.", "http://")];

/// Links the bare URLs in running text that is not in a link itself.
pub(super) fn link_bare_urls(inlines: &mut Vec<Inline>) {
    let bare = |inline: &Inline| match inline {
        Inline::Text(text) => text.contains("://") || text.contains("www."),
        _ => false,
    };
    if !inlines.iter().any(bare) {
        return;
    }
    let mut linked = Vec::with_capacity(inlines.len() + 2);
    for inline in inlines.drain(..) {
        let after = match linked.last() {
            None | Some(Inline::HardBreak) => None,
            // A URL may follow the end of an emphasis.
            Some(Inline::Emphasis(_) | Inline::Strong(_) | Inline::Strikethrough(_)) => Some('*'),
            Some(_) => Some('`'),
        };
        match inline {
            Inline::Text(text) => split_urls(&text, after, &mut linked),
            other => linked.push(other),
        }
    }
    *inlines = linked;
}

/// Adds `text`, which stands after the character `before`, with its URLs linked.
fn split_urls(text: &str, mut before: Option<char>, out: &mut Vec<Inline>) {
    let mut plain = 0;
    let mut at = 0;
    while let Some(char) = text[at..].chars().next() {
        if matches!(char, 'h' | 'H' | 'w' | 'W')
            && can_precede_url(before)
            && let Some((length, scheme)) = match_url(&text[at..])
        {
            let shown = &text[at..at + length];
            let href = [scheme, shown].concat();
            if link_policy::is_allowed(&href) {
                if plain < at {
                    out.push(Inline::Text(text[plain..at].to_owned()));
                }
                out.push(Inline::Link {
                    href,
                    title: None,
                    children: vec![Inline::Text(shown.to_owned())],
                });
                at += length;
                plain = at;
                before = shown.chars().next_back();
                continue;
            }
        }
        before = Some(char);
        at += char.len_utf8();
    }
    if plain < text.len() {
        out.push(Inline::Text(text[plain..].to_owned()));
    }
}

/// Returns true if a URL may follow this character. GitHub's rule is extended for scripts that put no space
/// between words.
fn can_precede_url(before: Option<char>) -> bool {
    before
        .is_none_or(|char| char.is_whitespace() || matches!(char, '*' | '_' | '~' | '(') || !char.is_ascii())
}

/// Returns the length in bytes of the URL at the beginning of `text`, and the prefix of its link.
fn match_url(text: &str) -> Option<(usize, &'static str)> {
    let (beginning, scheme) = URL_PREFIXES.into_iter().find(|(beginning, _)| {
        text.get(..beginning.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(beginning))
    })?;
    let rest = &text[beginning.len()..];
    if !starts_with_host(rest) {
        return None;
    }
    let length = length_without_punctuation(&text[..url_end(text)]);
    (length > beginning.len()).then_some((length, scheme))
}

/// Returns the length in bytes of what may belong to a URL. Scripts without spaces between words continue behind it: their
/// punctuation and quotation marks end it, and their letters unless a separator stands before them (`/wiki/中文`).
fn url_end(text: &str) -> usize {
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        let is_next_word = before.is_ascii_alphanumeric() && cjk::is_cjk(char);
        if char.is_whitespace()
            || "<«»‹›“”„‘’‚".contains(char)
            || cjk::is_cjk_punctuation(char)
            || is_next_word
        {
            return at;
        }
        before = char;
    }
    text.len()
}

/// Returns true if a text begins with a host: no underscore in its last two labels.
fn starts_with_host(text: &str) -> bool {
    let end = text
        .find(|char: char| !(char.is_alphanumeric() || matches!(char, '-' | '_' | '.')))
        .unwrap_or(text.len());
    let host = text[..end].trim_end_matches('.');
    host.starts_with(char::is_alphanumeric) && !host.rsplit('.').take(2).any(|label| label.contains('_'))
}

/// Returns the length in bytes of the URL without the punctuation of the sentence around it.
fn length_without_punctuation(url: &str) -> usize {
    let mut url = url;
    while let Some(last) = url.chars().next_back() {
        let count = |wanted| url.chars().filter(|char| *char == wanted).count();
        let outside = match last {
            '?' | '!' | '.' | ',' | ':' | ';' | '*' | '_' | '~' | '\'' | '"' => true,
            ')' => count(')') > count('('),
            _ => !last.is_ascii() && cjk::is_punctuation(last),
        };
        if !outside {
            break;
        }
        url = &url[..url.len() - last.len_utf8()];
    }
    url.len()
}
