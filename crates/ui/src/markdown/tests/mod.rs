//! The effects of a change on the tree behind the views: only the affected nodes change.

use leptos::prelude::*;

use super::{
    growing::{GrowingList, GrowingText},
    node::{BlockNode, InlineKind, NodeKind},
    prose::ParsedText,
    state::MarkdownState,
};
use parlor_markup::{markdown::parse, math};

fn node(state: &MarkdownState, index: usize) -> BlockNode {
    state.nodes.get(index).expect("there is such a block")
}

fn item_keys(state: &MarkdownState, index: usize) -> Vec<u64> {
    let mut keys = Vec::new();
    match node(state, index).kind {
        NodeKind::List { items, .. } => items.for_each(|item| keys.push(item.key)),
        NodeKind::Table(table) => table.rows.for_each(|row| keys.push(row.key)),
        _ => {}
    }
    keys
}

#[test]
fn closed_blocks_keep_their_nodes() {
    let state = MarkdownState::new("one\n\ntwo\n\nthr");
    let before = [node(&state, 0).key, node(&state, 1).key, node(&state, 2).key];
    state.append("ee\n\nfour");
    state.finish();
    assert_eq!(
        [node(&state, 0).key, node(&state, 1).key, node(&state, 2).key],
        before
    );
}

#[test]
fn growing_lists_and_tables_keep_their_nodes() {
    for (begin, more) in [
        ("- a\n- b\n", "- c\n- d\n"),
        ("| a |\n|---|\n| b |\n| c |\n", "| d |\n| e |\n"),
    ] {
        let state = MarkdownState::new(begin);
        let before = item_keys(&state, 0);
        state.append(more);
        state.finish();
        let after = item_keys(&state, 0);
        assert_eq!(after[..2], before[..]);
        assert_eq!(after.len(), 4);
    }
}

#[test]
fn list_that_becomes_loose_keeps_items() {
    let state = MarkdownState::new("- a\n- b\n");
    let before = item_keys(&state, 0);
    state.append("\n- c\n");
    state.finish();
    assert_eq!(item_keys(&state, 0)[..2], before[..]);
    assert!(matches!(node(&state, 0).kind, NodeKind::List { tight, .. } if !tight.get_untracked()));
}

#[test]
fn growing_fence_keeps_its_node() {
    let state = MarkdownState::new("```rust\n");
    let before = node(&state, 0).key;
    for _ in 0..2_000 {
        state.append("fn a() {}\n");
    }
    state.finish();
    assert_eq!(node(&state, 0).key, before);
    let NodeKind::Code { text, .. } = node(&state, 0).kind else {
        panic!("no code")
    };
    assert_eq!(text.whole(), "fn a() {}\n".repeat(2_000));
}

#[test]
fn growing_list_holds_what_was_spliced() {
    let list = GrowingList::new((0..100).collect::<Vec<u64>>());
    let mut mirror: Vec<u64> = (0..100).collect();
    for (from, count) in [
        (100, 30),
        (64, 1),
        (65, 200),
        (0, 0),
        (0, 64),
        (64, 64),
        (128, 1),
        (5, 3),
        (8, 130),
    ] {
        let new: Vec<u64> = (1000..1000 + count).collect();
        list.splice(from, new.clone());
        mirror.truncate(from);
        mirror.extend(new);
        let mut items = Vec::new();
        list.for_each(|item| items.push(*item));
        assert_eq!(items, mirror);
        assert_eq!(list.last(), mirror.last().copied());
        assert_eq!(list.get(100), mirror.get(100).copied());
    }
    list.set(70, 7);
    assert_eq!(list.get(70), Some(7));
}

#[test]
fn piece_boundaries_do_not_depend_on_deltas() {
    let line = "a line of some length that is repeated\n";
    let whole = line.repeat(600);
    let at_once = GrowingText::new(&whole).piece_lengths();
    let text = GrowingText::new("");
    for chunk in whole.as_bytes().chunks(7) {
        text.append(std::str::from_utf8(chunk).unwrap_or_default());
    }
    assert_eq!(text.whole(), whole);
    assert_eq!(text.piece_lengths(), at_once);
    assert!(at_once.len() > 3);
}

