//! The programs in `examples/`, run against the server with a token, through a connection that is cut during
//! the first answer.

use std::{
    path::{Path, PathBuf},
    process::Output,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parlor_protocol::PersonalData;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    process::Command,
    time::timeout,
};
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, TEST_TIMEOUT, model_calls, read_json};

/// The text after which the proxy cuts the connection.
const TEXT_BEFORE_CUT: &[u8] = b"\"text\":\"one\"";

/// A proxy that cuts one connection, after [`TEXT_BEFORE_CUT`].
struct CuttingProxy {
    url: String,
    has_cut: Arc<AtomicBool>,
}

impl CuttingProxy {
    /// Starts a proxy in front of a server. `on_cut` is called after the cut.
    async fn start(server: &str, on_cut: impl Fn() + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = server.trim_start_matches("http://").to_owned();
        let has_cut = Arc::new(AtomicBool::new(false));
        let (cut, on_cut) = (has_cut.clone(), Arc::new(on_cut));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (from_client, to_client) = client.into_split();
                let server = TcpStream::connect(&server).await.unwrap();
                let (from_server, mut to_server) = server.into_split();
                let (cut, on_cut) = (cut.clone(), on_cut.clone());
                tokio::spawn(async move {
                    let mut from_client = from_client;
                    tokio::select! {
                        _ = copy(&mut from_client, &mut to_server) => {}
                        () = forward_until_cut(from_server, to_client, &cut) => {}
                    }
                    drop((from_client, to_server));
                    if cut.load(Ordering::SeqCst) {
                        on_cut();
                    }
                });
            }
        });
        Self { url, has_cut }
    }
}

/// Forwards responses to their end, or to the cut if no connection was cut yet.
async fn forward_until_cut(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, cut: &AtomicBool) {
    let (mut seen, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let Ok(length @ 1..) = from.read(&mut chunk).await else {
            return;
        };
        seen.extend_from_slice(&chunk[..length]);
        if to.write_all(&chunk[..length]).await.is_err() {
            return;
        }
        let is_there = seen
            .windows(TEXT_BEFORE_CUT.len())
            .any(|part| part == TEXT_BEFORE_CUT);
        if is_there && !cut.swap(true, Ordering::SeqCst) {
            return;
        }
    }
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// Runs a program to its end.
async fn run(mut command: Command) -> Output {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    let output = timeout(TEST_TIMEOUT, command.kill_on_drop(true).output())
        .await
        .expect("the program ends");
    match output {
        Ok(output) => output,
        Err(error) => panic!("{program} cannot be started, for the tests of examples/: {error}"),
    }
}

/// Runs an example, cuts its first stream, and asserts that it printed `answer` and the summary nevertheless.
async fn check_example(mut command: Command, answer: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Arc::new(Upstream::start().await);
    upstream.add_script(
        When::user_contains("sentence"),
        Script::new().text("In short: 1 2 3."),
    );
    let counting = Script::new().text("one").gate("more").text(" two").text(" three");
    upstream.add_script(When::user_contains("Count \"up\""), counting);
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.models.default = Some("test/any".into());
    })
    .await;
    let token = parlor.post("/rpc/create_token", &json!({ "name": "example", "days": 1 }));
    let token = read_json(token.send().await.unwrap()).await;
    let model = upstream.clone();
    let proxy = CuttingProxy::start(&parlor.url, move || model.open_gate("more")).await;
    command
        .arg("Count \"up\"")
        .env("PARLOR_URL", &proxy.url)
        .env("PARLOR_TOKEN", token.as_str().unwrap());
    let output = run(command).await;
    let (printed, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{printed}\n{errors}");
    assert!(proxy.has_cut.load(Ordering::SeqCst), "the connection was cut");
    for text in answer {
        assert_eq!(printed.matches(text).count(), 1, "{text}: {printed}\n{errors}");
    }
    assert!(printed.contains("In short: 1 2 3."), "{printed}\n{errors}");
    assert_eq!(model_calls(&upstream).len(), 2, "each message was answered once");
    let personal = parlor
        .get("/rpc/personal")
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let personal: PersonalData = serde_json::from_str(&personal).unwrap();
    assert!(personal.tokens[0].last_used_at.is_some(), "the token was sent");
}

#[tokio::test]
async fn curl_example_resumes_after_a_cut() {
    let mut command = Command::new("bash");
    command.arg(examples().join("chat.sh"));
    let deltas = ["\"text\":\"one\"", "\"text\":\" two\"", "\"text\":\" three\""];
    check_example(command, &deltas).await;
}

#[tokio::test]
async fn python_example_resumes_after_a_cut() {
    let mut command = Command::new("python3");
    command.arg(examples().join("chat.py"));
    check_example(command, &["one two three"]).await;
}

/// The compiler checks the types and removes them, which Node does itself from 22.18 on.
#[tokio::test]
async fn typescript_example_resumes_after_a_cut() {
    let compiled = tempfile::tempdir().unwrap();
    let compiler = examples().join("node_modules/typescript/bin/tsc");
    assert!(
        compiler.exists(),
        "TypeScript is missing: `make test-rust` installs it, or `npm ci` in examples/"
    );
    let mut compile = Command::new("node");
    compile.arg(compiler).arg("--project").arg(examples());
    compile.arg("--outDir").arg(compiled.path());
    let output = run(compile).await;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    // Node takes the file for a module.
    std::fs::copy(
        examples().join("package.json"),
        compiled.path().join("package.json"),
    )
    .unwrap();
    let mut command = Command::new("node");
    command.arg(compiled.path().join("chat.js"));
    check_example(command, &["one two three"]).await;
}
