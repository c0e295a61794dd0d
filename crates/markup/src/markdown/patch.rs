//! Changes of a tree, for updating a mirror of it.

use super::blocks::{Block, Inline, ListItem, TableCell};

/// The position of a block: its index among the outermost blocks, then for each level down the index of a
/// child. A list has two indices, of the item and of the block in it. The empty path is the document itself.
pub type BlockPath = Vec<usize>;

/// One change. Patches must be applied in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patch {
    /// In the container at `path` (the document, a quote, an alert, details, a footnote, an item of a list), `blocks` replace
    /// the blocks from index `from` on.
    Blocks {
        path: BlockPath,
        from: usize,
        blocks: Vec<Block>,
    },
    /// `block` replaces the block at `path`.
    Replace { path: BlockPath, block: Block },
    /// In the list at `path`, `items` replace the items from index `from` on.
    Items {
        path: BlockPath,
        from: usize,
        items: Vec<ListItem>,
    },
    /// The list at `path` became tight or loose.
    Tight { path: BlockPath, tight: bool },
    /// In the table at `path`, `rows` replace the rows from index `from` on.
    Rows {
        path: BlockPath,
        from: usize,
        rows: Vec<Vec<TableCell>>,
    },
    /// In the paragraph or heading at `path`, `inlines` replace the inlines from index `from` on.
    Inlines {
        path: BlockPath,
        from: usize,
        inlines: Vec<Inline>,
    },
    /// The text that ends the block at `path` grew: its code, its raw HTML, or the text that is its last
    /// inline.
    Append { path: BlockPath, text: String },
}

/// Updates `blocks`, a mirror of a document's blocks.
///
/// A patch that does not fit the mirror changes nothing: it can only come from another document.
pub fn apply(blocks: &mut Vec<Block>, patch: &Patch) {
    match patch {
        Patch::Blocks {
            path,
            from,
            blocks: new,
        } => {
            if let Some(list) = find_container(blocks, path) {
                list.truncate(*from);
                list.extend(new.iter().cloned());
            }
        }
        Patch::Replace { path, block } => {
            if let Some(old) = find_block(blocks, path) {
                old.clone_from(block);
            }
        }
        Patch::Items {
            path,
            from,
            items: new,
        } => {
            if let Some(Block::List { items, .. }) = find_block(blocks, path) {
                items.truncate(*from);
                items.extend(new.iter().cloned());
            }
        }
        Patch::Tight { path, tight: new } => {
            if let Some(Block::List { tight, .. }) = find_block(blocks, path) {
                *tight = *new;
            }
        }
        Patch::Rows {
            path,
            from,
            rows: new,
        } => {
            if let Some(Block::Table { rows, .. }) = find_block(blocks, path) {
                rows.truncate(*from);
                rows.extend(new.iter().cloned());
            }
        }
        Patch::Inlines {
            path,
            from,
            inlines: new,
        } => {
            if let Some(Block::Paragraph(inlines) | Block::Heading { inlines, .. }) = find_block(blocks, path)
            {
                inlines.truncate(*from);
                inlines.extend(new.iter().cloned());
            }
        }
        Patch::Append { path, text: new } => match find_block(blocks, path) {
            Some(Block::Code { text, .. } | Block::Html(text)) => text.push_str(new),
            Some(Block::Paragraph(inlines) | Block::Heading { inlines, .. }) => {
                if let Some(Inline::Text(text)) = inlines.last_mut() {
                    text.push_str(new);
                }
            }
            _ => {}
        },
    }
}

/// Returns the block at `path`, the indices from the outermost block inwards; `None` if there is none.
pub(super) fn find_block<'a>(blocks: &'a mut [Block], path: &[usize]) -> Option<&'a mut Block> {
    let (&first, rest) = path.split_first()?;
    let block = blocks.get_mut(first)?;
    if rest.is_empty() {
        return Some(block);
    }
    match block {
        Block::List { items, .. } => {
            let (&item, rest) = rest.split_first()?;
            find_block(&mut items.get_mut(item)?.blocks, rest)
        }
        block => find_block(block.children_mut()?, rest),
    }
}

/// The blocks in the container at `path`.
fn find_container<'a>(blocks: &'a mut Vec<Block>, path: &[usize]) -> Option<&'a mut Vec<Block>> {
    let Some((&first, rest)) = path.split_first() else {
        return Some(blocks);
    };
    match blocks.get_mut(first)? {
        Block::List { items, .. } => {
            let (&item, rest) = rest.split_first()?;
            find_container(&mut items.get_mut(item)?.blocks, rest)
        }
        block => find_container(block.children_mut()?, rest),
    }
}
