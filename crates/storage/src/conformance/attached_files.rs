//! The files in a user's messages, of all conversations.

use super::{
    deletion,
    files::{image_file, turn_with_files, upload, upload_by},
    *,
};
use crate::FileKinds;

const IMAGES: FileKinds<'static> = FileKinds {
    media_types: &["image/png"],
    name_ends: &[],
};

/// Returns the titles and ids of a user's attached images.
async fn attached(storage: &dyn Storage, user_id: UserId) -> Vec<(String, AttachmentId)> {
    let files = storage.attached_files(user_id, IMAGES, 10).await.unwrap();
    files
        .into_iter()
        .map(|attached| (attached.title, attached.file.attachment.id))
        .collect()
}

/// Sends a message with a new file and ends its run.
async fn send_file(storage: &dyn Storage, conversation_id: ConversationId) -> (TestTurn, StoredFile) {
    let file = upload(storage, conversation_id).await;
    let turn = turn_with_files(conversation_id, &[&file]);
    commit_one(storage, &turn.change).await.unwrap();
    commit_one(storage, &end_run(turn.run, "Seen")).await.unwrap();
    (turn, file)
}

pub async fn attached_files_are_those_of_shown_messages(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    // Of no message, of another user, and of a run.
    upload(&*storage, ConversationId::new()).await;
    upload_by(&*storage, other_user(), ConversationId::new()).await;
    let (first, file) = send_file(&*storage, id).await;
    let drawn = new_turn(TEST_USER, id, "Draw");
    let attachment = image_file(TEST_USER, id);
    let output = RunOutput::StoreAttachment { attachment };
    let run = drawn.run;
    for change in [
        &drawn.change,
        &Change::Output { run, output },
        &end_run(run, "Drawn"),
    ] {
        commit_one(&*storage, change).await.unwrap();
    }
    let (later, second) = send_file(&*storage, id).await;
    let shown = async || attached(&*storage, TEST_USER).await;
    let (first_entry, second_entry) = (
        ("Look".to_owned(), file.attachment.id),
        ("Look".to_owned(), second.attachment.id),
    );
    assert_eq!(shown().await, [second_entry.clone(), first_entry.clone()]);
    assert_eq!(attached(&*storage, other_user()).await, []);

    // A message is hidden with those that follow it.
    let hide = |message_id| deletion::hide(id, message_id);
    let restore = |message_id| deletion::restore(id, message_id);
    commit_one(&*storage, &hide(later.user_message_id)).await.unwrap();
    assert_eq!(shown().await, std::slice::from_ref(&first_entry));
    commit_one(&*storage, &restore(later.user_message_id))
        .await
        .unwrap();
    commit_one(&*storage, &hide(first.user_message_id)).await.unwrap();
    assert_eq!(shown().await, []);
    commit_one(&*storage, &restore(first.user_message_id))
        .await
        .unwrap();
    assert_eq!(shown().await, [second_entry, first_entry]);

    let trash = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: id,
        change: ConversationChange::Trash { trashed_at: NOON },
    };
    commit_one(&*storage, &trash).await.unwrap();
    assert_eq!(shown().await, []);
}

pub async fn attached_files_are_of_the_asked_kinds(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let (_, image) = send_file(&*storage, id).await;
    let mut lines = image_file(TEST_USER, id);
    lines.attachment.name = "LINES.JSONL".into();
    lines.attachment.media_type = "text/plain".into();
    let store = Change::File(FileChange::StoreUpload { file: lines.clone() });
    commit_one(&*storage, &store).await.unwrap();
    let turn = turn_with_files(id, &[&lines]);
    commit_one(&*storage, &turn.change).await.unwrap();
    commit_one(&*storage, &end_run(turn.run, "Seen")).await.unwrap();
    // Another version of the message has the same content.
    let version = new_version(id, turn.user_message_id, "Look again");
    commit_one(&*storage, &version.change).await.unwrap();
    let found = async |media_types, name_ends, limit| {
        let kinds = FileKinds {
            media_types,
            name_ends,
        };
        let found = storage.attached_files(TEST_USER, kinds, limit).await.unwrap();
        found
            .into_iter()
            .map(|attached| attached.file.location)
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&[], &["json", "jsonl"], 10).await, [lines.location]);
    assert_eq!(found(&["image/png"], &["son"], 10).await, [image.location]);
    let both = [lines.location, image.location];
    assert_eq!(found(&["image/png"], &["jsonl"], 10).await, both);
    assert_eq!(found(&["image/png"], &["jsonl"], 1).await, both[..1]);
    assert_eq!(found(&[], &[], 10).await, []);
}
