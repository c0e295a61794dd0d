//! Accounts across restarts: the setup token, sessions, and the command for a new password.

use reqwest::{Client, Response, redirect::Policy};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
    time::timeout,
};
use upstream::Upstream;

use crate::{Server, TEST_TIMEOUT};

const PASSWORD: &str = "a+long+password";

/// Starts a server with passwords. Returns it with its setup URL, if it prints one.
async fn start(data: &std::path::Path, upstream: &Upstream, is_set_up: bool) -> (Server, Option<String>) {
    let mut command = Server::command(data, upstream, "127.0.0.1:0");
    command.env("PARLOR_AUTH", "password");
    let mut server = Server::run(&mut command).await;
    if is_set_up {
        return (server, None);
    }
    let line = timeout(TEST_TIMEOUT, server.output.next_line()).await;
    let line = line.expect("in time").expect("its output").expect("a line");
    let (_, url) = line.split_once("first account at ").expect("the URL");
    let path = url.strip_prefix(&server.url).expect("its own URL").to_owned();
    (server, Some(path))
}

fn client() -> Client {
    parlor_web::http_client::install_tls();
    Client::builder().redirect(Policy::none()).build().unwrap()
}

async fn submit(server: &Server, path: &str, body: String) -> Response {
    let request = client().post(format!("{}{path}", server.url));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.body(body).send().await.unwrap()
}

async fn status(server: &Server, cookie: &str) -> u16 {
    let request = client()
        .get(format!("{}/rpc/models", server.url))
        .header("cookie", cookie);
    request.send().await.unwrap().status().as_u16()
}

fn session_cookie(response: &Response) -> String {
    let cookie = response.headers()["set-cookie"].to_str().unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn sessions_survive_restarts_and_setup_tokens_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let (server, first) = start(folder.path(), &upstream, false).await;
    server.kill().await;
    let (server, second) = start(folder.path(), &upstream, false).await;
    let token = |url: &Option<String>| {
        let url = url.as_ref().unwrap();
        url.split_once("token=").unwrap().1.to_owned()
    };
    assert_ne!(first, second);
    let form = |token: &str| format!("token={token}&name=ann&password={PASSWORD}&again={PASSWORD}");
    assert_eq!(
        submit(&server, "/setup", form(&token(&first))).await.status(),
        403
    );
    let made = submit(&server, "/setup", form(&token(&second))).await;
    assert_eq!(made.status(), 303);
    let cookie = session_cookie(&made);
    assert_eq!(status(&server, &cookie).await, 200);
    server.kill().await;

    let (server, _) = start(folder.path(), &upstream, true).await;
    assert_eq!(status(&server, &cookie).await, 200);
    assert_eq!(
        submit(&server, "/setup", form(&token(&second))).await.status(),
        403
    );
    server.kill().await;
}

#[tokio::test]
async fn command_makes_a_new_password_link() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let new_password = async |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
        command.args(["new-password", name, "--data"]).arg(folder.path());
        command.current_dir(folder.path()).output().await.unwrap()
    };
    let (server, setup) = start(folder.path(), &upstream, false).await;
    let setup = setup.unwrap();
    let (_, token) = setup.split_once("token=").unwrap();
    let form = format!("token={token}&name=ann&password={PASSWORD}&again={PASSWORD}");
    let cookie = session_cookie(&submit(&server, "/setup", form).await);
    let refused = new_password("ann").await;
    assert!(!refused.status.success(), "the data is in use");
    server.kill().await;

    let unknown = new_password("eve").await;
    let error = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        !unknown.status.success() && error.contains("no account with the name"),
        "{error}"
    );
    let made = new_password("Ann").await;
    assert!(made.status.success(), "{made:?}");
    let mut lines = BufReader::new(made.stdout.as_slice()).lines();
    let line = lines.next_line().await.unwrap().unwrap();
    let path = format!("/new-password/{}", line.split_once("/new-password/").unwrap().1);

    let (server, _) = start(folder.path(), &upstream, true).await;
    let form = "password=another+password&again=another+password".to_owned();
    assert_eq!(submit(&server, &path, form.clone()).await.status(), 303);
    assert_eq!(status(&server, &cookie).await, 401, "the old session has ended");
    assert_eq!(submit(&server, &path, form).await.status(), 404, "it works once");
    let sign_in = "name=ann&password=another+password".to_owned();
    assert_eq!(submit(&server, "/sign-in", sign_in).await.status(), 303);
    server.kill().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn memory_of_passwords_is_returned() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let (server, setup) = start(folder.path(), &upstream, false).await;
    let setup = setup.unwrap();
    let (_, token) = setup.split_once("token=").unwrap();
    let form = format!("token={token}&name=ann&password={PASSWORD}&again={PASSWORD}");
    assert_eq!(submit(&server, "/setup", form).await.status(), 303);
    let pid = server.child.id().unwrap();
    let sign_in = || submit(&server, "/sign-in", format!("name=ann&password={PASSWORD}"));
    sign_in().await;
    let before = crate::bombs::resident_memory(pid);
    // More at once would have to wait (`accounts.sign_in_attempts`).
    for _ in 0..8 {
        let signing_in = (0..4).map(|_| sign_in());
        for response in futures::future::join_all(signing_in).await {
            assert_eq!(response.status(), 303);
        }
    }
    // One of them takes 19 MiB.
    let additional = crate::bombs::resident_memory(pid).saturating_sub(before);
    assert!(additional < 16 << 20, "{additional}");
    server.kill().await;
}
