//! The list of a user's files, and their deletion wherever they are used.

use super::{
    files::{image_file, turn_with_files, upload, upload_by},
    *,
};
use crate::file_list::FileListRequest;
use parlor_protocol::{FileSort, FileUseState};

/// Returns the names of a page of the user's files.
async fn names(storage: &dyn Storage, request: &FileListRequest) -> Vec<String> {
    let page = storage.listed_files(TEST_USER, request).await.unwrap();
    page.files.into_iter().map(|listed| listed.file.name).collect()
}

pub async fn files_are_listed_by_page_name_and_size(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    for (number, name) in ["Étude.png", "b.txt", "c étude.txt", "d.txt", "e.txt"]
        .iter()
        .enumerate()
    {
        let mut file = image_file(TEST_USER, id);
        file.attachment.name = (*name).into();
        file.attachment.bytes = [5, 1, 5, 4, 3][number];
        let at = Timestamp(NOON.0 + i64::try_from(number).unwrap());
        let store = Change::File(FileChange::StoreUpload { file });
        storage.commit(at, &[store]).await.unwrap();
    }
    upload_by(&*storage, other_user(), ConversationId::new()).await;
    let mut request = FileListRequest {
        limit: 2,
        ..FileListRequest::default()
    };
    for (sort, expected) in [
        (
            FileSort::Newest,
            ["e.txt", "d.txt", "c étude.txt", "b.txt", "Étude.png"],
        ),
        (
            FileSort::Oldest,
            ["Étude.png", "b.txt", "c étude.txt", "d.txt", "e.txt"],
        ),
        (
            FileSort::Largest,
            ["c étude.txt", "Étude.png", "d.txt", "e.txt", "b.txt"],
        ),
        (
            FileSort::Smallest,
            ["b.txt", "e.txt", "d.txt", "c étude.txt", "Étude.png"],
        ),
    ] {
        (request.sort, request.after) = (sort, None);
        let mut found = Vec::new();
        loop {
            let page = storage.listed_files(TEST_USER, &request).await.unwrap();
            assert_eq!(page.total, 5);
            found.extend(page.files.into_iter().map(|listed| listed.file.name));
            request.after = page.next;
            if request.after.is_none() {
                break;
            }
        }
        assert_eq!(found, expected, "{sort:?}");
    }
    request.after = None;
    (request.sort, request.query) = (FileSort::Oldest, "ETUDE".into());
    assert_eq!(names(&*storage, &request).await, ["Étude.png", "c étude.txt"]);
    request.query = "etude C".into();
    assert_eq!(names(&*storage, &request).await, ["c étude.txt"]);
    request.query = "%".into();
    assert_eq!(names(&*storage, &request).await, [""; 0]);
}

