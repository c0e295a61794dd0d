use proptest::prelude::*;

use super::{
    collector::{is_secret_name, is_token_like},
    *,
};
use crate::settings::{Secret, mcp::McpTransport};

const KEY: &str = "sk-0123456789-abcdef";

fn settings(toml: &str) -> Settings {
    toml::from_str(toml).expect("settings")
}

fn secrets() -> Secrets {
    let mut settings = settings(
        r#"
        [[endpoints]]
        name = "one"
        base_url = "http://ann:p%40ssw0rd@127.0.0.1:1/v1?token=query-token-1"
        headers = { "X-Api-Key" = "head-1", "Cookie" = "sid=cookie-1", "X-Title" = "Parlor", "Authorization" = "Basic dXNlcjpwYXNz" }

        [tools.web_search]
        provider = "searxng"
        url = "http://x:search-pass@127.0.0.1:1/"

        [[mcp]]
        name = "files"
        command = "run"
        args = ["--header", "Authorization: Bearer arg-bearer-1", "x1b2c3d4e5f60718", "--api-key", "arg-secret-1", "--token=arg-secret-2", "postgres://u:db-pass-1@db/x", "/home/me/notes",
            "--max-tokens", "4096", "--author=Ann Smith", "--key-file", "/srv/keys/one.pem", "--token-limit=200000", "--auth", "required"]
        env = { MODE = "on", DATABASE_PASSWORD = "env-pass-1", LICENCE = "a\"quoted\"licence", ROOT = "/srv/projects", SINCE = "1795262400000", PGPASSWORD = "20260131", accessToken = "/9j4AAQSkZJRgABA" }

        [[mcp]]
        name = "tickets"
        url = "https://user:mcp-pass-1@tickets.example/mcp"
        headers = { Authorization = "Bearer mcp-token-1" }
        "#,
    );
    settings.endpoints[0].api_key = Some(Secret(KEY.into()));
    Secrets::from_settings(&settings)
}

#[test]
fn redacts_every_secret_setting_and_nothing_else() {
    let secrets = secrets();
    for secret in [
        KEY,
        "p%40ssw0rd",
        "p@ssw0rd",
        "YW5uOnBAc3N3MHJk",
        "query-token-1",
        "head-1",
        "sid=cookie-1",
        "Basic dXNlcjpwYXNz",
        "dXNlcjpwYXNz",
        "search-pass",
        "arg-secret-1",
        "arg-secret-2",
        "db-pass-1",
        "arg-bearer-1",
        "x1b2c3d4e5f60718",
        "env-pass-1",
        "20260131",
        "/9j4AAQSkZJRgABA",
        "a\"quoted\"licence",
        r#"a\"quoted\"licence"#,
        "mcp-pass-1",
        "Bearer mcp-token-1",
        "mcp-token-1",
    ] {
        assert_eq!(secrets.redact(&format!("<{secret}>")), "<•••>", "{secret}");
    }
    let harmless = "Parlor is on, /home/me/notes, run --api-key, http://tickets.example/mcp?x=a@b, git@github.com, \
                    ssh://git@host/x, key, 127.0.0.1, --max-tokens 4096, Ann Smith, /srv/keys/one.pem, 200000, required, \
                    /srv/projects/x, 1795262400000";
    assert_eq!(secrets.redact(harmless), harmless);
    assert!(!format!("{secrets:?}").contains("sk-"));
}

#[test]
fn redacts_passwords_in_any_url() {
    let none = Secrets::from_settings(&Settings::default());
    for (text, hidden) in [
        ("see http://u:p@host/x and more", "see http://•••@host/x and more"),
        (
            "https://ghp_0123456789abcdefghij@github.com/x",
            "https://•••@github.com/x",
        ),
        ("\"postgres://u:p@h\"", "\"postgres://•••@h\""),
        ("a://u:p@h b://c:d@e", "a://•••@h b://•••@e"),
        ("http://u:a@b@host", "http://•••@host"),
        ("http://host:80/a@b", "http://host:80/a@b"),
        ("ssh://git@host", "ssh://git@host"),
        ("://", "://"),
        ("é://ü:ö@ä", "é://•••@ä"),
    ] {
        assert_eq!(none.redact(text), hidden);
    }
}

#[test]
fn redacts_declared_secrets_of_any_form() {
    let mut settings = settings(
        r#"
        [[mcp]]
        name = "files"
        command = "run"
        env_from = { PIN = "A", FOLDER = "B", GREETING = "C", LOGIN = "D" }
        "#,
    );
    let McpTransport::Command { env, .. } = &mut settings.mcp[0].transport else {
        panic!("a command")
    };
    for (name, value) in [
        ("PIN", "1234"),
        ("FOLDER", "/srv/vault"),
        ("GREETING", "hush"),
        ("LOGIN", "Bearer 4711"),
    ] {
        env.values.insert(name.into(), Secret(value.into()));
    }
    assert_eq!(
        Secrets::from_settings(&settings).redact("1234, /srv/vault, hush, Bearer 4711, 4711"),
        "•••, •••, •••, •••, •••"
    );
}

