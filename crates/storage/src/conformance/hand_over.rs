//! The hand-over of a user's data to another user.

use super::{
    accounts::{apply, make_accounts},
    *,
};
use crate::{
    accounts::{AccountChange, PendingDeletion},
    audit::{Actor, AuditAction, SignInWay},
    jobs::{Fence, JobChange, JobOutput},
};

use parlor_protocol::{
    JobId,
    literature::{Article, LibraryChange, ResearchStream, SavedArticle},
};

/// Deletes an account, by the first user.
pub(super) async fn delete_user(
    storage: &dyn Storage,
    user_id: UserId,
    heir: Option<UserId>,
) -> Result<Outcome, ChangeRejection> {
    apply(storage, by(AccountChange::BeginDeletion { user_id, heir })).await?;
    apply(storage, by(AccountChange::Delete { user_id, heir })).await
}

fn by(change: AccountChange) -> AccountChange {
    AccountChange::By {
        actor: Actor {
            user_id: TEST_USER,
            address: "192.0.2.1".into(),
            signs_in_by: SignInWay::Password,
        },
        change: Box::new(change),
    }
}

fn delete_to(heir: Option<UserId>) -> AccountChange {
    let user_id = other_user();
    by(AccountChange::Delete { user_id, heir })
}

fn save_article(user_id: UserId, pmid: &str, note: &str) -> Change {
    Change::Library {
        user_id,
        update: LibraryUpdate::SaveArticle {
            article: SavedArticle {
                article: Article {
                    pmid: pmid.into(),
                    title: "Tides".into(),
                    authors: Vec::new(),
                    journal: "J".into(),
                    published: "2024".into(),
                    doi: None,
                },
                note: note.into(),
                saved_at: NOON,
            },
            abstract_text: None,
            limit: 10,
        },
    }
}

/// Runs a turn of the other user with a file.
async fn turn_with_file(
    storage: &dyn Storage,
    conversation_id: ConversationId,
    text: &str,
) -> (TestTurn, StoredFile) {
    let turn = new_turn(other_user(), conversation_id, text);
    commit_one(storage, &turn.change).await.unwrap();
    let file = files::image_file(turn.run.user_id, conversation_id);
    let store = Change::Output {
        run: turn.run,
        output: RunOutput::StoreAttachment {
            attachment: file.clone(),
        },
    };
    commit_one(storage, &store).await.unwrap();
    let [begun, drawn] = draw_events(None, &file);
    let events = vec![
        begun,
        drawn,
        RunEvent::run_ended(RunStatus::Complete, None, NOON, 0),
    ];
    let mut message = AssistantMessage::new("x/m");
    for event in &events {
        transcript::apply_to_run(&mut message, event);
    }
    let end = Change::Output {
        run: turn.run,
        output: RunOutput::EndRun { events, message },
    };
    assert_eq!(commit_one(storage, &end).await, Ok(Outcome::Done));
    (turn, file)
}

