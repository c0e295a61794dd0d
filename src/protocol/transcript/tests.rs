use proptest::prelude::*;

use super::*;
use crate::protocol::{
    AskedCall, AskedParameters, ConversationId, Fraction, Json, Parameters, RunError, RunStatus,
    SuggestedValue, Timestamp, ToolCall, ToolProgress, ToolStatus, Usage,
};

const AT: Timestamp = Timestamp(0);

/// One step of a random conversation.
#[derive(Clone, Debug)]
enum Step {
    Ask(String),
    Think(String),
    Say(String),
    /// The model asks for a tool, whether a person has to allow it or not.
    Use(String, bool),
    /// The oldest call that has not ended goes a step further.
    Further(String),
    Suggest(String),
    /// A call of the model is counted.
    Count(usize),
    /// The model is to be asked in another way.
    Set(u8),
    End(RunStatus),
    Rename(String),
    AnswerAgain,
    Choose(prop::sample::Index),
    Elsewhere,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => "[a-z ]{1,8}".prop_map(Step::Ask),
        4 => "[a-zé🦀 ]{1,6}".prop_map(Step::Think),
        8 => "[a-zé🦀 ]{1,6}".prop_map(Step::Say),
        2 => ("[a-z]{1,5}", any::<bool>()).prop_map(|(tool, asks)| Step::Use(tool, asks)),
        4 => "[a-z]{1,5}".prop_map(Step::Further),
        1 => "[a-z]{1,5}".prop_map(Step::Suggest),
        1 => (0_usize..1000).prop_map(Step::Count),
        1 => (0_u8..20).prop_map(Step::Set),
        2 => prop_oneof![
            Just(RunStatus::Complete), Just(RunStatus::Stopped), Just(RunStatus::Failed),
            Just(RunStatus::Interrupted)
        ].prop_map(Step::End),
        1 => "[a-z]{1,5}".prop_map(Step::Rename),
        1 => Just(Step::AnswerAgain),
        1 => any::<prop::sample::Index>().prop_map(Step::Choose),
        1 => Just(Step::Elsewhere),
    ];
    prop::collection::vec(step, 0..40)
}

fn used(input_tokens: usize) -> Usage {
    Usage {
        input_tokens,
        output_tokens: 5,
        estimated: false,
        estimate: 100,
        window: Some(1000),
    }
}

fn warm(temperature: &str) -> Parameters {
    let asked = AskedParameters {
        temperature: temperature.into(),
        ..AskedParameters::default()
    };
    Parameters::read(&asked).unwrap()
}

#[test]
fn what_was_used_is_that_of_the_last_answer_and_the_window_that_of_the_chosen_model() {
    let conversation_id = ConversationId::new();
    let steps = [
        Step::Ask("one".into()),
        Step::Count(10),
        Step::Count(20),
        Step::End(RunStatus::Complete),
        Step::Ask("two".into()),
    ];
    let mut state = Transcript::new(conversation_id);
    assert_eq!(state.usage(), None);
    state = fold(state, &log(conversation_id, &steps));
    assert_eq!(state.usage(), Some(used(20)), "the second has not been counted");
    state.model = Some("x/other".into());
    let window = None;
    assert_eq!(state.usage(), Some(Usage { window, ..used(20) }));
}

