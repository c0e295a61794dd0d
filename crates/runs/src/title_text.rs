//! The title in a model's answer, which may be wrapped in anything that the model was not asked for.

use serde_json::Value;

use parlor_base::text::plain_line;
use parlor_markup::markdown::without_markup;
use parlor_model::lenient_json;

/// The maximum length of a title, in characters.
const MAX_TITLE_CHARACTERS: usize = 60;

/// The maximum length of a line that is shortened to a title, in characters. A longer one is an answer or an explanation, as small
/// models write instead of a title.
const MAX_LINE_CHARACTERS: usize = 100;

/// The maximum number of words of a title: twice as many as are asked for. Of one with a full stop, as many as are asked for.
const MAX_WORDS: usize = 12;
const MAX_WORDS_OF_SENTENCE: usize = 6;

/// The beginnings of lines that repeat the conversation, go on with it or describe it instead of naming it.
const NO_TITLES: [&str; 19] = [
    "person:",
    "assistant:",
    "the person ",
    "the user ",
    "the assistant ",
    "the conversation ",
    "this conversation ",
    "this is ",
    "it seems ",
    "it looks like ",
    "i ",
    "i'",
    "i’",
    "that's ",
    "that’s ",
    "you are ",
    "you're ",
    "you’re ",
    "as an ai",
];

/// The minimum length of a word with a period that ends a sentence: shorter ones may be abbreviations.
const MIN_LAST_WORD_CHARACTERS: usize = 6;

/// Words before a title and a colon, in the languages of conversations.
const LABELS: [&str; 18] = [
    "title",
    "chat title",
    "conversation title",
    "suggested title",
    "possible title",
    "short title",
    "concise title",
    "titel",
    "titre",
    "título",
    "titolo",
    "tytuł",
    "название",
    "заголовок",
    "标题",
    "題目",
    "タイトル",
    "제목",
];

/// Words that announce a title, at the beginning of an answer.
const OPENINGS: [&str; 9] = [
    "here",
    "sure",
    "certainly",
    "of course",
    "okay",
    "ok",
    "a concise title",
    "a short title",
    "suggested title",
];

/// Returns a title as it is stored: one line, without markup, quotation marks and an ending period. `None` if nothing
/// is left, or the text is no title.
pub fn clean_title(text: &str) -> Option<String> {
    let text = title_in_json(text).unwrap_or_else(|| text.to_owned());
    let text = without_markup(title_in_tag(&text).unwrap_or(&text));
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let line = match without_announcement(first) {
        "" => lines
            .map(|line| without_announcement(without_number(line)))
            .find(|line| !line.is_empty())
            .unwrap_or(first),
        line => line,
    };
    let line = without_frame(line);
    if !may_be_title(line) {
        return None;
    }
    let line = line.trim_end_matches(['.', ':', ',', ';']);
    let title = plain_line(without_frame(line), MAX_TITLE_CHARACTERS);
    (!title.is_empty()).then_some(title)
}

/// Returns false for what a small model writes instead of a title: an answer, an explanation, several sentences.
fn may_be_title(line: &str) -> bool {
    let start = line.to_lowercase();
    let max_words = if line.ends_with('.') {
        MAX_WORDS_OF_SENTENCE
    } else {
        MAX_WORDS
    };
    line.chars().count() <= MAX_LINE_CHARACTERS
        && line.split_whitespace().count() <= max_words
        && !NO_TITLES.iter().any(|begin| start.starts_with(begin))
        && !has_several_sentences(line)
}

fn has_several_sentences(line: &str) -> bool {
    let is_sentence = line.ends_with(['.', '!', '?']);
    let words: Vec<&str> = line.split_whitespace().collect();
    words.iter().zip(words.iter().skip(1)).any(|(last, next)| {
        let is_long = is_sentence || last.chars().count() >= MIN_LAST_WORD_CHARACTERS;
        let ends = last.ends_with(['!', '?']) || last.ends_with('.') && is_long;
        ends && next.starts_with(char::is_uppercase)
    })
}

