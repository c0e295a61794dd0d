//! A text that arrives in fragments ends as the same tree as the text parsed at once.

use fuzzing::properties;
use proptest::prelude::*;

use super::super::{MarkdownDocument, parse};
use super::{MirroredDocument, corpus, examples};

/// A small generator of cuts, so that a failure message has all that is needed to reproduce it.
struct CutGenerator(u64);

impl CutGenerator {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % below.max(1)
    }

    fn fragments<'a>(&mut self, text: &'a str, longest: usize) -> Vec<&'a str> {
        let mut fragments = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let mut at = (1 + self.next(longest)).min(rest.len());
            while !rest.is_char_boundary(at) {
                at += 1;
            }
            let (fragment, more) = rest.split_at(at);
            fragments.push(fragment);
            rest = more;
        }
        fragments
    }
}

fn assert_equals_full_parse(name: &str, text: &str, fragments: &[&str]) {
    let mut mirrored = MirroredDocument::default();
    for fragment in fragments {
        mirrored.push(fragment);
    }
    mirrored.finish();
    assert_eq!(
        mirrored.document.blocks(),
        parse(text),
        "{name}: {text:?} cut as {fragments:?}"
    );
}

fn assert_equals_full_parse_at_any_cut(name: &str, text: &str) {
    let chars: Vec<&str> = text.split_inclusive(|_| true).collect();
    assert_equals_full_parse(name, text, &chars);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_equals_full_parse(name, text, &lines);
    for seed in 0..8 {
        for longest in [3, 12, 60] {
            let fragments = CutGenerator(seed).fragments(text, longest);
            assert_equals_full_parse(&format!("{name}, seed {seed}, up to {longest}"), text, &fragments);
        }
    }
}

#[test]
fn commonmark_examples_at_any_cut() {
    for (number, text) in examples() {
        assert_equals_full_parse_at_any_cut(&format!("example {number}"), &text);
    }
}

#[test]
fn commonmark_examples_in_sequence() {
    let examples = examples();
    for window in examples.windows(3) {
        let text: String = window.iter().map(|(_, text)| text.as_str()).collect();
        let name = format!("examples from {}", window[0].0);
        assert_equals_full_parse(&name, &text, &CutGenerator(window[0].0).fragments(&text, 7));
        let text = text.trim_end().replace('\n', "\r\n");
        assert_equals_full_parse(&name, &text, &CutGenerator(window[0].0).fragments(&text, 7));
    }
}

#[test]
fn model_answers() {
    for (name, text) in corpus::ANSWERS.iter().chain(corpus::EDGE_CASES) {
        assert_equals_full_parse_at_any_cut(name, text);
    }
}

#[test]
fn regressions() {
    for text in corpus::REGRESSIONS {
        assert_equals_full_parse_at_any_cut("broke once", text);
    }
}

#[test]
fn text_after_the_end_continues() {
    let text = "[a] and [^n]\n\n- x **y** z\n\n[a]: /ur";
    let mut mirrored = MirroredDocument::default();
    mirrored.push(text);
    mirrored.finish();
    assert_eq!(mirrored.document.blocks(), parse(text));
    mirrored.push("l \"t\"\n\n[^n]: note");
    mirrored.finish();
    assert_eq!(
        mirrored.document.blocks(),
        parse("[a] and [^n]\n\n- x **y** z\n\n[a]: /url \"t\"\n\n[^n]: note")
    );
}

#[test]
fn an_empty_document_has_no_blocks() {
    let mut document = MarkdownDocument::new();
    assert_eq!(document.push(""), []);
    assert_eq!(document.finish(), []);
    assert_eq!(document.blocks(), []);
}

/// Fragments of markup in every order.
fn markup_soup() -> impl Strategy<Value = Vec<String>> {
    let fragment = prop_oneof![
        4 => proptest::sample::select(corpus::SNIPPETS).prop_map(str::to_owned),
        2 => proptest::sample::select(&["\n", "\n", "\n\n", " ", "  ", "    ", "\t", "\r\n", "\r"][..]).prop_map(str::to_owned),
        1 => "[a-z]{1,4}".prop_map(|word| word),
        1 => "\\PC{1,3}".prop_map(|any| any),
    ];
    proptest::collection::vec(fragment, 0..40)
}

properties! {
    400;

    #[test]
    fn markup_soup_at_any_cut(fragments in markup_soup(), seed in any::<u64>()) {
        let text: String = fragments.concat();
        let cut: Vec<&str> = fragments.iter().map(String::as_str).filter(|fragment| !fragment.is_empty()).collect();
        assert_equals_full_parse("soup", &text, &cut);
        assert_equals_full_parse("soup", &text, &CutGenerator(seed).fragments(&text, 5));
    }

    #[test]
    fn any_text(text in any::<String>(), seed in any::<u64>()) {
        assert_equals_full_parse("any", &text, &CutGenerator(seed).fragments(&text, 5));
    }
}