/// The log that a server would write for the steps: what can't happen (two runs at once) is left out.
fn log(conversation_id: ConversationId, steps: &[Step]) -> Vec<Event> {
    let mut state = Transcript::new(conversation_id);
    let mut events = Vec::new();
    for step in steps {
        let run = state.active_run();
        let parts = |node: usize| {
            run.and_then(|run| state.message(run)?.assistant()?.nodes.get(node).cloned())
                .unwrap_or_default()
                .parts
        };
        let tool_calls = || -> Vec<ToolCall> {
            let answer = run.and_then(|run| state.message(run)?.assistant());
            answer.map_or_else(Vec::new, |answer| answer.tool_calls().cloned().collect())
        };
        let place = |same: fn(&Part) -> bool| match parts(0).last() {
            Some(last) if same(last) => (parts(0).len() - 1, last.text().len()),
            _ => (parts(0).len(), 0),
        };
        let mut add = |conversation_id, message_id, body| {
            let position = Position(events.len() as u64 + 1);
            events.push(Event {
                position,
                conversation_id,
                message_id,
                body,
            });
        };
        match (step, run) {
            (Step::Ask(text), None) => {
                let (user_message_id, run) = (MessageId::new(), MessageId::new());
                let saved = EventBody::UserMessageSaved {
                    user_message_id,
                    expected_assistant_message_id: run,
                    parent_id: state.active_leaf,
                    text: text.clone(),
                    interaction: Default::default(),
                    created_at: AT,
                };
                add(conversation_id, Some(run), saved);
                let started = EventBody::RunStarted {
                    parent_id: user_message_id,
                    model: "x/m".into(),
                    created_at: AT,
                };
                add(conversation_id, Some(run), started);
            }
            (Step::AnswerAgain, None) => {
                let answer = state.active_leaf.and_then(|leaf| state.message(leaf));
                let answer = answer.filter(|answer| answer.assistant().is_some());
                let Some(parent_id) = answer.and_then(|answer| answer.parent_id) else {
                    continue;
                };
                let started = EventBody::RunStarted {
                    parent_id,
                    model: "x/n".into(),
                    created_at: AT,
                };
                add(conversation_id, Some(MessageId::new()), started);
            }
            (Step::Think(text), Some(run)) => {
                let (part, offset) = place(|part| matches!(part, Part::Thinking { .. }));
                add(
                    conversation_id,
                    Some(run),
                    EventBody::Thinking {
                        node: 0,
                        part,
                        offset,
                        text: text.clone(),
                    },
                );
            }
            (Step::Say(text), Some(run)) => {
                let (part, offset) = place(|part| matches!(part, Part::Text { .. }));
                add(
                    conversation_id,
                    Some(run),
                    EventBody::TextDelta {
                        node: 0,
                        part,
                        offset,
                        text: text.clone(),
                    },
                );
            }
            (Step::Use(tool, asks), Some(run)) => {
                let index = tool_calls().len();
                let call = AskedCall {
                    node: 0,
                    part: parts(0).len(),
                    index,
                    tool_use_id: index.to_string(),
                    tool: tool.clone(),
                    input: Json::or_string("{\"a\": [1]}"),
                    label: tool.clone(),
                    detail: None,
                };
                let event = if *asks {
                    EventBody::ApprovalRequested(call)
                } else {
                    EventBody::ToolStart { call, started_at: AT }
                };
                add(conversation_id, Some(run), event);
            }
            (Step::Further(text), Some(run)) => {
                let Some(call) = tool_calls().into_iter().find(|call| call.output.is_none()) else {
                    continue;
                };
                let (index, tool_use_id, tool) = (call.index, call.tool_use_id.clone(), call.tool.clone());
                let event = match (call.status, &call.progress) {
                    (ToolStatus::Waiting, _) => EventBody::ApprovalAnswered {
                        index,
                        tool_use_id,
                        allowed: text.len() > 2,
                    },
                    (ToolStatus::Running, None) => EventBody::ToolProgress {
                        index,
                        tool_use_id,
                        tool,
                        progress: ToolProgress {
                            stage: text.clone(),
                            message: text.clone(),
                            progress: Some(Fraction::of(1, 3)),
                            data: None,
                        },
                    },
                    (status, _) => EventBody::ToolComplete {
                        index,
                        tool_use_id,
                        tool,
                        label: text.clone(),
                        status: if status == ToolStatus::Denied {
                            ToolStatus::Denied
                        } else {
                            ToolStatus::Complete
                        },
                        output: text.clone(),
                        payload: None,
                        attachments: Vec::new(),
                        ended_at: AT,
                    },
                };
                add(conversation_id, Some(run), event);
            }
            (Step::Suggest(text), Some(run)) => {
                let (label, value) = (text.clone(), text.clone());
                let values = vec![SuggestedValue { label, value }];
                add(conversation_id, Some(run), EventBody::SuggestedValues { values });
            }
            (Step::Count(tokens), Some(run)) => {
                add(conversation_id, Some(run), EventBody::Usage(used(*tokens)));
            }
            (Step::Set(tenths), _) => {
                let parameters = warm(&format!("1.{tenths}"));
                add(conversation_id, None, EventBody::ParametersChosen { parameters });
            }
            (Step::End(status), Some(run)) => {
                let error = RunError {
                    code: "x".into(),
                    message: "y".into(),
                    hint: String::new(),
                };
                add(
                    conversation_id,
                    Some(run),
                    EventBody::ended(*status, Some(error), AT, 0),
                );
            }
            (Step::Rename(title), _) => {
                add(
                    conversation_id,
                    None,
                    EventBody::ConversationRenamed { title: title.clone() },
                );
            }
            (Step::Choose(message), _) if !state.messages.is_empty() => {
                let leaf_id = state.messages[message.index(state.messages.len())].id;
                add(conversation_id, None, EventBody::LeafSelected { leaf_id });
            }
            (Step::Elsewhere, _) => {
                add(
                    ConversationId::new(),
                    None,
                    EventBody::ConversationRenamed {
                        title: "other".into(),
                    },
                );
            }
            _ => continue,
        }
        for event in &events[events
            .iter()
            .position(|event| event.position > state.as_of)
            .unwrap_or(events.len())..]
        {
            apply(&mut state, event).expect("the log has no gaps");
        }
    }
    events
}