/// Returns the content of the first `<title>`.
fn title_in_tag(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<title>")?;
    Some(rest.split_once("</title>")?.0)
}

/// Returns a line of a list without its number or bullet.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < line.len();
    let marks: &[char] = if is_numbered {
        &['.', ')']
    } else {
        &['-', '*', '•']
    };
    match rest.strip_prefix(marks) {
        Some(rest) if rest.starts_with(' ') => rest.trim_start(),
        _ => line,
    }
}

/// Returns the title of an answer in JSON: `{"title": "…"}`, its only text, the first one of a list, or a JSON string.
fn title_in_json(text: &str) -> Option<String> {
    let begin = text.find('{').filter(|begin| is_announcement(&text[..*begin]));
    let json = match begin {
        Some(begin) => &text[begin..=text.rfind('}').filter(|end| *end > begin)?],
        None => text.trim(),
    };
    title_of(&lenient_json::parse(json).ok()?)
}

fn title_of(json: &Value) -> Option<String> {
    let fields = match json {
        Value::Object(fields) => fields,
        Value::String(title) => return Some(title.clone()),
        Value::Array(titles) => return title_of(titles.first()?),
        _ => return None,
    };
    if let Some(titles) = fields.get("titles").filter(|titles| titles.is_array()) {
        return title_of(titles);
    }
    let mut texts = fields
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_str()?)));
    let named = texts.clone().find(|(name, _)| name.eq_ignore_ascii_case("title"));
    let (_, title) = named.or_else(|| texts.next().filter(|_| fields.len() == 1))?;
    Some(title.to_owned())
}

/// Returns true for what may stand before a title in JSON: nothing, an opening, or the beginning of a code block.
fn is_announcement(before: &str) -> bool {
    let before = before
        .trim()
        .trim_end_matches("json")
        .trim_end_matches(['`', ':'])
        .trim();
    before.is_empty() || is_opening(before)
}

fn is_opening(line: &str) -> bool {
    let line = line.to_lowercase();
    let is_word_end = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    OPENINGS
        .iter()
        .any(|opening| line.strip_prefix(opening).is_some_and(is_word_end))
}

/// Returns a line without the words that announce the title, as `Title:` and `Here is a concise title:` do.
fn without_announcement(line: &str) -> &str {
    let Some((before, rest)) = line.split_once([':', '：']) else {
        return match line.ends_with(['!', ',']) && is_opening(line) {
            true => "",
            false => line,
        };
    };
    let lower = before.to_lowercase();
    let label = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let is_label = LABELS.contains(&label);
    let names_title = lower.contains("title");
    match is_label || is_opening(before) && names_title {
        true => rest.trim_matches(['*', '_', ' ']),
        false => line,
    }
}

