//! The tree behind the views: the blocks, with a signal wherever something can grow.

use std::sync::Arc;

use leptos::prelude::*;

use super::growing::{GrowingList, GrowingText};
use crate::markdown::{AlertKind, Alignment, Block, Formula, Inline, ListItem, Markup, Patch, TableCell};

/// A block. Its key is unique as long as it is shown.
#[derive(Clone, Debug)]
pub struct Node {
    pub key: u64,
    pub kind: NodeKind,
}

/// The blocks in a container.
pub type Nodes = GrowingList<Node>;

/// The counterpart of [`Block`].
#[derive(Clone, Debug)]
pub enum NodeKind {
    Paragraph(GrowingList<InlineNode>),
    Heading {
        level: u8,
        pieces: GrowingList<InlineNode>,
    },
    Code {
        info: Option<Arc<str>>,
        text: GrowingText,
        /// True when the code block is complete.
        ended: ArcRwSignal<bool>,
    },
    Quote(Nodes),
    Alert {
        kind: AlertKind,
        nodes: Nodes,
    },
    Details {
        summary: Arc<[InlineNode]>,
        nodes: Nodes,
    },
    List {
        start: Option<u64>,
        tight: ArcRwSignal<bool>,
        items: GrowingList<ItemNode>,
    },
    Table(Arc<TableNode>),
    Rule,
    Footnote {
        label: Arc<str>,
        nodes: Nodes,
    },
    Html(GrowingText),
}

impl NodeKind {
    /// The nodes of a container that is not a list.
    fn children(&self) -> Option<&Nodes> {
        match self {
            NodeKind::Quote(nodes)
            | NodeKind::Alert { nodes, .. }
            | NodeKind::Details { nodes, .. }
            | NodeKind::Footnote { nodes, .. } => Some(nodes),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct ItemNode {
    pub key: u64,
    pub task: Option<bool>,
    pub nodes: Nodes,
}

#[derive(Debug)]
pub struct TableNode {
    pub alignments: Vec<Alignment>,
    pub header: TableRow,
    pub rows: GrowingList<TableRow>,
    /// True when the table is complete.
    pub ended: ArcRwSignal<bool>,
}

/// A row of a table, which is replaced as a whole when it changes.
#[derive(Clone, Debug)]
pub struct TableRow {
    pub key: u64,
    pub cells: Arc<[Vec<InlineNode>]>,
}

/// The counterpart of [`Inline`]. Only inlines directly in a paragraph or heading can grow.
#[derive(Clone, Debug)]
pub struct InlineNode {
    pub key: u64,
    pub kind: InlineKind,
}

#[derive(Clone, Debug)]
pub enum InlineKind {
    Text(ArcRwSignal<String>),
    Code(Arc<str>),
    Emphasis(Arc<[InlineNode]>),
    Strong(Arc<[InlineNode]>),
    Strikethrough(Arc<[InlineNode]>),
    Markup {
        markup: Markup,
        children: Arc<[InlineNode]>,
    },
    Formula(Arc<Formula>),
    Link {
        href: Arc<str>,
        title: Option<Arc<str>>,
        children: Arc<[InlineNode]>,
    },
    Image {
        href: Arc<str>,
        title: Option<Arc<str>>,
        alt: Arc<str>,
    },
    Reference(Arc<str>),
    Citation(usize),
    HardBreak,
}

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

    pub fn nodes(&mut self, blocks: &[Block]) -> Vec<Node> {
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

    fn node(&mut self, block: &Block) -> Node {
        // Only the last block grows.
        self.finish();
        let key = self.next_key();
        let kind = match block {
            Block::Paragraph(inlines) => NodeKind::Paragraph(GrowingList::new(self.pieces(inlines))),
            Block::Heading { level, inlines } => NodeKind::Heading {
                level: *level,
                pieces: GrowingList::new(self.pieces(inlines)),
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
                summary: self.pieces(summary).into(),
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
        Node { key, kind }
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
            cells: cells.iter().map(|cell| self.pieces(cell)).collect(),
        }
    }

    fn pieces(&mut self, inlines: &[Inline]) -> Vec<InlineNode> {
        inlines.iter().map(|inline| self.piece(inline)).collect()
    }

    fn piece(&mut self, inline: &Inline) -> InlineNode {
        let key = self.next_key();
        let kind = match inline {
            Inline::Text(text) => InlineKind::Text(ArcRwSignal::new(text.clone())),
            Inline::Code(text) => InlineKind::Code(text.as_str().into()),
            Inline::Emphasis(children) => InlineKind::Emphasis(self.pieces(children).into()),
            Inline::Strong(children) => InlineKind::Strong(self.pieces(children).into()),
            Inline::Strikethrough(children) => InlineKind::Strikethrough(self.pieces(children).into()),
            Inline::Markup { markup, children } => InlineKind::Markup {
                markup: *markup,
                children: self.pieces(children).into(),
            },
            Inline::Formula(formula) => InlineKind::Formula(Arc::new(formula.clone())),
            Inline::Link {
                href,
                title,
                children,
            } => InlineKind::Link {
                href: href.as_str().into(),
                title: title.as_deref().map(Arc::from),
                children: self.pieces(children).into(),
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
                if let Some(NodeKind::Paragraph(pieces) | NodeKind::Heading { pieces, .. }) = find(root, path)
                {
                    pieces.splice(*from, self.pieces(inlines));
                }
            }
            Patch::Append { path, text: more } => match find(root, path) {
                Some(NodeKind::Code { text, ended, .. }) => {
                    text.append(more);
                    self.reopen(ended);
                }
                Some(NodeKind::Html(text)) => text.append(more),
                Some(NodeKind::Paragraph(pieces) | NodeKind::Heading { pieces, .. }) => {
                    if let Some(InlineNode {
                        kind: InlineKind::Text(text),
                        ..
                    }) = pieces.last()
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

/// Counts the code blocks of a tree.
pub fn count_code_blocks(nodes: &Nodes) -> usize {
    let mut count = 0;
    nodes.for_each(|node| {
        count += match &node.kind {
            NodeKind::Code { .. } => 1,
            NodeKind::List { items, .. } => {
                let mut count = 0;
                items.for_each(|item| count += count_code_blocks(&item.nodes));
                count
            }
            kind => kind.children().map_or(0, count_code_blocks),
        };
    });
    count
}
