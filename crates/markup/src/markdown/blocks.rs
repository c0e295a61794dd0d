//! The tree: the meaning of a Markdown text, without its presentation.

use super::formula::Formula;

/// A block, from a rule to a list of lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Paragraph(Vec<Inline>),
    Heading {
        level: u8,
        inlines: Vec<Inline>,
    },
    /// `info` is the text after an opening fence (`rust`, `js {1,3}`); an indented block has none.
    Code {
        info: Option<String>,
        text: String,
    },
    Quote(Vec<Block>),
    /// A quote that begins with a line such as `[!NOTE]`.
    Alert {
        kind: AlertKind,
        blocks: Vec<Block>,
    },
    /// `<details>`: blocks below a summary, hidden at first.
    Details {
        summary: Vec<Inline>,
        blocks: Vec<Block>,
    },
    /// `start` is the first number of an ordered list. The paragraphs of a tight list are shown without space
    /// between.
    List {
        start: Option<u64>,
        tight: bool,
        items: Vec<ListItem>,
    },
    /// Every row has as many cells as there are alignments.
    Table {
        alignments: Vec<Alignment>,
        header: Vec<TableCell>,
        rows: Vec<Vec<TableCell>>,
    },
    Rule,
    Footnote {
        label: String,
        blocks: Vec<Block>,
    },
    /// A block of raw HTML, shown as its source text.
    Html(String),
}

impl Block {
    /// The blocks of a container that is not a list.
    pub fn children(&self) -> Option<&Vec<Block>> {
        match self {
            Block::Quote(blocks)
            | Block::Alert { blocks, .. }
            | Block::Details { blocks, .. }
            | Block::Footnote { blocks, .. } => Some(blocks),
            _ => None,
        }
    }

    /// Returns the blocks inside it, to change them.
    pub(super) fn children_mut(&mut self) -> Option<&mut Vec<Block>> {
        match self {
            Block::Quote(blocks)
            | Block::Alert { blocks, .. }
            | Block::Details { blocks, .. }
            | Block::Footnote { blocks, .. } => Some(blocks),
            _ => None,
        }
    }
}

/// The kind of an alert, as on GitHub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertKind {
    Note,
    Tip,
    Important,
    Warning,
    Caution,
}

/// An inline element that is written as an HTML tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    Subscript,
    Superscript,
    Keyboard,
    Highlight,
}

impl Markup {
    /// The name of the tag.
    pub fn tag(self) -> &'static str {
        match self {
            Markup::Subscript => "sub",
            Markup::Superscript => "sup",
            Markup::Keyboard => "kbd",
            Markup::Highlight => "mark",
        }
    }
}

/// The content of a table cell.
pub type TableCell = Vec<Inline>;

/// An item of a list. `task` is the state of its checkbox, if it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListItem {
    pub task: Option<bool>,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    None,
    Left,
    Center,
    Right,
}

/// Running text. Neighbouring texts are always one `Text`; a line break of the source is a `\n` in
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    Text(String),
    Code(String),
    Emphasis(Vec<Inline>),
    Strong(Vec<Inline>),
    Strikethrough(Vec<Inline>),
    Markup {
        markup: Markup,
        children: Vec<Inline>,
    },
    /// A formula; one in a line of its own, too.
    Formula(Formula),
    /// A link. Its URL has passed the allow list. Links are never nested.
    Link {
        href: String,
        title: Option<String>,
        children: Vec<Inline>,
    },
    /// A picture, which is shown as a link to it: nothing remote is loaded.
    Image {
        href: String,
        title: Option<String>,
        alt: String,
    },
    FootnoteReference(String),
    /// `[1]`: the number of a source, if there is one with it.
    Citation(usize),
    HardBreak,
}

/// Returns the text of inlines without their markup.
pub fn plain_text(inlines: &[Inline]) -> String {
    let mut text = String::new();
    collect_text(inlines, &mut text);
    text
}

/// The source text of a citation.
pub fn citation_text(number: usize) -> String {
    ["[", &number.to_string(), "]"].concat()
}

fn collect_text(inlines: &[Inline], out: &mut String) {
    for inline in inlines {
        match inline {
            Inline::Text(text) | Inline::Code(text) => out.push_str(text),
            Inline::Emphasis(children)
            | Inline::Strong(children)
            | Inline::Strikethrough(children)
            | Inline::Markup { children, .. }
            | Inline::Link { children, .. } => collect_text(children, out),
            Inline::Image { alt, .. } => out.push_str(alt),
            Inline::FootnoteReference(_) => {}
            Inline::Citation(number) => out.push_str(&citation_text(*number)),
            Inline::Formula(formula) => out.push_str(&formula.source()),
            Inline::HardBreak => out.push('\n'),
        }
    }
}
