//! A text that arrives in pieces ends as the same tree as the text read at once.

use fuzzing::properties;
use proptest::prelude::*;

use super::super::{Document, parse};
use super::{Mirrored, corpus, examples};

/// A small generator for cuts, so that a failure names all that is needed to see it again.
struct Cuts(u64);

impl Cuts {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % below.max(1)
    }

    fn pieces<'a>(&mut self, text: &'a str, longest: usize) -> Vec<&'a str> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let mut at = (1 + self.next(longest)).min(rest.len());
            while !rest.is_char_boundary(at) {
                at += 1;
            }
            let (piece, more) = rest.split_at(at);
            pieces.push(piece);
            rest = more;
        }
        pieces
    }
}

fn assert_same(name: &str, text: &str, pieces: &[&str]) {
    let mut mirrored = Mirrored::default();
    for piece in pieces {
        mirrored.push(piece);
    }
    mirrored.finish();
    assert_eq!(
        mirrored.document.blocks(),
        parse(text),
        "{name}: {text:?} cut as {pieces:?}"
    );
}

fn assert_same_however_cut(name: &str, text: &str) {
    let chars: Vec<&str> = text.split_inclusive(|_| true).collect();
    assert_same(name, text, &chars);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    assert_same(name, text, &lines);
    for seed in 0..8 {
        for longest in [3, 12, 60] {
            let pieces = Cuts(seed).pieces(text, longest);
            assert_same(&format!("{name}, seed {seed}, up to {longest}"), text, &pieces);
        }
    }
}

#[test]
fn every_commonmark_example_however_cut() {
    for (number, text) in examples() {
        assert_same_however_cut(&format!("example {number}"), &text);
    }
}

#[test]
fn every_commonmark_example_after_and_before_others() {
    let examples = examples();
    for window in examples.windows(3) {
        let text: String = window.iter().map(|(_, text)| text.as_str()).collect();
        let name = format!("examples from {}", window[0].0);
        assert_same(&name, &text, &Cuts(window[0].0).pieces(&text, 7));
        let text = text.trim_end().replace('\n', "\r\n");
        assert_same(&name, &text, &Cuts(window[0].0).pieces(&text, 7));
    }
}

#[test]
fn answers_as_models_write_them() {
    for (name, text) in corpus::ANSWERS.iter().chain(corpus::ODDITIES) {
        assert_same_however_cut(name, text);
    }
}

#[test]
fn what_broke_once() {
    for text in corpus::BROKE_ONCE {
        assert_same_however_cut("broke once", text);
    }
}

#[test]
fn text_after_the_end_goes_on_where_it_stood() {
    let text = "[a] and [^n]\n\n- x **y** z\n\n[a]: /ur";
    let mut mirrored = Mirrored::default();
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
    let mut document = Document::new();
    assert_eq!(document.push(""), []);
    assert_eq!(document.finish(), []);
    assert_eq!(document.blocks(), []);
}

/// Pieces of markup that meet each other in every order.
fn soup() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        4 => proptest::sample::select(corpus::SNIPPETS).prop_map(str::to_owned),
        2 => proptest::sample::select(&["\n", "\n", "\n\n", " ", "  ", "    ", "\t", "\r\n", "\r"][..]).prop_map(str::to_owned),
        1 => "[a-z]{1,4}".prop_map(|word| word),
        1 => "\\PC{1,3}".prop_map(|any| any),
    ];
    proptest::collection::vec(piece, 0..40)
}

properties! {
    400;

    #[test]
    fn any_markup_soup_however_cut(pieces in soup(), seed in any::<u64>()) {
        let text: String = pieces.concat();
        let cut: Vec<&str> = pieces.iter().map(String::as_str).filter(|piece| !piece.is_empty()).collect();
        assert_same("soup", &text, &cut);
        assert_same("soup", &text, &Cuts(seed).pieces(&text, 5));
    }

    #[test]
    fn any_text_at_all(text in any::<String>(), seed in any::<u64>()) {
        assert_same("any", &text, &Cuts(seed).pieces(&text, 5));
    }
}