fn fold(mut state: Transcript, events: &[Event]) -> Transcript {
    for event in events {
        apply(&mut state, event).expect("no gap");
    }
    state
}

fn newest(whole: &Transcript, count: usize) -> Transcript {
    let mut newest = whole.clone();
    newest.keep_newest(count);
    newest
}

/// What the server gives as the page before a message.
fn older(whole: &Transcript, before: MessageId, count: usize) -> OlderMessages {
    let mut page = whole.clone();
    page.active_leaf = whole.message(before).and_then(|message| message.parent_id);
    let run = page.active_run();
    page.keep_newest(count);
    page.messages.retain(|message| Some(message.id) != run);
    OlderMessages {
        before,
        messages: page.messages,
        earliest: page.earliest,
        elsewhere: page.elsewhere,
    }
}

proptest! {
    /// A snapshot at any position, sent as JSON, and then the log from any earlier position on: the same as
    /// having seen everything once.
    #[test]
    fn a_snapshot_and_a_replay_that_overlaps_it_are_the_same_as_the_whole(
        steps in steps(), at in any::<prop::sample::Index>(), from in any::<prop::sample::Index>(),
    ) {
        let conversation_id = ConversationId::new();
        let events = log(conversation_id, &steps);
        let whole = fold(Transcript::new(conversation_id), &events);
        let at = at.index(events.len() + 1);
        let from = from.index(at + 1);
        let mut snapshot = fold(Transcript::new(conversation_id), &events[..at]);
        // The server stamps a snapshot with the log's end, whichever conversation that belongs to.
        snapshot.as_of = Position(at as u64);
        let json = serde_json::to_string(&snapshot).unwrap();
        let caught_up = fold(serde_json::from_str(&json).unwrap(), &events[from..]);
        prop_assert_eq!(caught_up.messages, whole.messages);
        prop_assert_eq!((caught_up.title, caught_up.active_leaf), (whole.title, whole.active_leaf));
    }

    /// A page at any position, all events after it (and a page again where they show that something is not here), and then
    /// the older pages: the same branch, with the same choices, as having seen everything.
    #[test]
    fn pages_make_the_whole(
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
                *state = newest(&whole, size);
            }
            if index + 1 == at {
                state = Some(newest(&whole, size));
            }
        }
        let mut state = state.unwrap_or_else(|| newest(&whole, size));
        prop_assert_eq!(newest(&state, 1), newest(&whole, 1));
        prop_assert_eq!(state.active_run(), whole.active_run());
        while let Some(before) = state.earliest {
            let older = older(&whole, before, size);
            state.prepend(older.clone());
            prop_assert_ne!(state.earliest, Some(before));
            let once = state.clone();
            state.prepend(older);
            prop_assert_eq!(&state, &once, "a page that comes twice is taken once");
        }
        prop_assert_eq!(state.branch(), whole.branch());
        for answer in whole.branch().into_iter().filter(|message| message.assistant().is_some()) {
            prop_assert_eq!(state.siblings(answer), whole.siblings(answer));
        }
    }

    /// Deltas may come again, joined or alone: nothing is doubled.
    #[test]
    fn joined_deltas_give_the_same_text(texts in prop::collection::vec("[a-zé🦀]{1,4}", 1..10), twice in any::<bool>()) {
        let mut one_by_one = AssistantMessage::started("x/m");
        let mut joined = one_by_one.clone();
        let mut offset = 0;
        for text in &texts {
            let delta = EventBody::TextDelta { node: 0, part: 0, offset, text: text.clone() };
            for _ in 0..=usize::from(twice) {
                prop_assert!(apply_to_run(&mut one_by_one, &delta).is_some());
            }
            offset += text.len();
        }
        let whole = EventBody::TextDelta { node: 0, part: 0, offset: 0, text: texts.concat() };
        apply_to_run(&mut joined, &whole);
        prop_assert_eq!(&one_by_one, &joined);
        apply_to_run(&mut one_by_one, &whole);
        prop_assert_eq!(one_by_one, joined);
    }

    /// What is left out is noticed with the next delta of the same part, and the state stays as it was.
    #[test]
    fn a_missing_delta_is_a_gap(texts in prop::collection::vec("[a-z]{1,4}", 3..10), lost in any::<prop::sample::Index>()) {
        let steps: Vec<Step> = [Step::Ask("q".into())].into_iter().chain(texts.into_iter().map(Step::Say)).collect();
        let conversation_id = ConversationId::new();
        let events = log(conversation_id, &steps);
        let lost = 2 + lost.index(events.len() - 3);
        let mut state = fold(Transcript::new(conversation_id), &events[..lost]);
        let before = state.clone();
        prop_assert_eq!(apply(&mut state, &events[lost + 1]), Err(Gap(events[lost + 1].position)));
        prop_assert_eq!(state, before);
    }
}

