//! The tree behind the views: the blocks, with a signal wherever something can grow.

use std::sync::Arc;

use leptos::prelude::*;

use super::growing::{GrowingList, GrowingText};
use parlor_markup::markdown::{AlertKind, Alignment, Formula, Markup};

/// A block. Its key is unique as long as it is shown.
#[derive(Clone, Debug)]
pub struct BlockNode {
    pub key: u64,
    pub kind: NodeKind,
}

/// The blocks in a container.
pub type Nodes = GrowingList<BlockNode>;

/// The counterpart of [`Block`](parlor_markup::markdown::Block).
#[derive(Clone, Debug)]
pub enum NodeKind {
    Paragraph(GrowingList<InlineNode>),
    Heading {
        level: u8,
        inlines: GrowingList<InlineNode>,
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
    pub fn children(&self) -> Option<&Nodes> {
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

/// The counterpart of [`Inline`](parlor_markup::markdown::Inline). Only inlines directly in a paragraph or heading can grow.
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
