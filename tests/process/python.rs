//! Python in the real binary: after `kill -9` the same data frame is there; and with the README's commands, from any folder.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::{Value, json};
use tokio::process::Command;
use upstream::{Script, Upstream, When};

use crate::{Server, WITHOUT_TITLES};

/// Sends a message and returns all events of its turn.
async fn turn(url: &str, conversation: Option<&str>, message: &str) -> Vec<Value> {
    let body = json!({ "message": message, "conversation_id": conversation, "model": "openai/echo" });
    let response = reqwest::Client::new()
        .post(format!("{url}/api/chat/stream"))
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()
        .await
        .expect("an answer");
    let text = response.text().await.expect("all events");
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn output(events: &[Value]) -> &str {
    let ended = events.iter().find(|event| event["type"] == "tool_complete");
    ended.unwrap_or_else(|| panic!("no call ended: {events:?}"))["output"]
        .as_str()
        .expect("a text")
}

/// Returns the Python of the tests.
fn interpreter() -> PathBuf {
    let python = project().join("target/test-python/bin/python");
    assert!(
        python.exists(),
        "the environment of Python is missing, for this test: `make test` makes it, or says how"
    );
    python
}

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Lets the model answer a word with a call of code, and the result with a text.
fn script_code(upstream: &Upstream, word: &str, code: &str) {
    let call = Script::new().tool_call("call_1", "execute_code", json!({ "code": code }).to_string());
    upstream.add_script(When::user_contains(word), call);
    let result = When {
        tool_gave: Some(String::new()),
        ..When::user_contains(word)
    };
    upstream.add_script(result, Script::new().text("That is it."));
}

/// Returns true if a turn has restored the session.
fn is_restored(events: &[Value]) -> bool {
    let mut messages = events.iter().filter_map(|event| event["message"].as_str());
    messages.any(|message| message.starts_with("Restoring session..."))
}

#[tokio::test]
async fn killed_server_restores_the_frame() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let python = interpreter();
    let settings = format!(
        "[python]\ninterpreter = {:?}\nstart_timeout = \"60s\"\n[timeouts]\nmcp_start = \"60s\"\n{WITHOUT_TITLES}",
        python.display().to_string()
    );
    fs::write(folder.path().join("Leptos.toml"), settings).unwrap();
    let upstream = Upstream::start().await;
    for (word, code) in [
        (
            "make",
            "import pandas as pd\nimport random\ndf = pd.DataFrame({'n': [1, 2, 3]})",
        ),
        ("change", "df['square'] = df.n ** 2"),
        ("show", "df"),
    ] {
        script_code(&upstream, word, code);
    }
    let server = Server::start(folder.path(), &upstream).await;
    let first = turn(&server.url, None, "make").await;
    let conversation = first[0]["conversation_id"].as_str().expect("an id").to_owned();
    turn(&server.url, Some(&conversation), "change").await;
    let before = turn(&server.url, Some(&conversation), "show").await;
    server.kill().await;
    let server = Server::start(folder.path(), &upstream).await;
    let after = turn(&server.url, Some(&conversation), "show").await;
    assert_eq!(output(&after), output(&before));
    assert!(
        output(&after).starts_with("| n | square |\n| ---: | ---: |\n| 1 | 1 |\n| 2 | 4 |\n| 3 | 9 |"),
        "{}",
        output(&after)
    );
    assert!(is_restored(&after), "{after:?}");
    server.kill().await;
}

/// Makes the settings as `make try-data-agent` makes them. Only the database is another one: the sample data is downloaded.
async fn write_settings_of_data_agent(folder: &Path) -> PathBuf {
    let (database, settings) = (folder.join("statistics.db"), folder.join("settings.toml"));
    let make = "import sqlite3, sys\nsqlite3.connect(sys.argv[1]).execute('CREATE TABLE jobs (month TEXT)')";
    let python = interpreter();
    let run = |arguments: Vec<PathBuf>| {
        let mut command = Command::new(&python);
        command.args(arguments).current_dir(project());
        async move { assert!(command.status().await.expect("Python").success()) }
    };
    run(vec!["-c".into(), make.into(), database.clone()]).await;
    run(vec![
        "scripts/data-agent/settings.py".into(),
        database,
        project().join("scripts/data-agent/statistics.md"),
        python.clone(),
        settings.clone(),
    ])
    .await;
    settings
}

#[tokio::test]
async fn default_data_folder_works_from_any_folder() {
    parlor_web::http_client::install_tls();
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let settings = write_settings_of_data_agent(folder.path()).await;
    let upstream = Upstream::start().await;
    script_code(&upstream, "set", "x = [1]");
    script_code(&upstream, "show", "x.append(2)\nx");
    let mut command = Server::command_in(elsewhere.path(), &upstream, "127.0.0.1:0");
    command.args(["--data", "data"]);
    command.env("PARLOR_CONFIG", &settings).env("PARLOR_LOG", "info");
    let server = Server::run(&mut command).await;
    server.wait_for_log_line(0, "Python is offered to models").await;
    let first = turn(&server.url, None, "set").await;
    assert!(output(&first).starts_with("The code ran"), "{first:?}");
    let conversation = first[0]["conversation_id"].as_str().expect("an id").to_owned();
    server.kill().await;
    assert!(elsewhere.path().join("data/python/checked.json").exists());
    let server = Server::run(&mut command).await;
    server.wait_for_log_line(0, "Python is offered to models").await;
    let after = turn(&server.url, Some(&conversation), "show").await;
    assert_eq!(output(&after), "[1, 2]");
    assert!(is_restored(&after), "{after:?}");
    server.kill().await;
}

/// Returns the command lines of the README that begin so.
fn readme_commands(beginning: &str) -> Vec<String> {
    let readme = fs::read_to_string(project().join("README.md")).unwrap();
    let lines = readme.lines().filter_map(|line| line.strip_prefix("    "));
    lines
        .filter(|line| line.starts_with(beginning))
        .map(str::to_owned)
        .collect()
}

/// Returns a shell that runs a line of the README in a folder that has `dist/parlor`, as `make release` leaves it.
fn shell(folder: &Path, line: &str) -> Command {
    let mut command = Command::new("bash");
    command
        .args(["-c", &format!("exec {line}")])
        .current_dir(folder)
        .env("HOME", folder)
        .env("PATH", "dist:/usr/bin:/bin")
        .kill_on_drop(true);
    command
}

#[tokio::test]
async fn readme_commands_start_parlor() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("dist")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_parlor"), folder.path().join("dist/parlor")).unwrap();
    let starts = readme_commands("dist/parlor serve");
    assert!(!starts.is_empty(), "the README starts it");
    for line in starts {
        // Another server may have the port.
        let mut command = shell(folder.path(), &line.replace(":7387", ":0"));
        let server = Server::run(command.env("PARLOR_LOG", "error")).await;
        server.kill().await;
    }
    assert!(folder.path().join("parlor/parlor.db").exists());
    // Its packages would be downloaded.
    for line in readme_commands("parlor python setup") {
        let mut command = shell(folder.path(), &format!("{line} --help"));
        let status = command.stdout(Stdio::null()).status().await;
        assert!(status.unwrap().success(), "{line}");
    }
}
