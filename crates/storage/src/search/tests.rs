use proptest::prelude::*;

use super::{fold::fold, *};
use parlor_protocol::{
    Timestamp,
    search::{SearchedAuthor, Snippet},
};

fn words(text: &str) -> (String, String) {
    let Words { words, parts } = Words::of(text);
    let joined = |words: Vec<Word>| {
        let words: Vec<String> = words.into_iter().map(|word| word.text).collect();
        words.join(" ")
    };
    (joined(words), joined(parts))
}

#[test]
fn texts_are_cut_into_words() {
    for (text, expected, parts) in [
        ("Hello, World! It's 3.14.", "hello world it s 3 14", ""),
        ("Café Müller, Straße ﬁn Ⅷ", "cafe muller strasse fin viii", ""),
        ("Łódź Ærø Ελλάς ёж", "lodz aero ελλασ еж", ""),
        ("中文搜索", "中文 文搜 搜索", "索"),
        ("中 国", "中 国", ""),
        ("東京タワーへGo行く", "東京 京タ タワ ワー ーへ go 行く", "へ く"),
        // Half width and decomposed forms are the usual ones, and a voicing mark makes another letter.
        ("ｶﾞｲﾄﾞ ガイド か\u{3099}", "ガイ イド ガイ イド が", "ド ド"),
        ("한국어를", "한국 국어 어를", "를"),
        ("ภาษาไทย", "ภา าษ ษา าไ ไท ทย", "ย"),
        ("ม้า มา", "ม\u{e49} \u{e49}า มา", "า า"),
        ("الكِتَابُ وَالمدرسة ٢٠٢٦", "الكتاب والمدرسه 2026", "كتاب مدرسه"),
        ("हिन्दी में", "हिन्दी में", ""),
        (
            "parseHttpRequest HTTPServer",
            "parsehttprequest httpserver",
            "parse http request http server",
        ),
        (
            "snake_case_name kebab-case Utf8",
            "snake case name kebab case utf8",
            "",
        ),
        (
            "C++, C# and F# but issue#35 a+b",
            "c++ c# and f# but issue 35 a b",
            "c c f",
        ),
        ("user@example.com", "user example com", ""),
        (
            "https://docs.rs/serde_json/latest",
            "https docs rs serde json latest",
            "",
        ),
        ("👍🏽 ❤️ 👩‍💻 🇩🇪 ✓", "👍 ❤ 👩 💻 🇩🇪 ✓", ""),
        ("co\u{ad}operate zero\u{200b}width", "cooperate zero width", ""),
        ("  …—!?  ", "", ""),
    ] {
        assert_eq!(words(text), (expected.to_owned(), parts.to_owned()), "{text}");
    }
}

#[test]
fn long_words_are_known_by_their_beginning() {
    let long = "ä".repeat(100_000);
    let (found, _) = words(&long);
    assert_eq!(found, "a".repeat(64));
    assert_eq!(words(&"a".repeat(65)).0, words(&"a".repeat(66)).0);
}

fn phrase(words: &[&str], is_beginning: bool) -> Phrase {
    Phrase {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        is_beginning,
    }
}

fn term(words: &[&str], is_beginning: bool) -> Term {
    Term(vec![phrase(words, is_beginning)])
}

#[test]
fn queries_are_parsed() {
    let parsed = |query: &str| SearchQuery::parse(query).terms;
    assert_eq!(
        parsed("Über wat* \"exact Words\" las"),
        [
            term(&["uber"], false),
            term(&["wat"], true),
            term(&["exact", "words"], false),
            term(&["las"], true)
        ]
    );
    // An open quotation is one up to the end.
    assert_eq!(parsed("a \"b c"), [term(&["a"], false), term(&["b", "c"], false)]);
    assert_eq!(parsed("„so“"), [term(&["so"], false)]);
    assert_eq!(parsed("a@b.org "), [term(&["a", "b", "org"], true)]);
    assert_eq!(parsed("搜索 人 "), [term(&["搜索"], false), term(&["人"], true)]);
    assert_eq!(
        parsed("HttpRequest x"),
        [
            Term(vec![
                phrase(&["httprequest"], false),
                phrase(&["http", "request"], false)
            ]),
            term(&["x"], true)
        ]
    );
    assert_eq!(
        parsed("12:30 ?! AND"),
        [term(&["12", "30"], false), term(&["and"], true)]
    );
    assert_eq!(parsed("*"), []);
    let beginnings = SearchQuery::parse_beginnings("oster \"a b\" cafe").terms;
    assert_eq!(
        beginnings,
        [
            term(&["oster"], true),
            term(&["a", "b"], false),
            term(&["cafe"], true)
        ]
    );
}

#[test]
fn conditions_are_parsed() {
    let day = |days: i64| Some(Timestamp(days * 86_400_000));
    let all = SearchQuery::parse("from:me File:\"my report\" before:2026-03 after:2024-02-29 in:work tea");
    assert_eq!(
        all,
        SearchQuery {
            terms: vec![term(&["tea"], true)],
            file: Some(vec![term(&["my", "report"], false)]),
            from: Some(SearchedAuthor::Me),
            before: day(20_513),
            after: day(19_782),
            project: Some("work".into()),
        }
    );
    assert_eq!(
        SearchQuery::parse("from:Assistant").from,
        Some(SearchedAuthor::Assistant)
    );
    assert_eq!(SearchQuery::parse("before:1970").before, day(0));
    assert_eq!(SearchQuery::parse("file:").file, Some(Vec::new()));
    // What is no condition is searched.
    for query in [
        "from:you",
        "before:soon",
        "after:2026-13-01",
        "http://x.org",
        "in:",
    ] {
        let parsed = SearchQuery::parse(query);
        assert!(
            !parsed.terms.is_empty() && parsed.from.is_none() && parsed.before.is_none(),
            "{query}"
        );
    }
    assert!(SearchQuery::parse(" \"\" ").is_empty());
}

