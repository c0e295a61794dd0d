//! The start without options: the places of data and settings; and the check of a machine.

use std::{fs, path::Path, process::Stdio};

use serde_json::Value;
use tokio::process::Command;
use upstream::Upstream;

use crate::Server;

/// Returns a plain `parlor` of a user with this home, started in another folder.
fn plain(home: &Path, folder: &Path, upstream: &Upstream) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
    command
        .current_dir(folder)
        .env_clear()
        .env("HOME", home)
        .env("OPENAI_BASE_URL", upstream.url())
        .env("PARLOR_LOG", "error")
        .env("PARLOR_ADDR", "127.0.0.1:0")
        .kill_on_drop(true);
    command
}

fn write_settings(home: &Path, text: &str) {
    let folder = home.join(".config/parlor");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("parlor.toml"), text).unwrap();
}

#[tokio::test]
async fn plain_parlor_serves_from_the_home() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let upstream = Upstream::start().await;
    write_settings(
        home.path(),
        "[python]\nenabled = false\n[models]\ndefault = 'openai/words'\n",
    );
    // Nothing is read from the folder where it starts.
    fs::write(folder.path().join("Leptos.toml"), "no settings").unwrap();
    let server = Server::run(&mut plain(home.path(), folder.path(), &upstream)).await;
    let models = reqwest_get(&format!("{}/api/models", server.url)).await;
    assert_eq!(models["default"], "openai/words");
    server.kill().await;
    assert!(home.path().join(".local/share/parlor/parlor.db").is_file());
}

async fn reqwest_get(url: &str) -> Value {
    parlor_web::http_client::install_tls();
    let text = reqwest::get(url).await.unwrap().text().await.unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn tells_nobody_the_password_of_its_database() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let mut command = Server::command(folder.path(), &upstream, "127.0.0.1:0");
    // Nothing listens at this port.
    command.env(
        "PARLOR_DATABASE",
        "postgres://parlor:canary-4d1b0f6a93@127.0.0.1:1/parlor",
    );
    let ended = command.env("PARLOR_LOG", "debug").output().await.unwrap();
    let said = [ended.stdout, ended.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(!ended.status.success() && said.contains("127.0.0.1"), "{said}");
    assert!(!said.contains("canary"), "{said}");
}

#[tokio::test]
async fn refuses_to_leave_data_of_an_earlier_version_behind() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let upstream = Upstream::start().await;
    let with_data = |folder: &str| {
        let mut command = plain(home.path(), Path::new(folder), &upstream);
        command.args(["--data", "data"]);
        command
    };
    let folder_name = folder.path().to_str().unwrap();
    Server::run(&mut with_data(folder_name)).await.kill().await;
    let refused = plain(home.path(), folder.path(), &upstream)
        .output()
        .await
        .unwrap();
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && error.contains("--data data"),
        "{error}"
    );
    Server::run(&mut with_data(folder_name)).await.kill().await;
}

#[tokio::test]
async fn doctor_tells_what_works() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let upstream = Upstream::start().await;
    write_settings(home.path(), "[python]\nenabled = false\n");
    let checked = async || {
        let mut command = plain(home.path(), folder.path(), &upstream);
        let output = command
            .args(["doctor", "--json"])
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.success(), report)
    };
    let status_of = |report: &Value, subject: &str| {
        let checks = report["checks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["subject"] == subject);
        found.unwrap_or_else(|| panic!("{subject} in {report}"))["status"].clone()
    };
    let (is_well, report) = checked().await;
    assert!(is_well && report["works"] == true, "{report}");
    for subject in [
        "Settings",
        "Data folder",
        "Port",
        "Hosts",
        "Models",
        "Clock",
        "Secrets",
    ] {
        assert_eq!(status_of(&report, subject), "works", "{subject}: {report}");
    }
    for subject in ["Python", "Database", "MCP server", "Proxy headers"] {
        assert_eq!(status_of(&report, subject), "off", "{subject}: {report}");
    }
    // It leaves nothing behind.
    assert!(!home.path().join(".local").exists());

    let damaged = home.path().join("damaged.db");
    fs::write(
        &damaged,
        "no database, though long enough to look like the header of one, which has 100 bytes. ".repeat(9),
    )
    .unwrap();
    let services = format!(
        "[python]\nenabled = false\n[[mcp]]\nname = 'gone'\ncommand = '/no/such/program'\n[[databases]]\nname = 'damaged'\nurl = \
         'sqlite:{}'\n",
        damaged.display()
    );
    write_settings(home.path(), &services);
    let (is_well, report) = checked().await;
    assert!(!is_well && report["works"] == false, "{report}");
    for subject in ["Database", "MCP server"] {
        assert_eq!(status_of(&report, subject), "fails", "{subject}: {report}");
    }
    write_settings(home.path(), "[server]\naddr = '0.0.0.0:1'\n");
    let (is_well, report) = checked().await;
    // PARLOR_ADDR precedes the file; what is wrong in the file is said.
    assert!(is_well, "{report}");
    write_settings(home.path(), "[server]\nno_such_setting = 1\n");
    let (is_well, report) = checked().await;
    assert!(!is_well && status_of(&report, "Settings") == "fails", "{report}");
}
