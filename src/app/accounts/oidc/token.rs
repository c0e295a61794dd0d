//! Verification of ID tokens (OpenID Connect Core 1.0, 3.1.3.7).

use std::time::Duration;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, de::DeserializeOwned};

use super::{claims::Map, keys::KeySet};

/// The maximum length of a user's id at the provider (OpenID Connect Core 1.0, 2).
const MAX_SUBJECT_BYTES: usize = 255;

/// The reason for which an ID token is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("it is not a signed JSON Web Token")]
    Malformed,
    #[error("its algorithm {0:?} is not one of RS, PS, ES or EdDSA")]
    Algorithm(String),
    #[error("its header has critical extensions")]
    Critical,
    #[error("none of the provider's keys is the one that it names")]
    UnknownKey,
    #[error("its signature is not the provider's")]
    Signature,
    #[error("it is of the issuer {0:?}")]
    Issuer(String),
    #[error("it is for another client")]
    Audience,
    #[error("it has expired")]
    Expired,
    #[error("it is not valid yet")]
    NotYet,
    #[error("it is of another sign-in")]
    Nonce,
    #[error("its subject is empty or too long")]
    Subject,
}

/// The values that an ID token must have.
pub struct Expected<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    pub nonce: &'a str,
    /// The current time in milliseconds.
    pub now_ms: i64,
    /// The tolerance of its times.
    pub skew: Duration,
}

/// The claims of a verified ID token.
#[derive(Debug, Deserialize)]
pub struct Claims {
    iss: String,
    pub sub: String,
    aud: AudienceClaim,
    /// Times are seconds since 1970, perhaps with a fraction.
    exp: f64,
    iat: f64,
    nbf: Option<f64>,
    nonce: Option<String>,
    azp: Option<String>,
    /// The claims about the user.
    #[serde(flatten)]
    pub more: Map,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum AudienceClaim {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    crit: Option<serde_json::Value>,
}

/// Verifies an ID token: first its signature, then its claims.
pub fn verify(token: &str, keys: &KeySet, expected: &Expected<'_>) -> Result<Claims, TokenError> {
    let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
    let (header, payload) = signed.split_once('.').ok_or(TokenError::Malformed)?;
    let parsed: Header = decode_json(header)?;
    if parsed.crit.is_some() {
        return Err(TokenError::Critical);
    }
    let signature = decode(signature)?;
    keys.verify(&parsed.alg, parsed.kid.as_deref(), signed.as_bytes(), &signature)?;
    let claims: Claims = decode_json(payload)?;
    check(&claims, expected)?;
    Ok(claims)
}

fn check(claims: &Claims, expected: &Expected<'_>) -> Result<(), TokenError> {
    if claims.iss != expected.issuer {
        return Err(TokenError::Issuer(claims.iss.clone()));
    }
    let audiences = match &claims.aud {
        AudienceClaim::One(audience) => std::slice::from_ref(audience),
        AudienceClaim::Several(audiences) => audiences,
    };
    // Other audiences are clients that could have got this token first, so it must say that it was made for this one.
    let is_for_us = audiences.iter().any(|audience| audience == expected.client_id);
    let party = claims.azp.as_deref();
    let is_our_party = match audiences.len() {
        1 => party.is_none_or(|party| party == expected.client_id),
        _ => party == Some(expected.client_id),
    };
    if !is_for_us || !is_our_party {
        return Err(TokenError::Audience);
    }
    let skew = expected.skew.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 have 41 bits")]
    let now = expected.now_ms as f64 / 1000.0;
    if now >= claims.exp + skew {
        return Err(TokenError::Expired);
    }
    if claims.iat.max(claims.nbf.unwrap_or_default()) > now + skew {
        return Err(TokenError::NotYet);
    }
    if claims.nonce.as_deref() != Some(expected.nonce) {
        return Err(TokenError::Nonce);
    }
    if claims.sub.is_empty() || claims.sub.len() > MAX_SUBJECT_BYTES {
        return Err(TokenError::Subject);
    }
    Ok(())
}

fn decode(text: &str) -> Result<Vec<u8>, TokenError> {
    BASE64_URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|_| TokenError::Malformed)
}

fn decode_json<T: DeserializeOwned>(text: &str) -> Result<T, TokenError> {
    serde_json::from_slice(&decode(text)?).map_err(|_| TokenError::Malformed)
}
