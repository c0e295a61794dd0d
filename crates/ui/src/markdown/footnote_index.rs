//! The footnotes of a text: the first reference and the first definition of each label.

use std::collections::HashMap;

use super::node::{InlineKind, InlineNode, NodeKind, Nodes};
use parlor_markup::markdown::label_key;

/// The nodes with an id, by the key of their label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FootnoteIndex {
    /// The number of a first reference.
    pub references: HashMap<String, u64>,
    /// The number of a first definition.
    pub definitions: HashMap<String, u64>,
}

impl FootnoteIndex {
    /// Collects the footnotes of a tree in the order of the text.
    pub fn collect(nodes: &Nodes) -> Self {
        let mut found = Self::default();
        collect_footnotes(nodes, &mut found);
        found
    }

    fn add_reference(&mut self, label: &str, key: u64) {
        self.references.entry(label_key(label)).or_insert(key);
    }

    fn add_definition(&mut self, label: &str, key: u64) {
        self.definitions.entry(label_key(label)).or_insert(key);
    }
}

fn collect_footnotes(nodes: &Nodes, found: &mut FootnoteIndex) {
    nodes.for_each(|node| match &node.kind {
        NodeKind::Paragraph(inlines) | NodeKind::Heading { inlines, .. } => {
            inlines.for_each(|inline| collect_references(inline, found))
        }
        NodeKind::Quote(nodes) | NodeKind::Alert { nodes, .. } => collect_footnotes(nodes, found),
        NodeKind::Details { summary, nodes } => {
            summary
                .iter()
                .for_each(|inline| collect_references(inline, found));
            collect_footnotes(nodes, found);
        }
        NodeKind::List { items, .. } => items.for_each(|item| collect_footnotes(&item.nodes, found)),
        NodeKind::Table(table) => {
            table
                .header
                .cells
                .iter()
                .flatten()
                .for_each(|inline| collect_references(inline, found));
            table.rows.for_each(|row| {
                row.cells
                    .iter()
                    .flatten()
                    .for_each(|inline| collect_references(inline, found))
            });
        }
        NodeKind::Footnote { label, nodes } => {
            found.add_definition(label, node.key);
            collect_footnotes(nodes, found);
        }
        NodeKind::Code { .. } | NodeKind::Html(_) | NodeKind::Rule => {}
    });
}

fn collect_references(inline: &InlineNode, found: &mut FootnoteIndex) {
    match &inline.kind {
        InlineKind::Reference(label) => found.add_reference(label, inline.key),
        InlineKind::Emphasis(children)
        | InlineKind::Strong(children)
        | InlineKind::Strikethrough(children)
        | InlineKind::Markup { children, .. }
        | InlineKind::Link { children, .. } => {
            children.iter().for_each(|child| collect_references(child, found))
        }
        _ => {}
    }
}
