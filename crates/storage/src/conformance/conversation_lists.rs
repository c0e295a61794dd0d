//! The conversation list: its order, its pages and the unseen marks.

use super::*;

pub async fn pages_the_list_by_newest_activity(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turns: Vec<TestTurn> = (0..5)
        .map(|n| new_turn(TEST_USER, ConversationId::new(), &format!("talk {n}")))
        .collect();
    for (n, turn) in turns.iter().enumerate() {
        // Two conversations in the same millisecond.
        let at = Timestamp(NOON.0 + (n as i64 / 2));
        storage
            .commit(at, std::slice::from_ref(&turn.change))
            .await
            .unwrap();
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = storage.conversations(TEST_USER, before, 2).await.unwrap();
        seen.extend(
            page.conversations
                .iter()
                .map(|conversation| conversation.title.clone()),
        );
        before = page.next_cursor();
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["talk 4", "talk 3", "talk 2", "talk 1", "talk 0"]);
    let list = storage.conversations(TEST_USER, None, 10).await.unwrap();
    assert_eq!(list.conversations[0].active_run, Some(turns[4].run.message_id));
}

pub(super) fn of_list(run: RunKey, change: ConversationChange) -> Change {
    Change::Conversation {
        user_id: run.user_id,
        conversation_id: run.conversation_id,
        change,
    }
}

/// Returns the list and the archive, after a check that the folded log equals both.
pub(super) async fn folded_lists(storage: &dyn Storage) -> [Vec<ListedConversation>; 2] {
    let list = storage.conversations(TEST_USER, None, 100).await.unwrap();
    let archive = storage
        .archived_conversations(TEST_USER, None, 100)
        .await
        .unwrap();
    for loaded in [&list, &archive] {
        let mut folded = ConversationList {
            archived: loaded.archived,
            ..ConversationList::default()
        };
        for event in read_log(storage, TEST_USER).await {
            parlor_protocol::conversation_list::apply(&mut folded, &event);
        }
        assert_eq!(&folded, loaded, "the live list equals the loaded one");
    }
    [list.conversations, archive.conversations]
}

pub(super) fn titles(list: &[ListedConversation]) -> Vec<&str> {
    list.iter().map(|listed| listed.title.as_str()).collect()
}

/// Commits a conversation with an ended run for each title.
pub(super) async fn ended_talks<const N: usize>(storage: &dyn Storage, titles: [&str; N]) -> [RunKey; N] {
    let turns = titles.map(|title| new_turn(TEST_USER, ConversationId::new(), title));
    for turn in &turns {
        commit_one(storage, &turn.change).await.unwrap();
        commit_one(storage, &end_run(turn.run, "done")).await.unwrap();
    }
    turns.map(|turn| turn.run)
}

pub async fn pinned_and_archived_conversations_have_their_place(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let [a, b, c] = ended_talks(&*storage, ["a", "b", "c"]).await;
    let pin = |run, is_pinned| of_list(run, ConversationChange::Pin { is_pinned, limit: 1 });
    let archive = |run, is_archived| of_list(run, ConversationChange::Archive { is_archived });
    commit_one(&*storage, &pin(a, true)).await.unwrap();
    let [list, _] = folded_lists(&*storage).await;
    assert_eq!((titles(&list), list[0].pinned), (vec!["a", "c", "b"], true));
    assert_eq!(
        commit_one(&*storage, &pin(b, true)).await,
        Err(ChangeRejection::PinsFull)
    );
    let page = storage.conversations(TEST_USER, None, 1).await.unwrap();
    assert_eq!(
        titles(&page.conversations),
        ["a", "c"],
        "pinned ones are on the first page"
    );
    let rest = storage
        .conversations(TEST_USER, page.next_cursor(), 1)
        .await
        .unwrap();
    assert_eq!(titles(&rest.conversations), ["b"]);

    // Archiving unpins, and pinning takes out of the archive.
    commit_one(&*storage, &archive(a, true)).await.unwrap();
    commit_one(&*storage, &archive(b, true)).await.unwrap();
    let [list, archived] = folded_lists(&*storage).await;
    assert_eq!((titles(&list), titles(&archived)), (vec!["c"], vec!["b", "a"]));
    commit_one(&*storage, &pin(b, true)).await.unwrap();
    commit_one(&*storage, &archive(a, false)).await.unwrap();
    let [list, archived] = folded_lists(&*storage).await;
    assert_eq!((titles(&list), archived.len()), (vec!["b", "c", "a"], 0));

    let head = storage.last_position(TEST_USER).await.unwrap();
    for again in [pin(b, true), archive(c, false)] {
        assert_eq!(commit_one(&*storage, &again).await, Ok(Outcome::Unchanged));
    }
    assert_eq!(
        storage.last_position(TEST_USER).await.unwrap(),
        head,
        "nothing changed"
    );
    let mut other = pin(c, false);
    if let Change::Conversation { user_id, .. } = &mut other {
        *user_id = other_user();
    }
    assert_eq!(
        commit_one(&*storage, &other).await,
        Err(ChangeRejection::NotFound)
    );
}

