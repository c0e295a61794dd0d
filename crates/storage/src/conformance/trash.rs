//! Deleted conversations, until they are restored or erased.

use super::{
    conversation_lists::{ended_talks, folded_lists, of_list, titles},
    queue::{change_queue, queued},
    shares,
    suggestions::{answered_turn_with_suggestions, judge_payload, take_action},
    *,
};
use parlor_protocol::{
    ParameterInput, Parameters, Verdict,
    intent::{ApprovalAnswer, QueueChange, SetParameters},
};

pub async fn a_deleted_conversation_is_restored_or_erased(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let [a, b] = ended_talks(&*storage, ["walrus", "b"]).await;
    let found = async || {
        let request = SearchRequest {
            query: crate::search::SearchQuery::parse("walrus"),
            limit: 10,
            ..SearchRequest::default()
        };
        storage.search(TEST_USER, &request).await.unwrap().hits.len()
    };
    assert_eq!(found().await, 2);
    let trash = |trashed_at| of_list(a, ConversationChange::Trash { trashed_at });
    let erase = |trashed_at| of_list(a, ConversationChange::Erase { trashed_at });
    let deleted = Ok(Outcome::Deleted { active_run: None });
    assert_eq!(commit_one(&*storage, &trash(NOON)).await, deleted);
    assert_eq!(commit_one(&*storage, &trash(NOON)).await, deleted);
    let [list, archived] = folded_lists(&*storage).await;
    assert_eq!((titles(&list), archived.len(), found().await), (vec!["b"], 0, 0));
    assert_eq!(full_transcript(&*storage, a.conversation_id).await, None);
    assert_eq!(
        storage.conversation(TEST_USER, a.conversation_id).await.unwrap(),
        None
    );
    let again = new_turn(TEST_USER, a.conversation_id, "more");
    assert_eq!(
        commit_one(&*storage, &again.change).await,
        Err(ChangeRejection::NotFound)
    );
    let other = regenerate(
        a,
        RunKey {
            message_id: MessageId::new(),
            ..a
        },
    );
    assert_eq!(
        commit_one(&*storage, &other).await,
        Err(ChangeRejection::NotFound)
    );
    let trashed = storage.trashed_conversations().await.unwrap();
    assert_eq!((trashed.len(), trashed[0].trashed_at), (1, NOON));
    let is_trashed = async |user_id, run: RunKey| {
        let is_trashed = storage.is_trashed(user_id, run.conversation_id).await;
        is_trashed.unwrap()
    };
    assert!(is_trashed(TEST_USER, a).await);
    assert!(!is_trashed(other_user(), a).await, "nothing is known of others");
    assert!(!is_trashed(TEST_USER, b).await);

    commit_one(&*storage, &of_list(a, ConversationChange::Restore))
        .await
        .unwrap();
    assert!(!is_trashed(TEST_USER, a).await);
    let [list, _] = folded_lists(&*storage).await;
    assert_eq!((titles(&list), found().await), (vec!["b", "walrus"], 2));
    // The deletion that was undone erases nothing.
    assert_eq!(commit_one(&*storage, &erase(NOON)).await, Ok(Outcome::Done));
    assert!(full_transcript(&*storage, a.conversation_id).await.is_some());

    let later = Timestamp(NOON.0 + 1);
    commit_one(&*storage, &trash(later)).await.unwrap();
    assert_eq!(commit_one(&*storage, &erase(NOON)).await, Ok(Outcome::Done));
    assert_eq!(commit_one(&*storage, &erase(later)).await, deleted);
    let restore = of_list(a, ConversationChange::Restore);
    assert_eq!(
        commit_one(&*storage, &restore).await,
        Err(ChangeRejection::NotFound)
    );
    assert_eq!(
        (
            storage.trashed_conversations().await.unwrap().len(),
            found().await
        ),
        (0, 0)
    );
    let [list, _] = folded_lists(&*storage).await;
    assert_eq!(titles(&list), ["b"]);
    commit_one(&*storage, &of_list(b, ConversationChange::MarkRead))
        .await
        .unwrap();
    assert_eq!(storage.unseen_conversations(TEST_USER).await.unwrap(), []);
}

