//! Tests that the browser reads the state that the server rendered, byte for byte, and renders the same page from it.

use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};

use super::{
    pages::{self, Texts},
    render_html, wire,
};
use crate::state::snapshot::PageSnapshot;
use parlor_protocol::{MessageBody, Node, Part, RawJson};

/// The generator's seed: each run tests the same pages.
const SEED: [u8; 32] = *b"what the server and browser have";

/// The lengths at which tool inputs and outputs, and the text nodes of Chromium's parser, are split.
const CUT_LENGTHS: [usize; 2] = [4000, 65_536];

/// Characters and strings with a special meaning in HTML, JavaScript, JSON or Markdown.
const SPECIAL_STRINGS: &[&str] = &[
    "<",
    ">",
    "&",
    "\"",
    "'",
    "\\",
    "`",
    "]]>",
    "</script>",
    "</title>",
    "<script>",
    "<!--",
    "-->",
    "<![CDATA[",
    "\u{2028}",
    "\u{2029}",
    "\0",
    "\u{1}",
    "\u{7f}",
    "¬",
    "\u{feff}",
    "\u{fffd}",
    "\r\n",
    "\r",
    "\n",
    "\t",
    "\\u003c",
    "\\u0001",
    "\\ud83d",
    "&lt;",
    "&amp;",
    "&#0;",
    "🦀",
    "é",
    "\u{301}",
    "\u{202e}",
    "${x}",
    "0",
    "*",
    "_",
    "[",
    "](",
    "|",
    "- ",
    "# ",
    "> ",
    "```\n",
    "    ",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "$",
    "$$",
    "\\frac{a}{b}",
    "x^2",
    "<sub>",
    "</sub>",
    "<kbd>",
    "</kbd>",
    "<br>",
    "<details>\n",
    "<summary>",
    "</summary>\n\n",
    "\n\n</details>\n\n",
    "> [!NOTE]\n",
    "a",
    "word ",
];

fn text() -> impl Strategy<Value = String> {
    let special = prop::collection::vec(prop::sample::select(SPECIAL_STRINGS), 0..24)
        .prop_map(|fragments| fragments.concat());
    // Enough `<` to bring a text to a limit, and a few more or less.
    let long = (
        prop::sample::select(&CUT_LENGTHS[..]),
        0..40_usize,
        prop::sample::select(SPECIAL_STRINGS),
    )
        .prop_map(|(limit, more, fragment)| {
            let length = limit - 20 + more;
            let fragment = if fragment.is_empty() { "<" } else { fragment };
            let mut text = fragment.repeat(length / fragment.len() + 1);
            text.truncate(text.floor_char_boundary(length));
            text
        });
    prop_oneof![6 => special, 2 => any::<String>(), 1 => long]
}

/// A tool's input: an object of texts, or no JSON at all.
fn input() -> impl Strategy<Value = String> {
    prop_oneof![
        (text(), text()).prop_map(|(content, query)| {
            serde_json::json!({ "content": content, "query": query }).to_string()
        }),
        text().prop_map(|text| ["{\"content\": \"", &text, "\"}"].concat()),
        text(),
    ]
}

fn texts() -> impl Strategy<Value = Texts> {
    (text(), text(), text(), text(), input(), text(), text()).prop_map(
        |(title, question, answer, thinking, input, output, other)| Texts {
            title,
            question,
            answer,
            thinking,
            input,
            output,
            other,
        },
    )
}

fn assert_agreement(name: &str, page: &PageSnapshot, url: &str) {
    let sent = wire::round_trip(page);
    assert_eq!(&sent, page, "{name}: the state");
    assert_eq!(
        render_html(&sent, url),
        render_html(page, url),
        "{name}: the page"
    );
}

#[test]
fn browser_renders_what_the_server_rendered() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &SEED);
    let config = ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new_with_rng(config, rng);
    let tested = runner.run(&texts(), |texts| {
        let (page, url) = pages::conversation(&texts);
        assert_agreement("conversation", &page, &url);
        Ok(())
    });
    if let Err(error) = tested {
        panic!("seed {}: {error}", String::from_utf8_lossy(&SEED));
    }
}

mod properties {
    use super::*;

    /// Each string is on every fourth page; on which ones, depends on the seed.
    #[test]
    fn browser_renders_other_pages_the_same() {
        for seed in fuzzing::test_seeds!() {
            for (index, text) in SPECIAL_STRINGS.iter().enumerate() {
                for (number, other) in pages::other_pages(text).iter().enumerate() {
                    if pages::is_tried(seed, index, number) {
                        assert_agreement(text, &other.make(), &other.url);
                    }
                }
            }
        }
    }
}

#[test]
fn raw_json_keeps_its_bytes() {
    let item = "<li>item</li>";
    for count in [1, 249, 250, 251, 300] {
        let input = serde_json::json!({ "path": "list.html", "content": item.repeat(count) }).to_string();
        let (page, url) = pages::conversation(&Texts {
            input: input.clone(),
            ..Texts::uniform("text")
        });
        let sent = wire::round_trip(&page);
        let transcript = sent.transcript.expect("there is one").expect("it is there");
        let MessageBody::Assistant(answer) = &transcript.messages[1].body else {
            panic!("the second message is the answer");
        };
        let Part::ToolCall(call) = &answer.nodes[0].parts[2] else {
            panic!("the third part is the call");
        };
        assert_eq!(call.input, RawJson::parse_or_quote(&input));
        assert_agreement("list", &page, &url);
    }
}

#[test]
fn pages_of_very_many_parts_are_short() {
    let text = |text: &str| Part::Text { text: text.into() };
    let thinking = Part::Thinking { text: "Hm.".into() };
    let (page, _) = pages::conversation(&Texts::uniform("text"));
    let answer = page
        .transcript
        .as_ref()
        .and_then(|transcript| transcript.as_ref().ok());
    let answer = answer.and_then(|transcript| transcript.messages[1].assistant().cloned());
    let call = answer.expect("the second message is the answer").nodes[0].parts[2].clone();
    for (parts, times) in [
        (vec![text("a"), thinking], 50_000),
        (vec![text(&"word ".repeat(20_000))], 80),
        (vec![call], 5000),
    ] {
        let (mut page, url) = pages::conversation(&Texts::uniform("text"));
        let Some(Ok(transcript)) = &mut page.transcript else {
            panic!("there is one");
        };
        let MessageBody::Assistant(answer) = &mut transcript.messages[1].body else {
            panic!("the second message is the answer");
        };
        answer.nodes = vec![Node {
            parts: vec![parts; times].concat(),
        }];
        let html = render_html(&page, &url);
        assert!(html.len() < 2_000_000, "{} bytes", html.len());
        assert!(html.contains("Show more"));
    }
}
