use std::fs;

use super::*;

mod rejections;
mod shipped_file;

fn read_settings(file: &str, env: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("Leptos.toml");
    fs::write(&path, file).expect("a file for the test");
    let overrides = Overrides {
        file: Some(path),
        ..Overrides::default()
    };
    Settings::read(&overrides, |name| {
        env.iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn an_empty_file_gives_the_defaults() {
    let mut settings = read_settings("", &[("XDG_DATA_HOME", "/srv")]).unwrap();
    assert_eq!(settings.server.data.take(), Some("/srv/parlor".into()));
    assert!(settings.file.take().is_some());
    assert_eq!(settings, Settings::default());
}

#[test]
fn flags_override_environment_overrides_file() {
    let file = "[server]\naddr = '127.0.0.1:1'\ndata = 'one'\n";
    assert_eq!(read_settings(file, &[]).unwrap().server.addr.port(), 1);
    let server = read_settings(file, &[("PARLOR_ADDR", "[::1]:2"), ("PARLOR_DATA", "two")])
        .unwrap()
        .server;
    assert_eq!(
        server,
        ServerSettings {
            addr: "[::1]:2".parse().unwrap(),
            data: Some("two".into()),
            ..ServerSettings::default()
        }
    );
    let overrides = Overrides {
        addr: Some("127.0.0.1:3".into()),
        data: Some("three".into()),
        file: None,
    };
    let server = Settings::read(&overrides, |_| Some("127.0.0.1:2".into()).filter(|_| false))
        .unwrap()
        .server;
    assert_eq!(
        server,
        ServerSettings {
            addr: "127.0.0.1:3".parse().unwrap(),
            data: Some("three".into()),
            ..ServerSettings::default()
        }
    );
}

#[test]
fn relative_paths_are_of_the_start_folder() {
    let here = std::env::current_dir().unwrap();
    let file = "[server]\ndata = 'one'\n[python]\ninterpreter = 'venv/bin/python'\nbubblewrap = './bwrap'\n\
        [[databases]]\nname = 'a'\nurl = 'sqlite:Cargo.toml'\ndocumentation = 'src/lib.rs'\n";
    let settings = read_settings(file, &[]).unwrap();
    let [database] = &settings.databases[..] else {
        panic!("one database");
    };
    let Some(DatabaseUrl::Sqlite(database_file)) = database.parsed_url() else {
        panic!("a file");
    };
    let documentation = DocumentationSettings::File(here.join("src/lib.rs").into());
    assert_eq!(settings.server.data(), here.join("one"));
    assert_eq!(
        settings.python.interpreter.as_deref(),
        Some(&*here.join("venv/bin/python"))
    );
    assert_eq!(&*settings.python.bubblewrap, here.join("bwrap"));
    assert_eq!(&*database_file, here.join("Cargo.toml"));
    assert_eq!(database.documentation, Some(documentation));
    let default = read_settings("", &[]).unwrap();
    assert_eq!(default.server.data(), here.join("data"));
    // A name is looked up in PATH.
    assert_eq!(&*default.python.bubblewrap, Path::new("bwrap"));
    let of_variable = read_settings("", &[("PARLOR_DATA", "two")]).unwrap();
    assert_eq!(of_variable.server.data(), here.join("two"));
}

#[test]
fn openai_variables_define_an_endpoint() {
    let endpoints = read_settings("", &[("OPENAI_API_KEY", "sk-1")])
        .unwrap()
        .endpoints;
    let expected = EndpointSettings {
        name: "openai".into(),
        kind: EndpointKind::OpenAi,
        base_url: "https://api.openai.com/v1".into(),
        api_key_env: Some("OPENAI_API_KEY".into()),
        api_key: Some(Secret("sk-1".into())),
        headers: BTreeMap::new(),
        headers_env: BTreeMap::new(),
        models: Vec::new(),
        context_window: None,
        context_windows: BTreeMap::new(),
        capabilities: BTreeMap::new(),
        lists_all_models: true,
        dialect: Dialect::default(),
        prompt: PromptLength::Auto,
        tools: None,
        max_tools: None,
        base_url_origin: BaseUrlOrigin::Provider,
    };
    assert_eq!(endpoints, [expected]);
    let endpoints = read_settings("", &[("OPENAI_BASE_URL", "http://localhost:9/v1")])
        .unwrap()
        .endpoints;
    assert_eq!(
        (endpoints[0].base_url.as_str(), &endpoints[0].api_key),
        ("http://localhost:9/v1", &None)
    );
    assert_eq!(endpoints[0].base_url_source(), "OPENAI_BASE_URL");
}

#[test]
fn base_url_names_where_it_is_set() {
    let file = "[[endpoints]]\nname = \"openai\"\nbase_url = \"http://localhost:1/v1\"\napi_key_env = \"OPENAI_API_KEY\"";
    let key = ("OPENAI_API_KEY", "sk-openai");
    let source = |file: &str, variables: &[(&str, &str)]| {
        let endpoints = read_settings(file, variables).unwrap().endpoints;
        endpoints[0].base_url_source()
    };
    // The file wins over a variable of the same endpoint.
    for variables in [&[key][..], &[key, ("OPENAI_BASE_URL", "http://localhost:2/v1")]] {
        assert_eq!(
            source(file, variables),
            "base_url of “openai” in the settings file"
        );
    }
    assert_eq!(
        source("", &[key, ("OPENAI_BASE_URL", "http://localhost:2/v1")]),
        "OPENAI_BASE_URL"
    );
    // Nothing has set it.
    assert_eq!(source("", &[key]), "");
}

#[test]
fn each_providers_key_defines_an_endpoint() {
    let keys = [
        ("OPENAI_API_KEY", "sk-openai"),
        ("ANTHROPIC_API_KEY", "sk-anthropic"),
        ("GEMINI_API_KEY", "gemini-key"),
    ];
    let summary = |endpoint: &EndpointSettings| {
        let key = endpoint.api_key.clone().map(|key| key.0);
        (
            endpoint.name.clone(),
            endpoint.kind,
            endpoint.base_url.clone(),
            key.unwrap_or_default(),
        )
    };
    let endpoints = read_settings("", &keys).unwrap().endpoints;
    assert!(!format!("{endpoints:?}").contains("sk-anthropic"));
    let made: Vec<_> = endpoints.iter().map(summary).collect();
    let expected = [
        (
            "openai",
            EndpointKind::OpenAi,
            "https://api.openai.com/v1",
            "sk-openai",
        ),
        (
            "anthropic",
            EndpointKind::Anthropic,
            "https://api.anthropic.com",
            "sk-anthropic",
        ),
        (
            "gemini",
            EndpointKind::Gemini,
            "https://generativelanguage.googleapis.com/v1beta",
            "gemini-key",
        ),
    ];
    let expected =
        expected.map(|(name, kind, url, key)| (name.to_owned(), kind, url.to_owned(), key.to_owned()));
    assert_eq!(made, expected);

    // Each alone, in addition to the endpoints of the file, with another URL.
    let file = "[[endpoints]]\nname = 'gemini'\nkind = 'gemini'\nbase_url = 'http://x/v1beta'\n";
    let env = [
        ("GEMINI_API_KEY", "unused"),
        ("ANTHROPIC_API_KEY", "sk-1"),
        ("ANTHROPIC_BASE_URL", "http://y"),
    ];
    let made: Vec<_> = read_settings(file, &env)
        .unwrap()
        .endpoints
        .iter()
        .map(summary)
        .collect();
    assert_eq!(
        made,
        [
            (
                "gemini".into(),
                EndpointKind::Gemini,
                "http://x/v1beta".into(),
                String::new()
            ),
            (
                "anthropic".into(),
                EndpointKind::Anthropic,
                "http://y".into(),
                "sk-1".into()
            ),
        ]
    );
    // Without a key these servers reject everything.
    assert_eq!(
        read_settings("", &[("ANTHROPIC_BASE_URL", "http://y")])
            .unwrap()
            .endpoints,
        []
    );
}

#[test]
fn reads_every_endpoint_kind() {
    for kind in EndpointKind::ALL {
        let file = format!(
            "[[endpoints]]\nname = 'x'\nbase_url = 'http://x'\nkind = '{}'\n",
            kind.as_str()
        );
        assert_eq!(read_settings(&file, &[]).unwrap().endpoints[0].kind, kind);
    }
    let wrong = "[[endpoints]]\nname = 'x'\nbase_url = 'http://x'\nkind = 'other'\n";
    let error = read_settings(wrong, &[]).unwrap_err().to_string();
    assert!(error.contains("openai-responses"), "{error}");
}

#[test]
fn endpoint_key_is_read_and_never_printed() {
    let file =
        "[[endpoints]]\nname = 'x'\nbase_url = 'http://x/v1'\napi_key_env = 'X_KEY'\nheaders = { a = 'b' }\n";
    let settings = read_settings(file, &[("X_KEY", "very-secret")]).unwrap();
    assert_eq!(settings.endpoints[0].api_key, Some(Secret("very-secret".into())));
    assert!(!format!("{settings:?}").contains("very-secret"));
}

#[test]
fn tool_keys_are_read_and_never_printed() {
    let file = "[tools.web_search]\nprovider = 'brave'\nurl = 'http://me:hunter2@x/'\napi_key_env = 'B'\n\
                [tools.pubmed]\nbase_url = 'http://me:hunter2@x/'\napi_key_env = 'N'\n";
    let settings = read_settings(file, &[("B", "very-secret"), ("N", "very-secret-too")]).unwrap();
    let search = settings.tools.web_search.clone().expect("it is set");
    assert_eq!(search.api_key, Some(Secret("very-secret".into())));
    assert_eq!(
        settings.tools.pubmed.api_key,
        Some(Secret("very-secret-too".into()))
    );
    let printed = format!("{settings:?}");
    assert!(
        !printed.contains("very-secret") && !printed.contains("hunter2"),
        "{printed}"
    );
}

#[test]
fn resolves_names_in_every_address_source() {
    let file = "[server]\naddr = 'localhost:1'";
    for (env, port) in [(&[][..], 1), (&[("PARLOR_ADDR", "localhost:2")][..], 2)] {
        let addr = read_settings(file, env).unwrap().server.addr;
        assert!(addr.ip().is_loopback() && addr.port() == port, "{addr}");
    }
    let read = |addr: &str| {
        let overrides = Overrides {
            addr: Some(addr.into()),
            ..Overrides::default()
        };
        Settings::read(&overrides, |_| None).map(|settings| settings.server.addr)
    };
    assert!(read("localhost:3").unwrap().ip().is_loopback());
    let error = read("0.0.0.0:3").unwrap_err().to_string();
    assert!(error.contains("can be reached from other machines"), "{error}");
    let error = read("localhost").unwrap_err().to_string();
    assert!(error.starts_with("--addr can't be used"), "{error}");
}

#[test]
fn never_prints_mcp_server_variables() {
    let file = "[[mcp]]\nname = 'a'\ncommand = 'x'\nargs = ['--key=hush1']\nenv = { K = 'hush2' }\nenv_from = { L = 'V' }\n\
                [[mcp]]\nname = 'b'\nurl = 'http://hush4@x/mcp?key=hush5'\nheaders = { h = 'hush6' }\n";
    let settings = read_settings(file, &[("V", "hush3")]).unwrap();
    assert_eq!(settings.mcp[0].variables().values["L"], Secret("hush3".into()));
    let printed = format!("{settings:?}");
    assert!(!printed.contains("hush"), "{printed}");
    assert!(printed.contains("x/mcp"), "{printed}");
}

#[test]
fn reads_endpoint_prompt_and_tools() {
    let file = "[[endpoints]]\nname = 'x'\nbase_url = 'http://x/v1'\nprompt = 'short'\ntools = false\n";
    let endpoint = read_settings(file, &[]).unwrap().endpoints.remove(0);
    assert_eq!(
        (endpoint.prompt, endpoint.tools),
        (PromptLength::Short, Some(false))
    );
}

#[test]
fn reads_endpoint_context_windows_and_dialect() {
    let file = "[[endpoints]]\nname = 'x'\nbase_url = 'http://x/v1'\ncontext_window = 1000\n\
                context_windows = { big = 5000 }\nlists_all_models = false\ndialect = { longest_answer = 'max_tokens' }\n";
    let endpoint = read_settings(file, &[]).unwrap().endpoints.remove(0);
    assert_eq!(
        (endpoint.context_window, endpoint.context_windows["big"]),
        (Some(1000), 5000)
    );
    assert!(!endpoint.lists_all_models);
    assert_eq!(
        endpoint.dialect,
        Dialect {
            longest_answer: MaxTokensField::MaxTokens,
            ..Dialect::default()
        }
    );
}

#[test]
fn accounts_allow_any_address() {
    let elsewhere = "[server]\naddr = '0.0.0.0:8080'\nproxies = ['10.0.0.1', 'fd00::/8']";
    for mode in ["password", "proxy"] {
        let settings = read_settings(elsewhere, &[("PARLOR_AUTH", mode)]).unwrap();
        assert_eq!(settings.server.addr.port(), 8080);
    }
    let file = format!("{elsewhere}\n[accounts]\nauth = 'password'");
    assert!(read_settings(&file, &[]).is_ok());
}

#[test]
fn token_of_the_metrics_is_read_from_environment_or_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    fs::write(&path, "of-the-file-0123456789\n").unwrap();
    let file = format!("[metrics]\ntoken_file = '{}'\n", path.display());
    let token = |file: &str, env: &[(&str, &str)]| read_settings(file, env).unwrap().metrics.token;
    let secret = |token: &str| Some(Secret(token.into()));
    assert_eq!(token("", &[]), None);
    assert_eq!(token(&file, &[]), secret("of-the-file-0123456789"));
    let env = [("PARLOR_METRICS_TOKEN", "of-the-environment")];
    assert_eq!(token(&file, &env), secret("of-the-environment"));
    let short = read_settings("", &[("PARLOR_METRICS_TOKEN", "too-short")]);
    assert!(
        matches!(short, Err(SettingsError::ShortMetricsToken(16))),
        "{short:?}"
    );
    fs::remove_file(&path).unwrap();
    let error = read_settings(&file, &[]).unwrap_err().to_string();
    assert!(error.contains("metrics.token_file"), "{error}");
}
