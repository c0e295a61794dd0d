//! ZMTP 3.0, the transport of Jupyter's messages, as far as a client of a kernel needs it: NULL security, the sockets DEALER and
//! SUB, over Unix sockets. <https://rfc.zeromq.org/spec/23/>
//!
//! The kernel is not trusted: a frame over the limit is an error before anything is reserved for it.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

/// The longest wait for a peer that does not read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The flags of a frame.
const MORE: u8 = 1;
const LONG: u8 = 2;
const COMMAND: u8 = 4;

/// The greeting: signature, version 3.0, the mechanism NULL, not as a server.
const GREETING_BYTES: usize = 64;

/// The largest body of a short frame.
const MAX_SHORT_BYTES: usize = 255;

/// The largest number of frames of a message. Jupyter's have six and a few buffers.
const MAX_FRAMES: usize = 64;

/// The kind of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketKind {
    Dealer,
    /// A subscriber of all messages.
    Subscriber,
}

/// The receiving half of a connection.
pub struct Receiver<R = UnixStream> {
    stream: R,
    /// The limit of a message, in bytes.
    max_bytes: u64,
}

/// The sending half of a connection.
pub struct Sender<W = UnixStream>(W);

/// An error of a connection to a kernel.
#[derive(Debug, thiserror::Error)]
pub enum ZmtpError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it announced a message of {bytes} bytes, and {limit} are the most")]
    TooLarge { bytes: u64, limit: u64 },
    #[error("it does not speak Jupyter’s protocol: {0}")]
    Protocol(&'static str),
}

/// Connects to a socket that listens at a path.
pub fn connect(
    stream: UnixStream,
    kind: SocketKind,
    max_bytes: u64,
) -> Result<(Sender, Receiver), ZmtpError> {
    // A kernel that does not read must not stop the helper.
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let mut receiver = Receiver::new(stream.try_clone()?, max_bytes);
    let mut sender = Sender::new(stream);
    sender.0.write_all(&greeting())?;
    receiver.read_greeting()?;
    sender.send_ready(kind)?;
    receiver.read_ready()?;
    if kind == SocketKind::Subscriber {
        // ZMTP 3.0 subscribes with a message: 1, then the prefix of the topics.
        sender.send(&[&[1]])?;
    }
    Ok((sender, receiver))
}

fn greeting() -> [u8; GREETING_BYTES] {
    let mut greeting = [0; GREETING_BYTES];
    greeting[0] = 0xFF;
    greeting[9] = 0x7F;
    greeting[10] = 3;
    greeting[12..16].copy_from_slice(b"NULL");
    greeting
}

impl<W: Write> Sender<W> {
    pub fn new(stream: W) -> Self {
        Self(stream)
    }

    /// Sends a message.
    pub fn send(&mut self, frames: &[&[u8]]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for (index, frame) in frames.iter().enumerate() {
            let more = if index + 1 < frames.len() { MORE } else { 0 };
            push_frame(&mut bytes, more, frame);
        }
        self.0.write_all(&bytes)
    }

    fn send_ready(&mut self, kind: SocketKind) -> io::Result<()> {
        let name: &[u8] = match kind {
            SocketKind::Dealer => b"DEALER",
            SocketKind::Subscriber => b"SUB",
        };
        let mut body = b"\x05READY\x0BSocket-Type".to_vec();
        body.extend_from_slice(&(u32::try_from(name.len()).unwrap_or_default()).to_be_bytes());
        body.extend_from_slice(name);
        let mut bytes = Vec::new();
        push_frame(&mut bytes, COMMAND, &body);
        self.0.write_all(&bytes)
    }
}

