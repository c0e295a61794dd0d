//! How runs have called their models: whose they are, which are kept, and when they go.

use super::*;
use crate::protocol::CallId;

fn call(id: CallId, request: Option<&str>, response: &str) -> RecordedCall {
    RecordedCall {
        id,
        request: request.map(str::to_owned),
        response: response.into(),
    }
}

async fn record(storage: &dyn Storage, run: RunKey, call: RecordedCall) -> Result<Outcome, Refusal> {
    let keep_runs = 2;
    do_one(storage, &Change::Record { run, call, keep_runs }).await
}

async fn calls(storage: &dyn Storage, user_id: UserId, run: RunKey) -> Vec<RecordedCall> {
    storage
        .model_calls(user_id, run.message_id)
        .await
        .expect("storage works")
}

#[tokio::test]
async fn a_call_is_written_down_and_what_comes_of_it_later() {
    let (_folder, storage) = sqlite().await;
    let turn = turn(ANN, ConversationId::new(), "Hi");
    do_one(&*storage, &turn.change).await.unwrap();
    let (first, second) = (CallId::new(), CallId::new());
    record(&*storage, turn.run, call(first, Some("sent"), "{}"))
        .await
        .unwrap();
    record(&*storage, turn.run, call(second, Some("sent again"), "{}"))
        .await
        .unwrap();
    record(&*storage, turn.run, call(first, None, "came"))
        .await
        .unwrap();
    // What was sent turns out to be something else than what was meant.
    record(&*storage, turn.run, call(second, Some("sent without it"), "{}"))
        .await
        .unwrap();
    let expected = [
        call(first, Some("sent"), "came"),
        call(second, Some("sent without it"), "{}"),
    ];
    assert_eq!(calls(&*storage, ANN, turn.run).await, expected);
    assert_eq!(
        calls(&*storage, bob(), turn.run).await,
        [],
        "they are nobody else's"
    );
}

#[tokio::test]
async fn those_of_the_newest_runs_are_kept_and_none_of_what_is_deleted() {
    let (_folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let mut runs = Vec::new();
    for _ in 0..3 {
        let turn = turn(ANN, conversation_id, "Hi");
        do_one(&*storage, &turn.change).await.unwrap();
        let one = call(CallId::new(), Some("sent"), "came");
        record(&*storage, turn.run, one).await.unwrap();
        do_one(&*storage, &end(turn.run, "Hello")).await.unwrap();
        runs.push(turn.run);
    }
    // Another conversation's count for themselves.
    let other = turn(ANN, ConversationId::new(), "Hi");
    do_one(&*storage, &other.change).await.unwrap();
    record(&*storage, other.run, call(CallId::new(), Some("sent"), "{}"))
        .await
        .unwrap();
    let mut kept = Vec::new();
    for run in &runs {
        kept.push(calls(&*storage, ANN, *run).await.len());
    }
    assert_eq!(kept, [0, 1, 1]);

    for (conversation_id, run) in [(conversation_id, runs[2]), (other.run.conversation_id, other.run)] {
        let delete = Change::Delete {
            user_id: ANN,
            conversation_id,
        };
        do_one(&*storage, &delete).await.unwrap();
        assert_eq!(calls(&*storage, ANN, run).await, []);
    }
    // Its run did not know yet.
    let late = record(&*storage, other.run, call(CallId::new(), Some("sent"), "{}")).await;
    assert_eq!(late, Err(Refusal::NotFound));
}
