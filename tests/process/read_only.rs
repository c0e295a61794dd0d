//! A data folder without write access: Parlor reports it in one line and exits, changes nothing, and starts
//! when the folder is writable.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Stdio,
};

use parlor_protocol::{MessageId, RunStatus};
use serde_json::json;
use tokio::{process::Command, time::timeout};
use upstream::{Script, Upstream, When};

use crate::{
    Server, TEST_TIMEOUT, chain_commands,
    client::{ObservedRun, stored_message},
    write_faults::{can_mount, mount_namespace_command},
};

/// Returns the command that starts Parlor as a user to whom permissions apply: they do not apply to root.
fn command(data: &Path, cwd: &Path, upstream: &Upstream) -> Command {
    let mut parlor = Server::command(data, upstream, "127.0.0.1:0");
    parlor.current_dir(cwd);
    if !rustix::process::geteuid().is_root() {
        return parlor;
    }
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set", "-dac_override,-dac_read_search"]);
    chain_commands(command, &parlor)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("permission");
}

/// Asserts that Parlor does not start, and reports the reason in one line.
async fn assert_start_fails(command: &mut Command, data: &Path) {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
    let output = timeout(TEST_TIMEOUT, output)
        .await
        .expect("it ends")
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"");
    let said = String::from_utf8(output.stderr).expect("words");
    let start = format!(
        "Parlor can't start: the data in {} can't be used: it can't be written",
        data.display()
    );
    assert!(
        said.starts_with(&start) && said.lines().count() == 1 && said.contains("--data"),
        "{said}"
    );
}

#[tokio::test]
async fn unwritable_folder_is_named_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    set_mode(folder.path(), 0o555);
    let new = folder.path().join("new");
    for data in [folder.path(), &new] {
        assert_start_fails(&mut command(data, Path::new("/"), &upstream), data).await;
    }
    set_mode(folder.path(), 0o755);
    Server::run(&mut command(&new, Path::new("/"), &upstream)).await;
}

#[tokio::test]
async fn read_only_disk_is_named_in_one_line() {
    if !can_mount().await {
        // The other tests cover this case.
        println!("skipped: mounting is not allowed here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let upstream = Upstream::start().await;
    let mut start = mount_namespace_command();
    let mount = r#"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@""#;
    start.args(["sh", "-c", mount]).arg(data);
    let parlor = Server::command(data, &upstream, "127.0.0.1:0");
    assert_start_fails(&mut chain_commands(start, &parlor), data).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_data_is_left_unchanged() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("well"));
    let start = || command(data, data, &upstream);
    let ask = json!({ "message": "hello", "model": "openai/echo" });

    let mut known: Vec<MessageId> = Vec::new();
    for killed in [false, true] {
        let mut server = Server::run(&mut start()).await;
        for run in &known {
            let message = stored_message(&server.url, *run).await;
            assert_eq!(message.assistant().expect("an answer").text(), "well");
        }
        // A folder that becomes read-only while it is in use: its files are open, and everything continues.
        set_mode(data, 0o555);
        for _ in 0..2 {
            let seen = ObservedRun::read_turn(server.url.clone(), ask.clone(), None).await;
            assert_eq!(seen.answer.expect("an answer").status, RunStatus::Complete);
            known.extend(seen.run);
        }
        if killed {
            server.kill().await;
        } else {
            set_mode(data, 0o755);
            server.terminate().await;
            server.child.wait().await.expect("it ends");
        }
        // First the folder alone, where SQLite has to create files; then its files too.
        if !killed {
            for gone in ["parlor.db-wal", "parlor.db-shm"] {
                // SQLite may have removed it itself.
                let _ = fs::remove_file(data.join(gone));
            }
        }
        set_mode(data, 0o555);
        let files: Vec<_> = fs::read_dir(data)
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect();
        if !killed {
            assert_start_fails(&mut start(), data).await;
        }
        files.iter().for_each(|file| set_mode(file, 0o444));
        assert_start_fails(&mut start(), data).await;
        files.iter().for_each(|file| set_mode(file, 0o644));
        set_mode(data, 0o755);
    }
    let server = Server::run(&mut start()).await;
    for run in known {
        let message = stored_message(&server.url, run).await;
        assert_eq!(message.assistant().expect("an answer").text(), "well");
    }
}
