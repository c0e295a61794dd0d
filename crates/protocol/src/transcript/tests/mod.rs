//! Live, replayed and reloaded events lead to the same state.

mod steps;

use fuzzing::properties;
use proptest::prelude::*;

use self::steps::{Step, log, steps, usage};
use super::*;
use crate::{ConversationId, RunError, RunStatus, Timestamp, Usage, Verdict};

#[test]
fn usage_is_the_last_answers_for_chosen_model() {
    let conversation_id = ConversationId::new();
    let steps = [
        Step::Ask("one".into()),
        Step::CountUsage(10),
        Step::CountUsage(20),
        Step::End(RunStatus::Complete),
        Step::Ask("two".into()),
    ];
    let mut state = Transcript::new(conversation_id);
    assert_eq!(state.window_usage(), None);
    state = fold_events(state, &log(conversation_id, &steps));
    assert_eq!(
        state.window_usage(),
        Some(usage(20)),
        "the second answer has no usage yet"
    );
    state.model = Some("x/other".into());
    let window = None;
    assert_eq!(state.window_usage(), Some(Usage { window, ..usage(20) }));
}

#[test]
fn a_damaged_event_counts_as_missing() {
    let conversation_id = ConversationId::new();
    let mut events = log(conversation_id, &[Step::Ask("one".into())]);
    let before = fold_events(Transcript::new(conversation_id), &events);
    let mut damaged = events.pop().unwrap();
    damaged.position = damaged.position.next();
    damaged.body = EventBody::Placeholder(Placeholder::Damaged);
    let mut state = before.clone();
    assert_eq!(
        apply(&mut state, &damaged),
        Err(MissingEventError(damaged.position))
    );
    assert_eq!(state, before);
}

/// Otherwise every delta after the missing one would reload the snapshot.
#[test]
fn damaged_run_reloads_only_at_its_end() {
    let conversation_id = ConversationId::new();
    let events = log(conversation_id, &[Step::Ask("one".into())]);
    let mut state = fold_events(Transcript::new(conversation_id), &events);
    let run = state.active_run().unwrap();
    state.assistant_mut(run).unwrap().error = Some(RunError::damaged(run));
    let mut event = events.last().unwrap().clone();
    event.message_id = Some(run);
    for offset in [10, 20] {
        event.position = event.position.next();
        event.body = EventBody::Run(RunEvent::TextDelta {
            node: 0,
            part: 0,
            offset,
            text: "text".into(),
        });
        assert_eq!(apply(&mut state, &event), Ok(TranscriptUpdate::Nothing));
    }
    event.position = event.position.next();
    event.body = EventBody::Run(RunEvent::Complete {
        finish_reason: None,
        is_quiet: false,
        ended_at: Timestamp(1),
        worked_ms: 1,
    });
    assert_eq!(apply(&mut state, &event), Err(MissingEventError(event.position)));
}

fn fold_events(mut state: Transcript, events: &[Event]) -> Transcript {
    for event in events {
        apply(&mut state, event).expect("no gap");
    }
    state
}

/// Loads a snapshot at a position, sent as JSON, and then applies the log from an earlier position on.
fn reload_and_replay(
    conversation_id: ConversationId,
    events: &[Event],
    at: usize,
    from: usize,
) -> Transcript {
    let mut snapshot = fold_events(Transcript::new(conversation_id), &events[..at]);
    // The server stamps a snapshot with the log's end, whichever conversation that belongs to.
    snapshot.as_of = Position(at as u64);
    let json = serde_json::to_string(&snapshot).unwrap();
    fold_events(serde_json::from_str(&json).unwrap(), &events[from..])
}

