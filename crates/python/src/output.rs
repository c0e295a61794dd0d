//! The output of a call: text, tables and pictures in their order, and the error that ended it.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;

use super::{chart::describe_chart, wire::Report};
use parlor_base::text::{terminal::plain_text, truncate_bytes};
use parlor_protocol::{attachment::PLOTLY_CHART, tool::TRACEBACK};
use parlor_tools::NewAttachment;

/// The lines of a traceback that are kept: its head, and its end with the line of the code.
const MAX_TRACEBACK_LINES: usize = 24;

/// The text of the latest output that is shown while a call runs, in bytes.
const MAX_TAIL_BYTES: usize = 400;

/// The output of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    blocks: Vec<Block>,
    pub error: Option<CodeError>,
    /// Notes for the model about the session's files.
    pub notes: Vec<String>,
    omitted_text: usize,
    omitted_pictures: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Block {
    Text(String),
    /// A table as Markdown, with a line about its size.
    Table(String),
    Picture(NewAttachment),
    /// A chart, and the line about it for the model.
    Chart(NewAttachment, String),
}

/// An exception of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeError {
    name: String,
    message: String,
    traceback: String,
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.traceback.is_empty() {
            true => write!(f, "{}: {}", self.name, self.message),
            false => f.write_str(&self.traceback),
        }
    }
}

/// The text before an exception that is kept, in bytes, so that the output for the model has room for the exception.
const MAX_TEXT_BEFORE_ERROR: usize = 24 << 10;

impl CodeError {
    /// Returns `true` if the code has run up to the exception, so that it may have changed its session.
    pub fn has_run(&self) -> bool {
        self.traceback.contains(TRACEBACK)
    }

    /// Returns the exception in one line, without its traceback.
    pub fn summary(&self) -> String {
        match self.message.is_empty() {
            true => self.name.clone(),
            false => format!("{}: {}", self.name, self.message),
        }
    }
}

impl Output {
    /// Adds a report's text, tables, pictures, charts and error.
    pub fn add(&mut self, report: Report) {
        match report {
            Report::Text { text } => self.add_text(&text),
            Report::Display { text, table, picture } => {
                if let Some((media_type, data)) = picture {
                    self.add_picture(media_type, &data);
                }
                match table {
                    Some(table) => self.blocks.push(Block::Table(plain_text(&table))),
                    None if text.is_empty() => {}
                    None => self.blocks.push(Block::Text(text)),
                }
            }
            Report::Chart { chart } => self.add_chart(chart),
            Report::Error {
                name,
                message,
                traceback,
            } => {
                self.error = Some(CodeError {
                    name: plain_text(&name),
                    message: plain_text(&message),
                    traceback: short_traceback(&plain_text(&traceback)),
                });
            }
            Report::Ready | Report::Done { .. } | Report::Memory { .. } | Report::Gone { .. } => {}
        }
    }

    /// Sets the amounts of text and pictures that exceeded the limits.
    pub fn set_omitted(&mut self, text: usize, pictures: usize) {
        (self.omitted_text, self.omitted_pictures) = (text, pictures);
    }

    fn add_text(&mut self, text: &str) {
        match self.blocks.last_mut() {
            Some(Block::Text(last)) => last.push_str(text),
            _ => self.blocks.push(Block::Text(text.to_owned())),
        }
    }

    fn add_picture(&mut self, media_type: String, data: &str) {
        let base64: String = data.split_whitespace().collect();
        let Ok(data) = BASE64_STANDARD.decode(base64) else {
            return;
        };
        let is_picture = |block: &&Block| matches!(block, Block::Picture(_));
        let count = self.blocks.iter().filter(is_picture).count();
        self.blocks.push(Block::Picture(NewAttachment {
            media_type,
            name: format!("plot-{}", count + 1),
            data: Bytes::from(data),
        }));
    }

    fn add_chart(&mut self, chart: String) {
        let is_chart = |block: &&Block| matches!(block, Block::Chart(..));
        let count = self.blocks.iter().filter(is_chart).count();
        let description = describe_chart(&chart);
        let file = NewAttachment {
            media_type: PLOTLY_CHART.into(),
            name: format!("chart-{}", count + 1),
            data: Bytes::from(chart),
        };
        self.blocks.push(Block::Chart(file, description));
    }

