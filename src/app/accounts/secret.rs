//! Random secrets: of API tokens, sessions, one-time links and the setup.
//!
//! A secret is 256 random bits. Parlor stores its SHA-256, so the contents of the database cannot be used to sign in. Salt and
//! stretching would add nothing.

use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};

use parlor_protocol::{ApiError, ErrorCode};
use parlor_storage::TokenHash;

/// The length of a secret in bytes. It is written as hexadecimal digits.
const RANDOM_BYTES: usize = 32;

/// Generates a secret, with a prefix before its digits.
///
/// # Errors
///
/// If the system has no random bytes.
pub fn generate(prefix: &str) -> Result<String, ApiError> {
    let mut random = [0_u8; RANDOM_BYTES];
    SystemRandom::new().fill(&mut random).map_err(|_| {
        tracing::error!("the system returned no random bytes for a secret");
        ApiError::new(
            ErrorCode::Internal,
            "The system returned no random bytes. Nothing was changed; try again.",
        )
    })?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok([prefix, &digits].concat())
}

/// Returns the hash of a secret as it is stored; `None` if the text cannot be a secret with this prefix.
pub fn parse(secret: &str, prefix: &str) -> Option<TokenHash> {
    let digits = secret.strip_prefix(prefix)?;
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (digits.len() == 2 * RANDOM_BYTES && digits.as_bytes().iter().all(is_digit)).then(|| sha256(secret))
}

/// Returns the hash of a generated secret.
pub fn sha256(secret: &str) -> TokenHash {
    let mut hash = TokenHash([0; 32]);
    hash.0
        .copy_from_slice(digest(&SHA256, secret.as_bytes()).as_ref());
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_full_secret_matches_its_hash() {
        let secret = generate("parlor_").unwrap();
        assert_eq!(secret.len(), "parlor_".len() + 64);
        let hash = parse(&secret, "parlor_");
        assert_eq!(hash, Some(sha256(&secret)));
        let other = generate("parlor_").unwrap();
        assert_ne!(parse(&other, "parlor_"), hash, "no two are the same");
        for other in [
            secret[..secret.len() - 1].to_owned(),
            format!("{secret}0"),
            secret.to_uppercase(),
            secret.replace("parlor_", ""),
            format!(" {secret}"),
            String::new(),
        ] {
            assert_eq!(parse(&other, "parlor_"), None, "{other:?}");
        }
    }

    #[test]
    fn hash_is_sha256() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let hash: String = sha256("abc").0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, expected);
    }
}