#[test]
fn snippets_show_most_of_what_was_found() {
    let text = format!(
        "{}\n\nThe Café has\tgreen tea. {}",
        "filler tea ".repeat(40),
        "more words ".repeat(40)
    );
    let Snippet { text, marks } = snippet(&text, &SearchQuery::parse("cafe \"green tea\""), SNIPPET_BYTES);
    let marked: Vec<&str> = marks.iter().map(|(start, end)| &text[*start..*end]).collect();
    assert_eq!(marked, ["Café", "green tea"]);
    assert!(
        text.starts_with('…') && text.ends_with('…') && text.len() < 230,
        "{text}"
    );
    assert!(text.contains("The Café has green tea."), "{text}");
    // Pairs are marked as one.
    let found = snippet("全文中文搜索很快", &SearchQuery::parse("中文搜索"), SNIPPET_BYTES);
    assert_eq!(
        found
            .marks
            .iter()
            .map(|(start, end)| &found.text[*start..*end])
            .collect::<Vec<_>>(),
        ["中文搜索"]
    );
    assert_eq!(
        snippet("nothing", &SearchQuery::parse("else"), SNIPPET_BYTES).text,
        "nothing"
    );
}

#[test]
fn snippets_of_markdown_have_no_marks() {
    for (text, shown) in [
        ("## A **green** tea", "A green tea"),
        ("the `tea` is *hot*.", "the tea is hot."),
        (
            "* tea\n* 2 * 3 and 2*3 and x**2",
            "* tea * 2 * 3 and 2*3 and x**2",
        ),
        ("这是**重点**, **tea**.", "这是重点, tea."),
        (
            "```py\n# one\nf(**tea)\n``` and `a * b`",
            "py # one f(**tea) and a * b",
        ),
        ("``a`b`` `tea", "a`b tea"),
        ("all *.rs #tea", "all *.rs #tea"),
        ("**", "**"),
    ] {
        let found = markdown_snippet(text, &SearchQuery::parse("tea"), SNIPPET_BYTES);
        assert_eq!(found.text, shown);
        let marked = found.marks.iter().map(|(start, end)| &found.text[*start..*end]);
        assert!(marked.eq(shown.contains("tea").then_some("tea")), "{found:?}");
    }
    let plain = "**tea**";
    assert_eq!(
        snippet(plain, &SearchQuery::parse("tea"), SNIPPET_BYTES).text,
        plain
    );
}

#[test]
fn better_texts_come_first() {
    let candidates = [
        "tea and a long story of something else",
        "tea tea",
        "tea milk",
        "tea milk",
    ];
    let candidates = candidates.iter().enumerate().map(|(hit, words)| Candidate {
        hit,
        words: format!(" {words} "),
        parts: String::new(),
    });
    assert_eq!(
        rank(candidates.collect(), &SearchQuery::parse("tea")),
        [1, 2, 3, 0]
    );
}

#[test]
fn passages_are_the_whole_beginning_of_a_text() {
    for text in [
        "a".repeat(20_000),
        "word ".repeat(4000),
        "字".repeat(9000),
        String::new(),
    ] {
        let ranges = passages::ranges(&text, 15_000);
        let joined: String = ranges.iter().map(|range| &text[range.clone()]).collect();
        assert_eq!(joined, text[..text.floor_char_boundary(15_000)]);
        assert!(
            ranges
                .iter()
                .all(|range| range.len() <= 8192 && !range.is_empty())
        );
    }
}

fuzzing::properties! {
    300;

    #[test]
    fn every_word_has_its_place_in_the_text(text in "\\PC{0,60}") {
        let Words { words, parts } = Words::of(&text);
        for word in words.iter().chain(&parts) {
            prop_assert!(text.get(word.range.clone()).is_some_and(|place| !place.is_empty()), "{word:?}");
            prop_assert!(!word.text.is_empty() && !word.text.contains(char::is_whitespace), "{word:?}");
        }
    }

    #[test]
    fn folding_twice_is_folding_once(text in "\\PC{0,30}") {
        let folded = fold(&text);
        prop_assert_eq!(fold(&folded), folded);
    }

    #[test]
    fn any_word_of_a_text_finds_it(words in prop::collection::vec("[a-zA-Zäß中文ก-ฮ😀_.]{1,9}", 1..8), chosen in 0usize..8) {
        let text = words.join(" ");
        let query = SearchQuery::parse(&words[chosen % words.len()]);
        let found = snippet(&text, &query, SNIPPET_BYTES);
        prop_assert_eq!(found.marks.is_empty(), query.terms.is_empty(), "{} in {}", words[chosen % words.len()], text);
    }

    #[test]
    fn marks_are_places_of_the_snippet(
        text in "(\\PC|\n|[*`#]){0,300}",
        query in "\\PC{0,12}",
        is_markdown in prop::bool::ANY,
    ) {
        let cut = if is_markdown { markdown_snippet } else { snippet };
        let Snippet { text, marks } = cut(&text, &SearchQuery::parse(&query), SNIPPET_BYTES);
        for (start, end) in marks {
            prop_assert!(text.get(start..end).is_some(), "{start}..{end} in {text}");
        }
    }
}
