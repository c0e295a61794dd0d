//! A table as CSV or Markdown.

use leptos::prelude::*;

use super::node::{InlineKind, InlineNode, TableNode, TableRow};
use parlor_markup::markdown::{Alignment, citation_text};

/// The text of a cell without its markup.
pub fn cell_text(inlines: &[InlineNode]) -> String {
    let mut text = String::new();
    inlines.iter().for_each(|inline| push_text(inline, &mut text));
    text
}

fn push_text(inline: &InlineNode, out: &mut String) {
    match &inline.kind {
        InlineKind::Text(text) => text.with_untracked(|text| out.push_str(text)),
        InlineKind::Code(text) => out.push_str(text),
        InlineKind::Emphasis(children)
        | InlineKind::Strong(children)
        | InlineKind::Strikethrough(children)
        | InlineKind::Markup { children, .. }
        | InlineKind::Link { children, .. } => children.iter().for_each(|child| push_text(child, out)),
        InlineKind::Formula(formula) => out.push_str(formula.latex.trim()),
        InlineKind::Image { alt, .. } => out.push_str(alt),
        InlineKind::Reference(_) => {}
        InlineKind::Citation(number) => out.push_str(&citation_text(*number)),
        InlineKind::HardBreak => out.push('\n'),
    }
}

/// Returns a table as CSV (RFC 4180).
pub fn to_csv(table: &TableNode, rows: &[TableRow]) -> String {
    let mut csv = String::new();
    for row in std::iter::once(&table.header).chain(rows) {
        for (column, cell) in row.cells.iter().enumerate() {
            if column > 0 {
                csv.push(',');
            }
            push_csv_cell(&cell_text(cell), &mut csv);
        }
        csv.push_str("\r\n");
    }
    csv
}

fn push_csv_cell(text: &str, out: &mut String) {
    // Spreadsheets run what begins like this as a formula. A negative number is none.
    let is_number = text
        .trim_start_matches(['-', '+'])
        .chars()
        .all(|c| c.is_ascii_digit() || ".,' %\u{a0}\u{202f}".contains(c));
    let is_signed = text.len() > 1 && text.starts_with(['+', '-']) && !is_number;
    let is_formula = text.starts_with(['=', '@', '\t', '\r']) || is_signed;
    let text = if is_formula {
        ["'", text].concat()
    } else {
        text.to_owned()
    };
    if text.contains([',', ';', '"', '\n', '\r']) {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(&text);
    }
}

/// Returns a table as Markdown.
pub fn to_markdown(table: &TableNode, rows: &[TableRow]) -> String {
    let mut markdown = String::new();
    push_row(&table.header, &mut markdown);
    markdown.push('|');
    for alignment in &table.alignments {
        markdown.push_str(match alignment {
            Alignment::None => " --- |",
            Alignment::Left => " :-- |",
            Alignment::Center => " :-: |",
            Alignment::Right => " --: |",
        });
    }
    markdown.push('\n');
    rows.iter().for_each(|row| push_row(row, &mut markdown));
    markdown
}

fn push_row(row: &TableRow, out: &mut String) {
    out.push('|');
    for cell in row.cells.iter() {
        out.push(' ');
        cell.iter().for_each(|inline| push_markdown(inline, out));
        out.push_str(" |");
    }
    out.push('\n');
}

fn push_markdown(inline: &InlineNode, out: &mut String) {
    let mut enclosed = |open: &str, children: &[InlineNode], close: &str| {
        out.push_str(open);
        children.iter().for_each(|child| push_markdown(child, out));
        out.push_str(close);
    };
    match &inline.kind {
        InlineKind::Emphasis(children) => enclosed("*", children, "*"),
        InlineKind::Strong(children) => enclosed("**", children, "**"),
        InlineKind::Strikethrough(children) => enclosed("~~", children, "~~"),
        InlineKind::Markup { markup, children } => {
            let tag = markup.tag();
            enclosed(&format!("<{tag}>"), children, &format!("</{tag}>"));
        }
        InlineKind::Link { href, children, .. } => enclosed("[", children, &format!("](<{href}>)")),
        InlineKind::Text(text) => text.with_untracked(|text| push_escaped(text, out)),
        InlineKind::Code(text) => {
            // A longer fence than any run of backticks in the code.
            let runs = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(runs + 1);
            let space = if runs > 0 { " " } else { "" };
            out.push_str(&[&fence, space, &text.replace('|', "\\|"), space, &fence].concat());
        }
        InlineKind::Formula(formula) => out.push_str(&formula.source().replace('\n', " ")),
        InlineKind::Image { href, alt, .. } => {
            out.push_str("![");
            push_escaped(alt, out);
            out.push_str(&format!("](<{href}>)"));
        }
        InlineKind::Reference(label) => out.push_str(&format!("[^{label}]")),
        InlineKind::Citation(number) => out.push_str(&citation_text(*number)),
        InlineKind::HardBreak => out.push_str("<br>"),
    }
}

fn push_escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        if "|*_`~[]<\\$&".contains(c) {
            out.push('\\');
        }
        out.push(if c == '\n' { ' ' } else { c });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{node::NodeKind, node_builder::NodeBuilder};
    use parlor_markup::markdown::parse;

    fn exported(markdown: &str, export: fn(&TableNode, &[TableRow]) -> String) -> String {
        let nodes = NodeBuilder::default().nodes(&parse(markdown));
        match &nodes[..] {
            [node] => match &node.kind {
                NodeKind::Table(table) => export(table, &table.rows.items()),
                _ => panic!("no table"),
            },
            _ => panic!("not one block"),
        }
    }

    const TABLE: &str =
        "| a | **b** |\n|:--|--:|\n| x, \"y\" | $z_1$ |\n| =SUM(1) | -5 |\n| c<br>d | `e \\| f` |\n";

    #[test]
    fn csv_has_the_text_of_cells() {
        assert_eq!(
            exported(TABLE, to_csv),
            "a,b\r\n\"x, \"\"y\"\"\",z_1\r\n'=SUM(1),-5\r\n\"c\nd\",e | f\r\n"
        );
    }

    #[test]
    fn copied_markdown_is_the_same_table() {
        let rich = "| a | b |\n|---|:-:|\n| *c* ~~d~~ [e](https://f.g \"h\") | \\* \\_ \\[i\\] \\$5 \\`j\\` |\n| \\&amp; <https://n.o/?p=1> |\n| `` k ` l `` | <kbd>m</kbd> H<sub>2</sub> [1] |\n";
        for table in [TABLE, rich] {
            let copied = exported(table, to_markdown);
            // The title of a link is left out.
            let expected = parse(&table.replace(" \"h\"", ""));
            assert_eq!(parse(&copied), expected, "{copied}");
        }
    }
}
