//! The settings file shipped with Parlor: its examples are valid, and the defaults it states are correct.

use super::*;

/// Checks the shipped file's example of an Azure endpoint.
#[test]
fn azure_example_reads_its_key_without_printing() {
    let file = include_str!("../../../Leptos.toml");
    let example = file.lines().skip_while(|line| *line != "# name = \"azure\"");
    let example = example.take_while(|line| line.starts_with('#'));
    let example: Vec<&str> = example.map(|line| line.trim_start_matches(['#', ' '])).collect();
    let file = format!("[[endpoints]]\n{}", example.join("\n"));
    let settings = read_settings(&file, &[("AZURE_OPENAI_API_KEY", "very-secret")]).unwrap();
    let azure = &settings.endpoints[0];
    assert_eq!(azure.headers["api-key"], Secret("very-secret".into()));
    assert_eq!(azure.models, ["DEPLOYMENT"]);
    assert!(azure.base_url.ends_with("/DEPLOYMENT?api-version=2024-10-21"));
    let printed = format!("{settings:?}");
    assert!(
        !printed.contains("very-secret") && !printed.contains("api-version"),
        "{printed}"
    );
    let without = read_settings(&file, &[]).unwrap();
    assert!(without.endpoints[0].headers.is_empty());
}

/// Checks the shipped file's examples of endpoints with other protocols.
#[test]
fn native_examples_have_their_kinds() {
    let file = include_str!("../../../Leptos.toml");
    for (name, kind) in [
        ("claude", EndpointKind::Anthropic),
        ("google", EndpointKind::Gemini),
    ] {
        let first = format!("# name = \"{name}\"");
        let example = file.lines().skip_while(|line| *line != first);
        let example = example.take_while(|line| *line != "#");
        let example: Vec<&str> = example.map(|line| line.trim_start_matches(['#', ' '])).collect();
        let file = format!("[[endpoints]]\n{}", example.join("\n"));
        let settings = read_settings(&file, &[]).unwrap();
        assert_eq!(settings.endpoints[0].kind, kind);
    }
}

#[test]
fn shipped_file_names_pubmed_address() {
    let line = format!("# base_url = \"{}\"", PubmedSettings::default().base_url);
    assert!(include_str!("../../../Leptos.toml").contains(&line), "{line}");
}

/// Checks the shipped file's examples of settings without a default.
#[test]
fn shipped_mcp_examples_are_valid() {
    let file = include_str!("../../../Leptos.toml");
    let example = file.lines().skip_while(|line| *line != "# [[mcp]]");
    let example = example.take_while(|line| line.starts_with('#'));
    let example: Vec<&str> = example.map(|line| line.trim_start_matches(['#', ' '])).collect();
    let env = [("FILES_TOKEN", "t1"), ("TICKETS_AUTHORIZATION", "Bearer t2")];
    let settings = read_settings(&example.join("\n"), &env).unwrap();
    let variables = |name: &str, value: &str, variable: &str| mcp::SecretVariables {
        values: [(name.to_owned(), Secret(value.into()))].into(),
        from_environment: [(name.to_owned(), variable.to_owned())].into(),
    };
    let files = McpServer {
        name: "files".into(),
        reached: mcp::McpTransport::Command {
            command: "npx".into(),
            args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/notes"]
                .map(Into::into)
                .into(),
            env: variables("API_TOKEN", "t1", "FILES_TOKEN"),
        },
        approval: None,
        timeout: Duration::from_secs(60),
        disabled_tools: vec![],
    };
    let tickets = McpServer {
        name: "tickets".into(),
        reached: mcp::McpTransport::Url {
            url: "https://tickets.example/mcp".into(),
            headers: variables("Authorization", "Bearer t2", "TICKETS_AUTHORIZATION"),
        },
        approval: Some(mcp::ApprovalPolicy::Ask),
        timeout: Duration::from_secs(60),
        disabled_tools: vec!["delete_everything".into()],
    };
    assert_eq!(settings.mcp, [files, tickets]);
}

/// Checks every duration that the shipped file names.
#[test]
fn durations_must_be_positive() {
    let mut section = "";
    let mut checked = 0;
    for line in include_str!("../../../Leptos.toml").lines() {
        if line.starts_with('[') {
            section = line;
        }
        let Some((name, _)) = line.trim_start_matches("# ").split_once(" = ") else {
            continue;
        };
        let is_duration = name.ends_with("_seconds") || name.ends_with("_hours");
        // The timeout of an MCP server is an example in a list, with an error of its own.
        if !is_duration || name == "timeout_seconds" && section != "[tools.fetch_webpage]" {
            continue;
        }
        let read = |value: &str| read_settings(&format!("{section}\n{name} = {value}"), &[]);
        assert!(read("5").is_ok(), "{section} {name}");
        for value in ["-1.0", "0.0", "nan", "1e300"] {
            assert!(read(value).is_err(), "{section} {name} = {value}");
        }
        checked += 1;
    }
    assert!(checked > 15, "{checked} durations");
}

/// Checks that the shipped file states defaults correctly, behind a `#`, and names some of each section.
#[test]
fn shipped_file_matches_the_defaults() {
    let file = include_str!("../../../Leptos.toml");
    assert_eq!(read_settings(file, &[]).unwrap(), Settings::default());
    let examples = [
        "# [[",
        "# name",
        "# base_url",
        "# api_key_env",
        "# headers",
        "# models",
        "# default",
        "# local",
        "# prices",
        "# [tools.web_search]",
        "# provider",
        "# url",
        "# email",
        "# context_window",
        "# lists_all_models",
        "# dialect",
        "# kind",
        "# timezone",
        "# prompt",
        "# tools",
        "# command",
        "# args",
        "# env_from",
        "# url",
        "# approval",
        "# timeout_seconds",
        "# disabled_tools",
    ];
    let uncommented: Vec<&str> = file
        .lines()
        .filter(|line| !examples.iter().any(|example| line.starts_with(example)))
        .map(|line| match line.strip_prefix("# ") {
            Some(setting)
                if setting
                    .split_once(" = ")
                    .is_some_and(|(name, _)| !name.contains(' ')) =>
            {
                setting
            }
            _ => line,
        })
        .collect();
    let settings = read_settings(&uncommented.join("\n"), &[]).unwrap();
    assert_eq!(settings, Settings::default());
    for name in [
        "addr",
        "data",
        "discover",
        "message_bytes",
        "silence_seconds",
        "keep_events",
        "session_gap_hours",
        "memories",
        "disabled",
        "enabled",
    ] {
        assert!(uncommented.iter().any(|line| line.starts_with(name)), "{name}");
    }
}
