//! Files: their messages, and the deletion of their contents.

use super::*;

/// Returns a file that is not stored yet.
pub fn image_file(user_id: UserId, conversation_id: ConversationId) -> StoredFile {
    StoredFile {
        attachment: Attachment {
            id: AttachmentId::new(),
            name: "map.png".into(),
            media_type: "image/png".into(),
            bytes: 3,
            width: Some(2),
            height: Some(1),
            text_bytes: Some(4),
            problem: Some(FileProblem::NoText),
        },
        location: FileLocation {
            user_id,
            conversation_id,
            stored_name: uuid::Uuid::new_v4(),
        },
    }
}

pub(super) async fn upload(storage: &dyn Storage, conversation_id: ConversationId) -> StoredFile {
    upload_by(storage, TEST_USER, conversation_id).await
}

pub(super) async fn upload_by(
    storage: &dyn Storage,
    user_id: UserId,
    conversation_id: ConversationId,
) -> StoredFile {
    let file = image_file(user_id, conversation_id);
    let store = Change::File(FileChange::StoreUpload { file: file.clone() });
    assert_eq!(commit_one(storage, &store).await, Ok(Outcome::Done));
    file
}

/// Returns a turn whose message has these files.
pub(super) fn turn_with_files(conversation_id: ConversationId, files: &[&StoredFile]) -> TestTurn {
    let mut turn = new_turn(TEST_USER, conversation_id, "Look");
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut turn.change
    {
        intent.files = files.iter().map(|file| file.attachment.id).collect();
    }
    turn
}

async fn deleted(storage: &dyn Storage) -> Vec<FileLocation> {
    storage.deleted_files().await.unwrap()
}

pub async fn files_belong_to_one_message(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let (first, second) = (upload(&*storage, id).await, upload(&*storage, id).await);
    let elsewhere = upload(&*storage, ConversationId::new()).await;
    let foreign = upload_by(&*storage, other_user(), id).await;
    for wrong in [
        vec![&elsewhere],
        vec![&foreign],
        vec![&first, &first],
        vec![&image_file(TEST_USER, id)],
    ] {
        let turn = turn_with_files(id, &wrong);
        let refused = commit_one(&*storage, &turn.change).await;
        assert_eq!(refused, Err(ChangeRejection::FileNotFound));
    }
    // Users delete only their own uploads.
    for id in [first.attachment.id, foreign.attachment.id] {
        let user_id = other_user();
        commit_one(&*storage, &Change::File(FileChange::DeleteUpload { user_id, id }))
            .await
            .unwrap();
    }
    let locations = deleted(&*storage).await;
    assert_eq!(locations, [foreign.location]);
    commit_one(
        &*storage,
        &Change::File(FileChange::ForgetDeletedFiles { locations }),
    )
    .await
    .unwrap();
    let others = upload_by(&*storage, other_user(), id).await;
    let turn = turn_with_files(id, &[&second, &first]);
    commit_one(&*storage, &turn.change).await.unwrap();
    let (_, message) = storage
        .message(TEST_USER, turn.user_message_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(message.files(), [&second.attachment, &first.attachment]);
    let stored = |user| storage.file(user, first.attachment.id);
    assert_eq!(stored(TEST_USER).await.unwrap().as_ref(), Some(&first));
    assert_eq!(stored(other_user()).await.unwrap(), None);
    // The file of a message is not an upload any more.
    let delete = Change::File(FileChange::DeleteUpload {
        user_id: TEST_USER,
        id: first.attachment.id,
    });
    commit_one(&*storage, &delete).await.unwrap();
    assert_eq!(stored(TEST_USER).await.unwrap().as_ref(), Some(&first));
    let delete = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: id,
        change: ConversationChange::Delete,
    };
    commit_one(&*storage, &delete).await.unwrap();
    let mut gone = deleted(&*storage).await;
    gone.sort_by_key(|location| location.stored_name != first.location.stored_name);
    assert_eq!(gone, [first.location, second.location]);
    let mut left = storage.file_locations().await.unwrap();
    left.sort_by_key(|location| location.stored_name != elsewhere.location.stored_name);
    assert_eq!(left, [elsewhere.location, others.location]);
    let forget = Change::File(FileChange::ForgetDeletedFiles { locations: gone });
    commit_one(&*storage, &forget).await.unwrap();
    assert_eq!(deleted(&*storage).await, []);
}

