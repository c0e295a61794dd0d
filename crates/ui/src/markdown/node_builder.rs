//! Creates the nodes of parsed text, and applies patches to them.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    growing::{GrowingList, GrowingText},
    node::{BlockNode, InlineKind, InlineNode, ItemNode, NodeKind, Nodes, TableNode, TableRow},
};
use parlor_markup::markdown::{Block, Inline, ListItem, Patch, TableCell};

/// Creates nodes and numbers them: the same text gets the same numbers on the server and in the browser.
#[derive(Debug, Default)]
pub struct NodeBuilder {
    last_key: u64,
    /// The `ended` signal of the last code block or table, unless it is known to be complete.
    open_block: Option<ArcRwSignal<bool>>,
}

impl NodeBuilder {
    fn next_key(&mut self) -> u64 {
        self.last_key += 1;
        self.last_key
    }

    pub fn nodes(&mut self, blocks: &[Block]) -> Vec<BlockNode> {
        blocks.iter().map(|block| self.node(block)).collect()
    }

    /// Marks the last code block or table as complete.
    pub fn finish(&mut self) {
        if let Some(ended) = self.open_block.take() {
            ended.set(true);
        }
    }

    fn begin_block(&mut self) -> ArcRwSignal<bool> {
        let ended = ArcRwSignal::new(false);
        self.open_block = Some(ended.clone());
        ended
    }

    fn node(&mut self, block: &Block) -> BlockNode {
        // Only the last block grows.
        self.finish();
        let key = self.next_key();
        let kind = match block {
            Block::Paragraph(inlines) => NodeKind::Paragraph(GrowingList::new(self.inline_nodes(inlines))),
            Block::Heading { level, inlines } => NodeKind::Heading {
                level: *level,
                inlines: GrowingList::new(self.inline_nodes(inlines)),
            },
            Block::Code { info, text } => NodeKind::Code {
                info: info.as_deref().map(Arc::from),
                text: GrowingText::new(text),
                ended: self.begin_block(),
            },
            Block::Quote(blocks) => NodeKind::Quote(GrowingList::new(self.nodes(blocks))),
            Block::Alert { kind, blocks } => NodeKind::Alert {
                kind: *kind,
                nodes: GrowingList::new(self.nodes(blocks)),
            },
            Block::Details { summary, blocks } => NodeKind::Details {
                summary: self.inline_nodes(summary).into(),
                nodes: GrowingList::new(self.nodes(blocks)),
            },
            Block::List { start, tight, items } => {
                let items = GrowingList::new(self.items(items));
                NodeKind::List {
                    start: *start,
                    tight: ArcRwSignal::new(*tight),
                    items,
                }
            }
            Block::Table {
                alignments,
                header,
                rows,
            } => NodeKind::Table(Arc::new(TableNode {
                alignments: alignments.clone(),
                header: self.row(header),
                rows: GrowingList::new(self.rows(rows)),
                ended: self.begin_block(),
            })),
            Block::Rule => NodeKind::Rule,
            Block::Footnote { label, blocks } => NodeKind::Footnote {
                label: label.as_str().into(),
                nodes: GrowingList::new(self.nodes(blocks)),
            },
            Block::Html(text) => NodeKind::Html(GrowingText::new(text)),
        };
        BlockNode { key, kind }
    }

    /// Reopens a block that seemed complete and continues after all.
    fn reopen(&mut self, ended: ArcRwSignal<bool>) {
        if ended.get_untracked() {
            ended.set(false);
            self.open_block = Some(ended);
        }
    }

    fn items(&mut self, items: &[ListItem]) -> Vec<ItemNode> {
        let item = |item: &ListItem| ItemNode {
            key: self.next_key(),
            task: item.task,
            nodes: GrowingList::new(self.nodes(&item.blocks)),
        };
        items.iter().map(item).collect()
    }

    fn rows(&mut self, rows: &[Vec<TableCell>]) -> Vec<TableRow> {
        rows.iter().map(|row| self.row(row)).collect()
    }

    fn row(&mut self, cells: &[TableCell]) -> TableRow {
        TableRow {
            key: self.next_key(),
            cells: cells.iter().map(|cell| self.inline_nodes(cell)).collect(),
        }
    }

