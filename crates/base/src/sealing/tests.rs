use std::{fs, path::Path};

use super::{
    key_source::{key_text, parse_keys, read_key_file},
    *,
};
use crate::settings::ServerSettings;

const PLACE: Place<'_> = Place {
    table: "endpoints",
    row: "one",
    owner: None,
};

fn secret() -> Secret {
    Secret("sk-0123456789".into())
}

fn keys_of(text: &str) -> SealingKeys {
    SealingKeys::open(&ServerSettings {
        secret_key: Some(Secret(text.into())),
        ..ServerSettings::default()
    })
}

fn keys_in(folder: &Path) -> SealingKeys {
    SealingKeys::open(&ServerSettings {
        data: Some(folder.into()),
        ..ServerSettings::default()
    })
}

#[test]
fn a_sealed_secret_opens_only_in_its_place() {
    let keys = keys_of(&key_text(1));
    let sealed = keys.seal(&secret(), PLACE).unwrap();
    assert_eq!(keys.unseal(&sealed, PLACE), Ok(secret()));
    assert!(!sealed.windows(4).any(|part| part == b"0123"));
    assert_ne!(
        keys.seal(&secret(), PLACE).unwrap(),
        sealed,
        "the nonce is random"
    );
    let others = [
        Place {
            table: "tokens",
            ..PLACE
        },
        Place { row: "two", ..PLACE },
        Place {
            owner: Some(UserId::LOCAL),
            ..PLACE
        },
        // The same letters in other fields.
        Place {
            table: "endpointso",
            row: "ne",
            owner: None,
        },
    ];
    for other in others {
        assert_eq!(keys.unseal(&sealed, other), Err(OpenError::Damaged), "{other:?}");
    }
}

#[test]
fn every_changed_byte_is_noticed() {
    let keys = keys_of(&key_text(1));
    let sealed = keys.seal(&secret(), PLACE).unwrap();
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        let expected = match at {
            0 => OpenError::OtherVersion,
            1..=KEY_ID_BYTES => OpenError::OtherKey,
            _ => OpenError::Damaged,
        };
        assert_eq!(keys.unseal(&changed, PLACE), Err(expected), "byte {at}");
        assert!(keys.unseal(&sealed[..at], PLACE).is_err(), "{at} bytes");
    }
}

#[test]
fn a_new_key_replaces_an_old_one() {
    let old = keys_of(&key_text(1));
    let sealed = old.seal(&secret(), PLACE).unwrap();
    let both = keys_of(&format!("{}, {}", key_text(2), key_text(1)));
    assert_eq!(both.unseal(&sealed, PLACE), Ok(secret()));
    assert!(both.is_outdated(&sealed) && !old.is_outdated(&sealed));
    let again = both.seal(&secret(), PLACE).unwrap();
    let new = keys_of(&key_text(2));
    assert_eq!(new.unseal(&again, PLACE), Ok(secret()));
    assert_eq!(new.unseal(&sealed, PLACE), Err(OpenError::OtherKey));
}

#[test]
fn keys_are_read_in_every_form() {
    let hex = "AB".repeat(32);
    let bytes = [0xab; 32];
    let standard = base64::prelude::BASE64_STANDARD.encode(bytes);
    let url_safe = base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let ids: Vec<_> = [&*hex, &standard, &url_safe, &hex.to_lowercase()]
        .map(|text| SealingKey::parse(text).unwrap().id)
        .into();
    assert!(ids.iter().all(|id| *id == ids[0]));
    for text in [
        "",
        " ",
        "password",
        &hex[2..],
        &format!("{hex}00"),
        "é".repeat(32).as_str(),
    ] {
        assert!(parse_keys(&Secret(text.into())).is_err(), "{text:?}");
    }
}

#[test]
fn the_file_is_made_with_the_first_secret() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret.key");
    let keys = keys_in(folder.path());
    assert!(!file.exists());
    let sealed = keys.seal(&secret(), PLACE).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let text = read_key_file(folder.path());
    assert_eq!(keys_in(folder.path()).unseal(&sealed, PLACE), Ok(secret()));
    keys_in(folder.path()).seal(&secret(), PLACE).unwrap();
    assert_eq!(read_key_file(folder.path()), text);
}

#[test]
fn an_unusable_file_is_kept_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret.key");
    // A start that ended while it was made.
    fs::write(&file, "").unwrap();
    let sealed = keys_in(folder.path()).seal(&secret(), PLACE).unwrap();
    fs::write(&file, "nonsense").unwrap();
    let keys = keys_in(folder.path());
    assert_eq!(keys.unseal(&sealed, PLACE), Err(OpenError::OtherKey));
    let error = keys.seal(&secret(), PLACE).unwrap_err().to_string();
    assert!(
        error.contains("secret.key") && error.contains("32 bytes"),
        "{error}"
    );
    assert_eq!(read_key_file(folder.path()), "nonsense");
}

#[test]
fn debug_shows_no_key() {
    let keys = keys_of(&"ab".repeat(32));
    assert!(!format!("{keys:?}").contains("abab"));
}
