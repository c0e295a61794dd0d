//! Shares of conversations, and what they show.

use super::{accounts::make_accounts, *};
use crate::shares::{Audience, ShareChange, Snapshot, StoredShare};
use parlor_protocol::ShareId;

const LIMIT: usize = 3;

fn share(conversation_id: ConversationId, audience: Audience) -> StoredShare {
    StoredShare {
        id: ShareId::new(),
        user_id: TEST_USER,
        conversation_id,
        audience,
        snapshot: None,
        created_at: NOON,
    }
}

fn create(share: &StoredShare, hash: Option<u8>) -> Change {
    Change::Share(ShareChange::Create {
        share: share.clone(),
        hash: hash.map(|byte| TokenHash([byte; 32])),
        limit: LIMIT,
    })
}

/// Shares a conversation by a link.
pub(super) fn create_link(conversation_id: ConversationId) -> Change {
    create(&share(conversation_id, Audience::Link), Some(1))
}

fn end(user_id: UserId, share: &StoredShare) -> Change {
    let share_id = share.id;
    Change::Share(ShareChange::End { user_id, share_id })
}

/// Commits a turn with a complete answer. Returns it.
async fn turn(storage: &dyn Storage, conversation_id: ConversationId, text: &str) -> TestTurn {
    let turn = new_turn(TEST_USER, conversation_id, text);
    commit_one(storage, &turn.change).await.expect("accepted");
    commit_one(storage, &answer_run(turn.run, text, RunStatus::Complete))
        .await
        .expect("accepted");
    turn
}

async fn shown(storage: &dyn Storage, share: &StoredShare) -> Option<Vec<MessageId>> {
    let page = PageSize::UNLIMITED;
    let transcript = storage.shared_transcript(share, page, None).await.unwrap()?;
    Some(
        transcript
            .shown_branch()
            .iter()
            .map(|message| message.id)
            .collect(),
    )
}

pub async fn a_share_exists_until_it_is_ended(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let here = ConversationId::new();
    turn(&*storage, here, "a").await;
    let link = share(here, Audience::Link);
    let people = share(here, Audience::People(vec![(other_user(), "ben".into())]));
    assert_eq!(
        commit_one(&*storage, &create(&link, Some(1))).await,
        Ok(Outcome::Done)
    );
    assert_eq!(
        commit_one(&*storage, &create(&people, None)).await,
        Ok(Outcome::Done)
    );
    let elsewhere = share(ConversationId::new(), Audience::Link);
    assert_eq!(
        commit_one(&*storage, &create(&elsewhere, Some(2))).await,
        Err(ChangeRejection::NotFound)
    );

    drop(storage);
    let storage = open_storage(backend, &folder).await;
    assert_eq!(
        storage.shares(TEST_USER).await.unwrap(),
        [people.clone(), link.clone()]
    );
    assert_eq!(storage.shares(other_user()).await.unwrap(), []);
    let by_link = async |byte| storage.share_by_link(&TokenHash([byte; 32])).await.unwrap();
    assert_eq!(by_link(1).await, Some(link.clone()));
    assert_eq!(by_link(2).await, None);
    let by_name = async |id, reader| storage.share_of_reader(id, reader).await.unwrap();
    let stranger = UserId(uuid::Uuid::from_u128(3));
    assert_eq!(by_name(people.id, other_user()).await, Some(people.clone()));
    assert_eq!(
        by_name(people.id, TEST_USER).await,
        Some(people.clone()),
        "the owner"
    );
    assert_eq!(by_name(people.id, stranger).await, None);
    assert_eq!(by_name(link.id, other_user()).await, None, "a link has a secret");
    assert_eq!(by_name(link.id, TEST_USER).await, None);

    assert_eq!(
        commit_one(&*storage, &end(other_user(), &link)).await,
        Err(ChangeRejection::NotFound)
    );
    assert_eq!(
        commit_one(&*storage, &end(TEST_USER, &link)).await,
        Ok(Outcome::DataDeleted)
    );
    assert_eq!(by_link(1).await, None);
    assert_eq!(storage.shares(TEST_USER).await.unwrap(), [people]);
}

