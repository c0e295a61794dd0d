//! Tree diff: updates a tree to a newer one and returns the minimal patches.
//!
//! The trees compared are small: the open tail of a document before and after a push.

use super::blocks::{Block, Inline, ListItem, TableCell};
use super::closed_part::OpenContainer;
use super::patch::{BlockPath, Patch};

/// Updates the children of `old`, a partly closed container, to those of `new`, its rest.
pub(super) fn diff_children(
    index: usize,
    old: &mut Block,
    open: &OpenContainer,
    new: Block,
    rest: ExtraChildren,
    out: &mut Vec<Patch>,
) {
    let mut path = vec![index];
    let kept = open.closed_length;
    let mut is_replaced = false;
    match (&mut *old, new) {
        (
            Block::List {
                tight, items: old, ..
            },
            Block::List {
                tight: newer,
                items: new,
                ..
            },
        ) => {
            if rest == ExtraChildren::Drop {
                set_tight(&path, tight, newer && !open.is_loose, out);
            }
            diff_items(&mut path, old, kept, new, rest, out);
        }
        (
            Block::Table {
                header, rows: old, ..
            },
            Block::Table {
                header: newer,
                rows: new,
                ..
            },
        ) => {
            diff_rows(&path, old, kept, new, rest, out);
            if open.lead_text.is_empty() && *header != newer {
                *header = newer;
                is_replaced = true;
            }
        }
        (Block::Code { text: old, .. }, Block::Code { text: new, .. }) => {
            let shown = old.get(kept..).unwrap_or_default();
            let is_there =
                shown.starts_with(&new) && (rest == ExtraChildren::Keep || shown.len() == new.len());
            if let Some(more) = new.strip_prefix(shown) {
                append_text(&path, old, more, out);
            } else if !is_there {
                old.truncate(kept);
                old.push_str(&new);
                is_replaced = true;
            }
        }
        _ => {}
    }
    if is_replaced {
        out.push(Patch::Replace {
            path,
            block: old.clone(),
        });
    }
}

/// The treatment of the older tree's children after those that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtraChildren {
    Keep,
    Drop,
}

/// Updates `old[from..]` to `new`, or with [`ExtraChildren::Keep`] only its beginning.
pub(super) fn diff_blocks(
    path: &mut BlockPath,
    old: &mut Vec<Block>,
    from: usize,
    new: Vec<Block>,
    keep: ExtraChildren,
    out: &mut Vec<Patch>,
) {
    let end = from + new.len();
    let rest = diff_common_blocks(path, old, from, new, out);
    if !rest.is_empty() || (old.len() > end && keep == ExtraChildren::Drop) {
        let from = end - rest.len();
        old.truncate(from);
        old.extend(rest.iter().cloned());
        out.push(Patch::Blocks {
            path: path.clone(),
            from,
            blocks: rest,
        });
    }
}

/// Updates the blocks of `old` that have a counterpart in `new`, and returns the blocks of `new` that have
/// none.
fn diff_common_blocks(
    path: &mut BlockPath,
    old: &mut [Block],
    from: usize,
    new: Vec<Block>,
    out: &mut Vec<Patch>,
) -> Vec<Block> {
    let mut new = new.into_iter();
    for (index, old) in old.iter_mut().enumerate().skip(from) {
        let Some(newer) = new.next() else { break };
        path.push(index);
        diff_block(path, old, newer, out);
        path.pop();
    }
    new.collect()
}

/// Updates `old` to `new`.
pub(super) fn diff_block(path: &mut BlockPath, old: &mut Block, new: Block, out: &mut Vec<Patch>) {
    if *old == new {
        return;
    }
    match (old, new) {
        (Block::Paragraph(old), Block::Paragraph(new)) => diff_inlines(path, old, new, out),
        (
            Block::Heading { level, inlines: old },
            Block::Heading {
                level: newer,
                inlines: new,
            },
        ) if *level == newer => {
            diff_inlines(path, old, new, out);
        }
        (
            Block::Code { info, text: old },
            Block::Code {
                info: newer,
                text: new,
            },
        ) if *info == newer && new.starts_with(old.as_str()) => {
            append_text(path, old, &new[old.len()..], out);
        }
        (Block::Html(old), Block::Html(new)) if new.starts_with(old.as_str()) => {
            append_text(path, old, &new[old.len()..], out);
        }
        (Block::Quote(old), Block::Quote(new)) => diff_blocks(path, old, 0, new, ExtraChildren::Drop, out),
        (
            Block::Alert { kind, blocks: old },
            Block::Alert {
                kind: newer,
                blocks: new,
            },
        ) if *kind == newer => diff_blocks(path, old, 0, new, ExtraChildren::Drop, out),
        (
            Block::Details { summary, blocks: old },
            Block::Details {
                summary: newer,
                blocks: new,
            },
        ) if *summary == newer => diff_blocks(path, old, 0, new, ExtraChildren::Drop, out),
        (
            Block::Footnote { label, blocks: old },
            Block::Footnote {
                label: newer,
                blocks: new,
            },
        ) if *label == newer => {
            diff_blocks(path, old, 0, new, ExtraChildren::Drop, out);
        }
        (
            Block::List {
                start,
                tight,
                items: old,
            },
            Block::List {
                start: newer,
                tight: new_tight,
                items: new,
            },
        ) if *start == newer => {
            set_tight(path, tight, new_tight, out);
            diff_items(path, old, 0, new, ExtraChildren::Drop, out);
        }
        (
            Block::Table {
                alignments,
                header,
                rows: old,
            },
            Block::Table {
                alignments: newer,
                header: new_header,
                rows: new,
            },
        ) if *alignments == newer && *header == new_header => {
            diff_rows(path, old, 0, new, ExtraChildren::Drop, out)
        }
        (old, new) => {
            old.clone_from(&new);
            out.push(Patch::Replace {
                path: path.clone(),
                block: new,
            });
        }
    }
}