    fn inline_nodes(&mut self, inlines: &[Inline]) -> Vec<InlineNode> {
        inlines.iter().map(|inline| self.inline_node(inline)).collect()
    }

    fn inline_node(&mut self, inline: &Inline) -> InlineNode {
        let key = self.next_key();
        let kind = match inline {
            Inline::Text(text) => InlineKind::Text(ArcRwSignal::new(text.clone())),
            Inline::Code(text) => InlineKind::Code(text.as_str().into()),
            Inline::Emphasis(children) => InlineKind::Emphasis(self.inline_nodes(children).into()),
            Inline::Strong(children) => InlineKind::Strong(self.inline_nodes(children).into()),
            Inline::Strikethrough(children) => InlineKind::Strikethrough(self.inline_nodes(children).into()),
            Inline::Markup { markup, children } => InlineKind::Markup {
                markup: *markup,
                children: self.inline_nodes(children).into(),
            },
            Inline::Formula(formula) => InlineKind::Formula(Arc::new(formula.clone())),
            Inline::Link {
                href,
                title,
                children,
            } => InlineKind::Link {
                href: href.as_str().into(),
                title: title.as_deref().map(Arc::from),
                children: self.inline_nodes(children).into(),
            },
            Inline::Image { href, title, alt } => InlineKind::Image {
                href: href.as_str().into(),
                title: title.as_deref().map(Arc::from),
                alt: alt.as_str().into(),
            },
            Inline::FootnoteReference(label) => InlineKind::Reference(label.as_str().into()),
            Inline::Citation(number) => InlineKind::Citation(*number),
            Inline::HardBreak => InlineKind::HardBreak,
        };
        InlineNode { key, kind }
    }

    /// Applies a patch to `root`. A patch that does not fit changes nothing: it would belong to another text.
    pub fn apply_patch(&mut self, root: &Nodes, patch: &Patch) {
        match patch {
            Patch::Blocks { path, from, blocks } => {
                if let Some(nodes) = find_container(root, path) {
                    nodes.splice(*from, self.nodes(blocks));
                }
            }
            Patch::Replace { path, block } => {
                if let Some((&last, parent)) = path.split_last()
                    && let Some(nodes) = find_container(root, parent)
                {
                    nodes.set(last, self.node(block));
                }
            }
            Patch::Items { path, from, items } => {
                if let Some(NodeKind::List { items: old, .. }) = find(root, path) {
                    old.splice(*from, self.items(items));
                }
            }
            Patch::Tight { path, tight } => {
                if let Some(NodeKind::List { tight: old, .. }) = find(root, path) {
                    old.set(*tight);
                }
            }
            Patch::Rows { path, from, rows } => {
                if let Some(NodeKind::Table(table)) = find(root, path) {
                    table.rows.splice(*from, self.rows(rows));
                    self.reopen(table.ended.clone());
                }
            }
            Patch::Inlines { path, from, inlines } => {
                if let Some(NodeKind::Paragraph(nodes) | NodeKind::Heading { inlines: nodes, .. }) =
                    find(root, path)
                {
                    nodes.splice(*from, self.inline_nodes(inlines));
                }
            }
            Patch::Append { path, text: more } => match find(root, path) {
                Some(NodeKind::Code { text, ended, .. }) => {
                    text.append(more);
                    self.reopen(ended);
                }
                Some(NodeKind::Html(text)) => text.append(more),
                Some(NodeKind::Paragraph(nodes) | NodeKind::Heading { inlines: nodes, .. }) => {
                    if let Some(InlineNode {
                        kind: InlineKind::Text(text),
                        ..
                    }) = nodes.last()
                    {
                        text.update(|text| text.push_str(more));
                    }
                }
                _ => {}
            },
        }
    }
}

fn find(root: &Nodes, path: &[usize]) -> Option<NodeKind> {
    let (&last, parent) = path.split_last()?;
    Some(find_container(root, parent)?.get(last)?.kind)
}

fn find_container(root: &Nodes, path: &[usize]) -> Option<Nodes> {
    let Some((&first, rest)) = path.split_first() else {
        return Some(root.clone());
    };
    match root.get(first)?.kind {
        NodeKind::List { items, .. } => {
            let (&item, rest) = rest.split_first()?;
            find_container(&items.get(item)?.nodes, rest)
        }
        kind => find_container(kind.children()?, rest),
    }
}