#[test]
fn verdicts_and_taken_actions_survive_any_load() {
    let conversation_id = ConversationId::new();
    let end = || Step::End(RunStatus::Complete);
    let steps = [
        Step::Ask("one".into()),
        Step::MakePayload("table".into()),
        Step::MakePayload("chart".into()),
        Step::SuggestActions(2),
        Step::Cite(1),
        end(),
        Step::TakeAction(1),
        Step::Judge(1, Verdict::Accepted),
        Step::Ask("two".into()),
        Step::Judge(0, Verdict::Rejected),
        end(),
    ];
    let events = log(conversation_id, &steps);
    let whole = fold_events(Transcript::new(conversation_id), &events);
    let verdicts: Vec<Verdict> = whole.verdicts.iter().map(|judged| judged.verdict).collect();
    assert_eq!(verdicts, [Verdict::Accepted, Verdict::Rejected]);
    let answer = whole.messages[1].assistant().unwrap();
    let taken: Vec<bool> = answer
        .suggested_actions
        .iter()
        .map(|action| action.taken)
        .collect();
    assert_eq!((taken, answer.sources.len()), (vec![false, true], 1));
    for at in 0..=events.len() {
        for from in 0..=at {
            assert_eq!(
                reload_and_replay(conversation_id, &events, at, from),
                whole,
                "{at} {from}"
            );
        }
    }
}

fn newest_page(whole: &Transcript, count: usize) -> Transcript {
    let mut newest = whole.clone();
    newest.truncate_to_newest(count);
    newest
}

/// The page before a message, as the server returns it.
fn older_page(whole: &Transcript, before: MessageId, count: usize) -> OlderMessages {
    let mut page = whole.clone();
    page.active_leaf = whole.message(before).and_then(|message| message.parent_id);
    let run = page.active_run();
    page.truncate_to_newest(count);
    page.messages.retain(|message| Some(message.id) != run);
    OlderMessages {
        before,
        messages: page.messages,
        earliest: page.earliest,
        elsewhere: page.elsewhere,
    }
}

properties! {
    256;

    /// A snapshot at any position, sent as JSON, and then the log from any earlier position on, equal the
    /// state after the full log.
    #[test]
    fn snapshot_with_overlapping_replay_equals_full_log(
        steps in steps(), at in any::<prop::sample::Index>(), from in any::<prop::sample::Index>(),
    ) {
        let conversation_id = ConversationId::new();
        let events = log(conversation_id, &steps);
        let whole = fold_events(Transcript::new(conversation_id), &events);
        let at = at.index(events.len() + 1);
        let from = from.index(at + 1);
        let caught_up = reload_and_replay(conversation_id, &events, at, from);
        // The full state has the position of the conversation's last event; the snapshot may have a later
        // one.
        let caught_up = Transcript { as_of: whole.as_of, ..caught_up };
        prop_assert_eq!(caught_up, whole);
    }

    /// A page at any position, all events after it (and a new page where they show that something is not
    /// loaded), and then the older pages give the same branch with the same choices as the full log.
    #[test]
    fn pages_add_up_to_the_transcript(
        steps in steps(), at in any::<prop::sample::Index>(), size in 1usize..6,
    ) {
        let conversation_id = ConversationId::new();
        let events = log(conversation_id, &steps);
        let mut whole = Transcript::new(conversation_id);
        let at = at.index(events.len() + 1);
        let mut state = None;
        for (index, event) in events.iter().enumerate() {
            apply(&mut whole, event).expect("no gap");
            if let Some(state) = &mut state && apply(state, event).is_err() {
                *state = newest_page(&whole, size);
            }
            if index + 1 == at {
                state = Some(newest_page(&whole, size));
            }
        }
        let mut state = state.unwrap_or_else(|| newest_page(&whole, size));
        prop_assert_eq!(newest_page(&state, 1), newest_page(&whole, 1));
        prop_assert_eq!(state.active_run(), whole.active_run());
        while let Some(before) = state.earliest {
            let older = older_page(&whole, before, size);
            state.prepend(older.clone());
            prop_assert_ne!(state.earliest, Some(before));
            let once = state.clone();
            state.prepend(older);
            prop_assert_eq!(&state, &once, "a repeated page is added once");
        }
        prop_assert_eq!(state.shown_branch(), whole.shown_branch());
        for answer in whole.shown_branch().into_iter().filter(|message| message.assistant().is_some()) {
            prop_assert_eq!(state.siblings(answer), whole.siblings(answer));
        }
    }

    /// Deltas may be repeated, joined or alone: no text is doubled.
    #[test]
    fn joined_deltas_give_the_same_text(texts in prop::collection::vec("[a-zé🦀]{1,4}", 1..10), twice in any::<bool>()) {
        let mut one_by_one = AssistantMessage::new("x/m");
        let mut joined = one_by_one.clone();
        let mut offset = 0;
        for text in &texts {
            let delta = RunEvent::TextDelta { node: 0, part: 0, offset, text: text.clone() };
            for _ in 0..=usize::from(twice) {
                prop_assert!(apply_to_run(&mut one_by_one, &delta).is_some());
            }
            offset += text.len();
        }
        let whole = RunEvent::TextDelta { node: 0, part: 0, offset: 0, text: texts.concat() };
        apply_to_run(&mut joined, &whole);
        prop_assert_eq!(&one_by_one, &joined);
        apply_to_run(&mut one_by_one, &whole);
        prop_assert_eq!(one_by_one, joined);
    }

    /// A missing delta is detected with the next delta of the same part, and the state stays unchanged.
    #[test]
    fn a_missing_delta_is_an_error(texts in prop::collection::vec("[a-z]{1,4}", 3..10), lost in any::<prop::sample::Index>()) {
        let steps: Vec<Step> = [Step::Ask("q".into())].into_iter().chain(texts.into_iter().map(Step::Say)).collect();
        let conversation_id = ConversationId::new();
        let events = log(conversation_id, &steps);
        let lost = 2 + lost.index(events.len() - 3);
        let mut state = fold_events(Transcript::new(conversation_id), &events[..lost]);
        let before = state.clone();
        prop_assert_eq!(apply(&mut state, &events[lost + 1]), Err(MissingEventError(events[lost + 1].position)));
        prop_assert_eq!(state, before);
    }
}