pub async fn a_file_is_listed_once_with_its_uses(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let file = upload(&*storage, id).await;
    let uses = async || {
        let request = FileListRequest {
            limit: 10,
            ..FileListRequest::default()
        };
        let page = storage.listed_files(TEST_USER, &request).await.unwrap();
        let uses = page.files.into_iter().map(|listed| listed.uses);
        uses.map(|uses| {
            uses.into_iter()
                .map(|place| (place.title, place.state))
                .collect::<Vec<_>>()
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(uses().await, [[(String::new(), FileUseState::Unsent)]]);
    let first = turn_with_files(id, &[&file]);
    commit_one(&*storage, &first.change).await.unwrap();
    commit_one(&*storage, &end_run(first.run, "Seen")).await.unwrap();
    let version = new_version(id, first.user_message_id, "Look again");
    commit_one(&*storage, &version.change).await.unwrap();
    commit_one(&*storage, &end_run(version.run, "Seen"))
        .await
        .unwrap();
    assert_eq!(uses().await, [[("Look".to_owned(), FileUseState::Shown)]]);
    let in_conversation = |change| Change::Conversation {
        user_id: TEST_USER,
        conversation_id: id,
        change,
    };
    let archive = ConversationChange::Archive { is_archived: true };
    commit_one(&*storage, &in_conversation(archive)).await.unwrap();
    assert_eq!(uses().await, [[("Look".to_owned(), FileUseState::Archived)]]);
    upload(&*storage, id).await;
    let unsent = vec![("Look".to_owned(), FileUseState::Unsent)];
    assert!(uses().await.contains(&unsent));
    let trash = ConversationChange::Trash { trashed_at: NOON };
    commit_one(&*storage, &in_conversation(trash)).await.unwrap();
    let deleted = vec![("Look".to_owned(), FileUseState::Deleted)];
    assert_eq!(
        uses().await,
        [deleted.clone(), deleted],
        "nothing is to be sent there any more"
    );
    let project_id = projects::saved(&*storage, projects::garden()).await;
    project_files::added(&*storage, project_id, "plan.txt").await;
    let garden = vec![("Garden".to_owned(), FileUseState::Shown)];
    assert!(uses().await.contains(&garden));
}

pub async fn a_deleted_file_is_marked_wherever_it_is_used(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let (file, kept) = (upload(&*storage, id).await, upload(&*storage, id).await);
    let delete_by = |user_id| {
        Change::File(FileChange::DeleteContent {
            user_id,
            id: file.attachment.id,
        })
    };
    let first = turn_with_files(id, &[&file, &kept]);
    commit_one(&*storage, &first.change).await.unwrap();
    commit_one(&*storage, &end_run(first.run, "Seen")).await.unwrap();
    let version = new_version(id, first.user_message_id, "Look again");
    commit_one(&*storage, &version.change).await.unwrap();
    commit_one(&*storage, &end_run(version.run, "Seen"))
        .await
        .unwrap();
    // Another user deletes nothing.
    commit_one(&*storage, &delete_by(other_user())).await.unwrap();
    assert!(
        storage
            .file(TEST_USER, file.attachment.id)
            .await
            .unwrap()
            .is_some()
    );

    assert_eq!(
        commit_one(&*storage, &delete_by(TEST_USER)).await,
        Ok(Outcome::DataDeleted)
    );
    assert_eq!(storage.deleted_files().await.unwrap(), [file.location]);
    assert!(
        storage
            .file(TEST_USER, file.attachment.id)
            .await
            .unwrap()
            .is_none()
    );
    for message_id in [first.user_message_id, version.user_message_id] {
        let (_, message) = storage.message(TEST_USER, message_id).await.unwrap().unwrap();
        let marks: Vec<bool> = message.files().into_iter().map(Attachment::is_deleted).collect();
        assert_eq!(marks, [true, false]);
    }
    let folded = folded_transcript(&*storage, id).await;
    let stored = full_transcript(&*storage, id).await.unwrap();
    assert_eq!(folded.shown_branch().first(), stored.shown_branch().first());
    // Once more has no effect.
    let last = storage.last_position(TEST_USER).await.unwrap();
    commit_one(&*storage, &delete_by(TEST_USER)).await.unwrap();
    assert_eq!(storage.last_position(TEST_USER).await.unwrap(), last);
}

pub async fn a_file_in_use_is_not_deleted(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let turn = new_turn(TEST_USER, id, "Draw");
    commit_one(&*storage, &turn.change).await.unwrap();
    let (made, waiting) = (image_file(TEST_USER, id), upload(&*storage, id).await);
    let store = Change::Output {
        run: turn.run,
        output: RunOutput::StoreAttachment {
            attachment: made.clone(),
        },
    };
    commit_one(&*storage, &store).await.unwrap();
    let queued = queue::queued(turn_with_files(id, &[&waiting]));
    commit_one(&*storage, &queued.change).await.unwrap();
    // The file of a question that is being answered.
    let other = ConversationId::new();
    let asked = upload(&*storage, other).await;
    let question = turn_with_files(other, &[&asked]);
    commit_one(&*storage, &question.change).await.unwrap();
    for file in [&made, &waiting, &asked] {
        let delete = Change::File(FileChange::DeleteContent {
            user_id: TEST_USER,
            id: file.attachment.id,
        });
        assert_eq!(
            commit_one(&*storage, &delete).await,
            Err(ChangeRejection::FileInUse)
        );
        assert!(
            storage
                .file(TEST_USER, file.attachment.id)
                .await
                .unwrap()
                .is_some()
        );
    }
}

pub async fn texts_of_a_deleted_file_leave_records_and_summaries(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let project_id = projects::saved(storage, projects::garden()).await;
    let of_project = project_files::added(storage, project_id, "plan.txt").await;
    let id = ConversationId::new();
    let file = upload(storage, id).await;
    let with_file = turn_with_files(id, &[&file]);
    let in_project = projects::turn_in(TEST_USER, project_id, "Plan?");
    let elsewhere = new_turn(TEST_USER, ConversationId::new(), "Hi");
    let turns = [with_file, in_project, elsewhere];
    for turn in &turns {
        commit_one(storage, &turn.change).await.unwrap();
        let call = RecordedModelCall {
            id: parlor_protocol::ModelCallId::new(),
            request: Some("a secret".into()),
            response: "{}".into(),
        };
        let summary = HistorySummary {
            last_message_id: turn.user_message_id,
            text: "a secret".into(),
        };
        for output in [
            RunOutput::RecordCall { call, keep_runs: 10 },
            RunOutput::StoreSummary { summary },
        ] {
            let run = turn.run;
            commit_one(storage, &Change::Output { run, output })
                .await
                .unwrap();
        }
        commit_one(storage, &end_run(turn.run, "Seen")).await.unwrap();
    }
    let kept = async || {
        let mut kept = Vec::new();
        for turn in &turns {
            let calls = storage.model_calls(TEST_USER, turn.run.message_id).await.unwrap();
            let context = storage.run_context(turn.run).await.unwrap().expect("it is there");
            kept.push((calls.len(), context.options.summaries.len()));
        }
        kept
    };
    assert_eq!(kept().await, [(1, 1), (1, 1), (1, 1)]);
    let user_id = TEST_USER;
    let delete = FileChange::DeleteContent {
        user_id,
        id: file.attachment.id,
    };
    commit_one(storage, &Change::File(delete)).await.unwrap();
    assert_eq!(kept().await, [(0, 0), (1, 1), (1, 1)]);
    let change = crate::projects::ProjectChange::DeleteFile {
        project_id,
        id: of_project,
    };
    commit_one(storage, &Change::Project { user_id, change })
        .await
        .unwrap();
    assert_eq!(kept().await, [(0, 0), (0, 0), (1, 1)]);
}
