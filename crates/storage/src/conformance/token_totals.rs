//! The tokens and the cost of a conversation.

use super::*;
use parlor_protocol::{Dollars, TokenTotals, Usage};

fn totals(calls: usize, cost: u64) -> TokenTotals {
    TokenTotals {
        calls,
        input_tokens: 100 * calls,
        cost: Dollars(cost),
        ..TokenTotals::default()
    }
}

/// Ends a run with these totals.
async fn end_with(storage: &dyn Storage, run: RunKey, totals: TokenTotals) {
    let mut end = end_run(run, "Fine.");
    let Change::Output {
        output: RunOutput::EndRun { message, .. },
        ..
    } = &mut end
    else {
        panic!("{end:?}")
    };
    message.usage = Some(Usage {
        input_tokens: 100,
        output_tokens: 5,
        estimated: false,
        estimate: 100,
        window: None,
        totals,
    });
    assert_eq!(commit_one(storage, &end).await, Ok(Outcome::Done));
}

pub async fn a_title_adds_to_the_present_usage(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn = new_turn(TEST_USER, ConversationId::new(), "Hello");
    commit_one(&*storage, &turn.change).await.unwrap();
    end_with(&*storage, turn.run, totals(2, 50)).await;
    let title = Change::Output {
        run: turn.run,
        output: RunOutput::TitleConversation {
            replaces: "Hello".into(),
            title: None,
            totals: totals(1, 7),
        },
    };
    assert_eq!(commit_one(&*storage, &title).await, Ok(Outcome::Done));
    let found = storage.message(TEST_USER, turn.run.message_id).await.unwrap();
    let usage = found.unwrap().1.assistant().unwrap().usage.unwrap();
    assert_eq!((usage.input_tokens, usage.totals), (100, totals(3, 57)));
}

pub async fn every_answer_of_a_conversation_counts(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let of_conversation = async |user| storage.token_totals(user, conversation_id).await.unwrap();
    assert_eq!(of_conversation(TEST_USER).await, TokenTotals::default());
    for (at, answer) in [totals(2, 1_500_000), totals(1, 7)].into_iter().enumerate() {
        let turn = new_turn(TEST_USER, conversation_id, "Hello");
        commit_one(&*storage, &turn.change).await.unwrap();
        end_with(&*storage, turn.run, answer).await;
        let other = new_turn(TEST_USER, ConversationId::new(), &format!("Elsewhere {at}"));
        commit_one(&*storage, &other.change).await.unwrap();
        end_with(&*storage, other.run, totals(9, 9)).await;
    }
    // An answer of an older version has none.
    let old = new_turn(TEST_USER, conversation_id, "Hello");
    commit_one(&*storage, &old.change).await.unwrap();
    commit_one(&*storage, &end_run(old.run, "Old.")).await.unwrap();
    assert_eq!(of_conversation(TEST_USER).await, totals(3, 1_500_007));
    assert_eq!(of_conversation(other_user()).await, TokenTotals::default());
}