fn trash(run: RunKey) -> Change {
    of_list(run, ConversationChange::Trash { trashed_at: NOON })
}

/// Checks that a change of a deleted conversation is rejected.
async fn assert_rejected(storage: &dyn Storage, change: &Change) {
    let head = storage.last_position(TEST_USER).await.unwrap();
    assert_eq!(
        commit_one(storage, change).await,
        Err(ChangeRejection::NotFound),
        "{change:?}"
    );
    assert_eq!(storage.last_position(TEST_USER).await.unwrap(), head);
}

pub async fn a_deleted_conversation_takes_no_change(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let run = answered_turn_with_suggestions(&*storage).await;
    let rename = ConversationChange::Rename { title: "New".into() };
    let pin = ConversationChange::Pin {
        is_pinned: true,
        limit: 9,
    };
    // Before that it takes them.
    for change in [&rename, &pin] {
        let changed = commit_one(&*storage, &of_list(run, change.clone())).await;
        assert_eq!(changed, Ok(Outcome::Done));
    }
    commit_one(&*storage, &trash(run)).await.unwrap();
    let set_parameters = Change::Intent {
        user_id: TEST_USER,
        change: IntentChange::SetParameters {
            parameters: Parameters::default(),
            fingerprint: String::new(),
            intent: SetParameters {
                intent_id: IntentId::new(),
                conversation_id: run.conversation_id,
                parameters: ParameterInput::default(),
            },
        },
    };
    let choose = ConversationChange::ChooseModel { model: "x/n".into() };
    let delete = ConversationChange::DeleteMessage {
        message_id: run.message_id,
        hidden_at: NOON,
    };
    for change in [
        of_list(run, rename),
        of_list(run, choose),
        of_list(run, delete),
        of_list(
            run,
            ConversationChange::SelectBranch {
                through: run.message_id,
            },
        ),
        of_list(run, ConversationChange::Archive { is_archived: true }),
        of_list(run, pin),
        of_list(run, ConversationChange::Keep),
        change_queue(run.conversation_id, QueueChange::Release),
        judge_payload(TEST_USER, run, "one", Verdict::Accepted),
        take_action(TEST_USER, run, 0),
        set_parameters,
        shares::create_link(run.conversation_id),
    ] {
        assert_rejected(&*storage, &change).await;
    }
    let head = storage.last_position(TEST_USER).await.unwrap();
    commit_one(&*storage, &of_list(run, ConversationChange::MarkRead))
        .await
        .unwrap();
    assert_eq!(storage.last_position(TEST_USER).await.unwrap(), head);
}

pub async fn a_deleted_conversation_queues_and_approves_nothing(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn = new_turn(TEST_USER, ConversationId::new(), "Draw it");
    let run = turn.run;
    commit_one(&*storage, &turn.change).await.unwrap();
    let events = vec![draw_start()];
    let mut message = AssistantMessage::new("x/m");
    for event in &events {
        transcript::apply_to_run(&mut message, event);
    }
    let pause = Change::Output {
        run,
        output: RunOutput::PauseRun { events, message },
    };
    commit_one(&*storage, &pause).await.unwrap();
    commit_one(&*storage, &trash(run)).await.unwrap();
    let next = queued(new_turn(TEST_USER, run.conversation_id, "more"));
    assert_rejected(&*storage, &next.change).await;
    let approve = Change::Run(RunChange::AnswerApproval {
        user_id: TEST_USER,
        approval: ApprovalDecision {
            run: run.message_id,
            index: 0,
            answer: ApprovalAnswer::Allow,
        },
    });
    assert_rejected(&*storage, &approve).await;
}
