//! API tokens: generation and authentication.
//!
//! A token is 256 random bits. Parlor stores its SHA-256 and shows the token once, so the contents of the database cannot be
//! used to sign in.

use std::{collections::HashMap, future::pending, pin::Pin, sync::Arc, time::Duration};

use axum::http::{HeaderMap, HeaderValue, header};
use parking_lot::Mutex;
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use tokio::{sync::watch, time::sleep};

use crate::{
    clock,
    journal::Journal,
    protocol::{ApiError, ApiToken, ErrorCode, Timestamp, TokenId, UserId},
    storage::{Change, Storage, StorageError, TokenHash},
};

/// The prefix of all tokens, by which people and secret scanners recognise one.
const TOKEN_PREFIX: &str = "parlor_";

/// The random part of a token, in bytes. It is written as hexadecimal digits.
const RANDOM_BYTES: usize = 32;

/// The number of characters of a token that are stored to identify it. The remaining ones are far more than can be guessed.
const STORED_PREFIX_CHARS: usize = TOKEN_PREFIX.len() + 6;

/// The precision of the last use of a token, in milliseconds.
const LAST_USE_INTERVAL_MS: i64 = 60_000;

/// The valid token of a request.
#[derive(Clone, Debug)]
pub struct Access {
    pub user_id: UserId,
    hash: TokenHash,
    expires_at: Option<Timestamp>,
}

/// Resolves when an access has ended; with an error if storage cannot tell.
pub type AccessEnd = Pin<Box<dyn Future<Output = Result<(), StorageError>> + Send>>;

/// Authenticates tokens and records their use.
pub struct TokenAuthenticator {
    storage: Arc<dyn Storage>,
    journal: Journal,
    /// The time when this process last recorded the use of each token.
    last_recorded_use: Mutex<HashMap<TokenId, Timestamp>>,
    /// The number of revoked tokens.
    revocation_count: watch::Sender<u64>,
}

impl TokenAuthenticator {
    pub fn new(storage: Arc<dyn Storage>, journal: Journal) -> Self {
        Self {
            storage,
            journal,
            last_recorded_use: Mutex::default(),
            revocation_count: watch::Sender::new(0),
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
        let Some(hash) = parse_bearer(value).and_then(hash_token) else {
            return Err(unauthorized(
                "Authorization must be “Bearer” and an API token from Parlor’s settings.",
            ));
        };
        match self.storage.api_token(&hash).await? {
            Some((_, token)) if token.has_expired(clock::now()) => Err(unauthorized(
                "This API token has expired. Make a new one in Parlor’s settings.",
            )),
            Some((user_id, token)) => {
                self.record_use(user_id, &token);
                Ok(Some(Access {
                    user_id,
                    hash,
                    expires_at: token.expires_at,
                }))
            }
            None => Err(unauthorized(
                "There is no such API token. It may have been revoked; Parlor’s settings list the valid ones.",
            )),
        }
    }

    /// Records that a token is used, at most once per interval. Nobody waits for the write: a storage failure does not fail the
    /// request.
    fn record_use(&self, user_id: UserId, token: &ApiToken) {
        let now = clock::now();
        {
            let mut last_uses = self.last_recorded_use.lock();
            let last = last_uses.get(&token.id).copied().max(token.last_used_at);
            if last.is_some_and(|last| now.0 - last.0 < LAST_USE_INTERVAL_MS) {
                return;
            }
            last_uses.insert(token.id, now);
        }
        let (journal, token_id) = (self.journal.clone(), token.id);
        tokio::spawn(async move {
            if let Err(error) = journal.submit(Change::RecordTokenUse { user_id, token_id }).await {
                tracing::debug!(%error, "cannot record the use of a token");
            }
        });
    }

    /// Ends the requests and streams of a revoked token.
    pub fn end_revoked_access(&self, token_id: TokenId) {
        let mut last_uses = self.last_recorded_use.lock();
        last_uses.remove(&token_id);
        self.revocation_count.send_modify(|count| *count += 1);
    }

    /// Returns a future that resolves when the work of an access must end. Without an access it never resolves.
    pub fn access_end(self: &Arc<Self>, access: Option<Access>) -> AccessEnd {
        let Some(access) = access else {
            return Box::pin(pending());
        };
        let tokens = self.clone();
        let mut revoked = self.revocation_count.subscribe();
        Box::pin(async move {
            // It may have been revoked since it was checked. If storage fails, access ends too.
            while tokens.storage.api_token(&access.hash).await?.is_some() {
                tokio::select! {
                    changed = revoked.changed() => if changed.is_err() { break },
                    () = wait_for_expiry(access.expires_at) => break,
                }
            }
            Ok(())
        })
    }
}

async fn wait_for_expiry(at: Option<Timestamp>) {
    match at {
        Some(at) => {
            let left = at.0.saturating_sub(clock::now().0);
            sleep(Duration::from_millis(u64::try_from(left).unwrap_or_default())).await;
        }
        None => pending().await,
    }
}

/// Generates a token. Returns it with its hash and its first characters, which are stored.
pub fn generate() -> Result<(String, TokenHash, String), ApiError> {
    let mut random = [0_u8; RANDOM_BYTES];
    SystemRandom::new().fill(&mut random).map_err(|_| {
        tracing::error!("the system returned no random bytes for a token");
        ApiError::new(
            ErrorCode::Internal,
            "The system returned no random bytes for a token. No token was created.",
        )
    })?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let token = format!("{TOKEN_PREFIX}{digits}");
    let beginning = token[..STORED_PREFIX_CHARS].to_owned();
    let hash = sha256(&token);
    Ok((token, hash, beginning))
}

/// Returns true if a request contains a value that looks like a token.
pub fn has_authorization(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    values.any(|value| parse_bearer(value).is_some_and(|token| token.starts_with(TOKEN_PREFIX)))
}

/// Returns the error for an invalid token.
pub fn unauthorized(why: &str) -> ApiError {
    ApiError::new(ErrorCode::Unauthorized, why)
}

/// Returns the value after the scheme `Bearer`, which is case-insensitive.
fn parse_bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim_matches(' '))
}

