//! Passwords: their rules, and their hashes, computed off the async threads.

use std::sync::Arc;

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use icu_normalizer::ComposingNormalizerBorrowed;
use tokio::{sync::Semaphore, task::spawn_blocking};

use parlor_protocol::{ApiError, ErrorCode};

/// The parameters of OWASP's cheat sheet for argon2id: memory in KiB, passes and lanes.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// The maximum length of a password in bytes.
const MAX_PASSWORD_BYTES: usize = 1024;

/// A hash with the same parameters that no password has. Verifying it takes as long as another one.
const UNKNOWN_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Computes and verifies hashes of passwords.
pub struct Passwords {
    permits: Arc<Semaphore>,
    min_characters: usize,
}

impl Passwords {
    /// Creates the rules of passwords, and room for this number of hashes at the same time.
    pub fn new(min_characters: usize, max_concurrent_hashes: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(max_concurrent_hashes)),
            min_characters,
        }
    }

    /// The minimum number of characters.
    pub fn min_characters(&self) -> usize {
        self.min_characters
    }

    /// Checks a new password.
    ///
    /// # Errors
    ///
    /// If it is too short or too long, or the name.
    pub fn check(&self, password: &str, name: &str) -> Result<(), ApiError> {
        let min_characters = self.min_characters;
        if password.chars().count() < min_characters {
            let message = format!(
                "A password has at least {min_characters} characters. Nothing was changed; choose a longer one."
            );
            return Err(ApiError::new(ErrorCode::BadRequest, message));
        }
        if password.len() > MAX_PASSWORD_BYTES {
            let message = format!(
                "Your password is too long (at most {MAX_PASSWORD_BYTES} bytes). Nothing was changed."
            );
            return Err(ApiError::new(ErrorCode::BadRequest, message));
        }
        if password.eq_ignore_ascii_case(name) {
            let message = "Your password must differ from your name. Nothing was changed.";
            return Err(ApiError::new(ErrorCode::BadRequest, message));
        }
        Ok(())
    }

    /// Returns the hash of a password, with its salt and parameters.
    pub async fn hash(&self, password: &str) -> Result<String, ApiError> {
        let password = normalize(password);
        self.compute(move || {
            let hash: PasswordHash = hasher()?.hash_password(password.as_bytes())?;
            Ok(hash.to_string())
        })
        .await
    }

    /// Returns true if a password has this hash. Without a hash it takes as long and returns false.
    pub async fn verify(&self, password: &str, hash: Option<&str>) -> Result<bool, ApiError> {
        if password.len() > MAX_PASSWORD_BYTES {
            return Ok(false);
        }
        let password = normalize(password);
        let is_known = hash.is_some();
        let hash = hash.unwrap_or(UNKNOWN_HASH).to_owned();
        let is_equal = self.compute(move || {
            let hash = PasswordHash::new(&hash)?;
            Ok(hasher()?.verify_password(password.as_bytes(), &hash).is_ok())
        });
        Ok(is_equal.await? && is_known)
    }

    async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, argon2::password_hash::Error> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.permits.clone().acquire_owned().await;
        let computed = spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        match computed.await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(failure(&error)),
            Err(error) => Err(failure(&error)),
        }
    }
}

fn failure(error: &dyn std::fmt::Display) -> ApiError {
    tracing::error!(%error, "cannot hash a password");
    ApiError::new(
        ErrorCode::Internal,
        "The password could not be checked. Nothing was changed; Parlor’s log says why.",
    )
}

fn hasher() -> Result<Argon2<'static>, argon2::password_hash::Error> {
    let parameters = Params::new(MEMORY_KIB, PASSES, LANES, None)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters))
}

/// Returns a password as all keyboards and systems write it.
fn normalize(password: &str) -> String {
    ComposingNormalizerBorrowed::new_nfkc()
        .normalize(password)
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn hashes_with_owasp_parameters() {
        let passwords = Passwords::new(8, 1);
        let hash = passwords.hash("correct horse").await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, passwords.hash("correct horse").await.unwrap(), "salted");
        assert!(passwords.verify("correct horse", Some(&hash)).await.unwrap());
        assert!(!passwords.verify("correct hors", Some(&hash)).await.unwrap());
        assert!(PasswordHash::new(UNKNOWN_HASH).is_ok());
        assert!(!passwords.verify("correct horse", None).await.unwrap());
    }

    #[tokio::test]
    async fn same_text_from_another_keyboard_matches() {
        let passwords = Passwords::new(8, 1);
        let hash = passwords.hash("caf\u{e9} noir").await.unwrap();
        assert!(passwords.verify("cafe\u{301} noir", Some(&hash)).await.unwrap());
    }

    #[test]
    fn rejects_short_long_and_equal_passwords() {
        let passwords = Passwords::new(8, 1);
        assert!(passwords.check("12345678", "ann").is_ok());
        for password in ["1234567", "anna-lena", &"x".repeat(MAX_PASSWORD_BYTES + 1)] {
            assert!(passwords.check(password, "Anna-Lena").is_err(), "{password}");
        }
    }
}
