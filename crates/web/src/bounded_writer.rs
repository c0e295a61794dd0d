//! A byte buffer with a size limit.

use std::io::{self, Write};

/// Accepts bytes up to a limit. A write beyond it fails and sets `is_full`.
#[derive(Debug)]
pub struct BoundedWriter {
    pub bytes: Vec<u8>,
    limit: usize,
    pub is_full: bool,
}

impl BoundedWriter {
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            is_full: false,
        }
    }
}

impl Write for BoundedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.limit - self.bytes.len();
        if room == 0 && !bytes.is_empty() {
            self.is_full = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(room);
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
