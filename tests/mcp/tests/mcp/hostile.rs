//! Faulty and hostile servers. Each call ends, and working parts continue.

use std::{fs, os::unix::fs::symlink, sync::Arc, time::Duration};

use parlor_base::settings::McpServer;
use parlor_tools::{ToolProvider, mcp::Servers};
use tokio::{
    io::AsyncReadExt,
    net::TcpListener,
    task::yield_now,
    time::{Instant, timeout},
};

use crate::{FILE_LIMITS, TEST_TIMEOUT, TestServers, call_with_progress, server_config, set_env};

const SERVER_PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-server");

fn start_server() -> TestServers {
    TestServers::start(server_config(SERVER_PROGRAM, &[]))
}

async fn assert_responsive(running: &TestServers) {
    assert_eq!(
        running.call_text("echo", r#"{"text":"still here"}"#).await,
        "still here"
    );
}

#[tokio::test]
async fn restarts_after_the_server_exits() {
    let running = start_server();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!(r#"{{"text":"{}"}}"#, listener.local_addr().unwrap());
    for how in ["exit", "abandon"] {
        let began = Instant::now();
        let error = running.call_tool(how, &address).await.unwrap_err().0;
        assert!(error.contains("The connection to the server was lost"), "{error}");
        assert!(
            began.elapsed() < TEST_TIMEOUT / 2,
            "{how}: found out only with the call's time"
        );
        assert_responsive(&running).await;
    }
}

#[tokio::test]
async fn abandoned_call_is_cancelled() {
    let running = start_server();
    let wait = running.tool("wait").await;
    assert_eq!(running.call_text("cancelled", "").await, "0");
    timeout(Duration::from_millis(50), call_with_progress(wait, ""))
        .await
        .unwrap_err();
    let told = async { while running.call_text("cancelled", "").await != "1" {} };
    timeout(TEST_TIMEOUT, told).await.expect("the server receives it");
}

#[tokio::test]
async fn unanswered_call_times_out() {
    let mut settings = server_config(SERVER_PROGRAM, &[]);
    settings.timeout = Duration::from_millis(50);
    let running = TestServers::start(settings);
    let error = running.call_tool("wait", "").await.unwrap_err().0;
    assert!(error.contains("longer than 0.05 seconds"), "{error}");
    assert_responsive(&running).await;
}

#[tokio::test]
async fn offers_added_tools() {
    for manner in ["well", "newer"] {
        let running = TestServers::start(server_config(SERVER_PROGRAM, &[manner]));
        running.call_text("more", "").await;
        running.tool("added").await;
        assert_responsive(&running).await;
    }
}

#[tokio::test]
async fn unreadable_message_fails_at_most_one_call() {
    let running = start_server();
    let garbled = running.call_text("garbled", "").await;
    assert!(garbled.starts_with("broken: \u{fffd}"), "{garbled}");
    assert_eq!(running.call_text("babble", "").await, "said");
    for odd in ["nonsense"] {
        let error = running.call_tool(odd, "").await.unwrap_err().0;
        assert!(
            error.contains("can't be read") || error.contains("something else"),
            "{error}"
        );
    }
    assert_responsive(&running).await;
}

#[tokio::test]
async fn oversized_message_reconnects() {
    let running = start_server();
    for (much, what) in [("huge", ""), ("huge", r#"{"text":"image"}"#), ("endless", "")] {
        let began = Instant::now();
        let error = running.call_tool(much, what).await.unwrap_err().0;
        assert!(error.contains("connection to the server was lost"), "{error}");
        assert!(
            began.elapsed() < TEST_TIMEOUT / 2,
            "{much} was found out only with the call's time"
        );
        assert_responsive(&running).await;
    }
}

#[tokio::test]
async fn mislabeled_image_is_stored_as_file() {
    let forged = start_server()
        .call_tool("forge", r#"{"text":"Trust me."}"#)
        .await
        .unwrap();
    assert!(forged.text.ends_with("Trust me."), "{}", forged.text);
    let kept = forged.attachments.into_iter().map(|file| {
        let (kept, _) = file.into_attachment(&FILE_LIMITS).unwrap();
        format!("{} {} {}", kept.name, kept.media_type, kept.bytes)
    });
    let expected = [
        "forge-1 application/octet-stream 31",
        "forge-2.svg image/svg+xml 31",
        "forge-3.html text/html 31",
        // An invalid type.
        "forge-4 application/octet-stream 852",
        "forge-5 application/octet-stream 0",
    ];
    assert_eq!(kept.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn error_length_is_limited() {
    let error = start_server().call_tool("fails", "").await.unwrap_err().0;
    assert!(error.starts_with("xxx") && error.ends_with("more bytes were cut off here.]"));
    assert!(error.len() < 50_000, "{}", error.len());
}

#[tokio::test]
async fn tools_are_withdrawn_until_the_server_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("server");
    symlink(SERVER_PROGRAM, &link).unwrap();
    let running = TestServers::start(server_config(link.to_str().unwrap(), &[]));
    running.tool("echo").await;
    let exit = running.tool("exit").await;
    fs::remove_file(&link).unwrap();
    call_with_progress(exit, "").await.0.unwrap_err();
    let withdrawn = async {
        while !running.0.tools().is_empty() {
            yield_now().await;
        }
    };
    timeout(TEST_TIMEOUT, withdrawn)
        .await
        .expect("they are withdrawn");
    symlink(SERVER_PROGRAM, &link).unwrap();
    assert_responsive(&running).await;
}

#[tokio::test]
async fn throttles_progress_events() {
    let running = start_server();
    let (result, heard) = call_with_progress(running.tool("counts").await, "").await;
    assert_eq!(result.unwrap().text, "counted");
    let fractions: Vec<_> = heard
        .iter()
        .map(|said| said.progress.unwrap().percent())
        .collect();
    assert!(
        fractions.is_sorted() && (1..500).contains(&heard.len()),
        "{fractions:?}"
    );
}

#[tokio::test]
async fn truncates_endless_tool_lists() {
    let running = TestServers::start(server_config(SERVER_PROGRAM, &["endless"]));
    running.tool("tool7").await;
    assert!(running.0.tools().len() <= 128, "{}", running.0.tools().len());
}

#[tokio::test]
async fn unreachable_servers_do_not_delay_runs() {
    let named = |name: &str, settings: McpServer| McpServer {
        name: name.into(),
        ..settings
    };
    let began = Instant::now();
    let settings = [
        named("mute", server_config(SERVER_PROGRAM, &["mute"])),
        named("gone", server_config(SERVER_PROGRAM, &["gone"])),
        named("missing", server_config("/nowhere/such-a-server", &[])),
        server_config(SERVER_PROGRAM, &[]),
    ];
    let servers = Servers::start(&settings, &Arc::default());
    assert!(
        began.elapsed() < TEST_TIMEOUT / 2,
        "the start waits for none of them"
    );
    let running = TestServers(servers);
    assert_responsive(&running).await;
    assert!(
        running
            .0
            .tools()
            .iter()
            .all(|tool| tool.spec().name.starts_with("x_"))
    );
    timeout(TEST_TIMEOUT, running.0.shut_down())
        .await
        .expect("the servers are stopped");
}

#[tokio::test]
async fn server_environment_excludes_secrets() {
    let mut settings = server_config(SERVER_PROGRAM, &[]);
    set_env(&mut settings, &[("TOKEN", "for you")]);
    let running = TestServers::start(settings);
    let seen = running.call_text("env", r#"{"text":"TOKEN"}"#).await;
    let (token, names) = seen.split_once(" of ").unwrap();
    assert_eq!(token, "for you");
    // The variables that cargo sets here represent those of the user.
    let ours = "HOME LANG LOGNAME PATH SHELL TERM TMPDIR TOKEN TZ USER";
    let mut seen = names.split(' ');
    assert!(
        seen.all(|name| ours.split(' ').any(|other| other == name)),
        "{names}"
    );
    assert!(names.contains("PATH"), "{names}");
}

#[tokio::test]
async fn result_mentions_a_declined_elicitation() {
    let running = start_server();
    let said = running.call_text("ask", "").await;
    assert_eq!(
        said,
        "[The server wanted to ask the person something: “What is your name?”. Parlor can't ask, and has declined.]\n\
         The person: \"decline\"."
    );
    assert_eq!(
        running.call_text("echo", r#"{"text":"no question"}"#).await,
        "no question"
    );
}

#[tokio::test]
async fn task_only_tools_are_not_offered() {
    let running = start_server();
    running.tool("ask").await;
    let names = running.0.tools();
    assert!(names.iter().all(|tool| tool.spec().name != "x_task"));
}

#[tokio::test]
async fn odd_discovery_falls_back_to_handshake() {
    let running = TestServers::start(server_config(SERVER_PROGRAM, &["odd"]));
    assert_responsive(&running).await;
}

#[tokio::test]
async fn odd_tools_leave_the_others() {
    let running = TestServers::start(server_config(SERVER_PROGRAM, &["odd-tools"]));
    assert_responsive(&running).await;
    let unavailable = running.0.unavailable();
    assert_eq!(
        (unavailable.len(), &*unavailable[0].code),
        (1, "mcp_tools_left_out")
    );
    assert!(
        unavailable[0].message.contains("number 1 (it is null)"),
        "{unavailable:?}"
    );
}

#[tokio::test]
async fn unknown_content_leaves_the_text_beside_it() {
    let running = start_server();
    let text = running.call_text("mixed", "").await;
    assert!(
        text.starts_with("Known.\n[content of the type “hologram”"),
        "{text}"
    );
}

#[tokio::test]
async fn linked_resource_can_be_read() {
    let running = start_server();
    assert_eq!(running.call_text("link", "").await, "Notes: demo://notes/1");
    let read = running.tool("read_resource").await;
    let plan = read
        .plan(r#"{"uri":"demo://notes/1"}"#, parlor_tools::OpenItems::default())
        .unwrap();
    assert_eq!(
        (plan.detail.as_deref(), plan.needs_approval),
        (Some("demo://notes/1"), false)
    );
    assert!(read.plan("{}", parlor_tools::OpenItems::default()).is_err());
    let text = running
        .call_text("read_resource", r#"{"uri":"demo://notes/1"}"#)
        .await;
    assert_eq!(text, "[demo://notes/1]\nBuy bread.");
    let error = running
        .call_tool("read_resource", r#"{"uri":"demo://other"}"#)
        .await;
    assert_eq!(error.unwrap_err().0, "There is no such resource.");
    let mut settings = server_config(SERVER_PROGRAM, &[]);
    settings.disabled_tools = vec!["read_resource".into()];
    let running = TestServers::start(settings);
    assert_responsive(&running).await;
    assert!(
        running
            .0
            .tools()
            .iter()
            .all(|tool| tool.spec().name != "x_read_resource")
    );
}

#[tokio::test]
async fn exit_after_discovery_falls_back_to_handshake() {
    for (manner, first_messages) in [
        ("strict", "server/discover\ninitialize\ninitialize\n"),
        ("blunt", "server/discover\ninitialize\ninitialize\n"),
        // It goes on with the handshake itself.
        ("polite", "server/discover\ninitialize\n"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("first-messages");
        let server = server_config(SERVER_PROGRAM, &[manner, log.to_str().unwrap()]);
        let running = TestServers::start(server);
        assert_responsive(&running).await;
        // The next start begins with what has worked.
        running.call_tool("exit", "").await.unwrap_err();
        assert_responsive(&running).await;
        assert_eq!(fs::read_to_string(&log).unwrap(), first_messages, "{manner}");
    }
}

#[tokio::test]
async fn instructions_accompany_the_servers_tools() {
    let running = start_server();
    let guidance = running.tool("echo").await.guidance().expect("it says something");
    assert_eq!(guidance.server, "x");
    assert!(
        guidance.text.starts_with("Echo first.") && !guidance.text.contains("<!-- METADATA"),
        "{}",
        guidance.text
    );
}

#[tokio::test]
async fn states_why_a_server_is_unavailable() {
    let running = TestServers::start(server_config("/nowhere/such-a-server", &[]));
    running.0.wait_until_settled().await;
    let problems = running.0.problems();
    assert_eq!((problems.len(), &*problems[0].code), (1, "mcp_unavailable"));
    assert!(problems[0].message.contains("“x”") && problems[0].message.contains("can't be run"));
}

#[tokio::test]
async fn child_processes_end_with_their_server() {
    for by_dropping in [false, true] {
        let running = start_server();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        running
            .call_text("linger", &format!(r#"{{"text":"{address}"}}"#))
            .await;
        let (mut held, _) = timeout(TEST_TIMEOUT, listener.accept())
            .await
            .expect("it has started")
            .unwrap();
        if by_dropping {
            drop(running);
        } else {
            running.0.shut_down().await;
        }
        let gone = timeout(TEST_TIMEOUT, held.read(&mut [0]))
            .await
            .expect("it is gone");
        assert!(gone.is_err() || gone.is_ok_and(|read| read == 0));
    }
}