pub async fn an_erased_file_leaves_the_title(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let mut secret = image_file(TEST_USER, id);
    secret.attachment.name = "secret.png".into();
    let store = Change::File(FileChange::StoreUpload { file: secret.clone() });
    commit_one(&*storage, &store).await.unwrap();
    let next = upload(&*storage, id).await;
    let [first, second] = [&secret, &next].map(|file| {
        let mut turn = turn_with_files(id, &[file]);
        if let Change::Intent {
            change: IntentChange::SendMessage { intent, .. },
            ..
        } = &mut turn.change
        {
            intent.text.clear();
        }
        turn
    });
    let title = async || full_transcript(&*storage, id).await.unwrap().title;
    let message_id = first.user_message_id;
    let (user_id, conversation_id, hidden_at) = (TEST_USER, id, NOON);
    commit_one(&*storage, &first.change).await.unwrap();
    assert_eq!(title().await, "secret.png");
    let hide = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::DeleteMessage {
            message_id,
            hidden_at,
        },
    };
    for change in [&end_run(first.run, "Seen"), &hide, &second.change] {
        commit_one(&*storage, change).await.unwrap();
    }
    let erase = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::EraseMessage {
            message_id,
            hidden_at,
        },
    };
    assert_eq!(commit_one(&*storage, &erase).await, Ok(Outcome::DataDeleted));
    assert_eq!(title().await, "map.png");
    let log = serde_json::to_string(&read_log(&*storage, TEST_USER).await).unwrap();
    assert!(!log.contains("secret"), "{log}");
}

pub async fn versions_share_contents_until_the_last_is_deleted(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let file = upload(&*storage, id).await;
    let first = turn_with_files(id, &[&file]);
    commit_one(&*storage, &first.change).await.unwrap();
    commit_one(&*storage, &end_run(first.run, "Seen")).await.unwrap();
    let version = new_version(id, first.user_message_id, "Look again");
    commit_one(&*storage, &version.change).await.unwrap();
    commit_one(&*storage, &end_run(version.run, "Seen again"))
        .await
        .unwrap();
    let (_, message) = storage
        .message(TEST_USER, version.user_message_id)
        .await
        .unwrap()
        .unwrap();
    let [copy] = message.files()[..] else {
        panic!("one file")
    };
    let stored = storage.file(TEST_USER, copy.id).await.unwrap().unwrap();
    assert_eq!(stored.location, file.location);
    let stored_bytes = |user| storage.stored_bytes(user);
    assert_eq!(
        stored_bytes(TEST_USER).await.unwrap(),
        3,
        "a shared content counts once"
    );
    assert_eq!(stored_bytes(other_user()).await.unwrap(), 0);
    for (message_id, expected) in [
        (first.user_message_id, vec![]),
        (version.user_message_id, vec![file.location]),
    ] {
        for change in [deletion::hide(id, message_id), deletion::erase(id, message_id)] {
            commit_one(&*storage, &change).await.unwrap();
        }
        assert_eq!(deleted(&*storage).await, expected);
    }
}

