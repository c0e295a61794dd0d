use futures::FutureExt;

use super::turns::{ACTIVE_FOR, CHANGES_PER_TURN, MAX_TURNS};
use super::*;
use parlor_protocol::{ConversationId, JobId, TokenTotals, UserId};
use parlor_storage::{ConversationChange, jobs::Fence};

fn run_key() -> RunKey {
    RunKey {
        user_id: UserId::LOCAL,
        conversation_id: ConversationId::new(),
        message_id: MessageId::new(),
    }
}

fn text_delta(offset: usize, text: &str) -> RunEvent {
    RunEvent::TextDelta {
        node: 0,
        part: 0,
        offset,
        text: text.into(),
    }
}

fn append_entry(run: RunKey, event: RunEvent) -> QueuedChange {
    QueuedChange {
        change: Change::Output {
            run,
            output: RunOutput::AppendEvents { events: vec![event] },
        },
        reply: None,
        received: None,
        _turn: None,
    }
}

#[test]
fn merges_deltas_but_not_across_changes() {
    let (a, b) = (run_key(), run_key());
    let rename = || Change::Conversation {
        user_id: UserId::LOCAL,
        conversation_id: a.conversation_id,
        change: ConversationChange::Rename { title: "x".into() },
    };
    let merged = merge_appends(
        [
            append_entry(a, text_delta(0, "He")),
            append_entry(b, text_delta(0, "1")),
            append_entry(a, text_delta(2, "llo")),
            append_entry(
                b,
                RunEvent::Status {
                    message: "busy".into(),
                },
            ),
            append_entry(b, text_delta(1, "2")),
            QueuedChange {
                change: rename(),
                reply: None,
                received: None,
                _turn: None,
            },
            append_entry(a, text_delta(5, "!")),
        ]
        .into_iter(),
    );
    let seen: Vec<String> = merged.iter().map(|entry| format!("{:?}", entry.change)).collect();
    let expected = [
        Change::Output {
            run: a,
            output: RunOutput::AppendEvents {
                events: vec![text_delta(0, "Hello")],
            },
        },
        Change::Output {
            run: b,
            output: RunOutput::AppendEvents {
                events: vec![
                    text_delta(0, "1"),
                    RunEvent::Status {
                        message: "busy".into(),
                    },
                    text_delta(1, "2"),
                ],
            },
        },
        rename(),
        Change::Output {
            run: a,
            output: RunOutput::AppendEvents {
                events: vec![text_delta(5, "!")],
            },
        },
    ];
    assert_eq!(seen, expected.map(|change| format!("{change:?}")));
}

#[test]
fn does_not_merge_across_a_stored_message() {
    let run = run_key();
    let message = AssistantMessage::new("x/m");
    let store = QueuedChange {
        change: Change::Output {
            run,
            output: RunOutput::StoreMessage { message },
        },
        reply: None,
        received: None,
        _turn: None,
    };
    let merged = merge_appends(
        [
            append_entry(run, text_delta(0, "a")),
            store,
            append_entry(run, text_delta(1, "b")),
        ]
        .into_iter(),
    );
    assert_eq!(merged.len(), 3, "{merged:?}");
}

#[test]
fn merges_deltas_up_to_a_limit() {
    let run = run_key();
    let delta = "x".repeat(MAX_MERGED_DELTA_BYTES / 3);
    let entries = (0..10).map(|n| append_entry(run, text_delta(n * delta.len(), &delta)));
    let merged = merge_appends(entries);
    let [
        QueuedChange {
            change:
                Change::Output {
                    output: RunOutput::AppendEvents { events, .. },
                    ..
                },
            ..
        },
    ] = &merged[..]
    else {
        panic!("one change: {merged:?}")
    };
    let lengths: Vec<usize> = events
        .iter()
        .map(|event| match event {
            RunEvent::TextDelta { text, .. } => text.len() / delta.len(),
            _ => 0,
        })
        .collect();
    assert_eq!(lengths, [3, 3, 3, 1]);
}

/// Takes turns for runs that do not have to wait.
fn ready_turns(turns: &Turns, runs: &[RunKey]) -> Vec<Option<Turn>> {
    let ready = runs.iter().filter_map(|run| turns.take(*run).now_or_never());
    ready.collect()
}

#[tokio::test(start_paused = true)]
async fn runs_take_turns_beside_another_user() {
    let turns = Arc::new(Turns::default());
    let runs: Vec<RunKey> = (0..20).map(|_| run_key()).collect();
    let other = RunKey {
        user_id: UserId::new(),
        ..run_key()
    };
    assert_eq!(ready_turns(&turns, &runs).len(), runs.len());
    let others = ready_turns(&turns, &[other]);
    let taken = ready_turns(&turns, &runs);
    assert_eq!(taken.iter().flatten().count(), MAX_TURNS);
    // A turn has room for several changes.
    for _ in 1..CHANGES_PER_TURN {
        assert_eq!(
            turns.take(runs[0]).now_or_never().map(|turn| turn.is_some()),
            Some(false)
        );
    }
    assert_eq!(ready_turns(&turns, &runs[..1]).len(), 0);
    // The next runs have their turns after these.
    let waiting = tokio::spawn({
        let (turns, run) = (turns.clone(), runs[10]);
        async move { turns.take(run).await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    turns.end();
    drop(taken);
    assert!(waiting.await.unwrap().is_some());
    drop(others);
    // The other user's runs have had no output for a while.
    tokio::time::advance(ACTIVE_FOR).await;
    turns.end();
    assert_eq!(ready_turns(&turns, &runs).len(), runs.len());
}

#[test]
fn all_output_of_a_run_is_tried_again() {
    let run = run_key();
    let totals = TokenTotals::default();
    let title = Change::Output {
        run,
        output: RunOutput::TitleConversation {
            replaces: "Hello".into(),
            title: Some("Greetings".into()),
            totals,
        },
    };
    let count = Change::Output {
        run,
        output: RunOutput::CountCutCall { totals },
    };
    let append = append_entry(run, text_delta(0, "x")).change;
    let rename = Change::Conversation {
        user_id: UserId::LOCAL,
        conversation_id: run.conversation_id,
        change: ConversationChange::Rename { title: "x".into() },
    };
    let (replies, mut outcomes): (Vec<_>, Vec<_>) = (0..4).map(|_| oneshot::channel()).unzip();
    let replies = replies.into_iter().map(Some).collect();
    let (kept, _waiting) = retain_output(
        vec![title, rename, count, append],
        replies,
        StorageErrorKind::DiskFull,
    );
    assert_eq!(kept.len(), 3);
    assert!(kept.iter().all(|change| change.output_of() == Some(run)));
    let rejected = outcomes.iter_mut().map(|outcome| outcome.try_recv().is_ok());
    assert_eq!(rejected.collect::<Vec<_>>(), [false, true, false, false]);
}

#[test]
fn recovery_of_a_job_is_tried_again() {
    let of_job = |change| Change::Job {
        user_id: UserId::LOCAL,
        change,
    };
    let job_id = JobId::new();
    let changes = vec![
        of_job(JobChange::Stop { job_id }),
        of_job(JobChange::Recover {
            job_id,
            fence: Fence(1),
        }),
    ];
    let (kept, _) = retain_output(changes, vec![None, None], StorageErrorKind::DiskFull);
    assert!(
        matches!(
            kept[..],
            [Change::Job {
                change: JobChange::Recover { .. },
                ..
            }]
        ),
        "{kept:?}"
    );
}