pub async fn activity_takes_out_of_the_archive(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let [a] = ended_talks(&*storage, ["a"]).await;
    let archive = of_list(a, ConversationChange::Archive { is_archived: true });
    let next = new_turn(TEST_USER, a.conversation_id, "more");
    for activity in [
        next.change,
        regenerate(
            next.run,
            RunKey {
                message_id: MessageId::new(),
                ..a
            },
        ),
    ] {
        commit_one(&*storage, &archive).await.unwrap();
        commit_one(&*storage, &activity).await.unwrap();
        let [list, archived] = folded_lists(&*storage).await;
        assert_eq!((list.len(), archived.len()), (1, 0));
        let active = list[0].active_run.unwrap();
        let ended = end_run(
            RunKey {
                message_id: active,
                ..a
            },
            "done",
        );
        commit_one(&*storage, &ended).await.unwrap();
    }
}

pub async fn a_temporary_conversation_is_not_searched(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn = temporary(new_turn(TEST_USER, ConversationId::new(), "walrus"));
    commit_one(&*storage, &turn.change).await.unwrap();
    commit_one(&*storage, &end_run(turn.run, "a walrus"))
        .await
        .unwrap();
    let [list, _] = folded_lists(&*storage).await;
    assert!(list[0].temporary);
    let request = SearchRequest {
        query: crate::search::SearchQuery::parse("walrus"),
        limit: 10,
        ..SearchRequest::default()
    };
    let found = async || storage.search(TEST_USER, &request).await.unwrap().hits.len();
    assert_eq!(found().await, 0);
    commit_one(&*storage, &of_list(turn.run, ConversationChange::Keep))
        .await
        .unwrap();
    let [list, _] = folded_lists(&*storage).await;
    assert!(!list[0].temporary);
    assert_eq!(found().await, 3, "the title, the question and the answer");
}

/// Makes a turn one of a temporary conversation.
fn temporary(mut turn: TestTurn) -> TestTurn {
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut turn.change
    {
        intent.temporary = true;
    }
    turn
}

const DAY_MS: i64 = 86_400_000;

/// Returns what has reached its age, some days after noon.
async fn expired(storage: &dyn Storage, days: u32, at_days: i64) -> Vec<ExpiredConversation> {
    let expiry = Expiry {
        now: Timestamp(NOON.0 + at_days * DAY_MS + 1),
        days,
        temporary_ms: DAY_MS,
    };
    storage.expired_conversations(expiry).await.unwrap()
}

/// Chooses the days after which conversations are erased.
fn choose(days: u32) -> Change {
    Change::Personal {
        user_id: TEST_USER,
        change: PersonalChange::SetRetention { days },
    }
}

fn expired_run(run: RunKey, reason: ExpiryReason) -> ExpiredConversation {
    ExpiredConversation {
        user_id: TEST_USER,
        conversation_id: run.conversation_id,
        before: Timestamp(NOON.0 + 1),
        reason,
    }
}

fn expire(run: RunKey, before: Timestamp, reason: ExpiryReason) -> Change {
    of_list(run, ConversationChange::Expire { before, reason })
}

pub async fn conversations_end_by_their_age(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let [old] = ended_talks(&*storage, ["old"]).await;
    let short = temporary(new_turn(TEST_USER, ConversationId::new(), "temporary"));
    commit_one(&*storage, &short.change).await.unwrap();
    commit_one(&*storage, &end_run(short.run, "done")).await.unwrap();
    assert_eq!(expired(&*storage, 0, 0).await, []);
    assert_eq!(
        expired(&*storage, 0, 1).await,
        [expired_run(short.run, ExpiryReason::Temporary)]
    );
    let ended = Timestamp(NOON.0 + 1);
    let erased = commit_one(&*storage, &expire(short.run, ended, ExpiryReason::Temporary)).await;
    assert_eq!(erased, Ok(Outcome::Deleted { active_run: None }));
    assert_eq!(expired(&*storage, 0, 100).await, []);
    assert_eq!(
        expired(&*storage, 30, 30).await,
        [expired_run(old, ExpiryReason::Setting)]
    );
    for days in [9, 7] {
        commit_one(&*storage, &choose(days)).await.unwrap();
        assert_eq!(storage.retention_days(TEST_USER).await.unwrap(), days);
    }
    assert_eq!(storage.retention_days(other_user()).await.unwrap(), 0);
    assert_eq!(expired(&*storage, 30, 6).await, []);
    assert_eq!(
        expired(&*storage, 30, 7).await,
        [expired_run(old, ExpiryReason::Choice { days: 7 })]
    );
    commit_one(&*storage, &choose(0)).await.unwrap();
    assert_eq!(expired(&*storage, 0, 100).await, []);
}

