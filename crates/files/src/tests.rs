use std::{os::unix::fs::PermissionsExt, path::Path, time::Duration};

use futures::stream;
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use parlor_journal::{JournalError, hub::Hub};
use parlor_protocol::{AttachmentId, ConversationId, MessageId, UserId};
use parlor_storage::{ChangeRejection, RunKey, sqlite::SqliteStorage};

/// The beginning of a PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\nand so on";

/// Writes a shell script that stands for the process that reads a file.
fn reader_script(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("reader.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

/// Opens files whose reader is a shell script.
async fn open_files(script: &str, change: impl FnOnce(&mut FileSettings)) -> (TempDir, Files) {
    let folder = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
    let (journal, _writer) = Journal::start(storage.clone(), Arc::new(Hub::default()));
    let mut settings = Settings::default();
    settings.files.reader = Some(reader_script(folder.path(), script).into());
    change(&mut settings.files);
    let files = Files::open(folder.path(), storage, journal, &settings).unwrap();
    (folder, files)
}

fn text_file() -> StoredFile {
    StoredFile {
        attachment: Attachment {
            id: AttachmentId::new(),
            name: "a.txt".into(),
            media_type: "text/plain".into(),
            bytes: 5,
            width: None,
            height: None,
            text_bytes: None,
            problem: None,
        },
        location: FileLocation {
            user_id: UserId::LOCAL,
            conversation_id: ConversationId::new(),
            stored_name: Uuid::new_v4(),
        },
    }
}

async fn upload(files: Files, name: &str, data: &'static [u8]) -> Result<Attachment, UploadError> {
    let head = UploadHead {
        user_id: UserId::LOCAL,
        owner: FileOwner::Conversation(ConversationId::new()),
        name,
        length: None,
    };
    let body = stream::iter([Ok::<_, io::Error>(Bytes::from_static(data))]);
    files.upload(head, body).await
}

/// Waits until the folder of files has this number of contents, in all their forms.
async fn wait_for_contents(files: &Files, count: usize) {
    let wait = async {
        while files.0.contents.list_local().await.unwrap().len() != count {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait)
        .await
        .expect("so many contents");
}

#[tokio::test]
async fn file_without_a_row_leaves_nothing() {
    let (_folder, files) = open_files("exit 1", |_| {}).await;
    let run = RunKey {
        user_id: UserId::LOCAL,
        conversation_id: ConversationId::new(),
        message_id: MessageId::new(),
    };
    let written = files.write_tool_file(text_file(), b"Hello").await.unwrap();
    wait_for_contents(&files, 1).await;
    let refused = written.commit_for_run(run).await;
    assert_eq!(refused, Err(JournalError::Rejected(ChangeRejection::NotFound)));
    wait_for_contents(&files, 0).await;
    drop(files.write_tool_file(text_file(), b"Hello").await.unwrap());
    wait_for_contents(&files, 0).await;
}

#[tokio::test]
async fn rows_without_a_row_leave_nothing() {
    let (_folder, files) = open_files("exit 1", |_| {}).await;
    let run = RunKey {
        user_id: UserId::LOCAL,
        conversation_id: ConversationId::new(),
        message_id: MessageId::new(),
    };
    let begin = || files.begin_rows(run.user_id, run.conversation_id);
    // As a call that was stopped while it wrote.
    let begun = begin().await.unwrap();
    std::fs::write(begun.path(), b"Hello").unwrap();
    wait_for_contents(&files, 1).await;
    drop(begun);
    wait_for_contents(&files, 0).await;
    drop(begin().await.unwrap().finish().await.unwrap());
    wait_for_contents(&files, 0).await;
    // As one whose conversation was deleted.
    let begun = begin().await.unwrap();
    std::fs::write(begun.path(), b"Hello").unwrap();
    let written = begun.finish().await.unwrap();
    let id = written.id();
    assert_eq!(std::fs::read(written.path()).unwrap(), b"Hello");
    let refused = written.commit_for_run(run).await;
    assert_eq!(refused, Err(JournalError::Rejected(ChangeRejection::NotFound)));
    wait_for_contents(&files, 0).await;
    assert_eq!(files.rows_path(run.user_id, id).await.unwrap(), None);
    // As a process that was killed: the next start deletes what has no row.
    let begun = begin().await.unwrap();
    files.delete_orphans().await;
    assert!(!begun.path().exists());
}

#[tokio::test]
async fn placing_a_content_again_changes_nothing() {
    let (folder, files) = open_files("exit 1", |_| {}).await;
    let file = text_file();
    let _written = files.write_tool_file(file.clone(), b"Hello").await.unwrap();
    for may_link in [true, false] {
        let path = folder.path().join(format!("placed-{may_link}"));
        // The call that placed it first was stopped before it noted that.
        for _ in 0..2 {
            files
                .place_content(file.location, path.clone(), may_link)
                .await
                .unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"Hello");
        }
    }
    let mut content = Vec::new();
    let mut original = files.open_content(file.location).await.unwrap();
    original.read_to_end(&mut content).await.unwrap();
    assert_eq!(content, b"Hello");
}

#[tokio::test]
async fn unreadable_tables_are_read_once() {
    let reason = reader::tables::REASON;
    let script =
        format!("echo once >> \"$(dirname \"$0\")/runs\"; echo \"{reason}it is no table\" >&2; exit 1");
    let (folder, files) = open_files(&script, |_| {}).await;
    let mut file = text_file();
    file.attachment.media_type = "text/csv".into();
    let _written = files.write_tool_file(file.clone(), b"a,b").await.unwrap();
    for _ in 0..2 {
        let found = files.table_database(&file).await;
        assert_eq!(found.unwrap_err().to_string(), "it is no table");
    }
    assert_eq!(
        std::fs::read_to_string(folder.path().join("runs")).unwrap(),
        "once\n"
    );
}

#[tokio::test]
async fn tables_count_in_the_quota() {
    let (_folder, files) = open_files("printf '%01000d' 0", |settings| settings.user_bytes = 1500).await;
    let csv = || {
        let mut file = text_file();
        file.attachment.media_type = "text/csv".into();
        file
    };
    let (first, second) = (csv(), csv());
    let _first = files.write_tool_file(first.clone(), b"a,b").await.unwrap();
    let _second = files.write_tool_file(second.clone(), b"a,b").await.unwrap();
    let path = files.table_database(&first).await.unwrap();
    assert!(path.exists());
    let free = files.free_bytes(UserId::LOCAL).await.unwrap();
    assert_eq!(free, 500);
    assert!(matches!(
        upload(files.clone(), "a.bin", &[7; 600]).await,
        Err(UploadError::NoRoom { .. })
    ));
    let refused = files.table_database(&second).await;
    assert!(matches!(refused, Err(TableFileError::NoRoom)), "{refused:?}");
    assert_eq!(files.free_bytes(UserId::LOCAL).await.unwrap(), free);
    // The first one still can be queried.
    assert_eq!(files.table_database(&first).await.unwrap(), path);
}

#[tokio::test]
async fn only_json_of_objects_has_tables() {
    let (_folder, files) = open_files("exit 1", |_| {}).await;
    let mut found = Vec::new();
    for (name, content) in [
        ("rows.json", "[{\"a\": 1}]"),
        ("lines.json", "{\"a\": 1}\n{\"a\": 2}"),
        ("settings.json", "{\"a\": {\"b\": 1}}"),
        ("numbers.json", "[1, 2]"),
        // The name says that each line has an object.
        ("one.jsonl", "{\"a\": 1}"),
        ("a.txt", "[{\"a\": 1}]"),
    ] {
        let head = UploadHead {
            user_id: UserId::LOCAL,
            owner: FileOwner::Conversation(ConversationId::new()),
            name,
            length: None,
        };
        let body = stream::iter([Ok::<_, io::Error>(Bytes::from_static(content.as_bytes()))]);
        let file = files.upload(head, body).await.unwrap();
        if !files.with_tables(UserId::LOCAL, &[file]).await.is_empty() {
            found.push(name);
        }
    }
    assert_eq!(found, ["rows.json", "lines.json", "one.jsonl"]);
}

#[tokio::test]
async fn leftover_forms_are_deleted() {
    let (_folder, files) = open_files("exit 1", |_| {}).await;
    let file = text_file();
    let _written = files.write_tool_file(file.clone(), b"Hello").await.unwrap();
    let original = files.0.contents.path(file.location, ContentForm::Original);
    let stored_name = file.location.stored_name;
    let with_suffix = |suffix: &str| original.with_file_name(format!("{stored_name}{suffix}"));
    let kept = [".model", ".picture", ".tables2"];
    let leftovers = [".tables", ".new-0198f6a0-0000-7000-8000-000000000000"];
    for suffix in kept.iter().chain(&leftovers) {
        std::fs::write(with_suffix(suffix), "x").unwrap();
    }
    files.0.contents.delete_leftovers(None).await.unwrap();
    assert!(original.exists());
    assert!(kept.iter().all(|suffix| with_suffix(suffix).exists()));
    assert!(!leftovers.iter().any(|suffix| with_suffix(suffix).exists()));
}

#[tokio::test]
async fn cut_upload_leaves_nothing() {
    let (_folder, files) = open_files("exec sleep 600", |_| {}).await;
    let upload = tokio::spawn(upload(files.clone(), "a.png", PNG));
    // The original is complete, and its form for models is being written.
    wait_for_contents(&files, 2).await;
    upload.abort();
    wait_for_contents(&files, 0).await;
}

#[tokio::test]
async fn output_of_a_reader_is_limited() {
    // It never ends by itself.
    let (_folder, files) = open_files("exec cat /dev/zero", |settings| {
        settings.reader_timeout = Duration::from_secs(300);
    })
    .await;
    let cleaned = files.clean_image(Bytes::from_static(PNG), 100_000).await;
    assert!(
        matches!(cleaned, Err(PrepareError::TooLarge { limit: 100_000 })),
        "{cleaned:?}"
    );
    // What it writes to its standard error is cut off, and its end is awaited.
    let (_folder, files) = open_files("cat /dev/zero >&2; exit 3", |_| {}).await;
    let cleaned = files.clean_image(Bytes::from_static(PNG), 100_000).await;
    assert!(matches!(cleaned, Err(PrepareError::TooManyPixels)), "{cleaned:?}");
}

#[tokio::test]
async fn unread_documents_keep_only_fitting_types() {
    // As a reader ends that exceeds a limit.
    let (_folder, files) = open_files("exit 1", |_| {}).await;
    let zip: &[u8] = b"PK\x03\x04 and so on";
    let ole: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and so on";
    let mut found = Vec::new();
    for (name, data) in [
        ("bomb.pdf", zip),
        ("bomb.pdf", ole),
        ("a.xlsx", zip),
        ("a.csv", b"K\xF6ln;3\n"),
        ("a.csv", "Köln;3\n".as_bytes()),
    ] {
        let kept = upload(files.clone(), name, data).await;
        found.push(
            kept.map_err(|error| error.to_string())
                .map(|file| (file.media_type, file.problem)),
        );
    }
    let xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    let unusable = |media_type: &str| Err(format!("files of the type {media_type} can't be used"));
    assert_eq!(
        found,
        [
            unusable("application/zip"),
            unusable("application/x-ole-storage"),
            Ok((xlsx.into(), Some(FileProblem::TooComplex))),
            unusable("application/octet-stream"),
            Ok(("text/csv".into(), None)),
        ]
    );
    wait_for_contents(&files, 2).await;
}
