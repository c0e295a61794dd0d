//! Canaries: a text of its own in every place that takes a secret, and a search for all of them in everything that comes out:
//! the log, errors, answers, diagnostics, events, pages, and the data folder.

mod browser;
mod settings;

use std::{fs, path::Path};

use serde_json::json;
use tokio::time::timeout;
use upstream::{Page, Script, Upstream, When};

use self::{
    browser::Browser,
    settings::{canary, setting_canaries, settings_file},
};
use crate::{Server, TEST_TIMEOUT, WITHOUT_TITLES};

/// Adds the contents of all files below a folder.
fn read_folder(folder: &Path, seen: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_folder(&path, seen);
        } else if path.file_name().is_some_and(|name| name != "Leptos.toml") {
            let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            seen.push((path.display().to_string(), content));
        }
    }
}

#[tokio::test]
async fn no_secret_comes_out_anywhere() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let (file, variables) = settings_file(&upstream);
    fs::write(folder.path().join("Leptos.toml"), file + WITHOUT_TITLES).unwrap();
    // Servers that say what they were sent: as the error of a call, and in an answer that nobody can read.
    let added_key = canary("ADDEDKEY");
    let echo = [setting_canaries(), vec![added_key.clone()]].concat().join(" ");
    upstream.add_script(When::any(), Script::new().text("Yes."));
    upstream.add_script(
        When::user_contains("refuse"),
        Script::new().status(
            401,
            json!({ "error": { "message": format!("Wrong key: {echo}") } }),
            &[],
        ),
    );
    upstream.add_script(
        When::user_contains("break"),
        Script::new()
            .text("Half")
            .error_object(json!({ "message": format!("Broken: {echo}") })),
    );
    upstream.add_script(
        When::user_contains("search"),
        Script::new().tool_call("1", "web_search", r#"{"query": "tides"}"#),
    );
    upstream.add_page("/search", Page::text(format!("Not JSON: {echo}")));
    upstream.add_page("/mcp", Page::text(format!("No MCP: {echo}")));

    let mut command = Server::command(folder.path(), &upstream, "127.0.0.1:0");
    command
        .env("PARLOR_AUTH", "password")
        .env("PARLOR_LOG", "trace")
        .env_remove("OPENAI_BASE_URL")
        .env_remove("OPENAI_API_KEY");
    for (name, value) in &variables {
        command.env(name, value);
    }
    let mut server = Server::run(&mut command).await;
    let line = timeout(TEST_TIMEOUT, server.output.next_line()).await;
    let line = line.unwrap().unwrap().unwrap();
    let (_, setup) = line.split_once("token=").expect("a setup token");

    let mut ann = Browser::new(&server.url);
    let password = canary("PASSWORD");
    let fields = format!("token={setup}&name=ann&password={password}&again={password}");
    let made = ann.submit("/setup", &fields).await;
    assert_eq!(made.status(), 303);
    let cookie = made.headers()["set-cookie"].to_str().unwrap();
    ann.cookie = cookie.split(';').next().unwrap().to_owned();
    let session = ann.cookie.split_once('=').unwrap().1.to_owned();
    let wrong = canary("WRONGPASSWORD");
    ann.submit("/sign-in", &format!("name=ann&password={wrong}"))
        .await;
    ann.submit(
        "/settings/account/password",
        &format!("old={wrong}&password={password}1&again={password}1"),
    )
    .await;
    let token = ann
        .post(
            "/rpc/create_token",
            &json!({ "name": "A program", "days": 3 }),
            false,
        )
        .await;
    let token = token.trim_matches('"').to_owned();
    let link = ann
        .submit("/settings/invitations/invite", "role=member")
        .await
        .text()
        .await
        .unwrap();
    let (_, invitation) = link.split_once("/invitation/").expect("a link");
    let invitation = invitation.split('"').next().unwrap().to_owned();
    // Its page has it, and nothing else may: the log has the addresses of requests.
    let opened = ann.client.get(format!("{}/invitation/{invitation}", ann.url));
    assert_eq!(opened.send().await.unwrap().status(), 200);
    let mut share_key = None;
    let added = json!({
        "id": "01a2217b-0246-7346-8b45-a4bcd684a3d0", "name": "added", "kind": "openai", "base_url": upstream.url(), "key": added_key,
        "models": ["any"],
    });
    ann.post("/api/endpoints", &added, true).await;
    let key_as_address =
        json!({ "kind": "openai", "base_url": format!("{}?key={added_key}", upstream.url()) });
    ann.post("/api/endpoints/test", &key_as_address, true).await;
    let test = json!({ "kind": "openai", "base_url": upstream.url(), "key": added_key });
    ann.post("/api/endpoints/test", &test, true).await;

    for (message, model) in [
        ("Hello", "test/any"),
        ("refuse", "test/any"),
        ("refuse", "other/any"),
        ("Hello", "added/any"),
        ("refuse", "added/any"),
        ("break", "test/any"),
        ("search", "test/any"),
    ] {
        let turn = json!({ "message": message, "model": model });
        let events = ann.post("/api/chat/stream", &turn, true).await;
        let id = |field: &str| {
            let (_, rest) = events.split_once(&format!("\"{field}\":\"")).expect(field);
            rest.split('"').next().unwrap().to_owned()
        };
        let (conversation, run) = (id("conversation_id"), id("expected_assistant_message_id"));
        for path in [
            format!("/api/messages/{run}"),
            format!("/api/messages/{run}/diagnostics"),
            format!("/rpc/diagnostics?message_id={run}"),
            format!("/api/runs/{run}/events"),
            format!("/api/conversations/{conversation}/messages"),
            format!("/rpc/conversation?conversation_id={conversation}"),
            format!("/c/{conversation}"),
        ] {
            ann.get(&path).await;
        }
        if share_key.is_none() {
            share_key = Some(ann.share(&conversation).await);
        }
    }
    for path in [
        "/",
        "/settings",
        "/literature?q=tides",
        "/streams",
        "/stream/new",
        "/data",
        "/reports",
        "/schedules",
        "/api/projects",
        "/settings/account",
        "/settings/devices",
        "/settings/invitations",
        "/settings/usage",
        "/settings/users",
        "/settings/usage/all",
        "/settings/audit",
        "/api/models",
        "/rpc/models",
        "/api/endpoints",
        "/rpc/endpoints",
        "/api/openapi.json",
        "/api/conversations",
        "/rpc/personal",
        "/rpc/data_catalogue",
        "/sign-in",
        "/nowhere",
        "/api/nowhere",
    ] {
        ann.get(path).await;
    }
    let wrong_token = ann.client.get(format!("{}/api/models", ann.url));
    let refused = wrong_token
        .bearer_auth(canary("WRONGTOKEN"))
        .send()
        .await
        .unwrap();
    ann.seen
        .push(("a wrong token".into(), refused.text().await.unwrap()));
    let figures = ann.client.get(format!("{}/metrics", ann.url));
    let figures = figures.bearer_auth(canary("METRICSTOKEN")).send().await.unwrap();
    assert_eq!(figures.status(), 200);
    ann.seen
        .push(("the metrics".into(), figures.text().await.unwrap()));
    server.terminate().await;
    timeout(TEST_TIMEOUT, server.child.wait())
        .await
        .expect("it ends")
        .unwrap();

    let mut seen = std::mem::take(&mut ann.seen);
    let log = server.log.borrow().join("\n");
    assert!(
        log.contains("TRACE") || log.contains("DEBUG"),
        "everything is logged"
    );
    seen.push(("the log".into(), log));
    read_folder(folder.path(), &mut seen);
    let all: String = seen.iter().map(|(_, text)| text.as_str()).collect();
    assert!(all.contains("Wrong key: •••"), "the servers said them");

    let mut secrets = setting_canaries();
    secrets.extend([
        password,
        wrong,
        session,
        token,
        invitation,
        share_key.expect("a share"),
        setup.to_owned(),
        canary("WRONGTOKEN"),
        added_key,
    ]);
    let found: Vec<String> = secrets
        .iter()
        .flat_map(|secret| {
            let sources = seen.iter().filter(|(_, text)| text.contains(secret.as_str()));
            sources.map(move |(source, text)| {
                let at = text.find(secret.as_str()).unwrap_or_default();
                let start = text[..at].char_indices().rev().nth(80).map_or(0, |(at, _)| at);
                format!("{source}: …{:.300}", &text[start..])
            })
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
