//! Sessions of conversations: offered by the server, restored from the log, interrupted, started afresh.

use parlor_base::settings::Settings;
use serde_json::{Value, json};
use tokio::time::timeout;
use upstream::{Script, Upstream, When};

use super::{enable, interpreter, script_call};
use crate::support::{self, Parlor, TEST_TIMEOUT, string_field};

/// Starts Parlor with Python.
pub async fn start_in(
    folder: &std::path::Path,
    upstream: &Upstream,
    change: impl FnOnce(&mut Settings),
) -> Parlor {
    Parlor::start_built_in(folder, upstream, |settings| {
        enable(settings);
        change(settings);
    })
    .await
}

async fn start() -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    (folder, upstream, parlor)
}

/// Asks in a conversation; the model answers with a call of this code. Returns the events.
pub async fn ask(parlor: &Parlor, upstream: &Upstream, conversation: Option<&str>, code: &str) -> Vec<Value> {
    let question = script_code(upstream, code);
    parlor.turn(conversation, &question).await
}

/// Lets the model call this code once it is asked. Returns the question.
fn script_code(upstream: &Upstream, code: &str) -> String {
    let question = format!("run {}", code.escape_default());
    script_call(upstream, &question, "execute_code", &json!({ "code": code }));
    question
}

/// Returns the output of the only call.
pub fn output(events: &[Value]) -> String {
    let ended = events.iter().find(|event| event["type"] == "tool_complete");
    string_field(
        ended.unwrap_or_else(|| panic!("no call ended: {events:?}")),
        "output",
    )
}

/// Returns the activities of a turn.
pub fn activities(events: &[Value]) -> Vec<&str> {
    let states = events.iter().filter(|event| event["type"] == "status");
    states.filter_map(|event| event["message"].as_str()).collect()
}

#[tokio::test]
async fn code_is_called_with_its_first_line() {
    let (_folder, upstream, parlor) = start().await;
    let events = ask(&parlor, &upstream, None, "\n# add\n1 + 1").await;
    let begun = events.iter().find(|event| event["type"] == "tool_start").unwrap();
    assert_eq!(
        (&begun["label"], &begun["detail"]),
        (&json!("Running code"), &json!("# add"))
    );
    let ended = events
        .iter()
        .find(|event| event["type"] == "tool_complete")
        .unwrap();
    assert_eq!(
        (&ended["label"], &ended["output"]),
        (&json!("Ran code"), &json!("2"))
    );
    let plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()";
    let events = ask(&parlor, &upstream, None, plot).await;
    let ended = events
        .iter()
        .find(|event| event["type"] == "tool_complete")
        .unwrap();
    let picture = &ended["attachments"][0];
    assert_eq!(picture["media_type"], "image/png", "{ended}");
    // What was shown before an exception stays.
    let error = ask(
        &parlor,
        &upstream,
        None,
        "print('before')\nplt.plot([1, 2])\n1 / 0",
    )
    .await;
    let ended = error
        .iter()
        .find(|event| event["type"] == "tool_complete")
        .unwrap();
    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["attachments"][0]["media_type"], "image/png", "{ended}");
    let text = output(&error);
    assert!(
        text.starts_with("before\n\nTraceback")
            && text.contains("line 3")
            && text.contains("division by zero"),
        "{text}"
    );
}

#[tokio::test]
async fn restart_restores_the_session() {
    let (folder, upstream, parlor) = start().await;
    let first = ask(&parlor, &upstream, None, "x = [1]").await;
    let conversation = string_field(&first[0], "conversation_id");
    let id = Some(&*conversation);
    ask(&parlor, &upstream, id, "x.append(2)\nraise ValueError('no')").await;
    ask(&parlor, &upstream, id, "x.append(3)").await;
    // A live session is not restored.
    let live = ask(&parlor, &upstream, id, "print(x)").await;
    assert_eq!(output(&live), "[1, 2, 3]");
    assert!(!activities(&live).iter().any(|text| text.contains("Restoring")));
    parlor.stop().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let before = parlor.transcript(&conversation).await["messages"].clone();
    let restored = ask(&parlor, &upstream, id, "print(x, 'again')").await;
    assert_eq!(output(&restored), "[1, 2, 3] again");
    let shown = activities(&restored);
    for number in 1..=4 {
        let state = format!("Restoring session... {number} of 4");
        assert!(shown.contains(&&*state), "{shown:?}");
    }
    // Nothing was added to the earlier answers.
    let after = parlor.transcript(&conversation).await["messages"].clone();
    let count = before.as_array().unwrap().len();
    assert_eq!(before.as_array().unwrap()[..], after.as_array().unwrap()[..count]);
}