pub(super) fn set_tight(path: &BlockPath, old: &mut bool, new: bool, out: &mut Vec<Patch>) {
    if *old != new {
        *old = new;
        out.push(Patch::Tight {
            path: path.clone(),
            tight: new,
        });
    }
}

/// Updates items, as [`diff_blocks`] does. From an item whose checkbox changed on, all are replaced.
pub(super) fn diff_items(
    path: &mut BlockPath,
    old: &mut Vec<ListItem>,
    from: usize,
    new: Vec<ListItem>,
    keep: ExtraChildren,
    out: &mut Vec<Patch>,
) {
    let end = from + new.len();
    let mut new = new.into_iter().peekable();
    let mut at = from;
    while let Some(older) = old.get_mut(at).filter(|_| at < end) {
        let Some(newer) = new.next_if(|newer| newer.task == older.task) else {
            break;
        };
        path.push(at);
        diff_blocks(path, &mut older.blocks, 0, newer.blocks, ExtraChildren::Drop, out);
        path.pop();
        at += 1;
    }
    if at < end || (old.len() > end && keep == ExtraChildren::Drop) {
        let after = old
            .drain(end.min(old.len())..)
            .filter(|_| keep == ExtraChildren::Keep);
        let rest: Vec<ListItem> = new.chain(after).collect();
        old.truncate(at);
        old.extend(rest.iter().cloned());
        out.push(Patch::Items {
            path: path.clone(),
            from: at,
            items: rest,
        });
    }
}

/// Updates rows, as [`diff_blocks`] does. Rows are small, so a changed one is replaced together with all that
/// follow.
pub(super) fn diff_rows(
    path: &BlockPath,
    old: &mut Vec<Vec<TableCell>>,
    from: usize,
    new: Vec<Vec<TableCell>>,
    keep: ExtraChildren,
    out: &mut Vec<Patch>,
) {
    let same = old
        .iter()
        .skip(from)
        .zip(&new)
        .take_while(|(old, new)| old == new)
        .count();
    if new.len() != same || (old.len() != from + same && keep == ExtraChildren::Drop) {
        let after = old
            .drain((from + new.len()).min(old.len())..)
            .filter(|_| keep == ExtraChildren::Keep);
        let rest: Vec<Vec<TableCell>> = new.into_iter().skip(same).chain(after).collect();
        old.truncate(from + same);
        old.extend(rest.iter().cloned());
        out.push(Patch::Rows {
            path: path.clone(),
            from: from + same,
            rows: rest,
        });
    }
}

fn diff_inlines(path: &BlockPath, old: &mut Vec<Inline>, new: Vec<Inline>, out: &mut Vec<Patch>) {
    let mut same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    if same + 1 == old.len()
        && let (Some(Inline::Text(old)), Some(Inline::Text(new))) = (old.last_mut(), new.get(same))
        && let Some(more) = new.strip_prefix(old.as_str())
    {
        append_text(path, old, more, out);
        same += 1;
    }
    if old.len() != same || new.len() != same {
        old.truncate(same);
        let rest: Vec<Inline> = new.into_iter().skip(same).collect();
        old.extend(rest.iter().cloned());
        out.push(Patch::Inlines {
            path: path.clone(),
            from: same,
            inlines: rest,
        });
    }
}

fn append_text(path: &BlockPath, old: &mut String, more: &str, out: &mut Vec<Patch>) {
    if !more.is_empty() {
        old.push_str(more);
        out.push(Patch::Append {
            path: path.clone(),
            text: more.to_owned(),
        });
    }
}
