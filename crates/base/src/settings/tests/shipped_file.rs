//! The examples of the shipped settings file are valid. `tests/leptos_toml` checks its names, docs and defaults.

use std::time::Duration;

use super::*;

/// Returns an example of the shipped file without its prose, from a line to the next empty one.
fn read_example(first_line: &str) -> String {
    let file = include_str!("../../../../../Leptos.toml");
    let example = file.lines().skip_while(|line| *line != first_line);
    let example = example.take_while(|line| line.starts_with('#'));
    let is_toml = |line: &&str| {
        let name = line.split_once(" = ").map_or("", |(name, _)| name);
        line.starts_with('[') || !name.is_empty() && !name.contains(' ')
    };
    let lines: Vec<&str> = example
        .map(|line| line.trim_start_matches(['#', ' ']))
        .filter(is_toml)
        .collect();
    lines.join("\n")
}

/// Checks the shipped file's example of an Azure endpoint.
#[test]
fn azure_example_reads_its_key_without_printing() {
    let file = format!("[[endpoints]]\n{}", read_example("# name = \"azure\""));
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
    let file = include_str!("../../../../../Leptos.toml");
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
fn shipped_file_names_pubmed_url() {
    let line = format!("# base_url = \"{}\"", PubmedSettings::default().base_url);
    assert!(
        include_str!("../../../../../Leptos.toml").contains(&line),
        "{line}"
    );
}

/// Checks the shipped file's examples of settings without a default.
#[test]
fn shipped_mcp_examples_are_valid() {
    let env = [("FILES_TOKEN", "t1"), ("TICKETS_AUTHORIZATION", "Bearer t2")];
    let settings = read_settings(&read_example("# [[mcp]]"), &env).unwrap();
    let variables = |values: [(&str, &str); 2], name: &str, variable: &str| mcp::SecretVariables {
        values: values
            .map(|(name, value)| (name.to_owned(), Secret(value.into())))
            .into(),
        from_environment: [(name.to_owned(), variable.to_owned())].into(),
    };
    let files = McpServer {
        name: "files".into(),
        transport: mcp::McpTransport::Command {
            command: "npx".into(),
            args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/notes"]
                .map(Into::into)
                .into(),
            env: variables([("LANG", "C"), ("API_TOKEN", "t1")], "API_TOKEN", "FILES_TOKEN"),
        },
        approval: None,
        timeout: Duration::from_secs(60),
        disabled_tools: vec![],
    };
    let tickets = McpServer {
        name: "tickets".into(),
        transport: mcp::McpTransport::Url {
            url: "https://tickets.example/mcp".into(),
            headers: variables(
                [("X-Client", "Parlor"), ("Authorization", "Bearer t2")],
                "Authorization",
                "TICKETS_AUTHORIZATION",
            ),
        },
        approval: Some(mcp::ApprovalPolicy::Ask),
        timeout: Duration::from_secs(60),
        disabled_tools: vec!["delete_everything".into()],
    };
    assert_eq!(settings.mcp, [files, tickets]);
}

/// Checks the shipped file's first endpoint, which has every setting.
#[test]
fn shipped_endpoint_example_is_valid() {
    let endpoints = read_settings(&read_example("# [[endpoints]]"), &[])
        .unwrap()
        .endpoints;
    let names: Vec<&str> = endpoints.iter().map(|endpoint| &*endpoint.name).collect();
    assert_eq!(names, ["openrouter", "gpu", "claude", "google", "azure"]);
    assert_eq!(
        endpoints[0].dialect,
        Dialect {
            thinking_level: ThinkingField::Reasoning,
            longest_answer: MaxTokensField::MaxTokens,
            forget_thinking: true,
        }
    );
}