#[tokio::test]
async fn other_branch_has_its_own_state() {
    let (_folder, upstream, parlor) = start().await;
    let first = ask(&parlor, &upstream, None, "x = ['first']").await;
    let conversation = string_field(&first[0], "conversation_id");
    let id = Some(&*conversation);
    let second = ask(&parlor, &upstream, id, "x.append('second')").await;
    // Another answer to the same question runs its call on the state before it.
    parlor.regenerate(&second).await;
    let shown = ask(&parlor, &upstream, id, "print(x)").await;
    assert_eq!(output(&shown), "['first', 'second']");
}

#[tokio::test]
async fn failed_restoration_asks_no_model() {
    let (folder, upstream, parlor) = start().await;
    // The same code needs more memory than there is later.
    let first = ask(&parlor, &upstream, None, "x = bytearray(1 << 30)").await;
    assert!(output(&first).contains("showed nothing"), "{first:?}");
    let conversation = string_field(&first[0], "conversation_id");
    parlor.stop().await;
    let less = |settings: &mut Settings| settings.python.memory_bytes = 700 << 20;
    let parlor = start_in(folder.path(), &upstream, less).await;
    let calls = support::model_calls(&upstream).len();
    let failed = parlor.turn(Some(&conversation), "and now?").await;
    let end = failed.last().unwrap();
    assert_eq!(end["type"], "error", "{end}");
    assert_eq!(
        end["error"]["message"], "Failed to restore session: MemoryError",
        "{end}"
    );
    assert_eq!(support::model_calls(&upstream).len(), calls);
    // A fresh session goes on without the earlier variables.
    script_call(
        &upstream,
        "afresh",
        "execute_code",
        &json!({ "code": "'x' in globals()" }),
    );
    let fresh = json!({
        "message": "afresh", "conversation_id": conversation, "model": "test/any", "interaction_type": "action_executed",
        "action": "fresh_session",
    });
    let events = parlor.chat(&fresh).await.read_to_end().await;
    assert_eq!(output(&events), "False", "{events:?}");
    let prompt = support::last_system_prompt(&upstream);
    assert!(prompt.contains("fresh Python session"), "{prompt}");
    let later = ask(&parlor, &upstream, Some(&conversation), "'on'").await;
    assert_eq!(output(&later), "'on'");
}

