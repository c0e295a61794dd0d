//! The usage by user and day.

use super::*;
use crate::usage::{DAY_MS, DailyUsage, Day, UsageSum};
use parlor_protocol::{Dollars, TokenTotals, Usage};

const TODAY: Day = Day(NOON.0 / DAY_MS);

fn usage_event(input: usize, output: usize, cost: u64) -> RunEvent {
    RunEvent::Usage(Usage {
        input_tokens: input,
        output_tokens: output,
        estimated: false,
        estimate: input,
        window: None,
        totals: TokenTotals {
            calls: 1,
            input_tokens: input,
            output_tokens: output,
            cost: Dollars(cost),
            ..TokenTotals::default()
        },
    })
}

fn append(run: RunKey, event: RunEvent) -> Change {
    Change::Output {
        run,
        output: RunOutput::AppendEvents { events: vec![event] },
    }
}

async fn usage(storage: &dyn Storage, user_id: UserId) -> Vec<(Day, UsageSum)> {
    let days = storage.daily_usage(Some(user_id), Day(0)).await.unwrap();
    days.into_iter().map(|day| (day.day, day.usage)).collect()
}

fn sum(runs: u64, input_tokens: u64, output_tokens: u64, cost: u64) -> UsageSum {
    UsageSum {
        runs,
        input_tokens,
        output_tokens,
        cost: Dollars(cost),
    }
}

pub async fn usage_counts_once_on_its_day(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    let turn = new_turn(TEST_USER, ConversationId::new(), "Hello");
    commit_one(&*storage, &turn.change).await.unwrap();
    assert_eq!(usage(&*storage, TEST_USER).await, [(TODAY, sum(1, 0, 0, 0))]);
    // Each event has the sums of the whole answer.
    for event in [usage_event(100, 5, 70), usage_event(300, 15, 90)] {
        commit_one(&*storage, &append(turn.run, event)).await.unwrap();
    }
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    let take = Change::Run(RunChange::TakeOver { run: turn.run });
    commit_one(&*storage, &take).await.unwrap();
    let first = sum(1, 300, 15, 90);
    assert_eq!(usage(&*storage, TEST_USER).await, [(TODAY, first)]);
    // The recovery ends the answer with the same sums.
    let mut end = end_run(turn.run, "Fine.");
    if let Change::Output {
        output: RunOutput::EndRun { message, .. },
        ..
    } = &mut end
    {
        transcript::apply_to_run(message, &usage_event(300, 15, 90));
    }
    commit_one(&*storage, &end).await.unwrap();
    assert_eq!(usage(&*storage, TEST_USER).await, [(TODAY, first)]);
    let title = Change::Output {
        run: turn.run,
        output: RunOutput::TitleConversation {
            replaces: "Hello".into(),
            title: None,
            totals: TokenTotals {
                calls: 1,
                input_tokens: 20,
                ..TokenTotals::default()
            },
        },
    };
    let cut = Change::Output {
        run: turn.run,
        output: RunOutput::CountCutCall {
            totals: TokenTotals {
                output_tokens: 3,
                ..TokenTotals::default()
            },
        },
    };
    commit_one(&*storage, &cut).await.unwrap();
    let first = sum(1, 300, 18, 90);
    assert_eq!(usage(&*storage, TEST_USER).await, [(TODAY, first)]);
    let tomorrow = Timestamp(NOON.0 + DAY_MS);
    storage.commit(tomorrow, &[title]).await.unwrap();
    let next = (Day(TODAY.0 + 1), sum(0, 20, 0, 0));
    assert_eq!(usage(&*storage, TEST_USER).await, [(TODAY, first), next]);
    assert_eq!(usage(&*storage, other_user()).await, []);
    let all = storage.daily_usage(None, next.0).await.unwrap();
    let only = DailyUsage {
        user_id: TEST_USER,
        day: next.0,
        usage: next.1,
    };
    assert_eq!(all, [only]);
}

pub async fn a_continued_copy_counts_from_there(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn = new_turn(TEST_USER, ConversationId::new(), "Hello");
    commit_one(&*storage, &turn.change).await.unwrap();
    commit_one(&*storage, &append(turn.run, usage_event(100, 5, 0)))
        .await
        .unwrap();
    let mut end = answer_run(turn.run, "Half.", RunStatus::Interrupted);
    if let Change::Output {
        output: RunOutput::EndRun { message, .. },
        ..
    } = &mut end
    {
        transcript::apply_to_run(message, &usage_event(100, 5, 0));
    }
    commit_one(&*storage, &end).await.unwrap();
    let branch = ConversationId::new();
    let copy = Change::Intent {
        user_id: TEST_USER,
        change: IntentChange::BranchConversation {
            intent: intent::BranchConversation {
                intent_id: IntentId::new(),
                message_id: turn.run.message_id,
                conversation_id: branch,
            },
            fingerprint: String::new(),
        },
    };
    commit_one(&*storage, &copy).await.unwrap();
    let copied = full_transcript(&*storage, branch).await.unwrap();
    let answer = copied.messages.last().unwrap().id;
    let run = RunKey {
        user_id: TEST_USER,
        conversation_id: branch,
        message_id: answer,
    };
    let go_on = Change::Intent {
        user_id: TEST_USER,
        change: IntentChange::ContinueRun {
            intent: intent::ContinueRun {
                intent_id: IntentId::new(),
                conversation_id: branch,
                message_id: answer,
            },
            fingerprint: String::new(),
        },
    };
    commit_one(&*storage, &go_on).await.unwrap();
    commit_one(&*storage, &append(run, usage_event(130, 7, 0)))
        .await
        .unwrap();
    assert_eq!(usage(&*storage, TEST_USER).await, [(TODAY, sum(1, 130, 7, 0))]);
}