    /// Returns the pictures and charts.
    pub fn files(&self) -> impl Iterator<Item = &NewAttachment> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Picture(file) | Block::Chart(file, _) => Some(file),
            Block::Text(_) | Block::Table(_) => None,
        })
    }

    /// Returns the output as text for the model and for the card: blocks with an empty line between them.
    pub fn text(&self) -> String {
        let notes = self.notes.iter().map(|note| format!("[{note}]"));
        let mut blocks: Vec<String> = notes.chain(self.blocks.iter().filter_map(block_text)).collect();
        if self.omitted_text > 0 {
            blocks.push(format!(
                "[{} more bytes of text were left out (setting python.output_bytes)]",
                self.omitted_text
            ));
        }
        if self.omitted_pictures > 0 {
            blocks.push(format!(
                "[{} more pictures were left out (setting python.picture_bytes)]",
                self.omitted_pictures
            ));
        }
        let text = blocks.join("\n\n");
        match &self.error {
            None => text,
            Some(error) if text.is_empty() => error.to_string(),
            Some(error) => {
                let text = truncate_bytes(&text, MAX_TEXT_BEFORE_ERROR);
                format!("{text}\n\n{error}")
            }
        }
    }

    /// Returns the text that a call has shown that ended its session, without the exception of `exit`.
    pub fn text_before_end(&self) -> String {
        let shown = Self {
            error: None,
            ..self.clone()
        };
        truncate_bytes(&shown.text(), MAX_TEXT_BEFORE_ERROR)
    }

    /// Returns the last `MAX_TAIL_BYTES` bytes of the last text block, for the progress of a call.
    pub fn tail(&self) -> String {
        let last = self.blocks.iter().rev().find_map(|block| match block {
            Block::Text(text) => Some(text),
            Block::Table(_) | Block::Picture(_) | Block::Chart(..) => None,
        });
        let last = last.map(String::as_str).unwrap_or_default();
        let start = last.ceil_char_boundary(last.len().saturating_sub(MAX_TAIL_BYTES));
        plain_text(&last[start..]).trim().to_owned()
    }
}

fn block_text(block: &Block) -> Option<String> {
    let text = match block {
        Block::Text(text) => plain_text(text),
        Block::Table(table) => table.clone(),
        Block::Chart(_, description) => plain_text(description),
        Block::Picture(_) => return None,
    };
    let text = text.trim_end().trim_start_matches('\n');
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns a traceback without its middle, if it is long.
fn short_traceback(traceback: &str) -> String {
    let lines: Vec<&str> = traceback.trim().lines().collect();
    if lines.len() <= MAX_TRACEBACK_LINES {
        return lines.join("\n");
    }
    let (head, end) = (MAX_TRACEBACK_LINES / 3, MAX_TRACEBACK_LINES * 2 / 3);
    let omitted = lines.len() - head - end;
    let middle = format!("… {omitted} lines …");
    let kept = lines[..head]
        .iter()
        .copied()
        .chain([&*middle])
        .chain(lines[lines.len() - end..].iter().copied());
    kept.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Report {
        Report::Text { text: text.into() }
    }

    fn shown(text: &str, table: Option<&str>, picture: Option<(&str, &str)>) -> Report {
        Report::Display {
            text: text.into(),
            table: table.map(str::to_owned),
            picture: picture.map(|(media_type, data)| (media_type.into(), data.into())),
        }
    }

    #[test]
    fn blocks_keep_their_order() {
        let mut output = Output::default();
        for report in [
            text("one\n"),
            text("two\n"),
            shown("", Some("| a |\n| --- |\n| 1 |\n\n1 row × 1 column"), None),
            shown("", None, Some(("image/png", "iVBO\nRw=="))),
            shown("'value'", None, None),
            shown("", None, Some(("image/png", "no base64!"))),
            Report::Chart {
                chart: r#"{"data":[]}"#.into(),
            },
        ] {
            output.add(report);
        }
        output.set_omitted(7, 0);
        assert_eq!(
            output.text(),
            "one\ntwo\n\n| a |\n| --- |\n| 1 |\n\n1 row × 1 column\n\n'value'\n\n[The person sees an interactive chart.]\n\n[7 more bytes of text were left out (setting \
             python.output_bytes)]"
        );
        let files: Vec<_> = output
            .files()
            .map(|file| (&*file.name, &*file.media_type, &*file.data))
            .collect();
        let (picture, chart): (&[u8], &[u8]) = (b"\x89PNG", br#"{"data":[]}"#);
        assert_eq!(
            files,
            [("plot-1", "image/png", picture), ("chart-1", PLOTLY_CHART, chart)]
        );
        assert_eq!(output.tail(), "'value'");
    }

    #[test]
    fn long_tracebacks_lose_their_middle() {
        let mut output = Output::default();
        let lines: Vec<String> = (0..100).map(|line| format!("line {line}")).collect();
        output.add(Report::Error {
            name: "ValueError".into(),
            message: "\u{1b}[31mno\u{1b}[0m".into(),
            traceback: lines.join("\n"),
        });
        let error = output.error.unwrap();
        let text = error.to_string();
        assert_eq!(text.lines().count(), MAX_TRACEBACK_LINES + 1);
        assert!(text.contains("line 7\n… 76 lines …\nline 84") && text.ends_with("line 99"));
        assert_eq!(error.summary(), "ValueError: no");
    }
}
