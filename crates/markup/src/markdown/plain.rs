//! A text without its markup, for a place that knows no Markdown.

use super::{
    blocks::{Block, Inline, ListItem, TableCell, plain_text},
    parse::parse,
};

/// Returns a finished text without its markup: lists keep their numbers and bullets, a table is tabs and lines, a link
/// keeps its text alone, code and formulas are their source.
pub fn without_markup(text: &str) -> String {
    let mut out = String::new();
    write_blocks(&parse(text), "\n\n", &mut out);
    out
}

fn write_blocks(blocks: &[Block], separator: &str, out: &mut String) {
    let mut is_first = true;
    for block in blocks {
        let text = block_text(block);
        if text.is_empty() {
            continue;
        }
        if !is_first {
            out.push_str(separator);
        }
        is_first = false;
        out.push_str(&text);
    }
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Paragraph(inlines) | Block::Heading { inlines, .. } => plain_text(inlines),
        Block::Code { text, .. } | Block::Html(text) => text.trim_end_matches('\n').to_owned(),
        Block::Details { summary, blocks } => {
            let mut text = plain_text(summary);
            text.push_str("\n\n");
            write_blocks(blocks, "\n\n", &mut text);
            text
        }
        Block::List { start, tight, items } => {
            let separator = if *tight { "\n" } else { "\n\n" };
            let lines = items.iter().enumerate().map(|(index, item)| {
                let bullet = match start {
                    Some(start) => [&(start + index as u64).to_string(), ". "].concat(),
                    None => "- ".into(),
                };
                item_text(item, &bullet, separator)
            });
            lines.collect::<Vec<_>>().join(separator)
        }
        Block::Table { header, rows, .. } => {
            let rows = std::iter::once(header).chain(rows);
            rows.map(|row| row_text(row)).collect::<Vec<_>>().join("\n")
        }
        Block::Rule => String::new(),
        Block::Footnote { label, blocks } => {
            let mut text = ["[", label, "] "].concat();
            write_blocks(blocks, "\n\n", &mut text);
            text
        }
        Block::Quote(blocks) | Block::Alert { blocks, .. } => {
            let mut text = String::new();
            write_blocks(blocks, "\n\n", &mut text);
            text
        }
    }
}

/// The text of an item. Its further lines are as far to the right as the first.
fn item_text(item: &ListItem, bullet: &str, separator: &str) -> String {
    let mut text = String::new();
    match item.task {
        Some(true) => text.push_str("[x] "),
        Some(false) => text.push_str("[ ] "),
        None => {}
    }
    write_blocks(&item.blocks, separator, &mut text);
    let indent = " ".repeat(bullet.len());
    let mut lines = text.lines().map(|line| match line.is_empty() {
        true => String::new(),
        false => [&indent, line].concat(),
    });
    let first = lines.next().unwrap_or_default();
    let first = [bullet, first.trim_start()].concat();
    std::iter::once(first).chain(lines).collect::<Vec<_>>().join("\n")
}

fn row_text(row: &[TableCell]) -> String {
    let cells = row
        .iter()
        .map(|cell: &Vec<Inline>| plain_text(cell).replace('\n', " "));
    cells.collect::<Vec<_>>().join("\t")
}

#[cfg(test)]
mod tests {
    use super::without_markup;

    #[test]
    fn keeps_the_text_and_its_structure() {
        for (markdown, text) in [
            ("# A *b*\n\nc [d](https://e.example) `f`", "A b\n\nc d f"),
            ("1. a\n2. b\n   - c\n   - d", "1. a\n2. b\n   - c\n   - d"),
            ("- [x] a\n\n  b", "- [x] a\n\n  b"),
            ("| a | b |\n|---|---|\n| **c** | d |", "a\tb\nc\td"),
            ("```rs\nlet a;\n```\n\n> [!NOTE]\n> e", "let a;\n\ne"),
            ("\\(x^2\\) and $5", "\\(x^2\\) and $5"),
            ("a\n\n---\n\nb", "a\n\nb"),
            ("", ""),
        ] {
            assert_eq!(without_markup(markdown), text, "{markdown}");
        }
    }
}
