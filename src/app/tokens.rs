//! API tokens: generation and authentication.
//!
//! A token is a [`secret`] that Parlor shows once.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};

use super::{
    access::{Access, AccessMonitor, Credential},
    accounts::secret,
    last_uses::{LastUses, MAX_INTERVAL_MS},
};
use parlor_base::clock;
use parlor_journal::Journal;
use parlor_protocol::{ApiError, ApiToken, ErrorCode, TokenId, UserId};
use parlor_storage::{Change, PersonalChange, Storage, TokenHash};

/// The prefix of all tokens, by which people and secret scanners recognise one.
const TOKEN_PREFIX: &str = "parlor_";

/// The number of characters of a token that are stored to identify it. The rest has too much entropy to guess.
const STORED_PREFIX_CHARS: usize = TOKEN_PREFIX.len() + 6;

/// Authenticates tokens and records their use.
pub struct TokenAuthenticator {
    storage: Arc<dyn Storage>,
    journal: Journal,
    last_uses: LastUses<TokenId>,
    monitor: Arc<AccessMonitor>,
}

impl TokenAuthenticator {
    pub fn new(storage: Arc<dyn Storage>, journal: Journal, monitor: Arc<AccessMonitor>) -> Self {
        Self {
            storage,
            journal,
            last_uses: LastUses::default(),
            monitor,
        }
    }

    /// Authenticates a request. Returns its token, or `None` if it has no `Authorization` header.
    ///
    /// # Errors
    ///
    /// If the header contains anything but one valid token. A request with an invalid token is rejected and never acts as the
    /// local user.
    pub async fn authenticate(&self, headers: &HeaderMap) -> Result<Option<Access>, ApiError> {
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let (first, second) = (values.next(), values.next());
        let Some(value) = first else { return Ok(None) };
        if second.is_some() {
            return Err(unauthorized("The request has more than one Authorization."));
        }
        let token = parse_bearer(value).and_then(|token| secret::parse(token, TOKEN_PREFIX));
        let Some(hash) = token else {
            return Err(unauthorized(
                "Authorization must be “Bearer” and an API token from Parlor’s settings.",
            ));
        };
        match self.storage.api_token(&hash).await? {
            Some((_, token)) if token.has_expired(clock::now()) => Err(unauthorized(
                "This API token has expired. Make a new one in Parlor’s settings.",
            )),
            Some((user_id, token)) if self.monitor.is_active(user_id).await? => {
                self.record_use(user_id, &token);
                let expires_at = token.expires_at;
                Ok(Some(Access {
                    user_id,
                    credential: Credential::Token { hash, expires_at },
                }))
            }
            _ => Err(unauthorized(
                "There is no such API token. It may have been revoked; Parlor’s settings list the valid ones.",
            )),
        }
    }

    /// Records that a token is used, at most once per interval. Nobody waits for the write: a storage failure does not fail the
    /// request.
    fn record_use(&self, user_id: UserId, token: &ApiToken) {
        let (last, now) = (token.last_used_at, clock::now());
        if !self.last_uses.begin_record(token.id, last, MAX_INTERVAL_MS, now) {
            return;
        }
        let (journal, token_id) = (self.journal.clone(), token.id);
        tokio::spawn(async move {
            if let Err(error) = journal
                .submit(Change::Personal {
                    user_id,
                    change: PersonalChange::RecordTokenUse { token_id },
                })
                .await
            {
                tracing::debug!(%error, "cannot record the use of a token");
            }
        });
    }

    /// Ends the requests and streams of a revoked token.
    pub fn end_revoked_access(&self, token_id: TokenId) {
        self.last_uses.forget(token_id);
        self.monitor.recheck();
    }
}

/// Generates a token. Returns it with its hash and its first characters, which are stored.
pub fn generate() -> Result<(String, TokenHash, String), ApiError> {
    let token = secret::generate(TOKEN_PREFIX)?;
    let hash = secret::sha256(&token);
    let beginning = token.chars().take(STORED_PREFIX_CHARS).collect();
    Ok((token, hash, beginning))
}

/// Returns true if a request contains a value that looks like a token.
pub fn has_authorization(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    values.any(|value| parse_bearer(value).is_some_and(|token| token.starts_with(TOKEN_PREFIX)))
}

/// Returns the error for a request without a valid identity: a token, a session.
pub fn unauthorized(reason: &str) -> ApiError {
    ApiError::new(ErrorCode::Unauthorized, reason)
}

/// Returns the value after the scheme `Bearer`, which is case-insensitive.
pub fn parse_bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim_matches(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_matches_its_stored_hash() {
        let (token, stored, beginning) = generate().unwrap();
        assert!(token.starts_with(&beginning) && beginning.len() < token.len() / 4);
        assert_eq!(secret::parse(&token, TOKEN_PREFIX), Some(stored));
    }

    #[test]
    fn parses_bearer_as_rfc_6750() {
        let cases = [
            ("Bearer parlor_1", Some("parlor_1")),
            ("bearer  parlor_1 ", Some("parlor_1")),
            ("BEARER parlor_1", Some("parlor_1")),
            ("Basic parlor_1", None),
            ("parlor_1", None),
            ("Bearer", None),
            ("", None),
        ];
        for (value, token) in cases {
            let header = HeaderValue::from_str(value).unwrap();
            assert_eq!(parse_bearer(&header), token, "{value:?}");
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, header)]);
            assert_eq!(has_authorization(&headers), token.is_some(), "{value:?}");
        }
    }
}
