//! The tree behind the views: the blocks, with a signal wherever something can grow.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    footnotes::Footnotes,
    grow::{List, Text},
};
use crate::markdown::{Alignment, Block, Cell, Inline, Item, Patch};

/// A block. Its key is its own as long as it is shown.
#[derive(Clone, Debug)]
pub struct Node {
    pub key: u64,
    pub kind: Kind,
}

/// The blocks in a container.
pub type Nodes = List<Node>;

/// As [`Block`].
#[derive(Clone, Debug)]
pub enum Kind {
    Paragraph(List<Piece>),
    Heading {
        level: u8,
        pieces: List<Piece>,
    },
    Code {
        info: Option<Arc<str>>,
        text: Text,
        /// Nothing more comes.
        ended: ArcRwSignal<bool>,
    },
    Quote(Nodes),
    List {
        start: Option<u64>,
        tight: ArcRwSignal<bool>,
        items: List<ItemNode>,
    },
    Table(Arc<Table>),
    Rule,
    Footnote {
        label: Arc<str>,
        nodes: Nodes,
    },
    Html(Text),
}

#[derive(Clone, Debug)]
pub struct ItemNode {
    pub key: u64,
    pub task: Option<bool>,
    pub nodes: Nodes,
}

#[derive(Debug)]
pub struct Table {
    pub alignments: Vec<Alignment>,
    pub header: Row,
    pub rows: List<Row>,
}

/// A row of a table, which is made anew when it changes.
#[derive(Clone, Debug)]
pub struct Row {
    pub key: u64,
    pub cells: Arc<[Vec<Piece>]>,
}

/// As [`Inline`]. Only those right in a paragraph or heading can grow.
#[derive(Clone, Debug)]
pub struct Piece {
    pub key: u64,
    pub kind: PieceKind,
}

