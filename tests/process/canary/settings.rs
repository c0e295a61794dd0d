//! The settings that are secrets, each with its canary.

use std::{collections::BTreeMap, fs, path::Path};

use upstream::Upstream;

/// The settings that are secrets, by the file of `crates/base/src/settings` and the field, each with its canaries.
const SETTINGS: [(&str, &str, &[&str]); 12] = [
    ("databases.rs", "password", &["DATABASE"]),
    ("mcp.rs", "env", &["MCPENV", "MCPENVFROM"]),
    ("mcp.rs", "headers", &["MCPHEADER", "MCPHEADERFROM"]),
    ("mcp.rs", "values", &["MCPENV", "MCPHEADER"]),
    ("metrics.rs", "token", &["METRICSTOKEN"]),
    ("mod.rs", "api_key", &["APIKEY"]),
    ("mod.rs", "headers", &["HEADER", "HEADERENV"]),
    ("mod.rs", "secret_key", &[SECRET_KEY]),
    ("oidc.rs", "client_secret", &["OIDC"]),
    // Without its database, a server does not start: `start` has that.
    ("storage.rs", "url", &[]),
    ("tools.rs", "api_key", &["SEARCHKEY"]),
    ("tools.rs", "api_key", &["PUBMEDKEY"]),
];

/// The name of the canary that is a key of 32 bytes.
const SECRET_KEY: &str = "SECRETKEY";

/// Passwords in URLs, which have no field of their own.
const URLS: [&str; 2] = ["ENDPOINTURL", "MCPURL"];

/// Returns the text that stands for a secret.
pub(super) fn canary(name: &str) -> String {
    match name {
        SECRET_KEY => "4d1b0f6a93c5e782".repeat(4),
        name => format!("canary-{name}-4d1b0f6a93").to_lowercase(),
    }
}

/// Returns the secrets of the settings.
pub(super) fn setting_canaries() -> Vec<String> {
    let in_fields = SETTINGS.iter().flat_map(|(_, _, names)| names.iter().copied());
    let mut all: Vec<String> = in_fields.chain(URLS).map(canary).collect();
    all.sort();
    all.dedup();
    all
}

/// Returns the fields of the settings whose type is a secret, by file.
fn secret_fields() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/base/src/settings");
    let mut fields = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        for line in fs::read_to_string(&path).unwrap().lines() {
            let line = line.trim().trim_start_matches("pub ");
            let Some((name, kind)) = line.strip_suffix(',').and_then(|line| line.split_once(": ")) else {
                continue;
            };
            // A value in an expression is no type.
            let is_field =
                !kind.contains('(') && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            let mut words = kind.split(|c: char| !c.is_ascii_alphanumeric());
            if is_field && words.any(|word| word == "Secret") {
                fields.push((file.clone(), name.to_owned()));
            }
        }
    }
    fields.sort();
    fields
}

#[test]
fn every_secret_setting_has_a_canary() {
    let mut known: Vec<_> = SETTINGS
        .iter()
        .map(|(file, field, _)| ((*file).to_owned(), (*field).to_owned()))
        .collect();
    known.sort();
    assert_eq!(
        secret_fields(),
        known,
        "add the new one to SETTINGS, and its canary to `settings_file`"
    );
}

/// Returns the settings file, and the variables that it names.
pub(super) fn settings_file(upstream: &Upstream) -> (String, BTreeMap<&'static str, String>) {
    let model_server = upstream.url();
    let with_password = |url: &str, name: &str| url.replacen("://", &format!("://user:{}@", canary(name)), 1);
    let file = format!(
        r#"
[accounts]
sign_up = "open"
[accounts.oidc]
client_secret_env = "CANARY_OIDC"
[models]
default = "test/any"
[[endpoints]]
name = "test"
base_url = "{model_server}"
api_key_env = "CANARY_APIKEY"
headers = {{ "X-Api-Key" = "{header}" }}
headers_env = {{ "X-Token" = "CANARY_HEADERENV" }}
lists_all_models = false
[[endpoints]]
name = "other"
base_url = "{other}"
lists_all_models = false
[tools.web_search]
provider = "brave"
url = "{search}"
api_key_env = "CANARY_SEARCHKEY"
[tools.pubmed]
base_url = "{search}"
api_key_env = "CANARY_PUBMEDKEY"
[[mcp]]
name = "remote"
url = "{mcp}"
headers = {{ Authorization = "Bearer {mcp_header}" }}
headers_from = {{ "X-Token" = "CANARY_MCPHEADERFROM" }}
[[mcp]]
name = "local"
command = "sh"
args = ["-c", "env >&2; exit 1"]
env = {{ API_KEY = "{mcp_env}" }}
env_from = {{ TOKEN = "CANARY_MCPENVFROM" }}
[[databases]]
name = "town"
url = "postgres://user@127.0.0.1:1/town"
password_env = "CANARY_DATABASE"
"#,
        header = canary("HEADER"),
        other = with_password(&model_server, "ENDPOINTURL"),
        search = upstream.url_of("/search"),
        mcp = with_password(&upstream.url_of("/mcp"), "MCPURL"),
        mcp_header = canary("MCPHEADER"),
        mcp_env = canary("MCPENV"),
    );
    let variables = [
        ("PARLOR_SECRET_KEY", SECRET_KEY),
        ("PARLOR_METRICS_TOKEN", "METRICSTOKEN"),
        ("CANARY_OIDC", "OIDC"),
        ("CANARY_APIKEY", "APIKEY"),
        ("CANARY_HEADERENV", "HEADERENV"),
        ("CANARY_SEARCHKEY", "SEARCHKEY"),
        ("CANARY_PUBMEDKEY", "PUBMEDKEY"),
        ("CANARY_MCPHEADERFROM", "MCPHEADERFROM"),
        ("CANARY_MCPENVFROM", "MCPENVFROM"),
        ("CANARY_DATABASE", "DATABASE"),
    ];
    let variables = variables.map(|(variable, name)| (variable, canary(name)));
    (file, variables.into())
}