pub async fn shares_end_with_their_conversation_and_their_users(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let (first, second) = (ConversationId::new(), ConversationId::new());
    turn(&*storage, first, "a").await;
    turn(&*storage, second, "b").await;
    let link = share(first, Audience::Link);
    let people = share(second, Audience::People(vec![(other_user(), "ben".into())]));
    let more = share(second, Audience::Link);
    for (share, hash) in [(&link, Some(1)), (&people, None), (&more, Some(2))] {
        assert_eq!(
            commit_one(&*storage, &create(share, hash)).await,
            Ok(Outcome::Done)
        );
    }
    let full = share(second, Audience::Link);
    assert_eq!(
        commit_one(&*storage, &create(&full, Some(3))).await,
        Err(ChangeRejection::SharesFull)
    );
    let delete = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: first,
        change: ConversationChange::Delete,
    };
    commit_one(&*storage, &delete).await.unwrap();
    assert_eq!(storage.share_by_link(&TokenHash([1; 32])).await.unwrap(), None);

    hand_over::delete_user(&*storage, other_user(), None)
        .await
        .unwrap();
    let left = storage.shares(TEST_USER).await.unwrap();
    assert_eq!(
        left[1].audience,
        Audience::People(Vec::new()),
        "the reader is gone"
    );
}

pub async fn a_share_shows_one_branch_only(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let here = ConversationId::new();
    let first = turn(&*storage, here, "a").await;
    let second = turn(&*storage, here, "b").await;
    let live = share(here, Audience::Link);
    let leaf_id = second.run.message_id;
    let snapshot = StoredShare {
        snapshot: Some(Snapshot {
            title: "a".into(),
            leaf_id,
            leaf_nodes: 1,
            position: storage.last_position(TEST_USER).await.unwrap(),
        }),
        ..share(here, Audience::Link)
    };
    let answers = |turn: &TestTurn| [turn.user_message_id, turn.run.message_id];
    let both = [answers(&first), answers(&second)].concat();
    assert_eq!(shown(&*storage, &live).await, Some(both.clone()));
    assert_eq!(shown(&*storage, &snapshot).await, Some(both.clone()));

    turn(&*storage, here, "c").await;
    let version = new_version(here, second.user_message_id, "d");
    commit_one(&*storage, &version.change).await.unwrap();
    commit_one(&*storage, &end_run(version.run, "d")).await.unwrap();
    let other = [answers(&first), answers(&version)].concat();
    assert_eq!(shown(&*storage, &live).await, Some(other));
    assert_eq!(shown(&*storage, &snapshot).await, Some(both.clone()));

    let page = PageSize {
        messages: 1,
        bytes: usize::MAX,
    };
    let older = async |share, before| {
        storage
            .shared_transcript(share, page, Some(before))
            .await
            .unwrap()
    };
    let found = older(&snapshot, leaf_id).await.expect("it is there");
    assert_eq!(found.messages.len(), 2, "the page before it is there, too");
    let found = older(&snapshot, version.run.message_id)
        .await
        .expect("it is there");
    assert_eq!(
        found.messages.len(),
        1,
        "a message of another branch leads nowhere"
    );

    let hide = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: here,
        change: ConversationChange::DeleteMessage {
            message_id: second.user_message_id,
            hidden_at: NOON,
        },
    };
    commit_one(&*storage, &hide).await.unwrap();
    assert_eq!(shown(&*storage, &snapshot).await, None, "its end is hidden");
}

pub async fn erasing_its_last_message_ends_a_snapshot(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let here = ConversationId::new();
    let first = turn(&*storage, here, "a").await;
    let second = turn(&*storage, here, "b").await;
    let snapshot = async |leaf: &TestTurn| StoredShare {
        snapshot: Some(Snapshot {
            title: "a".into(),
            leaf_id: leaf.run.message_id,
            leaf_nodes: 1,
            position: storage.last_position(TEST_USER).await.unwrap(),
        }),
        ..share(here, Audience::Link)
    };
    let (kept, ended) = (snapshot(&first).await, snapshot(&second).await);
    for (share, hash) in [(&kept, 1), (&ended, 2)] {
        commit_one(&*storage, &create(share, Some(hash))).await.unwrap();
    }
    let (user_id, conversation_id, message_id) = (TEST_USER, here, second.user_message_id);
    let hide = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::DeleteMessage {
            message_id,
            hidden_at: NOON,
        },
    };
    commit_one(&*storage, &hide).await.unwrap();
    assert_eq!(
        storage.shares(TEST_USER).await.unwrap().len(),
        2,
        "it can be restored"
    );
    let erase = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::EraseMessage {
            message_id,
            hidden_at: NOON,
        },
    };
    commit_one(&*storage, &erase).await.unwrap();
    assert_eq!(storage.shares(TEST_USER).await.unwrap(), [kept]);
}

