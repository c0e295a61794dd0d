//! Reads lines from an untrusted process, with a limit on memory.

use tokio::io::{self, AsyncBufReadExt, AsyncRead, BufReader};

/// A line reader. Cancelling a read loses no data.
pub struct LineReader<R> {
    reader: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    /// True if the line was returned truncated, and the rest of it is skipped.
    is_skipping: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A complete line, without its line end.
    Whole(Vec<u8>),
    /// The beginning of a line over the limit.
    Truncated(Vec<u8>),
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub fn new(from: R, limit: usize) -> Self {
        Self {
            reader: BufReader::new(from),
            limit,
            line: Vec::new(),
            is_skipping: false,
        }
    }

    /// Returns the next line; `None` at the end. An unterminated last line is dropped.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let buffer = self.reader.fill_buf().await?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let rest = &buffer[..end.unwrap_or(buffer.len())];
            let used = end.map_or(buffer.len(), |end| end + 1);
            let was_cut = self.is_skipping;
            if !was_cut {
                let room = self.limit - self.line.len();
                self.line.extend_from_slice(&rest[..rest.len().min(room)]);
                self.is_skipping = rest.len() > room;
            }
            let is_over = self.is_skipping && !was_cut;
            self.reader.consume(used);
            if end.is_some() {
                self.is_skipping = false;
            }
            if is_over {
                return Ok(Some(Line::Truncated(std::mem::take(&mut self.line))));
            }
            if end.is_some() && !was_cut {
                return Ok(Some(Line::Whole(std::mem::take(&mut self.line))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line::*, *};

    #[tokio::test]
    async fn truncates_long_lines_and_skips_the_rest() {
        // The chunk size makes no difference.
        for size in [1, 3, 4, 100] {
            let (mut into, from) = io::duplex(size);
            let writing = tokio::spawn(async move {
                let text = b"1234\n\n12345\n123456789\nend\nnot ended";
                io::AsyncWriteExt::write_all(&mut into, text).await
            });
            let mut lines = LineReader::new(from, 4);
            let mut read = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                read.push(line);
            }
            writing.await.unwrap().unwrap();
            let whole = |text: &str| Whole(text.into());
            let cut = || Truncated(b"1234".into());
            // The unterminated line is returned only because it is too long.
            let expected = [
                whole("1234"),
                whole(""),
                cut(),
                cut(),
                whole("end"),
                Truncated(b"not ".into()),
            ];
            assert_eq!(read, expected, "in chunks of {size}");
        }
    }
}
