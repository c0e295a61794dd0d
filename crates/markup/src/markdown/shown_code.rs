//! For tests: the question if words are shown as code.

use super::{Block, Inline};

/// Returns true if these words stand in code, as the user sees it.
pub fn shows_as_code(blocks: &[Block], words: &str) -> bool {
    blocks.iter().any(|block| match block {
        Block::Paragraph(inlines) | Block::Heading { inlines, .. } => inlines_have_code(inlines, words),
        Block::Code { text, .. } => text.contains(words),
        Block::Quote(blocks)
        | Block::Alert { blocks, .. }
        | Block::Details { blocks, .. }
        | Block::Footnote { blocks, .. } => shows_as_code(blocks, words),
        Block::List { items, .. } => items.iter().any(|item| shows_as_code(&item.blocks, words)),
        Block::Table { header, rows, .. } => {
            let mut cells = header.iter().chain(rows.iter().flatten());
            cells.any(|cell| inlines_have_code(cell, words))
        }
        Block::Rule | Block::Html(_) => false,
    })
}

fn inlines_have_code(inlines: &[Inline], words: &str) -> bool {
    inlines.iter().any(|inline| match inline {
        Inline::Code(text) => text.contains(words),
        Inline::Emphasis(inlines)
        | Inline::Strong(inlines)
        | Inline::Strikethrough(inlines)
        | Inline::Markup {
            children: inlines, ..
        } => inlines_have_code(inlines, words),
        Inline::Link { children, .. } => inlines_have_code(children, words),
        _ => false,
    })
}
