//! Parlor behind nginx with its default settings, which buffers responses unless told otherwise, and with TLS.

use std::{fs, path::Path, process::Stdio, time::Duration};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};
use upstream::{Script, Upstream, When};

use crate::{
    accounts::{Browser, with_passwords},
    support::{Parlor, TEST_TIMEOUT},
};

/// nginx in front of a Parlor. Only its folders are set; the rest is the default.
struct Nginx {
    _child: Child,
    url: String,
}

impl Nginx {
    async fn start(folder: &Path, parlor: &str) -> Self {
        Self::start_with(folder, parlor, "").await
    }

    /// Starts nginx with additional settings of the server.
    async fn start_with(folder: &Path, parlor: &str, more: &str) -> Self {
        Self::listen(folder, parlor, &free_port().await.to_string(), more).await
    }

    /// Starts nginx on a port, with parameters of it such as `ssl`, and additional settings of the server.
    async fn listen(folder: &Path, parlor: &str, listen: &str, more: &str) -> Self {
        let port: u16 = listen.split(' ').next().unwrap().parse().unwrap();
        let place = folder.display();
        let temp: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {place}/{kind};"))
            .concat();
        let config = format!(
            "daemon off; master_process off; pid {place}/pid; error_log {place}/error.log; events {{}}\n\
             http {{ access_log off; {temp}\n\
             server {{ listen 127.0.0.1:{listen}; {more} location / {{ proxy_pass {parlor}; }} }} }}"
        );
        fs::write(folder.join("nginx.conf"), config).unwrap();
        let path = format!(
            "{}:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin",
            std::env::var("PATH").unwrap()
        );
        let nginx = std::env::split_paths(&path)
            .map(|folder| folder.join("nginx"))
            .find(|nginx| nginx.exists())
            .expect("nginx is missing, for this test: `make test` installs it, or says how");
        let child = Command::new(nginx)
            .args(["-p", &place.to_string(), "-c", "nginx.conf"])
            // Its workers would keep inherited handles open after the end of the test.
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("nginx starts");
        let listens = async {
            while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(TEST_TIMEOUT, listens).await.expect("nginx listens");
        Self {
            _child: child,
            url: format!("http://127.0.0.1:{port}"),
        }
    }
}

async fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn nginx_does_not_buffer_streams() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::any(),
        Script::new().text("first").gate("more").text(" last"),
    );
    let mut parlor = Parlor::start_with(&folder.path().join("data"), &upstream, |settings| {
        settings.timeouts.heartbeat = Duration::from_millis(200);
    })
    .await;
    let nginx = Nginx::start(folder.path(), &parlor.url).await;
    let behind = std::mem::replace(&mut parlor.url, nginx.url.clone());

    let mut log = parlor.follow("/api/events?after=0").await;
    let mut run = parlor
        .chat(&json!({ "message": "go", "model": "test/any" }))
        .await;
    // The rest is still to come: nginx does not buffer the available part.
    assert_eq!(run.next_of_type("text_delta").await["text"], "first");
    assert_eq!(log.next_of_type("text_delta").await["text"], "first");
    upstream.open_gate("more");
    assert_eq!(
        run.next_of_type("complete").await["payload"]["message"],
        "first last"
    );
    log.next_of_type("complete").await;

    // Heartbeats also arrive one by one.
    let mut silent = reqwest::get(format!("{}/api/events", nginx.url)).await.unwrap();
    let began = Instant::now();
    for _ in 0..3 {
        let beat = timeout(TEST_TIMEOUT, silent.chunk())
            .await
            .expect("a heartbeat")
            .unwrap()
            .unwrap();
        assert_eq!(&beat[..], b": heartbeat\n\n");
    }
    assert!(
        began.elapsed() >= Duration::from_millis(300),
        "they were gathered"
    );
    parlor.url = behind;
}

#[tokio::test]
async fn page_works_behind_basic_auth() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start(&folder.path().join("data"), &upstream).await;
    fs::write(folder.path().join("users"), "ann:{PLAIN}secret\n").unwrap();
    let password = "auth_basic \"Parlor\"; auth_basic_user_file users;";
    let nginx = Nginx::start_with(folder.path(), &parlor.url, password).await;
    let get = async |path: &str, name: &str| {
        let request = parlor.client.get(format!("{}{path}", nginx.url));
        request.basic_auth(name, Some("secret")).send().await.unwrap()
    };
    assert_eq!(get("/", "bob").await.status(), 401, "nginx asks for it");
    for path in ["/", "/rpc/events", "/rpc/models"] {
        assert_eq!(get(path, "ann").await.status(), 200, "{path}");
    }
    let beat = get("/rpc/events", "ann").await.chunk().await.unwrap().unwrap();
    assert_eq!(&beat[..], b": heartbeat\n\n");
    let nothing = uuid::Uuid::now_v7();
    for path in [
        format!("/rpc/files/{nothing}"),
        format!("/rpc/conversations/{nothing}/payloads/1/file"),
    ] {
        let response = get(&path, "ann").await;
        assert_eq!(response.headers()["content-type"], "application/json", "{path}");
        let (status, error): (_, Value) = (response.status(), response.json().await.unwrap());
        assert_eq!(
            (status, &error["code"]),
            (StatusCode::NOT_FOUND, &json!("not_found"))
        );
    }
    // An invalid token is rejected where tokens are accepted.
    for path in ["/api/events", "/api/models"] {
        assert_eq!(get(path, "ann").await.status(), 401, "{path}");
    }
}