#[test]
fn truncation_leaves_no_partial_secret() {
    let secrets = secrets();
    let text = format!("one {KEY} two {KEY} three");
    let hidden = "one ••• two ••• three";
    assert_eq!(
        secrets.redact_truncated(&text, 1000, false),
        (hidden.into(), false)
    );
    for limit in 0..hidden.len() {
        let (kept, cut) = secrets.redact_truncated(&text, limit, false);
        assert!(
            cut && kept.len() <= limit && hidden.starts_with(&kept),
            "{limit}: {kept}"
        );
    }
    // The input is the beginning of a longer text, cut at any place.
    for end in 0..text.len() {
        let (kept, cut) = secrets.redact_truncated(&text[..end], 1000, true);
        assert!(cut && hidden.starts_with(&kept), "{end}: {kept}");
    }
}

#[test]
fn matches_secret_names_by_whole_words() {
    for name in [
        "API_KEY",
        "X-Api-Key",
        "apiKey",
        "--auth-token",
        "OPENAI_APIKEY",
        "PGPASSWORD",
        "DB_PWD",
        "GITHUB_PAT",
        "Set-Cookie",
        "Proxy-Authorization",
        "client_secret",
        "sessionId",
    ] {
        assert!(is_secret_name(name), "{name}");
    }
    for name in [
        "--max-tokens",
        "TOKENIZER",
        "KEYBOARD",
        "--author",
        "PATH",
        "COMPASS",
        "monkey",
        "ROOT",
        "",
    ] {
        assert!(!is_secret_name(name), "{name}");
    }
}

#[test]
fn plain_words_are_not_tokens() {
    for arg in [
        "mcp-server-2024-11-05",
        "@modelcontextprotocol/server-everything",
        "--allow-everything-2",
        "/home/me/notes0123456789",
        "a text with 0123456789",
        "short1",
    ] {
        assert!(!is_token_like(arg), "{arg}");
    }
    for arg in ["sk-abcdefghijklmnop", "3f2a9c1e-77b0-4a", "glpat-abc_defghijkl"] {
        assert!(is_token_like(arg), "{arg}");
    }
    let placeholder = Secrets::default().with_more(["ollama", "none"]);
    assert_eq!(placeholder.redact("ollama says none"), "ollama says none");
}

#[test]
fn encoded_percent_sign_may_precede_digits() {
    let secrets = Secrets::default().with_more(["key=%A0+key"]);
    for spelling in ["key=%A0+key", "key%3D%25A0%2Bkey", "key%253D%2525A0%252Bkey"] {
        assert_eq!(secrets.redact(spelling), REDACTED, "{spelling}");
    }
}

/// Returns a character in one of its spellings.
fn spell_char(c: char, how: u8) -> String {
    let percent = |c: char| -> String { c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect() };
    match how {
        0 => percent(c),
        1 => percent(c).to_lowercase(),
        2 => percent(c).replace('%', "%25"),
        3 => c
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect(),
        4 => serde_json::to_string(&c).unwrap().trim_matches('"').into(),
        5 if c == '/' => "\\/".into(),
        6 if c == ' ' => "+".into(),
        _ => c.into(),
    }
}

fuzzing::properties! {
    256;

    #[test]
    fn redacts_a_secret_in_every_spelling(
        secret in "[a-zA-Z0-9/+%=_.:é\\\\-]{6,24}",
        hows in prop::collection::vec(0_u8..8, 24),
        before in "[ a-z]{0,4} ",
        after in " [ a-z]{0,4}",
    ) {
        let secrets = Secrets::default().with_more([&*secret]);
        let mixed: String = secret.chars().zip(&hows).map(|(c, how)| spell_char(c, *how)).collect();
        let json = serde_json::to_string(&secret).unwrap();
        for spelling in [&*secret, &*mixed, json.trim_matches('"')] {
            let text = [&*before, spelling, &*after].concat();
            prop_assert_eq!(secrets.redact(&text), [&*before, REDACTED, &*after].concat(), "{}", spelling);
        }
    }

    #[test]
    fn redacts_a_secret_in_base64(
        secret in "[a-zA-Z0-9/+_.:-]{8,24}",
        before in "[a-z:]{0,5}",
        after in "[a-z:]{0,5}",
    ) {
        use base64::{
            Engine,
            prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
        };
        let secrets = Secrets::default().with_more([&*secret]);
        let whole = [&*before, &*secret, &*after].concat();
        for encoded in [BASE64_STANDARD.encode(&whole), BASE64_URL_SAFE_NO_PAD.encode(&whole)] {
            prop_assert_eq!(secrets.redact(&format!("Basic {encoded}.")), "Basic •••.");
        }
    }
}

#[test]
fn added_secrets_are_redacted_by_all_that_share_them() {
    let secrets = secrets();
    let before = secrets.with_more(["another-key-1"]);
    let clone = secrets.clone();
    assert_eq!(clone.redact("added-key-1"), "added-key-1");
    before.add("added-key-1");
    // A placeholder is no secret.
    before.add("not-needed");
    for secrets in [&secrets, &clone, &before, &secrets.with_more(["x"])] {
        assert_eq!(secrets.redact("added-key-1, not-needed"), "•••, not-needed");
        assert_eq!(secrets.redact(KEY), "•••");
    }
    assert_eq!(before.redact("another-key-1"), "•••");
    assert_eq!(clone.redact("another-key-1"), "another-key-1");
}