pub async fn an_heir_gets_conversations_files_and_library(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let (first, second) = (ConversationId::new(), ConversationId::new());
    let mut files = Vec::new();
    for (id, text) in [(first, "One"), (second, "Two"), (first, "Three")] {
        files.push(turn_with_file(&*storage, id, text).await);
    }
    for change in [
        save_article(TEST_USER, "11", "Mine"),
        save_article(other_user(), "11", "Theirs"),
        save_article(other_user(), "12", "Theirs"),
    ] {
        commit_one(&*storage, &change).await.unwrap();
    }
    let stream = ResearchStream {
        name: "Tides".into(),
        query: "tides".into(),
        ..ResearchStream::new(ResearchStreamId::new())
    };
    let save = Change::Library {
        user_id: other_user(),
        update: LibraryUpdate::SaveResearchStream {
            stream: stream.clone(),
            limit: 10,
        },
    };
    commit_one(&*storage, &save).await.unwrap();
    let read = async |storage: &dyn Storage, user, id| {
        let found = storage
            .transcript(user, id, PageSize::UNLIMITED, None)
            .await
            .unwrap();
        found.map(|found| found.messages)
    };
    let before = read(&*storage, other_user(), first).await.unwrap();

    let outcome = delete_user(&*storage, other_user(), Some(TEST_USER)).await;
    assert_eq!(outcome, Ok(Outcome::DataDeleted));
    drop(storage);
    let storage = open_storage(backend, &folder).await;

    assert_eq!(storage.account(other_user()).await.unwrap(), None);
    assert_eq!(read(&*storage, other_user(), first).await, None);
    assert_eq!(read(&*storage, TEST_USER, first).await.unwrap(), before);
    let list = storage.conversations(TEST_USER, None, 10).await.unwrap();
    let ids: Vec<_> = list.conversations.iter().map(|listed| listed.id).collect();
    assert_eq!(ids, [first, second], "newest activity first");
    for (_, file) in &files {
        let found = storage.file(TEST_USER, file.attachment.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(file), "its content stays where it is");
    }
    assert_eq!(storage.deleted_files().await.unwrap(), []);
    let bytes: usize = files.iter().map(|(_, file)| file.attachment.bytes).sum();
    assert_eq!(storage.stored_bytes(TEST_USER).await.unwrap(), bytes as u64);
    let library = storage.library(TEST_USER).await.unwrap();
    let notes: Vec<_> = library
        .articles
        .iter()
        .map(|saved| (saved.article.pmid.as_str(), saved.note.as_str()))
        .collect();
    assert!(
        notes.contains(&("11", "Mine")) && notes.contains(&("12", "Theirs")),
        "{notes:?}"
    );
    assert_eq!((notes.len(), library.streams), (2, vec![stream.clone()]));
    let log = read_log(&*storage, TEST_USER).await;
    let announced = log.iter().any(|event| match &event.body {
        EventBody::User(UserEvent::LiteratureChanged { change }) => {
            serde_json::from_str::<LibraryChange>(change.as_str()).unwrap()
                == LibraryChange::StreamSaved(stream.clone())
        }
        _ => false,
    });
    assert!(announced, "{log:?}");
    assert_eq!(
        storage.audit_log(None, 1).await.unwrap()[0].action,
        AuditAction::HandedOver
    );

    // It can be continued like any other conversation.
    let next = new_turn(TEST_USER, first, "Four");
    commit_one(&*storage, &next.change).await.unwrap();
    commit_one(&*storage, &end_run(next.run, "Fine.")).await.unwrap();
    let messages = read(&*storage, TEST_USER, first).await.unwrap();
    assert_eq!(messages.len(), before.len() + 2);
    assert_eq!(messages[..before.len()], before[..]);
    let branch = Change::Intent {
        user_id: TEST_USER,
        change: IntentChange::BranchConversation {
            intent: intent::BranchConversation {
                intent_id: IntentId::new(),
                message_id: next.run.message_id,
                conversation_id: ConversationId::new(),
            },
            fingerprint: String::new(),
        },
    };
    commit_one(&*storage, &branch).await.unwrap();
    let delete = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: second,
        change: ConversationChange::Delete,
    };
    commit_one(&*storage, &delete).await.unwrap();
    let gone = files[1].1.location;
    assert_eq!(storage.deleted_files().await.unwrap(), [gone]);
    assert_eq!(
        storage.file_locations().await.unwrap().len(),
        4,
        "copies share a content"
    );
}

pub async fn a_hand_over_interrupts_running_jobs(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let (running, waiting) = (JobId::new(), JobId::new());
    for id in [running, waiting] {
        commit_one(&*storage, &jobs::start_as(other_user(), id, "first"))
            .await
            .unwrap();
    }
    let of_theirs = |job_id, output| {
        let fence = Fence(1);
        let change = JobChange::Output {
            job_id,
            fence,
            output,
        };
        jobs::change(other_user(), change)
    };
    let pause = JobOutput::Pause {
        error: jobs::error("unknown"),
        waits_for: Some("a".into()),
    };
    for change in [
        of_theirs(running, jobs::start_step("a")),
        of_theirs(running, jobs::finish_step("a", Ok("2"))),
        of_theirs(waiting, pause),
    ] {
        commit_one(&*storage, &change).await.unwrap();
    }
    delete_user(&*storage, other_user(), Some(TEST_USER))
        .await
        .unwrap();
    let [job, kept] = [running, waiting].map(|id| jobs::stored_job(&*storage, id));
    let job = job.await.job;
    assert_eq!(
        (job.status, job.ended_at, job.progress.left_ms),
        (RunStatus::Interrupted, Some(NOON), None)
    );
    let kept = kept.await.job;
    assert_eq!((kept.status, kept.ended_at), (RunStatus::Waiting, None));
    let late = of_theirs(running, jobs::start_step("b"));
    assert_eq!(commit_one(&*storage, &late).await, Err(ChangeRejection::NotFound));
    assert_eq!(storage.job_steps(TEST_USER, running).await.unwrap().len(), 1);
}

pub async fn nothing_is_handed_over_to_nobody(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let conversation_id = ConversationId::new();
    let turn = new_turn(other_user(), conversation_id, "Hello");
    commit_one(&*storage, &turn.change).await.unwrap();
    for heir in [UserId::new(), other_user()] {
        let refused = delete_user(&*storage, other_user(), Some(heir)).await;
        assert_eq!(refused, Err(ChangeRejection::NoHeir));
    }
    let active = storage.active_runs(other_user()).await.unwrap();
    assert_eq!(active, [turn.run.message_id]);
    let too_early = delete_user(&*storage, other_user(), Some(TEST_USER)).await;
    assert_eq!(too_early, Err(ChangeRejection::RunActive));
    let kept = storage
        .transcript(other_user(), conversation_id, PageSize::UNLIMITED, None)
        .await
        .unwrap();
    assert_eq!(kept.unwrap().messages.len(), 2);
}