#[tokio::test]
async fn proxy_host_must_be_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let allow = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        move |settings: &mut parlor_base::settings::Settings| settings.server.allowed_hosts = names
    };
    let stranger = Parlor::start_with(&folder.path().join("1"), &upstream, |_| {}).await;
    let known = Parlor::start_with(&folder.path().join("2"), &upstream, allow(&["chat.example"])).await;
    // Once with nginx's default Host, once with the browser's.
    for more in ["", "proxy_set_header Host $http_host;"] {
        for (parlor, is_allowed) in [(&stranger, false), (&known, true)] {
            let place = tempfile::tempdir().unwrap();
            let nginx = Nginx::start_with(place.path(), &parlor.url, more).await;
            let ask = parlor.client.post(format!("{}/rpc/conversations", nginx.url));
            let ask = ask
                .header("host", "chat.example")
                .header("origin", "https://chat.example");
            let response = ask.json(&json!({ "before": null })).send().await.unwrap();
            let (status, answer): (_, Value) = (response.status(), response.json().await.unwrap());
            if is_allowed {
                assert_eq!(status, 200, "{answer}");
                continue;
            }
            assert_eq!((status.as_u16(), &answer["code"]), (403, &json!("forbidden")));
            let message = answer["message"].as_str().unwrap();
            let advice = "add \"chat.example\" to the setting server.allowed_hosts";
            assert!(message.contains(advice), "{message}");
        }
    }
}

#[tokio::test]
async fn accounts_work_behind_tls() {
    let upstream = Upstream::start().await;
    let name = "chat.example";
    let tls = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls");
    let certificate = fs::read(tls.join("chat.example.pem")).unwrap();
    // Once with nginx's default Host, once with the browser's.
    for host in ["", "proxy_set_header Host $host;"] {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port().await;
        let parlor = Parlor::start_with(&folder.path().join("data"), &upstream, |settings| {
            with_passwords(settings);
            settings.server.allowed_hosts = vec![name.to_owned(), format!("{name}:{port}")];
            settings.server.proxies = vec!["127.0.0.1/32".parse().unwrap()];
        })
        .await;
        let tls = tls.display();
        let more = format!(
            "ssl_certificate {tls}/chat.example.pem; ssl_certificate_key {tls}/chat.example.key; {host} \
             proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-For $remote_addr;"
        );
        let _nginx = Nginx::listen(folder.path(), &parlor.url, &format!("{port} ssl"), &more).await;
        let client = || {
            let root = reqwest::Certificate::from_pem(&certificate).unwrap();
            let client = reqwest::Client::builder().add_root_certificate(root);
            client.resolve(name, ([127, 0, 0, 1], port).into())
        };
        let url = format!("https://{name}:{port}");
        let mut ann = Browser::with_client(url.clone(), client());

        let made = ann.set_up(&parlor, "ann").await;
        assert_eq!(made.status(), 303, "{host}");
        assert_eq!(made.headers()["strict-transport-security"], "max-age=31536000");
        let cookie = made.headers()["set-cookie"].to_str().unwrap();
        assert!(
            cookie.starts_with("__Host-parlor=")
                && cookie.contains("; Secure")
                && cookie.contains("; HttpOnly"),
            "{cookie}"
        );
        assert_eq!(ann.get("/").send().await.unwrap().status(), 200);
        let beat = ann
            .get("/rpc/events")
            .send()
            .await
            .unwrap()
            .chunk()
            .await
            .unwrap()
            .unwrap();
        assert_eq!(&beat[..], b": heartbeat\n\n");
        // Another site's form is refused, the own one is accepted.
        let sign_out = |origin: &str| {
            let request = ann.client.post(format!("{url}/sign-out"));
            let request = request.header("content-type", "application/x-www-form-urlencoded");
            request
                .header("cookie", ann.cookies())
                .header("origin", origin)
                .send()
        };
        assert_eq!(sign_out("https://evil.example").await.unwrap().status(), 403);
        assert_eq!(ann.get("/rpc/models").send().await.unwrap().status(), 200);
        assert_eq!(sign_out(&url).await.unwrap().status(), 303);
        assert_eq!(ann.get("/rpc/models").send().await.unwrap().status(), 401);
    }
}
