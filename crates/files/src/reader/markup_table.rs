//! Tables in HTML and in the XML of Excel 2003, which many programs write under the names of workbooks.

use html5gum::{DefaultEmitter, EndTag, StartTag, Token, Tokenizer};

use super::{
    delimited::detect_kind,
    document::{Document, PreviewLimits},
    table::{CellKind, CutReason, SheetPreviews, TableSink},
    text,
};
use parlor_protocol::FilePreview;

/// The maximum number of tables that are read.
const MAX_TABLES: usize = 20;

/// The maximum number of a column that is covered or skipped without a cell of its own, since a few bytes can name thousands of
/// them. Cells may be more.
const MAX_COLUMNS: usize = 2000;

/// The media types of both forms.
pub const HTML: &str = "text/html";
pub const XML: &str = "text/xml";

/// Reads the preview of a file with the name of a workbook that is a text: of tables in HTML or XML, or of one whose values
/// are separated by characters.
pub fn read(data: &[u8], limits: PreviewLimits) -> Document {
    let Some(decoded) = text::decode(data) else {
        return Document::UNUSABLE;
    };
    let Some(media_type) = media_type(&decoded) else {
        return super::delimited::read(data, limits);
    };
    let mut previews = SheetPreviews::new(limits);
    let omitted_tables = read_tables(&decoded, &mut previews);
    let tables = previews.finish();
    match tables.is_empty() {
        true => text::read(data, limits.bytes),
        false => Document::new(
            media_type,
            Ok(FilePreview {
                text: String::new(),
                tables,
                omitted_tables,
            }),
        ),
    }
}

/// Reads the rows of the tables. Returns `false` if the data is not text.
pub fn read_rows(data: &[u8], sink: &mut dyn TableSink) -> bool {
    let Some(decoded) = text::decode(data) else {
        return false;
    };
    read_tables(&decoded, sink);
    true
}

/// Returns the media type of markup; `None` for another text.
fn media_type(text: &str) -> Option<&'static str> {
    let start = text.trim_start();
    match start.strip_prefix('<')? {
        start if start.starts_with("?xml") && !text.contains("<html") => Some(XML),
        _ => Some(HTML),
    }
}