fn push_frame(bytes: &mut Vec<u8>, flags: u8, body: &[u8]) {
    match u8::try_from(body.len()) {
        Ok(length) if usize::from(length) <= MAX_SHORT_BYTES => bytes.extend_from_slice(&[flags, length]),
        _ => {
            bytes.push(flags | LONG);
            bytes.extend_from_slice(&(body.len() as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(body);
}

impl<R: Read> Receiver<R> {
    pub fn new(stream: R, max_bytes: u64) -> Self {
        Self { stream, max_bytes }
    }

    /// Returns the next message: its frames.
    ///
    /// # Errors
    ///
    /// If the connection has ended, or the peer does not keep to the protocol or the limit.
    pub fn next(&mut self) -> Result<Vec<Vec<u8>>, ZmtpError> {
        let mut frames: Vec<Vec<u8>> = Vec::new();
        let mut bytes = 0;
        loop {
            let (flags, body) = self.read_frame(bytes)?;
            if flags & COMMAND != 0 {
                // PING and its kind, which version 3.0 does not have.
                continue;
            }
            bytes += body.len() as u64;
            frames.push(body);
            if flags & MORE == 0 {
                return Ok(frames);
            }
            if frames.len() == MAX_FRAMES {
                return Err(ZmtpError::Protocol("a message has too many frames"));
            }
        }
    }

    /// Reads a frame of a message that has this many bytes so far.
    fn read_frame(&mut self, before: u64) -> Result<(u8, Vec<u8>), ZmtpError> {
        let [flags] = self.read_array()?;
        let length = if flags & LONG != 0 {
            u64::from_be_bytes(self.read_array()?)
        } else {
            let [length] = self.read_array()?;
            length.into()
        };
        let bytes = before.saturating_add(length);
        if bytes > self.max_bytes {
            return Err(ZmtpError::TooLarge {
                bytes,
                limit: self.max_bytes,
            });
        }
        // The body grows with what arrives.
        let mut body = Vec::new();
        let read = self.stream.by_ref().take(length).read_to_end(&mut body)?;
        match read as u64 == length {
            true => Ok((flags, body)),
            false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }

    fn read_greeting(&mut self) -> Result<(), ZmtpError> {
        let greeting: [u8; GREETING_BYTES] = self.read_array()?;
        let is_fit = greeting[0] == 0xFF && greeting[9] & 1 == 1 && greeting[10] >= 3;
        match is_fit && greeting[12..].starts_with(b"NULL\0") {
            true => Ok(()),
            false => Err(ZmtpError::Protocol("another greeting")),
        }
    }

    fn read_ready(&mut self) -> Result<(), ZmtpError> {
        let (flags, body) = self.read_frame(0)?;
        match flags & COMMAND != 0 && body.starts_with(b"\x05READY") {
            true => Ok(()),
            false => Err(ZmtpError::Protocol("it is not ready")),
        }
    }

    fn read_array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut array = [0; N];
        self.stream.read_exact(&mut array)?;
        Ok(array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<Vec<u8>>, ZmtpError> {
        Receiver::new(bytes, 1000).next()
    }

    #[test]
    fn messages_survive_their_frames() {
        for frames in [
            vec![&b""[..]],
            vec![b"a", b"", b"c"],
            vec![&[7; 255]],
            vec![&[7; 256], b"x"],
        ] {
            let mut bytes = Vec::new();
            Sender::new(&mut bytes).send(&frames).unwrap();
            assert_eq!(read(&bytes).unwrap(), frames);
            // A cut message is an error.
            assert!(matches!(read(&bytes[..bytes.len() - 1]), Err(ZmtpError::Io(_))));
        }
    }

    #[test]
    fn huge_frame_reserves_nothing() {
        for exponent in [10, 32, 60, 63] {
            let mut bytes = vec![LONG];
            bytes.extend_from_slice(&(1_u64 << exponent).to_be_bytes());
            assert!(
                matches!(read(&bytes), Err(ZmtpError::TooLarge { bytes, limit: 1000 }) if bytes == 1 << exponent)
            );
        }
        // The limit is one of the whole message, and so is that of the frames.
        let frame = [&[MORE, 200][..], &[0; 200]].concat();
        assert!(matches!(
            read(&frame.repeat(6)),
            Err(ZmtpError::TooLarge { bytes: 1200, .. })
        ));
        assert!(matches!(
            read(&[MORE, 0].repeat(100)),
            Err(ZmtpError::Protocol(_))
        ));
    }

    #[test]
    fn other_protocols_are_refused() {
        let mut other = greeting();
        other[10] = 2;
        for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &other] {
            assert!(Receiver::new(bytes, 1000).read_greeting().is_err());
        }
        assert!(Receiver::new(&greeting()[..], 1000).read_greeting().is_ok());
    }
}