pub async fn pinned_running_and_deleted_conversations_have_no_age(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let [pinned, trashed] = ended_talks(&*storage, ["pinned", "trashed"]).await;
    let running = new_turn(TEST_USER, ConversationId::new(), "running");
    let short = temporary(new_turn(TEST_USER, ConversationId::new(), "running, too"));
    for turn in [&running, &short] {
        commit_one(&*storage, &turn.change).await.unwrap();
    }
    let pin = ConversationChange::Pin {
        is_pinned: true,
        limit: 9,
    };
    let trash = ConversationChange::Trash { trashed_at: NOON };
    for change in [of_list(pinned, pin), of_list(trashed, trash)] {
        commit_one(&*storage, &change).await.unwrap();
    }
    assert_eq!(expired(&*storage, 1, 100).await, []);
    // They became so after they were selected.
    let later = Timestamp(NOON.0 + 1);
    for (run, reason) in [
        (pinned, ExpiryReason::Setting),
        (trashed, ExpiryReason::Setting),
        (running.run, ExpiryReason::Setting),
        (short.run, ExpiryReason::Temporary),
    ] {
        let kept = commit_one(&*storage, &expire(run, later, reason)).await;
        assert_eq!(kept, Ok(Outcome::Done));
    }
}

pub async fn what_changed_after_the_selection_stays(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let short = temporary(new_turn(TEST_USER, ConversationId::new(), "temporary"));
    commit_one(&*storage, &short.change).await.unwrap();
    commit_one(&*storage, &end_run(short.run, "done")).await.unwrap();
    let [selected] = expired(&*storage, 0, 1).await[..] else {
        panic!("the temporary one")
    };
    let active = commit_one(&*storage, &expire(short.run, NOON, ExpiryReason::Temporary)).await;
    assert_eq!(active, Ok(Outcome::Done), "it had activity");
    commit_one(&*storage, &of_list(short.run, ConversationChange::Keep))
        .await
        .unwrap();
    let kept = commit_one(
        &*storage,
        &expire(short.run, selected.before, ExpiryReason::Temporary),
    )
    .await;
    assert_eq!(kept, Ok(Outcome::Done), "it is not temporary any more");
    commit_one(&*storage, &choose(7)).await.unwrap();
    let [chosen] = expired(&*storage, 0, 7).await[..] else {
        panic!("the kept one")
    };
    let erase = expire(short.run, chosen.before, chosen.reason);
    for days in [0, 9] {
        commit_one(&*storage, &choose(days)).await.unwrap();
        let kept = commit_one(&*storage, &erase).await;
        assert_eq!(kept, Ok(Outcome::Done), "its user has chosen another age");
    }
    let [list, _] = folded_lists(&*storage).await;
    assert_eq!(titles(&list), ["temporary"]);
}

pub async fn an_ended_run_is_unseen_until_read(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let turn = new_turn(TEST_USER, conversation_id, "think about it");
    let unseen = async |storage: &dyn Storage| {
        let list = storage.conversations(TEST_USER, None, 1).await.unwrap();
        let mut folded = ConversationList::default();
        for event in read_log(storage, TEST_USER).await {
            parlor_protocol::conversation_list::apply(&mut folded, &event);
        }
        assert_eq!(
            folded.conversations, list.conversations,
            "the live list equals the loaded one"
        );
        list.conversations[0].unseen
    };
    let read = Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change: ConversationChange::MarkRead,
    };
    commit_one(&*storage, &turn.change).await.unwrap();
    assert!(!unseen(&*storage).await);
    commit_one(&*storage, &end_run(turn.run, "done")).await.unwrap();
    assert!(unseen(&*storage).await);
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    assert!(unseen(&*storage).await, "it is unseen after a restart too");
    commit_one(&*storage, &read).await.unwrap();
    assert!(!unseen(&*storage).await);
    let head = storage.last_position(TEST_USER).await.unwrap();
    commit_one(&*storage, &read).await.unwrap();
    assert_eq!(
        storage.last_position(TEST_USER).await.unwrap(),
        head,
        "marking twice logs no event"
    );
}
