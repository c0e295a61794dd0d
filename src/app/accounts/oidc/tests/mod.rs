//! Attacks on ID tokens, and what the claims of valid ones mean ([`mod@user`]). `tests/server/accounts/oidc` has the rest of a
//! sign-in.

mod user;

use std::time::Duration;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    hmac,
    signature::{Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};

use super::{
    keys::KeySet,
    token::{Claims, Expected, TokenError, verify},
};

const NOW: i64 = 1_800_000_000;

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn key_pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

fn public_key(seed: u8, id: &str) -> Value {
    let x = encode(key_pair(seed).public_key());
    json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "use": "sig", "x": x })
}

/// The provider has two keys, and one of a kind that Parlor does not know.
fn keys() -> KeySet {
    let keys = [public_key(1, "one"), public_key(2, "two"), json!({ "kty": 7 })];
    serde_json::from_value(json!({ "keys": keys })).unwrap()
}

/// Claims that are valid, with some changed.
fn claims(changed: Value) -> Value {
    let mut claims = json!({
        "iss": "https://id.example", "sub": "7", "aud": "parlor", "nonce": "a nonce", "iat": NOW, "exp": NOW + 60,
    });
    for (name, value) in changed.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

fn sign(header: &Value, claims: &Value, seed: u8) -> String {
    let signed = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
    let signature = encode(key_pair(seed).sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

fn check(token: &str) -> Result<Claims, TokenError> {
    let expected = Expected {
        issuer: "https://id.example",
        client_id: "parlor",
        nonce: "a nonce",
        now_ms: NOW * 1000,
        skew: Duration::from_secs(5),
    };
    verify(token, &keys(), &expected)
}

fn header(id: &str) -> Value {
    json!({ "alg": "EdDSA", "kid": id })
}

fn checked(changed: Value) -> Result<String, TokenError> {
    check(&sign(&header("one"), &claims(changed), 1)).map(|claims| claims.sub)
}

#[test]
fn a_token_of_the_provider_is_valid() {
    assert_eq!(checked(json!({})), Ok("7".into()));
    assert_eq!(
        check(&sign(&header("two"), &claims(json!({})), 2)).unwrap().sub,
        "7"
    );
    let without_id = json!({ "alg": "EdDSA" });
    assert!(check(&sign(&without_id, &claims(json!({})), 2)).is_ok());
}

#[test]
fn forged_tokens_are_refused() {
    let valid = sign(&header("one"), &claims(json!({})), 1);
    let (signed, signature) = valid.rsplit_once('.').unwrap();
    let other = encode(claims(json!({ "sub": "1" })).to_string());
    let parts: Vec<&str> = valid.split('.').collect();
    // The provider's public key as the secret of a symmetric algorithm.
    let confused = format!("{}.{}", encode(r#"{"alg":"HS256","kid":"one"}"#), parts[1]);
    let key = hmac::Key::new(hmac::HMAC_SHA256, key_pair(1).public_key().as_ref());
    let confused = format!("{confused}.{}", encode(hmac::sign(&key, confused.as_bytes())));
    let cases = [
        (sign(&header("one"), &claims(json!({})), 3), TokenError::Signature),
        (sign(&header("one"), &claims(json!({})), 2), TokenError::Signature),
        (
            sign(&header("three"), &claims(json!({})), 3),
            TokenError::UnknownKey,
        ),
        (format!("{}.{other}.{signature}", parts[0]), TokenError::Signature),
        (format!("{signed}."), TokenError::Signature),
        (
            format!("{}.{}.", encode(r#"{"alg":"none"}"#), parts[1]),
            TokenError::Algorithm("none".into()),
        ),
        (
            format!("{}.{}.", encode(r#"{"alg":"None","kid":"one"}"#), parts[1]),
            TokenError::Algorithm("None".into()),
        ),
        (confused, TokenError::Algorithm("HS256".into())),
        (
            sign(&json!({ "alg": "RS256", "kid": "one" }), &claims(json!({})), 1),
            TokenError::UnknownKey,
        ),
        (
            sign(
                &json!({ "alg": "EdDSA", "kid": "one", "crit": ["exp"] }),
                &claims(json!({})),
                1,
            ),
            TokenError::Critical,
        ),
        (signed.to_owned(), TokenError::Malformed),
        (String::new(), TokenError::Malformed),
        (format!("{valid}="), TokenError::Malformed),
    ];
    for (token, error) in cases {
        assert_eq!(check(&token).unwrap_err(), error, "{token}");
    }
}

#[test]
fn a_token_brings_no_key_of_its_own() {
    let mut header = header("four");
    header["jwk"] = public_key(4, "four");
    header["jku"] = json!("https://evil.example/keys");
    assert_eq!(
        check(&sign(&header, &claims(json!({})), 4)).unwrap_err(),
        TokenError::UnknownKey
    );
}

#[test]
fn tokens_for_others_are_refused() {
    let cases = [
        (
            json!({ "iss": "https://id.example/" }),
            TokenError::Issuer("https://id.example/".into()),
        ),
        (
            json!({ "iss": "https://evil.example" }),
            TokenError::Issuer("https://evil.example".into()),
        ),
        (json!({ "aud": "another" }), TokenError::Audience),
        (json!({ "aud": [] }), TokenError::Audience),
        (json!({ "aud": ["another", "parlor"] }), TokenError::Audience),
        (
            json!({ "aud": ["another", "parlor"], "azp": "another" }),
            TokenError::Audience,
        ),
        (json!({ "azp": "another" }), TokenError::Audience),
        (json!({ "nonce": "another" }), TokenError::Nonce),
        (json!({ "nonce": null }), TokenError::Nonce),
        (json!({ "sub": "" }), TokenError::Subject),
        (json!({ "sub": "x".repeat(256) }), TokenError::Subject),
    ];
    for (changed, error) in cases {
        assert_eq!(checked(changed.clone()), Err(error), "{changed}");
    }
    assert!(checked(json!({ "aud": ["parlor"] })).is_ok());
    assert!(checked(json!({ "aud": ["another", "parlor"], "azp": "parlor" })).is_ok());
}

#[test]
fn tokens_out_of_time_are_refused() {
    let cases = [
        (json!({ "exp": NOW - 5 }), TokenError::Expired),
        (json!({ "iat": NOW + 6 }), TokenError::NotYet),
        (json!({ "nbf": NOW + 6 }), TokenError::NotYet),
        (json!({ "nbf": "later" }), TokenError::Malformed),
        (json!({ "exp": "never" }), TokenError::Malformed),
        (json!({ "exp": null }), TokenError::Malformed),
    ];
    for (changed, error) in cases {
        assert_eq!(checked(changed.clone()), Err(error), "{changed}");
    }
    // Within the tolerance of the clocks.
    for changed in [
        json!({ "exp": NOW - 4 }),
        json!({ "iat": NOW + 5 }),
        json!({ "exp": NOW as f64 + 0.5 }),
    ] {
        assert!(checked(changed.clone()).is_ok(), "{changed}");
    }
}

/// RFC 7515, appendices A.2 and A.3.
#[test]
fn verifies_the_standards_examples() {
    let keys: KeySet = serde_json::from_value(json!({ "keys": [
        { "kty": "RSA", "e": "AQAB", "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ" },
        { "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" },
    ] })).unwrap();
    let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let rsa = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    let curve = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    for (algorithm, signature) in [("RS256", rsa), ("ES256", curve)] {
        let header = encode(format!(r#"{{"alg":"{algorithm}"}}"#));
        let signed = format!("{header}.{payload}");
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
        assert_eq!(
            keys.verify(algorithm, None, signed.as_bytes(), &signature),
            Ok(()),
            "{algorithm}"
        );
        let changed = format!("{signed}x");
        assert_eq!(
            keys.verify(algorithm, None, changed.as_bytes(), &signature),
            Err(TokenError::Signature),
            "{algorithm}"
        );
    }
}
