//! A begun sign-in. One random secret, which only this browser has, stands for all its parts: whoever does not have it can
//! neither end the sign-in nor use its code.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};

use super::super::secret;
use parlor_protocol::ApiError;

/// A begun sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    secret: String,
    /// True if the user wants to stay signed in on this device.
    pub is_remembered: bool,
    /// The page that the sign-in leads to.
    pub next: String,
}

impl Attempt {
    /// Begins a sign-in.
    pub fn begin(is_remembered: bool, next: String) -> Result<Self, ApiError> {
        Ok(Self {
            secret: secret::generate("")?,
            is_remembered,
            next,
        })
    }

    /// Returns the value of its cookie.
    pub fn to_cookie(&self) -> String {
        let next = percent_encoding::utf8_percent_encode(&self.next, percent_encoding::NON_ALPHANUMERIC);
        let kind = if self.is_remembered { 'r' } else { 's' };
        format!("{}.{kind}.{next}", self.secret)
    }

    /// Reads the value of a cookie.
    pub fn from_cookie(value: &str) -> Option<Self> {
        let (secret, rest) = value.split_once('.')?;
        let (kind, next) = rest.split_once('.')?;
        secret::parse(secret, "")?;
        let next = percent_encoding::percent_decode_str(next).decode_utf8().ok()?;
        Some(Self {
            secret: secret.to_owned(),
            is_remembered: kind == "r",
            next: next.into_owned(),
        })
    }

    /// Returns the parameter by which its callback is recognised.
    pub fn state(&self) -> String {
        self.derive("state")
    }

    /// Returns the claim that binds its ID token to it.
    pub fn nonce(&self) -> String {
        self.derive("nonce")
    }

    /// Returns PKCE's secret.
    pub fn code_verifier(&self) -> String {
        self.derive("verifier")
    }

    /// Returns PKCE's challenge: the hash of the secret.
    pub fn code_challenge(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, self.code_verifier().as_bytes()))
    }

    fn derive(&self, purpose: &str) -> String {
        let text = [purpose, ":", &self.secret].concat();
        BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_keeps_the_attempt() {
        let attempt = Attempt::begin(true, "/c/1?q=a;b".into()).unwrap();
        let cookie = attempt.to_cookie();
        assert!(
            cookie
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b".%".contains(&b))
        );
        assert_eq!(Attempt::from_cookie(&cookie), Some(attempt));
        for invalid in ["", ".", "a.r./", &cookie[1..]] {
            assert_eq!(Attempt::from_cookie(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn parts_of_attempts_all_differ() {
        let (one, two) = (
            Attempt::begin(false, String::new()).unwrap(),
            Attempt::begin(false, String::new()).unwrap(),
        );
        let parts = |attempt: &Attempt| {
            [
                attempt.state(),
                attempt.nonce(),
                attempt.code_verifier(),
                attempt.code_challenge(),
            ]
        };
        let all: std::collections::BTreeSet<String> = parts(&one).into_iter().chain(parts(&two)).collect();
        assert_eq!(all.len(), 8);
        // RFC 7636, appendix B: the length of a challenge.
        assert_eq!(one.code_challenge().len(), 43);
    }
}
