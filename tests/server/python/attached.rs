//! Files that the person attached, in the session of their conversation.

use std::process::Command;

use serde_json::json;
use upstream::Upstream;

use super::{
    conversations::{output, start_in},
    interpreter, script_call,
};
use crate::support::{Parlor, string_field};

/// Sends a file with a question that the model answers with a call of this code. Returns the output of the call, the
/// conversation and the id of the file.
async fn ask_with_file(
    parlor: &Parlor,
    upstream: &Upstream,
    (name, data): (&str, Vec<u8>),
    conversation: Option<uuid::Uuid>,
    code: &str,
) -> (String, String, String) {
    let (status, file) = parlor.upload(name, conversation, data).await;
    assert_eq!(status, 201, "{file}");
    let question = format!("with {name}: {}", code.escape_default());
    script_call(upstream, &question, "execute_code", &json!({ "code": code }));
    let turn = json!({
        "message": question, "files": [file["id"]], "conversation_id": file["conversation_id"], "model": "test/any",
    });
    let events = parlor.chat(&turn).await.read_to_end().await;
    (
        output(&events),
        string_field(&events[0], "conversation_id"),
        string_field(&file, "id"),
    )
}

/// Makes a file of Parquet.
fn parquet(folder: &std::path::Path) -> Vec<u8> {
    let path = folder.join("made.parquet");
    let code = "import pandas, sys; pandas.DataFrame({'n': [1, 2, 39]}).to_parquet(sys.argv[1])";
    let made = Command::new(interpreter()).args(["-c", code]).arg(&path).status();
    assert!(made.unwrap().success());
    std::fs::read(path).unwrap()
}

#[tokio::test]
async fn attached_files_are_in_the_working_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let upstream = Upstream::start().await;
    let parlor = start_in(&data, &upstream, |_| {}).await;
    let csv = b"city,people\nAarhus,3\nOdense,4\n".to_vec();
    let sum = "import pandas as pd\nt = pd.read_csv('towns.csv')\nprint(t.people.sum())";
    let (shown, conversation, _) =
        ask_with_file(&parlor, &upstream, ("towns.csv", csv.clone()), None, sum).await;
    assert_eq!(shown, "7");
    // The same name again, and a table that only code can read.
    let id = Some(conversation.parse().unwrap());
    let again = "print(len(open('towns_2.csv').read()), len(open('towns.csv').read()))";
    let (shown, ..) = ask_with_file(&parlor, &upstream, ("towns.csv", b"x\n".to_vec()), id, again).await;
    let renamed = "[The attached file towns.csv is towns_2.csv in the working folder: its name was taken.]";
    assert_eq!(shown, format!("{renamed}\n\n2 {}", csv.len()));
    let read = "print(pd.read_parquet('n.parquet').n.sum())";
    let (shown, ..) = ask_with_file(
        &parlor,
        &upstream,
        ("n.parquet", parquet(folder.path())),
        id,
        read,
    )
    .await;
    assert_eq!(shown, "42");
    // Another conversation has none of them.
    let list = "import glob\nprint(sorted(glob.glob('*')))";
    let (shown, ..) = ask_with_file(&parlor, &upstream, ("other.txt", b"text".to_vec()), None, list).await;
    assert_eq!(shown, "['other.txt']");

    // A new session has the files before its steps are replayed.
    parlor.stop().await;
    let parlor = start_in(&data, &upstream, |_| {}).await;
    let code = json!({ "code": "import glob\nprint(t.people.sum(), sorted(glob.glob('*')))" });
    script_call(&upstream, "and once more", "execute_code", &code);
    let events = parlor.turn(Some(&conversation), "and once more").await;
    assert_eq!(output(&events), "7 ['n.parquet', 'towns.csv', 'towns_2.csv']");
}

