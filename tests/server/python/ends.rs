//! Calls that end their session: told clearly, and never repeated.

use parlor_base::settings::Settings;
use parlor_protocol::{ConversationId, MessageId, UserId};
use parlor_tools::{SessionKeeper, StepId, ToolContext};
use tokio::time::timeout;
use upstream::Upstream;

use super::{
    Sessions,
    conversations::{activities, ask, output, start_in},
    interpreter,
};
use crate::support::{self, TEST_TIMEOUT, string_field};

#[tokio::test]
async fn end_of_a_session_has_its_cause() {
    let sessions = Sessions::start(|_| {}).await;
    let session = ConversationId::new();
    for (code, cause) in [
        ("exit", "the code ended it (SystemExit)"),
        ("quit()", "the code ended it (SystemExit)"),
        (
            "import sys; sys.exit('bye')",
            "the code ended it (SystemExit: bye)",
        ),
        (
            "import argparse; argparse.ArgumentParser().parse_args(['x'])",
            "the code ended it (SystemExit: 2)",
        ),
        ("import os; os._exit(3)", "its process ended with the status 3"),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
            "the signal SIGTERM ended it",
        ),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "the signal SIGKILL ended it, probably from the system for its memory",
        ),
        ("import os; os.abort()", "Python crashed"),
        ("import ctypes; ctypes.string_at(0)", "Python crashed"),
    ] {
        let error = sessions.run(session, code).await.unwrap_err().to_string();
        let told = format!(
            "The Python session has ended: {cause}. What this call had set is lost; the variables of earlier calls are restored \
             for the next one."
        );
        assert!(error.starts_with(&told), "{code}: {error}");
    }
    // What is no exit is not taken for one.
    let caught = "import sys\ntry:\n    sys.exit(1)\nexcept SystemExit:\n    print('on')";
    assert_eq!(sessions.text(session, caught).await, "on");
    let child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'exit(4)']).returncode";
    assert_eq!(sessions.text(session, child).await, "4");
}

/// A call of a conversation.
fn new_call(conversation_id: ConversationId) -> ToolContext {
    let step = StepId {
        run: MessageId::new(),
        call: 0,
    };
    ToolContext::for_replay(UserId::LOCAL, conversation_id, step, [].into())
}

#[tokio::test]
async fn cause_is_kept_when_another_session_starts() {
    let sessions = Sessions::start(|settings| settings.python.sessions = 1).await;
    let (ended, other) = (ConversationId::new(), ConversationId::new());
    let call = new_call(ended);
    let code = "import os, threading\nthreading.Timer(1, lambda: os._exit(3)).start()";
    sessions.python.execute(&call, code).await.unwrap();
    let folder = sessions.folder.path().join("data/python/sessions");
    let gone = async {
        while std::fs::read_dir(&folder).unwrap().count() > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    timeout(TEST_TIMEOUT, gone).await.expect("it ends");
    // The one that has ended takes no place, also if it is in use.
    let _hold = sessions.python.hold(ended);
    assert_eq!(sessions.text(other, "1").await, "1");
    sessions.python.end(other);
    let error = sessions.run(ended, "2").await.unwrap_err().to_string();
    assert!(error.contains("ended with the status 3"), "{error}");
    assert!(sessions.python.is_fatal_step(ended, call.step()));
}

#[tokio::test]
async fn deleted_conversation_has_no_fatal_calls() {
    let sessions = Sessions::start(|_| {}).await;
    let conversation_id = ConversationId::new();
    let call = new_call(conversation_id);
    let is_fatal = || sessions.python.is_fatal_step(conversation_id, call.step());
    let exit = "import os; os._exit(3)";
    sessions.python.execute(&call, exit).await.unwrap_err();
    // A restoration that has failed for the call goes on without it.
    sessions.python.end(conversation_id);
    assert!(is_fatal());
    sessions.python.forget(conversation_id);
    assert!(!is_fatal());
    sessions.python.execute(&call, exit).await.unwrap_err();
    assert!(is_fatal());
    sessions.python.end_of_user(UserId::new());
    assert!(is_fatal());
    sessions.python.end_of_user(UserId::LOCAL);
    assert!(!is_fatal());
}

#[tokio::test]
async fn exit_is_not_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let first = ask(&parlor, &upstream, None, "x = 1").await;
    let conversation = string_field(&first[0], "conversation_id");
    let id = Some(&*conversation);
    // A script's usual end, with a traceback that is only printed.
    let script = "import sys, traceback\ny = 2\nprint('before')\ntry:\n    1 / 0\nexcept Exception:\n    traceback.print_exc()\n    sys.exit(1)";
    let ended = ask(&parlor, &upstream, id, script).await;
    let shown = output(&ended);
    assert!(
        shown.starts_with("The Python session has ended: the code ended it (SystemExit: 1).")
            && shown.contains("\n\nbefore\n")
            && shown.contains("ZeroDivisionError: division by zero"),
        "{shown}"
    );
    let card = ended.iter().find(|event| event["type"] == "tool_complete");
    assert_eq!(card.unwrap()["status"], "failed");
    let after = ask(&parlor, &upstream, id, "print(x, 'y' in globals())").await;
    assert_eq!(output(&after), "1 False");
    parlor.stop().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let restored = ask(&parlor, &upstream, id, "print('again', x, 'y' in globals())").await;
    assert_eq!(output(&restored), "again 1 False");
}

#[tokio::test]
async fn replayed_exit_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    // The sandbox sees the folder of its Python. A step that ends the session only when it is repeated stands for one that an
    // earlier version stored as complete.
    let marker = interpreter()
        .parent()
        .unwrap()
        .join(format!("exit-{}", fastrand::u64(..)));
    let first = ask(&parlor, &upstream, None, "x = 1").await;
    let conversation = string_field(&first[0], "conversation_id");
    let id = Some(&*conversation);
    let exits = format!("import os\ny = 2\nif os.path.exists({marker:?}): exit()");
    ask(&parlor, &upstream, id, &exits).await;
    parlor.stop().await;
    std::fs::write(&marker, "").unwrap();
    let parlor = start_in(folder.path(), &upstream, |_: &mut Settings| {}).await;
    let restored = ask(&parlor, &upstream, id, "print(x, 'y' in globals())").await;
    let prompt = support::last_system_prompt(&upstream);
    // Known from now on.
    let live = ask(&parlor, &upstream, id, "print('live', x)").await;
    std::fs::remove_file(&marker).unwrap();
    assert_eq!(output(&restored), "1 False");
    assert!(
        prompt.contains("An earlier call ended the session, so it was not repeated"),
        "{prompt}"
    );
    assert_eq!(output(&live), "live 1");
    assert!(!activities(&live).iter().any(|text| text.contains("Restoring")));
}
