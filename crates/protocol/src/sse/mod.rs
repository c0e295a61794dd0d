//! Server-sent events: the framing of every event stream, in both directions.
//!
//! The format is that of the WHATWG HTML standard, section 9.2
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html>). The decoder takes bytes in chunks of
//! any size, and never holds more than its limit.

use std::fmt::Write;

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseFrame {
    /// The `id:` of this very frame, if it had one.
    pub id: Option<String>,
    /// The `event:` field; without it a frame is a "message".
    pub event: Option<String>,
    /// The `data:` lines, joined with line feeds.
    pub data: String,
    /// The data with the lines behind it that have no field's name, if there are any: a server may have left the line ends
    /// of a text as they are.
    pub unescaped_data: Option<String>,
}

/// A comment, which clients ignore. It keeps an idle connection from being closed.
pub const HEARTBEAT: &str = ": heartbeat\n\n";

/// Encodes one frame. `data` may have several lines.
pub fn encode_frame(id: Option<u64>, event: Option<&str>, data: &str) -> String {
    let mut frame = String::with_capacity(data.len() + 40);
    if let Some(id) = id {
        // Writing to a string cannot fail.
        let _ = writeln!(frame, "id: {id}");
    }
    if let Some(event) = event {
        let _ = writeln!(frame, "event: {event}");
    }
    // A carriage return would end the line too.
    for line in data.split(['\n', '\r']) {
        let _ = writeln!(frame, "data: {line}");
    }
    frame.push('\n');
    frame
}

/// A frame was longer than the decoder's limit. The rest of the stream can't be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame of the event stream is longer than {limit} bytes")]
pub struct FrameTooLong {
    pub limit: usize,
}

/// A decoder from the bytes of a stream to its frames.
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// True if the last byte was a carriage return: a line feed that follows belongs to it.
    ends_with_cr: bool,
    /// True if at most a byte order mark has come so far.
    is_at_start: bool,
    frame: SseFrame,
    has_data: bool,
    /// Bytes in `line` and `frame`.
    held_bytes: usize,
}

impl SseDecoder {
    /// Creates a decoder that rejects frames of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            ends_with_cr: false,
            is_at_start: true,
            frame: SseFrame::default(),
            has_data: false,
            held_bytes: 0,
        }
    }

    /// Decodes the next bytes and appends the frames that they complete to `frames`.
    ///
    /// A frame that the stream's end cuts off is dropped, as the standard demands.
    ///
    /// # Errors
    ///
    /// [`FrameTooLong`]; the frames before the one that is too long have been appended.
    pub fn push(&mut self, mut bytes: &[u8], frames: &mut Vec<SseFrame>) -> Result<(), FrameTooLong> {
        if self.ends_with_cr && !bytes.is_empty() {
            self.ends_with_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.buffer(&bytes[..end])?;
            frames.extend(self.end_line());
            let crlf = bytes[end..].starts_with(b"\r\n");
            self.ends_with_cr = bytes[end..] == *b"\r";
            bytes = &bytes[end + 1 + usize::from(crlf)..];
        }
        self.buffer(bytes)
    }

    /// Returns the frame that the stream's end cuts off, for servers that omit the last empty line. It may be incomplete.
    pub fn take_cut_frame(&mut self) -> Option<SseFrame> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_line()
    }

    fn buffer(&mut self, bytes: &[u8]) -> Result<(), FrameTooLong> {
        self.held_bytes += bytes.len();
        if self.held_bytes > self.limit {
            return Err(FrameTooLong { limit: self.limit });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Option<SseFrame> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_at_start) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            self.held_bytes = 0;
            let frame = std::mem::take(&mut self.frame);
            return std::mem::take(&mut self.has_data).then_some(frame);
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.frame.data.push('\n');
                }
                self.has_data = true;
                self.frame.data.push_str(value);
            }
            "id" if !value.contains('\0') => self.frame.id = Some(value.to_owned()),
            "event" => self.frame.event = Some(value.to_owned()),
            "" | "id" | "retry" => self.held_bytes -= line.len().min(self.held_bytes),
            _ if self.has_data => {
                let data = &self.frame.data;
                let unescaped = self.frame.unescaped_data.get_or_insert_with(|| data.clone());
                unescaped.push('\n');
                unescaped.push_str(&line);
            }
            _ => self.held_bytes -= line.len().min(self.held_bytes),
        }
        None
    }
}

#[cfg(test)]
mod tests;
