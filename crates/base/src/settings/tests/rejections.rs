//! Unusable settings: the error names them.

use super::*;

#[test]
fn names_unusable_settings() {
    let cases = [
        (
            "[server]\naddr = '0.0.0.0:8080'",
            "can be reached from other machines",
        ),
        ("[accounts]\nauth = 'proxy'", "server.proxies names no proxy"),
        ("[accounts]\nauth = 'ldap'", "unknown variant `ldap`"),
        (
            "[[accounts.access]]\nmodels = ['openai/*', 'gpt-4o']\nroles = []",
            "rule 1 of accounts.access names the model “gpt-4o” without its endpoint",
        ),
        ("[accounts]\nuser_header = 'a b'", "is not the name of a header"),
        ("[accounts]\nsign_in_attempts = 0", "accounts.sign_in_attempts"),
        (
            "[server]\nproxies = ['proxy.example']",
            "neither an address nor a network",
        ),
        ("[server]\nadr = '127.0.0.1:8080'", "unknown field `adr`"),
        ("[timeouts]\nsilence = '0s'", "silence = '0s'"),
        ("[timeouts]\nsilence = 5", "such as \"90s\""),
        (
            "[timeouts]\nsilence_seconds = 5",
            "unknown field `silence_seconds`",
        ),
        (
            "[history]\nmetadata = 'sometimes'",
            "unknown variant `sometimes`, expected one of `auto`, `always`, `never`",
        ),
        ("[history]\nmetadata = true", "metadata = true"),
        (
            "[[endpoints]]\nname = 'a'\nbase_url = 'x'\n[[endpoints]]\nname = 'a'\nbase_url = 'y'",
            "two endpoints have the name “a”",
        ),
        ("[tools.web_search]\nprovider = 'searxng'", "no url"),
        (
            "[server]\nallowed_hosts = ['parlor.lan', 'http://parlor.lan']",
            "server.allowed_hosts names “http://parlor.lan”",
        ),
        (
            "[tools.fetch_webpage]\nallowed_hosts = ['wiki', 'http://wiki']",
            "tools.fetch_webpage.allowed_hosts: \"http://wiki\" is neither",
        ),
        ("[tools.web_search]\nprovider = 'brave'", "no api_key_env"),
        (
            "[tools.web_search]\nprovider = 'searxng'\nurl = 'localhost:8888'",
            "tools.web_search.url",
        ),
        ("[tools.web_search]\nprovider = 'altavista'", "unknown variant"),
        ("[tools.pubmed]\nbase_url = 'eutils'", "tools.pubmed.base_url"),
        ("[tools]\nfetch = 1", "unknown field `fetch`"),
        ("[files]\nstore = 'gcs://bucket'", "files.store is “gcs://bucket”"),
        ("[files]\nstore = 'database'", "files are there, too"),
        (
            "[[mcp]]\nname = 'a'\nurl = 'x'\n[[mcp]]\nname = 'a'\nurl = 'y'",
            "two MCP servers have the name “a”",
        ),
        ("[[mcp]]\nname = 'A b'\nurl = 'x'", "can't have the name “A b”"),
        ("[[mcp]]\nname = 'a'", "needs either command"),
        (
            "[[mcp]]\nname = 'a'\nurl = 'x'\ncommand = 'y'",
            "needs either command",
        ),
        (
            "[[mcp]]\nname = 'a'\nurl = 'x'\nenv = { K = 'v' }",
            "needs either command",
        ),
        ("[[mcp]]\nname = 'a'\nurl = 'x'\ntimeout = '0s'", "timeout = '0s'"),
        (
            "[[mcp]]\nname = 'a'\nurl = 'x'\nadress = 'y'",
            "unknown field `adress`",
        ),
    ];
    for (file, part) in cases {
        let error = read_settings(file, &[]).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let error = read_settings("", &[("PARLOR_ADDR", "nowhere")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("PARLOR_ADDR can't be used: “nowhere”"), "{error}");
}

#[test]
fn rejects_unknown_time_zone() {
    let error = read_settings("[history]\ntimezone = 'Mars/Olympus'\n", &[]).unwrap_err();
    assert!(error.to_string().contains("Mars/Olympus"), "{error}");
    let zone = read_settings("[history]\ntimezone = 'Europe/Copenhagen'\n", &[])
        .unwrap()
        .history
        .time_zone();
    assert_eq!(zone.iana_name(), Some("Europe/Copenhagen"));
}

#[test]
fn rejects_numbers_out_of_range() {
    let endpoint = "[[endpoints]]\nname = 'x'\nbase_url = 'http://x/v1'\n";
    for (file, message) in [
        (
            format!("{endpoint}context_window = 0\n"),
            "the setting endpoints.context_window is 0; it must be from 256 to 1000000000",
        ),
        (
            format!("{endpoint}context_windows = {{ big = 5000, small = 5 }}\n"),
            "the setting endpoints.context_window is 5; it must be from 256 to 1000000000",
        ),
        (
            "[agent]\nmax_iterations = 1001\n".into(),
            "the setting agent.max_iterations is 1001; it must be from 0 to 1000",
        ),
        (
            "[limits]\nrequest_bytes_per_second = 0\n".into(),
            "the setting limits.request_bytes_per_second is 0; it must be from 1 to 1000000000",
        ),
        (
            "[limits]\nmessage_bytes = 0\n".into(),
            "the setting limits.message_bytes is 0; it must be from 1 to 1000000000",
        ),
        (
            "[agent]\nrepetitions = 2\n".into(),
            "the setting agent.repetitions is 2; it must be from 3 to 100",
        ),
    ] {
        assert_eq!(read_settings(&file, &[]).unwrap_err().to_string(), message);
    }
}

#[test]
fn rejects_unusable_account_modes() {
    let file = "[server]\naddr = '0.0.0.0:8080'\n[accounts]\nauth = 'password'";
    let error = read_settings(file, &[("PARLOR_AUTH", "none")]).unwrap_err();
    assert!(
        error.to_string().contains("can be reached from other machines"),
        "{error}"
    );
    let error = read_settings(file, &[("PARLOR_AUTH", "ldap")]).unwrap_err();
    assert!(
        error.to_string().contains("none, password, oidc or proxy"),
        "{error}"
    );
}

#[test]
fn a_provider_needs_its_url_and_secret() {
    let provider =
        "[accounts]\nauth = 'oidc'\n[accounts.oidc]\nclient_id = 'parlor'\nclient_secret_env = 'SECRET'\n";
    let with = |issuer: &str, env: &[(&str, &str)]| {
        let settings = read_settings(&format!("{provider}issuer = '{issuer}'"), env);
        settings.map_err(|error| error.to_string())
    };
    let secret = [("SECRET", "a secret of a client")];
    let settings = with("https://id.example", &secret).unwrap();
    assert_eq!(settings.accounts.oidc.display_name(), "id.example");
    assert!(!format!("{settings:?}").contains("a secret of a client"));
    let missing = read_settings(provider, &secret).unwrap_err().to_string();
    assert!(missing.contains("accounts.oidc.issuer"), "{missing}");
    let unset = with("https://id.example", &[]).unwrap_err();
    assert!(unset.contains("the variable SECRET, which is not set"), "{unset}");
    for issuer in [
        "id.example",
        "ftp://id.example",
        "https://a:b@id.example",
        "https://id.example?x",
    ] {
        assert!(
            with(issuer, &secret)
                .unwrap_err()
                .contains("accounts.oidc.issuer"),
            "{issuer}"
        );
    }
}