#[test]
fn a_run_is_final_after_its_end() {
    let conversation_id = ConversationId::new();
    let events = log(
        conversation_id,
        &[
            Step::Ask("q".into()),
            Step::Say("half".into()),
            Step::End(RunStatus::Stopped),
        ],
    );
    let ended = fold_events(Transcript::new(conversation_id), &events);
    let run = ended.active_leaf.unwrap();
    let late = [
        EventBody::Run(RunEvent::TextDelta {
            node: 0,
            part: 0,
            offset: 4,
            text: " more".into(),
        }),
        EventBody::Run(RunEvent::Complete {
            ended_at: Timestamp(9),
            worked_ms: 0,
            finish_reason: None,
            is_quiet: false,
        }),
    ];
    let mut state = ended.clone();
    for (n, body) in late.into_iter().enumerate() {
        let position = Position(100 + n as u64);
        let event = Event {
            position,
            conversation_id,
            message_id: Some(run),
            body,
        };
        assert_eq!(apply(&mut state, &event), Ok(TranscriptUpdate::Nothing));
    }
    assert_eq!(state.messages, ended.messages);
}

#[test]
fn page_knows_the_messages_after_its_leaf() {
    let conversation_id = ConversationId::new();
    let steps = [Step::Ask("q".into()), Step::End(RunStatus::Complete)];
    let mut state = fold_events(Transcript::new(conversation_id), &log(conversation_id, &steps));
    let (question, answer) = (state.messages[0].id, state.messages[1].id);
    state.active_leaf = Some(question);
    state.truncate_to_newest(1);
    let after = UnloadedSibling {
        id: answer,
        parent_id: Some(question),
    };
    assert_eq!(state.elsewhere, [after]);
}

#[test]
fn shown_branch_ends_with_the_active_leaf() {
    let conversation_id = ConversationId::new();
    let end = || Step::End(RunStatus::Complete);
    let events = log(
        conversation_id,
        &[
            Step::Ask("q".into()),
            Step::Say("one".into()),
            end(),
            Step::AnswerAgain,
            Step::Say("two".into()),
            end(),
        ],
    );
    let state = fold_events(Transcript::new(conversation_id), &events);
    let shown = |state: &Transcript| -> Vec<String> {
        let text = |message: &&Message| match &message.body {
            MessageBody::User { text, .. } => text.clone(),
            MessageBody::Assistant(assistant) => assistant.text(),
            MessageBody::Damaged => String::new(),
        };
        state.shown_branch().iter().map(text).collect()
    };
    assert_eq!(shown(&state), ["q", "two"]);
    let answer = state.message(state.active_leaf.unwrap()).unwrap();
    let siblings = state.siblings(answer);
    assert_eq!(siblings.len(), 2);
    let mut other = state.clone();
    other.active_leaf = Some(siblings[0]);
    assert_eq!(shown(&other), ["q", "one"]);
}
