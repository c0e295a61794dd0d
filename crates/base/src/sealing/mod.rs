//! Secrets at rest: seals a secret for storage in the database, and opens it again.
//!
//! A sealed secret is AES-256-GCM under one of the [`SealingKeys`], bound to its [`Place`]: in another row, or as another
//! user's, it does not open. Its bytes are the version of this format (1), the id of the key (8), a random nonce (12), and the
//! ciphertext with its tag.
//!
//! The keys are not in the database ([`key_source`]). Without the right one a secret is lost, and nothing else is: its owner
//! enters it again.

mod key_source;

use std::fmt;

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    digest::{SHA256, digest},
    error::Unspecified,
    rand::{SecureRandom, SystemRandom},
};

pub(crate) use self::key_source::key_words;
pub use self::key_source::{SealingKeys, check_keys};
use crate::settings::Secret;
use parlor_protocol::UserId;

/// The version of the format. Another one gets another number.
const VERSION: u8 = 1;

/// The length of a key in bytes.
const KEY_BYTES: usize = 32;

/// The length of a key's id in bytes.
const KEY_ID_BYTES: usize = 8;

const HEADER_BYTES: usize = 1 + KEY_ID_BYTES + NONCE_LEN;

/// What is hashed before a key for its id, so that the id is of no other use.
const KEY_ID_CONTEXT: &[u8] = b"parlor sealing key id";

/// The row that a secret belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub table: &'static str,
    /// The id of the row, and what else the secret is bound to.
    pub row: &'a str,
    /// The owner; `None` for a row of the whole server.
    pub owner: Option<UserId>,
}

impl Place<'_> {
    /// Returns the place and the header as associated data. A length before each text keeps two places apart.
    fn associated_data(self, header: &[u8]) -> Vec<u8> {
        let owner = self.owner.map(|owner| owner.to_string()).unwrap_or_default();
        let mut data = header.to_vec();
        for text in [self.table, self.row, &owner] {
            data.extend((text.len() as u64).to_be_bytes());
            data.extend(text.as_bytes());
        }
        data
    }
}

/// The reason for which a secret is not sealed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("the file {file} with the secret key can't be used: {cause}")]
    KeyFile { file: String, cause: String },
    #[error("there is no secret key")]
    NoKey,
    #[error("the system returned no random bytes")]
    NoRandomBytes,
}

/// The reason for which a sealed secret can't be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("it was sealed with another key")]
    OtherKey,
    #[error("it was sealed by a later version of Parlor")]
    OtherVersion,
    #[error("it is damaged, or belongs to another row")]
    Damaged,
}

/// The error of a text that is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it must be 32 bytes as 64 hexadecimal digits or in Base64, such as the output of “openssl rand -base64 32”"
)]
pub struct InvalidKey;

/// A key of 256 bits.
#[derive(Clone)]
struct SealingKey {
    id: [u8; KEY_ID_BYTES],
    key: LessSafeKey,
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

impl SealingKey {
    fn new(bytes: &[u8; KEY_BYTES]) -> Result<Self, InvalidKey> {
        let key = UnboundKey::new(&AES_256_GCM, bytes).map_err(|_| InvalidKey)?;
        let hash = digest(&SHA256, &[KEY_ID_CONTEXT, bytes].concat());
        let mut id = [0; KEY_ID_BYTES];
        id.copy_from_slice(&hash.as_ref()[..KEY_ID_BYTES]);
        Ok(Self {
            id,
            key: LessSafeKey::new(key),
        })
    }

    fn parse(text: &str) -> Result<Self, InvalidKey> {
        let bytes = decode(text.trim()).and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes).ok());
        Self::new(&bytes.ok_or(InvalidKey)?)
    }

    fn seal(&self, secret: &str, place: Place<'_>) -> Result<Vec<u8>, Unspecified> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce)?;
        let mut sealed = Vec::with_capacity(HEADER_BYTES + secret.len() + AES_256_GCM.tag_len());
        sealed.push(VERSION);
        sealed.extend(self.id);
        let associated = place.associated_data(&sealed);
        sealed.extend(nonce);
        let mut text = secret.as_bytes().to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.key
            .seal_in_place_append_tag(nonce, Aad::from(associated), &mut text)?;
        sealed.extend(text);
        Ok(sealed)
    }

    fn open(&self, sealed: &[u8], place: Place<'_>) -> Option<Secret> {
        let (header, text) = sealed.split_at_checked(HEADER_BYTES)?;
        let (before, nonce) = header.split_at_checked(1 + KEY_ID_BYTES)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let associated = place.associated_data(before);
        let mut text = text.to_vec();
        let opened = self
            .key
            .open_in_place(nonce, Aad::from(associated), &mut text)
            .ok()?;
        Some(Secret(std::str::from_utf8(opened).ok()?.to_owned()))
    }
}

/// Returns the bytes of hexadecimal digits or of Base64 in either alphabet, with or without padding.
fn decode(text: &str) -> Option<Vec<u8>> {
    if text.len() == 2 * KEY_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let digits = (0..KEY_BYTES).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok());
        return digits.collect();
    }
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    [STANDARD, URL_SAFE]
        .iter()
        .find_map(|alphabet| GeneralPurpose::new(alphabet, config).decode(text).ok())
}

/// Returns the key by which a secret is sealed.
fn key_id(sealed: &[u8]) -> Result<&[u8], OpenError> {
    match sealed.split_first() {
        Some((&VERSION, rest)) if rest.len() >= HEADER_BYTES - 1 => Ok(&rest[..KEY_ID_BYTES]),
        Some((&VERSION, _)) | None => Err(OpenError::Damaged),
        Some(_) => Err(OpenError::OtherVersion),
    }
}

#[cfg(test)]
mod tests;