#[tokio::test]
async fn stop_interrupts_and_keeps_the_session() {
    let (folder, upstream, parlor) = start().await;
    let first = ask(&parlor, &upstream, None, "x = 1").await;
    let conversation = string_field(&first[0], "conversation_id");
    let endless = "print('begun')\nwhile True: x += 1";
    script_call(&upstream, "endless", "execute_code", &json!({ "code": endless }));
    let question = json!({ "message": "endless", "conversation_id": conversation, "model": "test/any" });
    let mut stream = parlor.chat(&question).await;
    let progress = stream.next_of_type("tool_progress").await;
    assert_eq!(progress["message"], "begun", "{progress}");
    let stop = json!({ "message_id": progress["message_id"] });
    let stopped = parlor.post("/rpc/stop_run", &stop).send().await.unwrap();
    assert_eq!(stopped.text().await.unwrap(), "\"stopped\"");
    let after = ask(&parlor, &upstream, Some(&conversation), "print(x > 1)").await;
    assert_eq!(output(&after), "True");
    // The session ends with its conversation.
    let deletion = json!({ "conversation_id": conversation });
    let deleted = parlor.post("/rpc/delete_conversation", &deletion).send().await;
    assert_eq!(deleted.unwrap().status(), 200);
    let sessions = folder.path().join("python/sessions");
    let ended = async {
        while std::fs::read_dir(&sessions).unwrap().count() > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(TEST_TIMEOUT, ended).await.expect("it ends");
}

#[tokio::test]
async fn stop_ends_a_restoration() {
    let (folder, upstream, parlor) = start().await;
    // The sandbox sees the folder of its Python, in which the test makes the code slow by a file.
    let marker = interpreter()
        .parent()
        .unwrap()
        .join(format!("slow-{}", fastrand::u64(..)));
    let waits = format!("import os, time\nx = 'kept'\nwhile os.path.exists({marker:?}): time.sleep(0.01)");
    let first = ask(&parlor, &upstream, None, &waits).await;
    let conversation = string_field(&first[0], "conversation_id");
    parlor.stop().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    std::fs::write(&marker, "").unwrap();
    let question = json!({ "message": "and now?", "conversation_id": conversation, "model": "test/any" });
    let calls = support::model_calls(&upstream).len();
    let mut stream = parlor.chat(&question).await;
    let message = loop {
        let status = stream.next_of_type("status").await;
        if status["message"] == "Restoring session..." {
            break status["message_id"].clone();
        }
    };
    let stopped = parlor
        .post("/rpc/stop_run", &json!({ "message_id": message }))
        .send()
        .await
        .unwrap();
    assert_eq!(stopped.text().await.unwrap(), "\"stopped\"");
    assert_eq!(
        support::model_calls(&upstream).len(),
        calls,
        "the model is not asked"
    );
    std::fs::remove_file(&marker).unwrap();
    let after = ask(&parlor, &upstream, Some(&conversation), "print(x)").await;
    assert_eq!(output(&after), "kept");
}

#[tokio::test]
async fn dead_session_is_restored_within_the_answer() {
    let (_folder, upstream, parlor) = start().await;
    let first = ask(&parlor, &upstream, None, "x = 'kept'").await;
    let conversation = string_field(&first[0], "conversation_id");
    let question = script_code(&upstream, "import os; os._exit(1)");
    upstream.add_script(
        When::tool_gave("session has ended"),
        Script::new().tool_call("call_2", "execute_code", r#"{"code":"print(x)"}"#),
    );
    let events = parlor.turn(Some(&conversation), &question).await;
    let outputs: Vec<&str> = events
        .iter()
        .filter(|event| event["type"] == "tool_complete")
        .filter_map(|event| event["output"].as_str())
        .collect();
    assert!(
        outputs[0].starts_with("The Python session has ended") && outputs[1] == "kept",
        "{outputs:?}"
    );
}

#[tokio::test]
async fn python_is_offered_only_where_it_can_run() {
    for (change, reason) in [
        (
            (|settings| settings.python.interpreter = Some("/no/such/python".into())) as fn(&mut Settings),
            "/no/such/python can’t be used",
        ),
        (
            |settings| {
                settings.python.bubblewrap = "/no/such/bwrap".into();
                settings.python.landlock = false;
            },
            "bubblewrap is missing",
        ),
        (
            |settings| {
                settings.python.bubblewrap = "/bin/false".into();
                settings.python.landlock = false;
            },
            "sandbox for Python can’t be made",
        ),
        (
            |settings| {
                settings.python.is_checked = true;
                settings.python.helper = Some("/bin/false".into());
            },
            "A session of Python can’t be had here",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Hello."));
        let parlor = start_in(folder.path(), &upstream, change).await;
        parlor.turn(None, "hello").await;
        let request = support::last_model_call(&upstream).to_string();
        assert!(!request.contains("execute_code"), "{request}");
        let (_, personal) = parlor.get_json("/rpc/personal").await;
        let message = personal["unavailable_tools"][0]["message"].as_str().unwrap();
        assert!(message.contains(reason), "{message}");
    }
}

#[tokio::test]
async fn session_is_checked_once() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let checked = |settings: &mut Settings| settings.python.is_checked = true;
    let parlor = start_in(folder.path(), &upstream, checked).await;
    let first = ask(&parlor, &upstream, None, "1 + 1").await;
    assert_eq!(output(&first), "2");
    parlor.stop().await;
    // The same interpreter is not checked again, so that it is offered at once.
    let without_sessions = |settings: &mut Settings| {
        settings.python.is_checked = true;
        settings.python.helper = Some("/bin/false".into());
    };
    upstream.add_script(When::any(), Script::new().text("Hello."));
    let parlor = start_in(folder.path(), &upstream, without_sessions).await;
    parlor.turn(None, "hello").await;
    let (_, personal) = parlor.get_json("/rpc/personal").await;
    assert_eq!(personal["unavailable_tools"], json!([]));
}

#[tokio::test]
async fn without_a_sandbox_every_call_asks() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |settings| {
        settings.python.unsandboxed = true
    })
    .await;
    let question = script_code(&upstream, "1 + 1");
    let mut stream = parlor
        .chat(&json!({ "message": question, "model": "test/any" }))
        .await;
    let asked = stream.next_of_type("approval_requested").await;
    assert_eq!(asked["tool"], "execute_code", "{asked}");
}
