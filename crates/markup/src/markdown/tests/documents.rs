//! A whole document of a model: lists of several kinds, a table, and formulas of many packages.

use super::super::{Block, Inline, parse};
use crate::math;

const TEXT: &str = include_str!("../../../../../tests/fixtures/markdown/lists-and-formulas.md");

#[test]
fn lists_of_any_indentation_are_nested() {
    let blocks = parse(TEXT);
    let numbered = |block: &Block| match block {
        Block::List { start, items, .. } => start.map(|start| (start, items.len())),
        _ => None,
    };
    let lists: Vec<_> = blocks.iter().filter_map(numbered).collect();
    assert_eq!(lists, [(1, 1), (2, 2), (1, 2)]);
    let bullets = blocks.iter().find_map(|block| match block {
        Block::List {
            start: None, items, ..
        } => Some(items),
        _ => None,
    });
    let below = |block: &Block| match block {
        Block::List { items, .. } => items.len(),
        _ => 0,
    };
    let first = &bullets.unwrap()[0];
    assert_eq!(first.blocks.iter().map(below).collect::<Vec<_>>(), [0, 2]);
    assert!(
        blocks
            .iter()
            .any(|block| matches!(block, Block::Table { rows, .. } if rows.len() == 2))
    );
}

#[test]
fn nearly_every_formula_is_drawn() {
    let formulas: Vec<_> = parse(TEXT)
        .into_iter()
        .filter_map(|block| match block {
            Block::Paragraph(inlines) => Some(inlines),
            _ => None,
        })
        .flatten()
        .filter_map(|inline| match inline {
            Inline::Formula(formula) => Some(formula),
            _ => None,
        })
        .collect();
    assert_eq!(formulas.len(), 36);
    // The others are shown as they are written.
    let others: Vec<&str> = formulas
        .iter()
        .filter(|formula| math::parse(&formula.latex, formula.delimiters.is_display()).is_none())
        .map(|formula| formula.latex.trim())
        .collect();
    assert_eq!(
        others,
        ["\\verb|a|", "\\begin{tikzcd} A \\arrow[r] & B \\end{tikzcd}"]
    );
}
