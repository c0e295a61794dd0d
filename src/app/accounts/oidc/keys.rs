//! The provider's public keys (RFC 7517) and the verification of signatures (RFC 7515, 7518, 8037). Symmetric algorithms and
//! `none` are not among them.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::Value;

use super::token::TokenError;

/// The first byte of an uncompressed point.
const UNCOMPRESSED_POINT: u8 = 4;

/// The keys of a provider.
#[derive(Debug, Deserialize)]
pub struct KeySet {
    /// The keys as JSON, so that one that can't be read, such as of a new kind, does not make the others useless.
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct SigningKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    r#use: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// An algorithm of signatures.
#[derive(Clone, Copy)]
enum Algorithm {
    Rsa(&'static RsaParameters),
    /// The name of the curve, the length of a coordinate in bytes, and the algorithm.
    Curve(&'static str, usize, &'static dyn VerificationAlgorithm),
    Ed25519,
}

impl Algorithm {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rsa(&RSA_PKCS1_2048_8192_SHA256),
            "RS384" => Self::Rsa(&RSA_PKCS1_2048_8192_SHA384),
            "RS512" => Self::Rsa(&RSA_PKCS1_2048_8192_SHA512),
            "PS256" => Self::Rsa(&RSA_PSS_2048_8192_SHA256),
            "PS384" => Self::Rsa(&RSA_PSS_2048_8192_SHA384),
            "PS512" => Self::Rsa(&RSA_PSS_2048_8192_SHA512),
            "ES256" => Self::Curve("P-256", 32, &ECDSA_P256_SHA256_FIXED),
            "ES384" => Self::Curve("P-384", 48, &ECDSA_P384_SHA384_FIXED),
            "EdDSA" | "Ed25519" => Self::Ed25519,
            _ => return None,
        })
    }
}

impl KeySet {
    /// Verifies a signature. `key_id` is the one that the token names.
    pub fn verify(
        &self,
        algorithm: &str,
        key_id: Option<&str>,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), TokenError> {
        let parsed = Algorithm::from_name(algorithm);
        let parsed = parsed.ok_or_else(|| TokenError::Algorithm(algorithm.to_owned()))?;
        let keys = self
            .keys
            .iter()
            .filter_map(|key| SigningKey::deserialize(key).ok());
        let keys = keys.filter(|key| {
            let is_named = key_id.is_none() || key_id == key.kid.as_deref();
            let signs = key.r#use.as_deref().is_none_or(|purpose| purpose == "sig");
            is_named && signs && key.alg.as_deref().is_none_or(|alg| alg == algorithm)
        });
        let mut has_key = false;
        for key in keys {
            match key.verify(parsed, message, signature) {
                Some(true) => return Ok(()),
                Some(false) => has_key = true,
                None => {}
            }
        }
        Err(match has_key {
            true => TokenError::Signature,
            false => TokenError::UnknownKey,
        })
    }
}

impl SigningKey {
    /// Returns true if the key has made the signature; `None` if the key is unreadable or not for this algorithm.
    fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> Option<bool> {
        let is_valid = match algorithm {
            Algorithm::Rsa(parameters) if self.kty == "RSA" => {
                let (n, e) = (decode(&self.n)?, decode(&self.e)?);
                let key = RsaPublicKeyComponents {
                    n: without_leading_zeros(&n),
                    e: without_leading_zeros(&e),
                };
                key.verify(parameters, message, signature).is_ok()
            }
            Algorithm::Curve(curve, bytes, algorithm)
                if self.kty == "EC" && self.crv.as_deref() == Some(curve) =>
            {
                let (x, y) = (decode(&self.x)?, decode(&self.y)?);
                if x.len() != bytes || y.len() != bytes {
                    return None;
                }
                let point = [&[UNCOMPRESSED_POINT], &*x, &*y].concat();
                UnparsedPublicKey::new(algorithm, point)
                    .verify(message, signature)
                    .is_ok()
            }
            Algorithm::Ed25519 if self.kty == "OKP" && self.crv.as_deref() == Some("Ed25519") => {
                let key = UnparsedPublicKey::new(&ED25519, decode(&self.x)?);
                key.verify(message, signature).is_ok()
            }
            _ => return None,
        };
        Some(is_valid)
    }
}

fn decode(text: &Option<String>) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text.as_deref()?).ok()
}

fn without_leading_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}
