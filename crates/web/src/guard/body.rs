//! Reads the body of a response up to a limit.
//!
//! A small body can unpack to a huge one. The limit therefore counts unpacked bytes, and unpacking
//! stops in the middle of a block when the limit is reached, so memory never exceeds it. The limit
//! also counts the bytes on the wire, because packed bytes can unpack to nothing, forever.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use reqwest::{Response, header};

use crate::{FetchError, bounded_writer::BoundedWriter};

/// The value of `Accept-Encoding`.
pub const ACCEPT_ENCODING: &str = "gzip";

/// Reads a body, and returns it with `true` if it was cut off.
pub async fn read_body(mut response: Response, limit: usize) -> Result<(Vec<u8>, bool), FetchError> {
    let mut body = BodyDecoder::new(content_encoding(&response).as_deref(), limit)?;
    let mut on_the_wire = 0;
    while let Some(chunk) = response.chunk().await.map_err(|_| FetchError::ConnectionBroken)? {
        on_the_wire += chunk.len();
        if !body.push(&chunk)? || on_the_wire > limit {
            return Ok((body.into_bytes(), true));
        }
    }
    let is_whole = body.finish()?;
    Ok((body.into_bytes(), !is_whole))
}

fn content_encoding(response: &Response) -> Option<String> {
    let value = response.headers().get(header::CONTENT_ENCODING)?;
    Some(
        String::from_utf8_lossy(value.as_bytes())
            .trim()
            .to_ascii_lowercase(),
    )
}

enum BodyDecoder {
    Plain(BoundedWriter),
    Gzip(Box<MultiGzDecoder<BoundedWriter>>),
}

impl BodyDecoder {
    fn new(encoding: Option<&str>, limit: usize) -> Result<Self, FetchError> {
        let bytes = BoundedWriter::new(limit);
        match encoding {
            None | Some("" | "identity") => Ok(Self::Plain(bytes)),
            Some("gzip" | "x-gzip") => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(bytes)))),
            // An encoding that was not requested.
            Some(_) => Err(FetchError::Unreadable),
        }
    }

    /// Adds a chunk. Returns `true` while there is room for more.
    fn push(&mut self, chunk: &[u8]) -> Result<bool, FetchError> {
        let written = match self {
            Self::Plain(bytes) => bytes.write_all(chunk),
            Self::Gzip(decoder) => decoder.write_all(chunk),
        };
        self.has_room(written)
    }

    /// Unpacks the rest after the last chunk. Returns `true` if there was room for it.
    fn finish(&mut self) -> Result<bool, FetchError> {
        match self {
            Self::Plain(_) => Ok(true),
            Self::Gzip(decoder) => {
                let finished = decoder.try_finish();
                self.has_room(finished)
            }
        }
    }

    fn has_room(&self, written: io::Result<()>) -> Result<bool, FetchError> {
        match written {
            Ok(()) => Ok(true),
            Err(_) if self.bounded().is_full => Ok(false),
            Err(_) => Err(FetchError::ConnectionBroken),
        }
    }

    fn bounded(&self) -> &BoundedWriter {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Gzip(decoder) => decoder.get_ref(),
        }
    }

    fn into_bytes(mut self) -> Vec<u8> {
        match &mut self {
            Self::Plain(bytes) => std::mem::take(&mut bytes.bytes),
            Self::Gzip(decoder) => std::mem::take(&mut decoder.get_mut().bytes),
        }
    }
}