pub async fn a_deletion_that_began_is_remembered(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let begin = || {
        by(AccountChange::BeginDeletion {
            user_id: other_user(),
            heir: Some(TEST_USER),
        })
    };
    apply(&*storage, begin()).await.unwrap();
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    assert!(storage.account(other_user()).await.unwrap().unwrap().is_disabled);
    let pending = PendingDeletion {
        user_id: other_user(),
        heir: Some(TEST_USER),
        actor: TEST_USER,
        address: "192.0.2.1".into(),
    };
    assert_eq!(storage.pending_deletions().await.unwrap(), [pending]);
    // Enabling the account gives it up.
    let enable = by(AccountChange::SetDisabled {
        user_id: other_user(),
        is_disabled: false,
    });
    apply(&*storage, enable).await.unwrap();
    assert_eq!(storage.pending_deletions().await.unwrap(), []);
    let given_up = Err(ChangeRejection::DeletionGivenUp);
    assert_eq!(apply(&*storage, delete_to(Some(TEST_USER))).await, given_up);
    apply(&*storage, begin()).await.unwrap();
    assert_eq!(apply(&*storage, delete_to(None)).await, given_up, "another way");
    assert!(storage.account(other_user()).await.unwrap().is_some());
    apply(&*storage, delete_to(Some(TEST_USER))).await.unwrap();
    assert_eq!(storage.pending_deletions().await.unwrap(), []);
}

pub async fn a_handed_over_conversation_keeps_its_beginning(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let id = ConversationId::new();
    let turn = new_turn(other_user(), id, "Hello");
    commit_one(&*storage, &turn.change).await.unwrap();
    commit_one(&*storage, &end_run(turn.run, "Fine.")).await.unwrap();
    let begin = by(AccountChange::BeginDeletion {
        user_id: other_user(),
        heir: Some(TEST_USER),
    });
    let later = Timestamp(NOON.0 + 1000);
    let changes = [begin, delete_to(Some(TEST_USER))].map(Change::Account);
    storage.commit(later, &changes).await.unwrap();
    let kept = storage.conversation(TEST_USER, id).await.unwrap();
    let kept = kept.expect("it is handed over");
    assert_eq!((kept.created_at, kept.listed.updated_at), (NOON, later));
}

pub async fn long_hidden_branches_are_not_handed_over(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let id = ConversationId::new();
    // Deeper than SQLite deletes by references.
    let turns: Vec<_> = (0..600)
        .map(|number| new_turn(other_user(), id, &number.to_string()))
        .collect();
    let changes: Vec<_> = turns
        .iter()
        .flat_map(|turn| [turn.change.clone(), end_run(turn.run, "Fine.")])
        .collect();
    storage.commit(NOON, &changes).await.unwrap();
    let hide = Change::Conversation {
        user_id: other_user(),
        conversation_id: id,
        change: ConversationChange::DeleteMessage {
            message_id: turns[0].user_message_id,
            hidden_at: NOON,
        },
    };
    commit_one(&*storage, &hide).await.unwrap();
    let outcome = delete_user(&*storage, other_user(), Some(TEST_USER)).await;
    assert_eq!(outcome, Ok(Outcome::DataDeleted));
    let kept = storage.transcript(TEST_USER, id, PageSize::UNLIMITED, None).await;
    assert_eq!(kept.unwrap().expect("it is handed over").messages, []);
}

pub async fn temporary_and_deleted_conversations_are_not_handed_over(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let turn = new_turn(other_user(), ConversationId::new(), "Hello");
    let trash = Change::Conversation {
        user_id: other_user(),
        conversation_id: turn.run.conversation_id,
        change: ConversationChange::Trash { trashed_at: NOON },
    };
    for change in [&turn.change, &trash] {
        commit_one(&*storage, change).await.unwrap();
    }
    let outcome = delete_user(&*storage, other_user(), Some(TEST_USER)).await;
    assert_eq!(outcome, Err(ChangeRejection::RunActive), "its run ends first");
    commit_one(&*storage, &end_run(turn.run, "Fine.")).await.unwrap();
    apply(&*storage, delete_to(Some(TEST_USER))).await.unwrap();
    let id = turn.run.conversation_id;
    assert!(!storage.is_trashed(TEST_USER, id).await.unwrap());
    let list = storage.conversations(TEST_USER, None, 10).await.unwrap();
    assert_eq!(list.conversations, []);
}