pub async fn queued_files_stay_until_removed(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let running = new_turn(TEST_USER, id, "Begin");
    commit_one(&*storage, &running.change).await.unwrap();
    let file = upload(&*storage, id).await;
    let turn = queue::queued(turn_with_files(id, &[&file]));
    commit_one(&*storage, &turn.change).await.unwrap();
    let transcript = storage
        .transcript(TEST_USER, id, PageSize::UNLIMITED, None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(transcript.queue.messages[0].files, [file.attachment]);
    let late = Timestamp(NOON.0 + 1);
    commit_one(
        &*storage,
        &Change::File(FileChange::ExpireUploads { before: late }),
    )
    .await
    .unwrap();
    assert_eq!(deleted(&*storage).await, []);
    let message_id = turn.user_message_id;
    // The files are enough.
    let edit = queue::change_queue(
        id,
        intent::QueueChange::Edit {
            message_id,
            text: String::new(),
        },
    );
    assert_eq!(commit_one(&*storage, &edit).await, Ok(Outcome::Done));
    let remove = queue::change_queue(id, intent::QueueChange::Remove { message_id });
    commit_one(&*storage, &remove).await.unwrap();
    assert_eq!(deleted(&*storage).await, [file.location]);
}

pub async fn unsent_uploads_expire(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let (sent, unsent) = (upload(&*storage, id).await, upload(&*storage, id).await);
    commit_one(&*storage, &turn_with_files(id, &[&sent]).change)
        .await
        .unwrap();
    commit_one(
        &*storage,
        &Change::File(FileChange::ExpireUploads { before: NOON }),
    )
    .await
    .unwrap();
    assert_eq!(deleted(&*storage).await, []);
    let late = Timestamp(NOON.0 + 1);
    commit_one(
        &*storage,
        &Change::File(FileChange::ExpireUploads { before: late }),
    )
    .await
    .unwrap();
    assert_eq!(deleted(&*storage).await, [unsent.location]);
}

pub async fn copied_files_share_content_until_last_deletion(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let file = upload(&*storage, id).await;
    let turn = turn_with_files(id, &[&file]);
    commit_one(&*storage, &turn.change).await.unwrap();
    let copy_by = |user_id, copy| {
        Change::File(FileChange::CopyFile {
            user_id,
            id: file.attachment.id,
            copy,
        })
    };
    let copy = AttachmentId::new();
    let refused = commit_one(&*storage, &copy_by(other_user(), copy)).await;
    assert_eq!(refused, Err(ChangeRejection::NotFound));
    for id in [copy, AttachmentId::new()] {
        let copied = commit_one(&*storage, &copy_by(TEST_USER, id)).await;
        assert_eq!(copied, Ok(Outcome::Done));
    }
    let stored = storage.file(TEST_USER, copy).await.unwrap().unwrap();
    let mut expected = file.clone();
    expected.attachment.id = copy;
    assert_eq!(stored, expected);
    // It is an upload: the next message takes it.
    commit_one(&*storage, &end_run(turn.run, "Seen")).await.unwrap();
    let edit = turn_with_files(id, &[&stored]);
    commit_one(&*storage, &edit.change).await.unwrap();
    commit_one(&*storage, &end_run(edit.run, "Changed"))
        .await
        .unwrap();
    assert_eq!(deleted(&*storage).await, []);
    let delete = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: id,
        change: ConversationChange::Delete,
    };
    commit_one(&*storage, &delete).await.unwrap();
    assert_eq!(deleted(&*storage).await, [file.location]);
}

pub async fn ended_run_gets_no_file(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let (ended, deleted) = (
        new_turn(TEST_USER, ConversationId::new(), "Draw"),
        new_turn(TEST_USER, ConversationId::new(), "Draw"),
    );
    let delete = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: deleted.run.conversation_id,
        change: ConversationChange::Delete,
    };
    for change in [
        &ended.change,
        &deleted.change,
        &end_run(ended.run, "Drawn"),
        &delete,
    ] {
        commit_one(&*storage, change).await.unwrap();
    }
    // The end of a run whose conversation is gone is rejected.
    let _ = commit_one(&*storage, &end_run(deleted.run, "Drawn")).await;
    for run in [ended.run, deleted.run] {
        let attachment = image_file(TEST_USER, run.conversation_id);
        let stored = commit_one(
            &*storage,
            &Change::Output {
                run,
                output: RunOutput::StoreAttachment { attachment },
            },
        )
        .await;
        assert_eq!(stored, Err(ChangeRejection::NotFound));
    }
    assert_eq!(storage.file_locations().await.unwrap(), []);
}