#[derive(Clone, Debug)]
pub enum PieceKind {
    Text(ArcRwSignal<String>),
    Code(Arc<str>),
    Emphasis(Arc<[Piece]>),
    Strong(Arc<[Piece]>),
    Strikethrough(Arc<[Piece]>),
    Link {
        href: Arc<str>,
        title: Option<Arc<str>>,
        children: Arc<[Piece]>,
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

/// Makes nodes and numbers them: the same text gets the same numbers on the server and in the browser.
#[derive(Debug, Default)]
pub struct Maker {
    last: u64,
    /// Whether the code that was made last has ended, unless it is known to have.
    open: Option<ArcRwSignal<bool>>,
}

impl Maker {
    fn key(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub fn nodes(&mut self, blocks: &[Block]) -> Vec<Node> {
        blocks.iter().map(|block| self.node(block)).collect()
    }

    /// What has been made does not grow any more.
    pub fn end(&mut self) {
        if let Some(ended) = self.open.take() {
            ended.set(true);
        }
    }

    fn begin_code(&mut self) -> ArcRwSignal<bool> {
        let ended = ArcRwSignal::new(false);
        self.open = Some(ended.clone());
        ended
    }

    fn node(&mut self, block: &Block) -> Node {
        // Only what is last grows.
        self.end();
        let key = self.key();
        let kind = match block {
            Block::Paragraph(inlines) => Kind::Paragraph(List::new(self.pieces(inlines))),
            Block::Heading { level, inlines } => Kind::Heading {
                level: *level,
                pieces: List::new(self.pieces(inlines)),
            },
            Block::Code { info, text } => Kind::Code {
                info: info.as_deref().map(Arc::from),
                text: Text::new(text),
                ended: self.begin_code(),
            },
            Block::Quote(blocks) => Kind::Quote(List::new(self.nodes(blocks))),
            Block::List { start, tight, items } => {
                let items = List::new(self.items(items));
                Kind::List {
                    start: *start,
                    tight: ArcRwSignal::new(*tight),
                    items,
                }
            }
            Block::Table {
                alignments,
                header,
                rows,
            } => Kind::Table(Arc::new(Table {
                alignments: alignments.clone(),
                header: self.row(header),
                rows: List::new(self.rows(rows)),
            })),
            Block::Rule => Kind::Rule,
            Block::Footnote { label, blocks } => Kind::Footnote {
                label: label.as_str().into(),
                nodes: List::new(self.nodes(blocks)),
            },
            Block::Html(text) => Kind::Html(Text::new(text)),
        };
        Node { key, kind }
    }

    /// What had ended as far as was known is longer after all.
    fn goes_on(&mut self, ended: ArcRwSignal<bool>) {
        if ended.get_untracked() {
            ended.set(false);
            self.open = Some(ended);
        }
    }

    fn items(&mut self, items: &[Item]) -> Vec<ItemNode> {
        let item = |item: &Item| ItemNode {
            key: self.key(),
            task: item.task,
            nodes: List::new(self.nodes(&item.blocks)),
        };
        items.iter().map(item).collect()
    }

    fn rows(&mut self, rows: &[Vec<Cell>]) -> Vec<Row> {
        rows.iter().map(|row| self.row(row)).collect()
    }

    fn row(&mut self, cells: &[Cell]) -> Row {
        Row {
            key: self.key(),
            cells: cells.iter().map(|cell| self.pieces(cell)).collect(),
        }
    }

    fn pieces(&mut self, inlines: &[Inline]) -> Vec<Piece> {
        inlines.iter().map(|inline| self.piece(inline)).collect()
    }

    fn piece(&mut self, inline: &Inline) -> Piece {
        let key = self.key();
        let kind = match inline {
            Inline::Text(text) => PieceKind::Text(ArcRwSignal::new(text.clone())),
            Inline::Code(text) => PieceKind::Code(text.as_str().into()),
            Inline::Emphasis(children) => PieceKind::Emphasis(self.pieces(children).into()),
            Inline::Strong(children) => PieceKind::Strong(self.pieces(children).into()),
            Inline::Strikethrough(children) => PieceKind::Strikethrough(self.pieces(children).into()),
            Inline::Link {
                href,
                title,
                children,
            } => PieceKind::Link {
                href: href.as_str().into(),
                title: title.as_deref().map(Arc::from),
                children: self.pieces(children).into(),
            },
            Inline::Image { href, title, alt } => PieceKind::Image {
                href: href.as_str().into(),
                title: title.as_deref().map(Arc::from),
                alt: alt.as_str().into(),
            },
            Inline::FootnoteReference(label) => PieceKind::Reference(label.as_str().into()),
            Inline::Citation(number) => PieceKind::Citation(*number),
            Inline::HardBreak => PieceKind::HardBreak,
        };
        Piece { key, kind }
    }

    /// Makes the change that `patch` says in `root`. One that does not fit changes nothing: it would be another text's.
    pub fn apply(&mut self, root: &Nodes, patch: &Patch) {
        match patch {
            Patch::Blocks { path, from, blocks } => {
                if let Some(nodes) = container(root, path) {
                    nodes.splice(*from, self.nodes(blocks));
                }
            }
            Patch::Replace { path, block } => {
                if let Some((&last, parent)) = path.split_last()
                    && let Some(nodes) = container(root, parent)
                {
                    nodes.set(last, self.node(block));
                }
            }
            Patch::Items { path, from, items } => {
                if let Some(Kind::List { items: old, .. }) = find(root, path) {
                    old.splice(*from, self.items(items));
                }
            }
            Patch::Tight { path, tight } => {
                if let Some(Kind::List { tight: old, .. }) = find(root, path) {
                    old.set(*tight);
                }
            }
            Patch::Rows { path, from, rows } => {
                if let Some(Kind::Table(table)) = find(root, path) {
                    table.rows.splice(*from, self.rows(rows));
                }
            }
            Patch::Inlines { path, from, inlines } => {
                if let Some(Kind::Paragraph(pieces) | Kind::Heading { pieces, .. }) = find(root, path) {
                    pieces.splice(*from, self.pieces(inlines));
                }
            }
            Patch::Append { path, text: more } => match find(root, path) {
                Some(Kind::Code { text, ended, .. }) => {
                    text.append(more);
                    self.goes_on(ended);
                }
                Some(Kind::Html(text)) => text.append(more),
                Some(Kind::Paragraph(pieces) | Kind::Heading { pieces, .. }) => {
                    if let Some(Piece {
                        kind: PieceKind::Text(text),
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

fn find(root: &Nodes, path: &[usize]) -> Option<Kind> {
    let (&last, parent) = path.split_last()?;
    Some(container(root, parent)?.get(last)?.kind)
}

fn container(root: &Nodes, path: &[usize]) -> Option<Nodes> {
    let Some((&first, rest)) = path.split_first() else {
        return Some(root.clone());
    };
    match root.get(first)?.kind {
        Kind::Quote(nodes) | Kind::Footnote { nodes, .. } => container(&nodes, rest),
        Kind::List { items, .. } => {
            let (&item, rest) = rest.split_first()?;
            container(&items.get(item)?.nodes, rest)
        }
        _ => None,
    }
}

/// Counts the code blocks of a tree.
pub fn count_code(nodes: &Nodes) -> usize {
    let mut count = 0;
    nodes.for_each(|node| {
        count += match &node.kind {
            Kind::Code { .. } => 1,
            Kind::Quote(nodes) | Kind::Footnote { nodes, .. } => count_code(nodes),
            Kind::List { items, .. } => {
                let mut count = 0;
                items.for_each(|item| count += count_code(&item.nodes));
                count
            }
            _ => 0,
        };
    });
    count
}

/// Collects the footnotes of a tree in the order of the text.
pub fn footnotes(nodes: &Nodes, found: &mut Footnotes) {
    nodes.for_each(|node| match &node.kind {
        Kind::Paragraph(pieces) | Kind::Heading { pieces, .. } => {
            pieces.for_each(|piece| referred(piece, found))
        }
        Kind::Quote(nodes) => footnotes(nodes, found),
        Kind::List { items, .. } => items.for_each(|item| footnotes(&item.nodes, found)),
        Kind::Table(table) => {
            table
                .header
                .cells
                .iter()
                .flatten()
                .for_each(|piece| referred(piece, found));
            table.rows.for_each(|row| {
                row.cells
                    .iter()
                    .flatten()
                    .for_each(|piece| referred(piece, found))
            });
        }
        Kind::Footnote { label, nodes } => {
            found.define(label, node.key);
            footnotes(nodes, found);
        }
        Kind::Code { .. } | Kind::Html(_) | Kind::Rule => {}
    });
}

fn referred(piece: &Piece, found: &mut Footnotes) {
    match &piece.kind {
        PieceKind::Reference(label) => found.refer(label, piece.key),
        PieceKind::Emphasis(children)
        | PieceKind::Strong(children)
        | PieceKind::Strikethrough(children)
        | PieceKind::Link { children, .. } => children.iter().for_each(|child| referred(child, found)),
        _ => {}
    }
}