#[tokio::test]
async fn a_session_cannot_change_attached_files() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(&folder.path().join("data"), &upstream, |_| {}).await;
    let attack = "import os\ntry:\n    open('a.csv', 'w')\nexcept OSError as error:\n    print(error.strerror)\n\
        os.remove('a.csv')\nprint(os.path.exists('a.csv'))";
    let (shown, _, file) =
        ask_with_file(&parlor, &upstream, ("a.csv", b"n\n1\n".to_vec()), None, attack).await;
    // The link is the session's own.
    assert_eq!(shown, "Read-only file system\nFalse");
    let content = parlor.get(&format!("/api/files/{file}")).send().await.unwrap();
    let content = content.bytes().await.unwrap();
    assert_eq!(&content[..], b"n\n1\n");
}

#[tokio::test]
async fn files_of_the_session_keep_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let write = json!({ "code": "print(open('out.csv', 'w').write('own'))" });
    script_call(&upstream, "write", "execute_code", &write);
    let conversation = string_field(&parlor.turn(None, "write").await[0], "conversation_id");
    let id = Some(conversation.parse().unwrap());
    let read = "print(open('out.csv').read(), open('out_2.csv').read())";
    let (shown, ..) = ask_with_file(&parlor, &upstream, ("out.csv", b"file".to_vec()), id, read).await;
    assert!(
        shown.starts_with("[The attached file out.csv is out_2.csv"),
        "{shown}"
    );
    assert!(shown.ends_with("own file"), "{shown}");
    // The steps of a new session have the files that they had: the first one can write `out.csv`.
    parlor.stop().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    script_call(&upstream, "once more", "execute_code", &json!({ "code": read }));
    let events = parlor.turn(Some(&conversation), "once more").await;
    assert_eq!(output(&events), "own file");
}

#[tokio::test]
async fn an_edited_question_has_its_own_files() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let mut replaced = None::<serde_json::Value>;
    for (content, code) in [("old", "no Python"), ("new", "print(open('a.csv').read())")] {
        let conversation = replaced
            .as_ref()
            .map(|first| string_field(first, "conversation_id"));
        let id = conversation.as_ref().map(|id| id.parse().unwrap());
        let (_, file) = parlor.upload("a.csv", id, content.as_bytes().to_vec()).await;
        let question = format!("with {content}");
        script_call(&upstream, &question, "execute_code", &json!({ "code": code }));
        let mut turn = json!({
            "message": question, "files": [file["id"]], "conversation_id": file["conversation_id"], "model": "test/any",
        });
        if let Some(first) = &replaced {
            turn["replaces"] = first["user_message_id"].clone();
        }
        let events = parlor.chat(&turn).await.read_to_end().await;
        let shown = output(&events);
        match content {
            "old" => assert!(shown.contains("SyntaxError"), "{shown}"),
            _ => assert_eq!(shown, "new"),
        }
        replaced = Some(events[0].clone());
    }
}

#[tokio::test]
async fn attached_modules_replace_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let hostile = b"raise ValueError('not me')".to_vec();
    let code = "import colorsys\nprint(colorsys.rgb_to_hsv(0, 0, 0))";
    let (shown, conversation, _) =
        ask_with_file(&parlor, &upstream, ("colorsys.py", hostile), None, code).await;
    assert_eq!(shown, "(0.0, 0.0, 0)");
    let id = Some(conversation.parse().unwrap());
    // One of the person's own is found.
    let code = "import helpers\nprint(helpers.x)";
    let (shown, ..) = ask_with_file(&parlor, &upstream, ("helpers.py", b"x = 5\n".to_vec()), id, code).await;
    assert_eq!(shown, "5");
    // No file system takes this name as it is.
    let name = "表".repeat(100) + ".csv";
    let code = "import glob\nprint(len(glob.glob('表*.csv')))";
    let (shown, ..) = ask_with_file(&parlor, &upstream, (&name, b"x\n".to_vec()), id, code).await;
    assert_eq!(shown, "1");
}
