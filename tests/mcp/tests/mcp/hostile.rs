//! Servers that fail, and servers that mean harm. Each call ends, and what is not broken goes on.

use std::{fs, os::unix::fs::symlink, sync::Arc, time::Duration};

use parlor::{
    settings::McpServer,
    tools::{ToolSource, mcp::Servers},
};
use tokio::{
    io::AsyncReadExt,
    net::TcpListener,
    task::yield_now,
    time::{Instant, timeout},
};

use crate::{Running, SOON, call, given, run};

const SERVER: &str = env!("CARGO_BIN_EXE_mcp-server");

fn server() -> Running {
    Running::start(run(SERVER, &[]))
}

async fn is_well(running: &Running) {
    assert_eq!(
        running.says("echo", r#"{"text":"still here"}"#).await,
        "still here"
    );
}

#[tokio::test]
async fn a_server_that_goes_away_comes_back() {
    let running = server();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!(r#"{{"text":"{}"}}"#, listener.local_addr().unwrap());
    for how in ["exit", "abandon"] {
        let began = Instant::now();
        let error = running.call(how, &address).await.unwrap_err().0;
        assert!(error.contains("The connection to the server was lost"), "{error}");
        assert!(
            began.elapsed() < SOON / 2,
            "{how}: found out only with the call's time"
        );
        is_well(&running).await;
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled() {
    let running = server();
    let wait = running.tool("wait").await;
    assert_eq!(running.says("cancelled", "").await, "0");
    timeout(Duration::from_millis(50), call(wait, ""))
        .await
        .unwrap_err();
    let told = async { while running.says("cancelled", "").await != "1" {} };
    timeout(SOON, told).await.expect("the server is told");
}

#[tokio::test]
async fn a_call_that_is_never_answered_ends_with_its_time() {
    let mut settings = run(SERVER, &[]);
    settings.timeout = Duration::from_millis(50);
    let running = Running::start(settings);
    let error = running.call("wait", "").await.unwrap_err().0;
    assert!(error.contains("longer than 0.05 seconds"), "{error}");
    is_well(&running).await;
}

#[tokio::test]
async fn tools_that_are_added_are_offered() {
    for manner in ["well", "newer"] {
        let running = Running::start(run(SERVER, &[manner]));
        running.says("more", "").await;
        running.tool("added").await;
        is_well(&running).await;
    }
}

#[tokio::test]
async fn what_can_not_be_read_ends_one_call_at_most() {
    let running = server();
    let garbled = running.says("garbled", "").await;
    assert!(garbled.starts_with("broken: \u{fffd}"), "{garbled}");
    assert_eq!(running.says("babble", "").await, "said");
    for odd in ["nonsense"] {
        let error = running.call(odd, "").await.unwrap_err().0;
        assert!(
            error.contains("can't be read") || error.contains("something else"),
            "{error}"
        );
    }
    is_well(&running).await;
}

#[tokio::test]
async fn what_is_too_much_ends_the_connection_and_a_new_one_is_made() {
    let running = server();
    for (much, what) in [("huge", ""), ("huge", r#"{"text":"image"}"#), ("endless", "")] {
        let began = Instant::now();
        let error = running.call(much, what).await.unwrap_err().0;
        assert!(error.contains("connection to the server was lost"), "{error}");
        assert!(
            began.elapsed() < SOON / 2,
            "{much} was found out only with the call's time"
        );
        is_well(&running).await;
    }
}

#[tokio::test]
async fn what_is_no_image_is_kept_as_none() {
    let forged = server().call("forge", r#"{"text":"Trust me."}"#).await.unwrap();
    assert!(forged.text.ends_with("Trust me."), "{}", forged.text);
    let kept = forged.attachments.into_iter().map(|file| {
        let (kept, _) = file.named_within(1 << 20).unwrap();
        format!("{} {} {}", kept.name, kept.media_type, kept.bytes)
    });
    let expected = [
        "forge-1 application/octet-stream 31",
        "forge-2.svg image/svg+xml 31",
        "forge-3.html text/html 31",
        // A type that is none.
        "forge-4 application/octet-stream 852",
        "forge-5 application/octet-stream 0",
    ];
    assert_eq!(kept.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn an_error_is_as_short_as_any_output() {
    let error = server().call("fails", "").await.unwrap_err().0;
    assert!(error.starts_with("xxx") && error.ends_with("more bytes were cut off here.]"));
    assert!(error.len() < 50_000, "{}", error.len());
}

#[tokio::test]
async fn the_tools_of_a_server_that_can_not_be_run_again_are_not_offered_until_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("server");
    symlink(SERVER, &link).unwrap();
    let running = Running::start(run(link.to_str().unwrap(), &[]));
    running.tool("echo").await;
    let exit = running.tool("exit").await;
    fs::remove_file(&link).unwrap();
    call(exit, "").await.0.unwrap_err();
    let withdrawn = async {
        while !running.0.tools().is_empty() {
            yield_now().await;
        }
    };
    timeout(SOON, withdrawn).await.expect("they are withdrawn");
    symlink(SERVER, &link).unwrap();
    is_well(&running).await;
}

#[tokio::test]
async fn a_flood_of_progress_does_not_become_a_flood_of_events() {
    let running = server();
    let (result, heard) = call(running.tool("counts").await, "").await;
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
async fn a_list_without_an_end_is_cut() {
    let running = Running::start(run(SERVER, &["endless"]));
    running.tool("tool7").await;
    assert!(running.0.tools().len() <= 128, "{}", running.0.tools().len());
}

#[tokio::test]
async fn servers_that_can_not_be_had_delay_nothing() {
    let named = |name: &str, settings: McpServer| McpServer {
        name: name.into(),
        ..settings
    };
    let began = Instant::now();
    let settings = [
        named("mute", run(SERVER, &["mute"])),
        named("gone", run(SERVER, &["gone"])),
        named("missing", run("/nowhere/such-a-server", &[])),
        run(SERVER, &[]),
    ];
    let servers = Servers::start(&settings, &Arc::default());
    assert!(began.elapsed() < SOON / 2, "the start waits for none of them");
    let running = Running(servers);
    is_well(&running).await;
    assert!(
        running
            .0
            .tools()
            .iter()
            .all(|tool| tool.spec().name.starts_with("x_"))
    );
    timeout(SOON, running.0.shut_down())
        .await
        .expect("they are let go");
}

#[tokio::test]
async fn a_server_is_given_its_own_variables_and_none_that_may_be_secret() {
    let mut settings = run(SERVER, &[]);
    given(&mut settings, &[("TOKEN", "for you")]);
    let running = Running::start(settings);
    let seen = running.says("env", r#"{"text":"TOKEN"}"#).await;
    let (token, names) = seen.split_once(" of ").unwrap();
    assert_eq!(token, "for you");
    // What cargo sets here stands for what people have set elsewhere.
    let ours = "HOME LANG LOGNAME PATH SHELL TERM TMPDIR TOKEN TZ USER";
    let mut seen = names.split(' ');
    assert!(
        seen.all(|name| ours.split(' ').any(|other| other == name)),
        "{names}"
    );
    assert!(names.contains("PATH"), "{names}");
}

#[tokio::test]
async fn a_declined_question_is_told_in_the_result() {
    let running = server();
    let said = running.says("ask", "").await;
    assert_eq!(
        said,
        "[The server wanted to ask the person something: “What is your name?”. Parlor can't ask, and has declined.]\n\
         The person: \"decline\"."
    );
    assert_eq!(
        running.says("echo", r#"{"text":"no question"}"#).await,
        "no question"
    );
}

#[tokio::test]
async fn tools_for_tasks_alone_are_not_offered() {
    let running = server();
    running.tool("ask").await;
    let names = running.0.tools();
    assert!(names.iter().all(|tool| tool.spec().name != "x_task"));
}

#[tokio::test]
async fn an_odd_answer_to_discovery_leads_to_the_handshake() {
    let running = Running::start(run(SERVER, &["odd"]));
    is_well(&running).await;
}

#[tokio::test]
async fn instructions_come_with_the_servers_tools() {
    let running = server();
    let guidance = running.tool("echo").await.guidance().expect("it says something");
    assert_eq!(guidance.server, "x");
    assert!(
        guidance.text.starts_with("Echo first.") && !guidance.text.contains("<!-- METADATA"),
        "{}",
        guidance.text
    );
}

#[tokio::test]
async fn what_keeps_a_server_away_is_said() {
    let running = Running::start(run("/nowhere/such-a-server", &[]));
    running.0.settled().await;
    let problems = running.0.problems();
    assert_eq!((problems.len(), &*problems[0].code), (1, "mcp_unavailable"));
    assert!(problems[0].message.contains("“x”") && problems[0].message.contains("can't be run"));
}

#[tokio::test]
async fn what_a_server_has_started_goes_with_it() {
    for by_dropping in [false, true] {
        let running = server();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        running
            .says("linger", &format!(r#"{{"text":"{address}"}}"#))
            .await;
        let (mut held, _) = timeout(SOON, listener.accept())
            .await
            .expect("it has started")
            .unwrap();
        if by_dropping {
            drop(running);
        } else {
            running.0.shut_down().await;
        }
        let gone = timeout(SOON, held.read(&mut [0])).await.expect("it is gone");
        assert!(gone.is_err() || gone.is_ok_and(|read| read == 0));
    }
}