#[test]
fn long_texts_are_shown_in_pieces() {
    for text in [
        "one paragraph ".repeat(200_000),
        "a line\n".repeat(400_000),
        "- an item\n".repeat(250_000),
        ["```\n", &"let code = 1;\n".repeat(200_000), "```\n"].concat(),
        "x".repeat(2 << 20),
        "*".repeat(2 << 20),
        "[".repeat(2 << 20),
        "`".repeat(2 << 20),
        "<".repeat(2 << 20),
        "| a | b |\n|---|---|\n".to_owned() + &"| c | d |\n".repeat(250_000),
        "H<sub>2</sub>O and <kbd>C</kbd>\n".repeat(70_000),
        "| a | b |\n|---|---|\n".to_owned() + &"| c<br>d | e |\n".repeat(150_000),
        "> [!NOTE]\n> a\n\n".repeat(140_000),
        "<details>\n<summary>a</summary>\n\nb\n\n</details>\n\n".repeat(40_000),
    ] {
        let name = &text[..12];
        let state = MarkdownState::finished(&text);
        let shown = state.shown_bytes();
        assert!((2 << 10..128 << 10).contains(&shown), "{name}: {shown}");
        assert!(state.has_more.get_untracked(), "{name}");
        state.show_more();
        assert!(state.shown_bytes() > shown, "{name}");
    }
}

#[test]
fn long_texts_with_formulas_have_short_pieces() {
    let letters = "x".repeat(1_000);
    for (open, close) in [
        ("$", "$\n"),
        ("$$", "$$\n\n"),
        ("\\(", "\\)\n"),
        ("\\[", "\\]\n\n"),
    ] {
        let text = [open, &letters, close].concat().repeat(2_000);
        let state = MarkdownState::finished(&text);
        let mut elements = 0;
        state.nodes.for_each(|node| elements += formula_elements(node));
        assert!((500..5_000).contains(&elements), "{open}: {elements}");
        assert!(state.has_more.get_untracked(), "{open}");
    }
}

/// The number of elements of the formulas in a paragraph.
fn formula_elements(node: &BlockNode) -> usize {
    let NodeKind::Paragraph(inlines) = &node.kind else {
        return 0;
    };
    let mut elements = 0;
    inlines.for_each(|inline| {
        if let InlineKind::Formula(formula) = &inline.kind {
            elements += math::parse(&formula.latex, false).map_or(1, |tree| tree.count());
        }
    });
    elements
}

#[test]
fn formulas_are_expected_in_prose_only() {
    for code in [
        "```bash\nexport PATH=$HOME/bin\n",
        "    $x = \\(1)\n",
        "It costs $5 and",
    ] {
        let state = MarkdownState::new(code);
        assert!(!state.expects_formula(), "{code}");
    }
    let state = MarkdownState::new("```bash\n$HOME\n```\n\n");
    assert!(!state.expects_formula());
    state.append("The energy $E");
    assert!(state.expects_formula());
}

#[test]
fn pieces_add_up_to_the_text() {
    let text = "A *line* with `marks` in it.\n\n".repeat(60_000) + "The end[^1] of it.\n\n[^1]: A note.\n";
    let state = MarkdownState::new("");
    for chunk in text.as_bytes().chunks(100_000) {
        state.append(std::str::from_utf8(chunk).unwrap_or_default());
    }
    let shown = state.shown_bytes();
    assert!(MarkdownState::finished(&text).shown_bytes() < shown / 3);
    state.finish();
    assert_eq!(state.shown_bytes(), shown);
    let mut pieces = 1;
    while state.has_more.get_untracked() {
        state.show_more();
        pieces += 1;
    }
    assert_eq!((pieces, state.shown_bytes()), (44, text.len()));
    let whole = parse(&text);
    let mut keys = 0;
    state.nodes.for_each(|_| keys += 1);
    assert_eq!(keys, whole.len());
}

#[test]
fn copies_a_partly_shown_code_block_whole() {
    let lines = "let code = 1;\n".repeat(200_000);
    let before = "```\nfirst\n```\n\n> ```\n> second\n> ```\n\n";
    let state = MarkdownState::finished(&[before, "```rust\n", &lines, "```\n\nAfter.\n"].concat());
    assert!(state.has_more.get_untracked());
    assert_eq!(state.open_code(), Some(lines));
    while state.has_more.get_untracked() {
        state.show_more();
    }
    assert_eq!(state.open_code(), None);
}
