//! Bare URLs in a text, linked by the rules of GitHub's Markdown ("extended autolinks").

use super::blocks::Inline;
use super::cjk;
use super::invisible::is_invisible;
use super::link_policy;

/// The prefixes of bare URLs. The second text of each is prepended to the link's URL.
const URL_PREFIXES: [(&str, &str); 3] = [("https://", ""), ("http://", ""), ("www.", "http://")];

/// The maximum length of a host in characters, with room for one in another script, and of a bare URL in bytes. Longer texts are no
/// URLs: looking for the end of one at each of their characters would take quadratic time.
const MAX_HOST_CHARS: usize = 253;
const MAX_URL_BYTES: usize = 4096;

/// Separates words where no space is seen.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// The dot between the words of a name in Japanese, which belongs to a path (`/wiki/レオナルド・ダ・ヴィンチ`).
const KATAKANA_DOT: char = '・';

/// Signs of sentences in several scripts.
const SENTENCE_SIGNS: &str = "«»·¡¿،؛؟۔।॥။።។";

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
    let seen = &rest[..rest.floor_char_boundary(MAX_URL_BYTES)];
    let end = url_end(seen);
    if end == seen.len() && seen.len() < rest.len() {
        return None;
    }
    let length = length_without_punctuation(&rest[..end]);
    (length > 0).then_some((beginning.len() + length, scheme))
}

/// Returns the length in bytes of what may belong to a URL, given without its prefix. In scripts without spaces between words
/// the sentence continues behind it: their punctuation and quotation marks end it, and their letters end a host. In a path,
/// letters of all scripts may follow each other (`/wiki/C言語`).
fn url_end(text: &str) -> usize {
    let mut before = ' ';
    let mut is_host = true;
    for (at, char) in text.char_indices() {
        is_host &= !is_after_host(char);
        let is_next_word = is_host && before.is_ascii_alphanumeric() && cjk::is_cjk(char);
        let after = || text[at + char.len_utf8()..].chars().next();
        let is_apostrophe = || {
            let joins = |c: char| c.is_alphabetic() && !cjk::is_cjk(c);
            char == '’' && !is_host && joins(before) && after().is_some_and(joins)
        };
        let is_in_name = || {
            char == KATAKANA_DOT
                && !is_host
                && before.is_alphabetic()
                && after().is_some_and(char::is_alphabetic)
        };
        if char.is_whitespace()
            || char == ZERO_WIDTH_SPACE
            || "<«»‹›“”„‘’‚".contains(char) && !is_apostrophe()
            || cjk::is_cjk_punctuation(char) && !is_in_name()
            || is_next_word
        {
            return at;
        }
        before = char;
    }
    text.len()
}

/// Returns true for the beginning of a path, a query or a fragment.
fn is_after_host(char: char) -> bool {
    matches!(char, '/' | '?' | '#')
}

/// Returns true if a text begins with a host: no underscore in its last two labels.
fn starts_with_host(text: &str) -> bool {
    let is_of_host = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_' | '.');
    let mut chars = text.char_indices().take(MAX_HOST_CHARS + 1);
    let end = match chars.find(|(_, char)| !is_of_host(*char)) {
        Some((end, _)) => end,
        None if text.chars().nth(MAX_HOST_CHARS).is_some() => return false,
        None => text.len(),
    };
    let host = text[..end].trim_end_matches('.');
    host.starts_with(char::is_alphanumeric) && !host.rsplit('.').take(2).any(|label| label.contains('_'))
}

/// Returns the length in bytes of a URL, given without its prefix, without the punctuation of the sentence around it.
fn length_without_punctuation(url: &str) -> usize {
    let is_host = !url.contains(is_after_host);
    let opened = url.matches('(').count();
    let mut closed = url.matches(')').count();
    let mut url = url;
    while let Some(last) = url.chars().next_back() {
        let outside = match last {
            '?' | '!' | '.' | ',' | ':' | ';' | '*' | '_' | '~' | '\'' | '"' => true,
            ')' => closed > opened,
            _ => is_sentence_sign(last) || is_host && is_pictograph(last),
        };
        if !outside {
            break;
        }
        closed -= usize::from(last == ')');
        url = &url[..url.len() - last.len_utf8()];
    }
    url.len()
}

/// Returns true for a sign that belongs to the sentence if it stands at a URL's end. Other characters that are no letters may
/// belong to the URL: emoji, and the vowel signs and tone marks of many scripts.
fn is_sentence_sign(char: char) -> bool {
    // The range is the punctuation that all scripts share: dashes, quotation marks, ellipses, bullets.
    ('\u{2010}'..='\u{205e}').contains(&char)
        || SENTENCE_SIGNS.contains(char)
        || cjk::is_cjk_punctuation(char)
        || is_invisible(char) && cjk::is_punctuation(char)
}

/// Returns true for emoji and similar symbols, and for their joiner and variation selectors.
fn is_pictograph(char: char) -> bool {
    matches!(char, '\u{200d}' | '\u{2190}'..='\u{2bff}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}