/// Reads the tables. Returns the number of those that are left out.
fn read_tables(text: &str, sink: &mut dyn TableSink) -> usize {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut reader = Reader::new(sink);
    for Ok(token) in Tokenizer::new_with_emitter(text, emitter) {
        match token {
            Token::StartTag(tag) => reader.start(&tag),
            Token::EndTag(tag) => reader.end(&tag),
            Token::String(text) => reader.push_text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    reader.end_table();
    reader.count.saturating_sub(MAX_TABLES)
}

/// Passes on the rows of tables.
struct Reader<'s> {
    sink: &'s mut dyn TableSink,
    /// The number of tables so far.
    count: usize,
    /// The name of the next table.
    name: String,
    /// The depth of tables in tables. Those inside are text of their cell.
    depth: usize,
    row: Vec<String>,
    /// The open cell: its text, and the number of columns after it that it covers.
    cell: Option<(String, usize)>,
    /// The number of open elements whose text is not shown.
    hidden: usize,
}

impl<'s> Reader<'s> {
    fn new(sink: &'s mut dyn TableSink) -> Self {
        Self {
            sink,
            count: 0,
            name: String::new(),
            depth: 0,
            row: Vec::new(),
            cell: None,
            hidden: 0,
        }
    }

    fn is_read(&self) -> bool {
        self.depth > 0 && self.count <= MAX_TABLES
    }

    fn start(&mut self, tag: &StartTag<()>) {
        let attribute = |name: &[u8]| {
            let found = tag.attributes.iter().find(|(key, _)| key.as_slice() == name);
            found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        };
        let number = |name: &[u8]| attribute(name).and_then(|text| text.trim().parse::<usize>().ok());
        match tag.name.as_slice() {
            b"worksheet" => self.name = attribute(b"ss:name").unwrap_or_default(),
            b"table" => {
                self.depth += 1;
                if self.depth == 1 {
                    self.count += 1;
                    let name = std::mem::take(&mut self.name);
                    match self.count <= MAX_TABLES {
                        true => self.sink.start_table(&name),
                        false => self.sink.omit_table(&name, CutReason::Sheets),
                    }
                }
            }
            b"tr" | b"row" if self.depth == 1 => self.end_row(),
            b"td" | b"th" | b"cell" if self.depth == 1 => {
                self.end_cell();
                // A cell of Excel may leave out the ones before it.
                if let Some(column) = number(b"ss:index") {
                    let column = column.saturating_sub(1).min(MAX_COLUMNS);
                    self.row.resize(self.row.len().max(column), String::new());
                }
                let covered = number(b"colspan").map_or(0, |count| count.saturating_sub(1));
                let covered = number(b"ss:mergeacross").unwrap_or(covered);
                self.cell = Some((String::new(), covered));
                if tag.self_closing {
                    self.end_cell();
                }
            }
            b"br" | b"p" | b"div" | b"li" => self.push_text(" "),
            b"script" | b"style" | b"comment" if !tag.self_closing => self.hidden += 1,
            _ => {}
        }
    }

    fn end(&mut self, tag: &EndTag<()>) {
        match tag.name.as_slice() {
            b"table" if self.depth == 1 => self.end_table(),
            b"table" => self.depth = self.depth.saturating_sub(1),
            b"tr" | b"row" if self.depth == 1 => self.end_row(),
            b"td" | b"th" | b"cell" if self.depth == 1 => self.end_cell(),
            b"script" | b"style" | b"comment" => self.hidden = self.hidden.saturating_sub(1),
            _ => {}
        }
    }

    fn push_text(&mut self, text: &str) {
        if self.hidden == 0
            && let Some((cell, _)) = &mut self.cell
        {
            cell.push_str(text);
        }
    }

    fn end_cell(&mut self) {
        if let Some((text, covered)) = self.cell.take() {
            let words: Vec<&str> = text.split_whitespace().collect();
            self.row.push(words.join(" "));
            let columns = self.row.len().saturating_add(covered).min(MAX_COLUMNS);
            self.row.resize(self.row.len().max(columns), String::new());
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        let row = std::mem::take(&mut self.row);
        if !row.is_empty() && self.is_read() {
            let cells: Vec<(CellKind, &str)> = row
                .iter()
                .map(|text| (detect_kind(text, b'\t'), &**text))
                .collect();
            self.sink.push_row(&cells);
        }
    }

    fn end_table(&mut self) {
        if self.depth == 0 {
            return;
        }
        self.end_row();
        if self.is_read() {
            self.sink.end_table(None);
        }
        (self.depth, self.cell) = (0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PreviewLimits = PreviewLimits {
        bytes: 10_000,
        rows: 10,
    };

    /// The name, the columns with their types, and the rows of each table.
    type Found = (String, Vec<(String, String)>, Vec<Vec<String>>);

    fn tables(text: &str) -> (Option<&'static str>, Vec<Found>) {
        let document = read(text.as_bytes(), LIMITS);
        let found = document.content.unwrap().tables.into_iter().map(|table| {
            let columns = table.columns.into_iter().map(|column| (column.name, column.kind));
            (table.name, columns.collect(), table.rows)
        });
        (document.media_type, found.collect())
    }

    fn found(name: &str, columns: &[(&str, &str)], rows: &[&[&str]]) -> Found {
        let owned = |text: &&str| (*text).to_owned();
        (
            name.into(),
            columns
                .iter()
                .map(|(name, kind)| (owned(name), owned(kind)))
                .collect(),
            rows.iter().map(|row| row.iter().map(owned).collect()).collect(),
        )
    }

    #[test]
    fn markup_is_read_as_tables() {
        let numbers = found("", &[("a", "number"), ("b", "number")], &[&["1", "2"]]);
        for (text, media_type, expected) in [
            (
                "<html><table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table></html>",
                HTML,
                vec![numbers.clone()],
            ),
            // Without ends, with a style, entities, a table in a cell, and a cell over two columns.
            (
                "<!DOCTYPE html><style>td { color: red }</style><TABLE><TR><TH>a<TH>b<TR><TD colspan=2>x &amp;\n y\
                 <TR><TD>1<TD><table><tr><td>in</td></tr></table></TABLE>",
                HTML,
                vec![found(
                    "",
                    &[("a", "text"), ("b", "text")],
                    &[&["x & y", ""], &["1", "in"]],
                )],
            ),
            (
                "<?xml version=\"1.0\"?><?mso-application progid=\"Excel.Sheet\"?>\
                 <Workbook xmlns:ss=\"urn:schemas-microsoft-com:office:spreadsheet\"><Worksheet ss:Name=\"Q1\"><Table>\
                 <Row><Cell><Data ss:Type=\"String\">a</Data></Cell><Cell><Data ss:Type=\"String\">b</Data></Cell></Row>\
                 <Row><Cell ss:Index=\"2\"><Data ss:Type=\"Number\">2</Data></Cell></Row></Table></Worksheet></Workbook>",
                XML,
                vec![found("Q1", &[("a", "empty"), ("b", "number")], &[&["", "2"]])],
            ),
            ("a\tb\n1\t2\n", "text/tab-separated-values", vec![numbers.clone()]),
            ("a;b\n1;2\n", "text/csv", vec![numbers]),
        ] {
            assert_eq!(tables(text), (Some(media_type), expected), "{text}");
        }
        let wide = "<td colspan=9999999 ss:index=9999999>x".repeat(1000);
        let (_, wide) = tables(&format!("<table><tr>{wide}</table>"));
        assert!(wide[0].1.len() <= MAX_COLUMNS + 1000, "{}", wide[0].1.len());
        let page = read(b"<html><p>No table</p></html>", LIMITS);
        assert_eq!(page.media_type, Some("text/plain"));
    }
}