/// Returns a line without the marks of emphasis around it, and without quotation marks that enclose it.
fn without_frame(line: &str) -> &str {
    const QUOTES: &str = "\"'`“”„«»";
    let line = line.trim_matches(|c: char| c.is_whitespace() || "*_".contains(c));
    let is_quote = |c: char| QUOTES.contains(c);
    let inner = line
        .strip_prefix(is_quote)
        .and_then(|rest| rest.strip_suffix(is_quote));
    match inner {
        // They belong to the words: `"Foo" and "bar"`.
        Some(inner) if inner.contains(['"', '“', '”', '„', '«', '»']) => line,
        Some(inner) => inner.trim(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_one_plain_line() {
        for (text, title) in [
            ("Trip to Oslo", Some("Trip to Oslo")),
            ("**Title:** \"Trip to *Oslo*.\"\n\nMore", Some("Trip to Oslo")),
            ("# Heat  in\u{7} cities", Some("Heat in cities")),
            ("“Größe der Erde”", Some("Größe der Erde")),
            ("\"Heat in cities\".", Some("Heat in cities")),
            ("Async in C#", Some("Async in C#")),
            ("Meaning of \"foo\"", Some("Meaning of \"foo\"")),
            ("\"Foo\" and \"bar\"", Some("\"Foo\" and \"bar\"")),
            ("", None),
            (" \n**\n", None),
            ("Person: Where is Oslo?", None),
            (
                "The person asks where Oslo is, and the assistant says that it is the capital of Norway, by the cold sea.",
                None,
            ),
        ] {
            assert_eq!(clean_title(text).as_deref(), title, "{text:?}");
        }
        let long = clean_title(&"lang-wort ".repeat(9)).unwrap();
        assert!(long.chars().count() <= MAX_TITLE_CHARACTERS + 1, "{long}");
    }

    /// Answers of SmolLM2, of 135 million parameters, to the request for a title.
    #[test]
    fn what_small_models_write_instead_is_no_title() {
        for text in [
            "This is the beginning of a response to a question about a fictional country.",
            "You're welcome! How's the weather?",
            "It seems I have a typo: you can't add a space between \"file\" and \"london\".",
            "How about this: Imagine you're playing with a machine. The machine is making many machines.",
            "That's a bit misleading. The answer is actually in the correct location.",
            "Another night to Rome. What's your pleasure?",
            "That's a great suggestion.",
            "I'll just add the title: Inflation",
            "The user asked for a recipe.",
            "No thanks, I'll just keep making random food options.",
            "You're ready to continue the conversation.",
            "one two three four five six seven eight nine ten eleven twelve thirteen",
        ] {
            assert_eq!(clean_title(text), None, "{text:?}");
        }
        for (text, title) in [
            ("A moonlit slumber,\nA lone wanderer", "A moonlit slumber"),
            ("Why Is the Sky Blue?", "Why Is the Sky Blue?"),
            ("St. John and Prof. Smith", "St. John and Prof. Smith"),
        ] {
            assert_eq!(clean_title(text).as_deref(), Some(title));
        }
    }

    #[test]
    fn titles_lose_their_wrapping() {
        for text in [
            r#"{"title": "Trip to Oslo"}"#,
            r#"{"Title": "Trip to Oslo", "language": "en"}"#,
            r#"{"conversation": "Trip to Oslo"}"#,
            "```json\n{\"title\": \"Trip to Oslo\"}\n```",
            "Here is the title:\n\n```json\n{\"title\": \"Trip to Oslo\",}\n```",
            "\"Trip to Oslo\"",
            "Here is a concise title:\n\nTrip to Oslo",
            "Here is a concise title: Trip to Oslo",
            "Here's a title for the conversation:\n**Trip to Oslo**",
            "Sure! Here is a short title: \"Trip to Oslo\"",
            "Sure!\n\nTitle: Trip to Oslo",
            "**Title**: Trip to Oslo",
            "TITLE: Trip to Oslo",
            "A short title for this conversation: *Trip to Oslo*",
            "Titel: Trip to Oslo",
            "标题：Trip to Oslo",
            "📌 **Chat title**: Trip to Oslo",
            "<title>Trip to Oslo</title>",
            "Here are some titles:\n\n1. Trip to Oslo\n2. Oslo",
            "Here are a few possible titles:\n- \"Trip to Oslo\"\n- Oslo",
            r#"[{"title": "Trip to Oslo"}]"#,
            r#"{"titles": ["Trip to Oslo", "Oslo"]}"#,
        ] {
            assert_eq!(clean_title(text).as_deref(), Some("Trip to Oslo"), "{text:?}");
        }
        for title in [
            "Title casing: rules",
            "1. FC Köln: a history",
            "World title: boxing",
            "The title of the book: Moby Dick",
            "Hereditary diseases: title unknown",
            "Oslo: a summary",
            "JSON {} and []",
            "Surely not",
        ] {
            assert_eq!(clean_title(title).as_deref(), Some(title));
        }
    }
}