/// Returns the hash of a token as it is stored; `None` if the text cannot be a token.
fn hash_token(token: &str) -> Option<TokenHash> {
    let digits = token.strip_prefix(TOKEN_PREFIX)?;
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (digits.len() == 2 * RANDOM_BYTES && digits.as_bytes().iter().all(is_digit)).then(|| sha256(token))
}

fn sha256(token: &str) -> TokenHash {
    let mut hash = TokenHash([0; 32]);
    hash.0.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hub::Hub, storage::sqlite::SqliteStorage};

    #[test]
    fn only_the_full_token_matches_its_hash() {
        let (token, kept, beginning) = generate().unwrap();
        assert_eq!(token.len(), TOKEN_PREFIX.len() + 64);
        assert!(token.starts_with(&beginning) && beginning.len() < token.len() / 4);
        assert_eq!(hash_token(&token), Some(kept));
        assert_ne!(
            hash_token(&generate().unwrap().0),
            Some(kept),
            "no two are the same"
        );
        for other in [
            token[..token.len() - 1].to_owned(),
            format!("{token}0"),
            token.to_uppercase(),
            token.replace("parlor_", ""),
            format!(" {token}"),
            String::new(),
        ] {
            assert_eq!(hash_token(&other), None, "{other:?}");
        }
    }

    #[test]
    fn hash_is_sha256() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let hash: String = sha256("abc").0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, expected);
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

    #[tokio::test]
    async fn access_end_reports_storage_errors() {
        let folder = tempfile::tempdir().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
        let hub = Arc::new(Hub::default());
        let (journal, _running) = Journal::start(storage.clone(), hub);
        let tokens = Arc::new(TokenAuthenticator::new(storage.clone(), journal));
        let access = Access {
            user_id: UserId::LOCAL,
            hash: TokenHash([7; 32]),
            expires_at: None,
        };
        assert!(
            tokens.access_end(Some(access.clone())).await.is_ok(),
            "there is none"
        );
        storage.close().await.unwrap();
        assert!(tokens.access_end(Some(access)).await.is_err());
    }
}