pub async fn share_has_files_and_payloads_of_its_branch(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let here = ConversationId::new();
    let first = new_turn(TEST_USER, here, "b");
    let second = new_version(here, first.user_message_id, "c");
    let live = share(here, Audience::Link);
    let mut ids = Vec::new();
    for (turn, payload_id) in [(first, "p1"), (second, "p2")] {
        commit_one(&*storage, &turn.change).await.unwrap();
        let file = artifacts(&*storage, turn.run, payload_id).await;
        ids.push((payload_id, file));
    }
    for ((payload_id, file), is_shown) in ids.into_iter().zip([false, true]) {
        let found = storage.shared_payload(&live, payload_id).await.unwrap();
        assert_eq!(found.is_some(), is_shown, "{payload_id}");
        let of_tool = tool_payload(payload_id);
        assert!(
            storage
                .payload(TEST_USER, here, &of_tool)
                .await
                .unwrap()
                .is_some()
        );
        let found = storage.shared_payload(&live, &of_tool).await.unwrap();
        assert_eq!(found, None, "of a tool");
        let found = storage.shared_file(&live, file).await.unwrap();
        assert_eq!(found.is_some(), is_shown, "the file added with {payload_id}");
        assert!(storage.file(TEST_USER, file).await.unwrap().is_some());
    }
}

pub async fn a_snapshot_has_nothing_made_later(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let here = ConversationId::new();
    let turn = new_turn(TEST_USER, here, "a");
    commit_one(&*storage, &turn.change).await.unwrap();
    let file = artifacts(&*storage, turn.run, "p1").await;
    let snapshot = Snapshot {
        title: "a".into(),
        leaf_id: turn.run.message_id,
        leaf_nodes: 1,
        position: storage.last_position(TEST_USER).await.unwrap(),
    };
    for (created_at, is_shown) in [(NOON, true), (Timestamp(NOON.0 - 1), false)] {
        let share = StoredShare {
            snapshot: Some(snapshot.clone()),
            created_at,
            ..share(here, Audience::Link)
        };
        let found = storage.shared_payload(&share, "p1").await.unwrap();
        assert_eq!(found.is_some(), is_shown, "the payload at {created_at:?}");
        let found = storage.shared_file(&share, file).await.unwrap();
        assert_eq!(found.is_some(), is_shown, "the file at {created_at:?}");
    }
}

/// The ID of the tool's payload that accompanies one of the model's own.
fn tool_payload(payload_id: &str) -> String {
    format!("{payload_id}-of-tool")
}

/// Ends a run with a payload and a file of a tool, and a payload of the model's own. Returns the file.
async fn artifacts(storage: &dyn Storage, run: RunKey, payload_id: &str) -> AttachmentId {
    let file = files::image_file(TEST_USER, run.conversation_id);
    let payload = |payload_id: String| Payload {
        payload_id,
        kind: "table".into(),
        summary: "A table".into(),
        data: RawJson::parse_or_quote("{}"),
    };
    let (written, of_tool) = (payload(payload_id.into()), payload(tool_payload(payload_id)));
    let [start, complete] = draw_events(Some(of_tool.to_ref()), &file);
    let events = vec![
        start,
        complete,
        RunEvent::PayloadMade {
            node: 0,
            part: 1,
            payload: written.to_ref(),
        },
        RunEvent::run_ended(RunStatus::Complete, None, NOON, 0),
    ];
    let mut message = AssistantMessage::new("x/m");
    for event in &events {
        transcript::apply_to_run(&mut message, event);
    }
    let (id, attachment) = (file.attachment.id, file);
    for change in [
        Change::Output {
            run,
            output: RunOutput::StorePayload { payload: written },
        },
        Change::Output {
            run,
            output: RunOutput::StorePayload { payload: of_tool },
        },
        Change::Output {
            run,
            output: RunOutput::StoreAttachment { attachment },
        },
        Change::Output {
            run,
            output: RunOutput::EndRun { events, message },
        },
    ] {
        commit_one(storage, &change).await.unwrap();
    }
    id
}
