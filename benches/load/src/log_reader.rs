//! Reads the stream of a user's whole log and checks that its positions are consecutive: 1, 2, 3 …

use crate::stream_check::Faults;

/// A reader of the log.
pub struct LogReader {
    /// The position of the last received event.
    pub last: u64,
    pub events: u64,
    pub faults: Faults,
    /// The bytes of an incomplete line.
    partial_line: Vec<u8>,
}

impl LogReader {
    /// Creates a reader that has all events up to a position.
    pub fn new(position: u64) -> Self {
        Self {
            last: position,
            events: 0,
            faults: Faults::default(),
            partial_line: Vec::new(),
        }
    }

    /// Adds received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.partial_line.extend_from_slice(bytes);
        let rest = std::mem::take(&mut self.partial_line);
        let mut lines = rest.split(|byte| *byte == b'\n');
        // The bytes after the last line break.
        self.partial_line = lines.next_back().unwrap_or_default().to_vec();
        for line in lines {
            let id = line
                .strip_prefix(b"id: ")
                .and_then(|id| std::str::from_utf8(id).ok())
                .and_then(|id| id.parse().ok());
            if let Some(position) = id {
                self.event(position);
            }
        }
    }

    fn event(&mut self, position: u64) {
        self.events += 1;
        if position == self.last {
            self.faults.duplicated += 1;
        } else if position < self.last {
            self.faults.reordered += 1;
        } else {
            self.faults.lost += position - self.last - 1;
        }
        self.last = self.last.max(position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_missing_duplicate_and_reordered_events() {
        let read = |positions: &[u64]| {
            let mut log = LogReader::new(2);
            let stream: String = positions
                .iter()
                .map(|position| format!("id: {position}\ndata: {{}}\n\n"))
                .collect();
            for bytes in format!("HTTP/1.0 200 OK\r\n\r\n: heartbeat\n\n{stream}")
                .as_bytes()
                .chunks(5)
            {
                log.push(bytes);
            }
            let Faults {
                lost,
                duplicated,
                reordered,
                ..
            } = log.faults;
            (log.last, log.events, [lost, duplicated, reordered])
        };
        assert_eq!(read(&[3, 4, 5]), (5, 3, [0, 0, 0]));
        assert_eq!(read(&[3, 6]), (6, 2, [2, 0, 0]));
        assert_eq!(read(&[3, 3, 4]), (4, 3, [0, 1, 0]));
        assert_eq!(read(&[4, 3]), (4, 2, [1, 0, 1]));
    }
}