#[test]
fn after_its_last_event_a_run_does_not_change() {
    let conversation_id = ConversationId::new();
    let events = log(
        conversation_id,
        &[
            Step::Ask("q".into()),
            Step::Say("half".into()),
            Step::End(RunStatus::Stopped),
        ],
    );
    let ended = fold(Transcript::new(conversation_id), &events);
    let run = ended.active_leaf.unwrap();
    let late = [
        EventBody::TextDelta {
            node: 0,
            part: 0,
            offset: 4,
            text: " more".into(),
        },
        EventBody::Complete {
            ended_at: Timestamp(9),
            worked_ms: 0,
        },
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
        assert_eq!(apply(&mut state, &event), Ok(Touched::Nothing));
    }
    assert_eq!(state.messages, ended.messages);
}

#[test]
fn the_branch_that_is_shown_ends_with_the_active_leaf() {
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
    let state = fold(Transcript::new(conversation_id), &events);
    let shown = |state: &Transcript| -> Vec<String> {
        let text = |message: &&Message| match &message.body {
            MessageBody::User { text, .. } => text.clone(),
            MessageBody::Assistant(assistant) => assistant.text(),
        };
        state.branch().iter().map(text).collect()
    };
    assert_eq!(shown(&state), ["q", "two"]);
    let answer = state.message(state.active_leaf.unwrap()).unwrap();
    let siblings = state.siblings(answer);
    assert_eq!(siblings.len(), 2);
    let mut other = state.clone();
    other.active_leaf = Some(siblings[0]);
    assert_eq!(shown(&other), ["q", "one"]);
}
