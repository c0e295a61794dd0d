//! Recorded model calls: their owner, their retention and their deletion.

use super::*;
use parlor_protocol::ModelCallId;

fn model_call(id: ModelCallId, request: Option<&str>, response: &str) -> RecordedModelCall {
    RecordedModelCall {
        id,
        request: request.map(str::to_owned),
        response: response.into(),
    }
}

async fn record_call(
    storage: &dyn Storage,
    run: RunKey,
    call: RecordedModelCall,
) -> Result<Outcome, ChangeRejection> {
    let keep_runs = 2;
    commit_one(
        storage,
        &Change::Output {
            run,
            output: RunOutput::RecordCall { call, keep_runs },
        },
    )
    .await
}

async fn stored_calls(storage: &dyn Storage, user_id: UserId, run: RunKey) -> Vec<RecordedModelCall> {
    storage
        .model_calls(user_id, run.message_id)
        .await
        .expect("storage works")
}

pub async fn records_a_call_and_later_its_response(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn = new_turn(TEST_USER, ConversationId::new(), "Hi");
    commit_one(&*storage, &turn.change).await.unwrap();
    let (first, second) = (ModelCallId::new(), ModelCallId::new());
    record_call(&*storage, turn.run, model_call(first, Some("sent"), "{}"))
        .await
        .unwrap();
    record_call(&*storage, turn.run, model_call(second, Some("sent again"), "{}"))
        .await
        .unwrap();
    record_call(&*storage, turn.run, model_call(first, None, "came"))
        .await
        .unwrap();
    // The request that was sent differs from the planned one.
    record_call(
        &*storage,
        turn.run,
        model_call(second, Some("sent without it"), "{}"),
    )
    .await
    .unwrap();
    let expected = [
        model_call(first, Some("sent"), "came"),
        model_call(second, Some("sent without it"), "{}"),
    ];
    assert_eq!(stored_calls(&*storage, TEST_USER, turn.run).await, expected);
    assert_eq!(
        stored_calls(&*storage, other_user(), turn.run).await,
        [],
        "they are nobody else's"
    );
}

pub async fn keeps_calls_of_newest_undeleted_runs(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let mut runs = Vec::new();
    for _ in 0..3 {
        let turn = new_turn(TEST_USER, conversation_id, "Hi");
        commit_one(&*storage, &turn.change).await.unwrap();
        let one = model_call(ModelCallId::new(), Some("sent"), "came");
        record_call(&*storage, turn.run, one).await.unwrap();
        commit_one(&*storage, &end_run(turn.run, "Hello")).await.unwrap();
        runs.push(turn.run);
    }
    // Another conversation has its own limit.
    let other = new_turn(TEST_USER, ConversationId::new(), "Hi");
    commit_one(&*storage, &other.change).await.unwrap();
    record_call(
        &*storage,
        other.run,
        model_call(ModelCallId::new(), Some("sent"), "{}"),
    )
    .await
    .unwrap();
    let mut kept = Vec::new();
    for run in &runs {
        kept.push(stored_calls(&*storage, TEST_USER, *run).await.len());
    }
    assert_eq!(kept, [0, 1, 1]);

    for (conversation_id, run) in [(conversation_id, runs[2]), (other.run.conversation_id, other.run)] {
        let delete = Change::Conversation {
            user_id: TEST_USER,
            conversation_id,
            change: ConversationChange::Delete,
        };
        commit_one(&*storage, &delete).await.unwrap();
        assert_eq!(stored_calls(&*storage, TEST_USER, run).await, []);
    }
    // The run had not yet learned of the deletion.
    let late = record_call(
        &*storage,
        other.run,
        model_call(ModelCallId::new(), Some("sent"), "{}"),
    )
    .await;
    assert_eq!(late, Err(ChangeRejection::NotFound));
}
