//! Random steps of a conversation, and the log that a server would write of them.

use proptest::prelude::*;

use super::super::*;
use crate::{
    ActionHandler, ActionStyle, ConversationEvent, ConversationId, Fraction, ParameterInput, Parameters,
    Part, PayloadRef, RawJson, RequestedCall, RunError, RunStatus, SuggestedAction, SuggestedValue,
    Timestamp, TokenTotals, ToolCall, ToolProgress, ToolStatus, Usage, Verdict,
    examples::{self, attachment, source},
};

const AT: Timestamp = Timestamp(0);

/// One step of a random conversation.
#[derive(Clone, Debug)]
pub enum Step {
    Ask(String),
    Think(String),
    Say(String),
    /// The model calls a tool; the flag says whether a user has to allow it.
    CallTool(String, bool),
    /// The oldest call that has not ended advances by one state.
    AdvanceCall(String),
    SuggestValue(String),
    /// The model makes something for the panel.
    MakePayload(String),
    /// The model suggests this number of actions.
    SuggestActions(usize),
    /// The model names its sources.
    Cite(usize),
    /// The user takes a suggested action, in this answer or an earlier one.
    TakeAction(usize),
    /// The user accepts or rejects a payload.
    Judge(usize, Verdict),
    /// The usage of a model call is reported.
    CountUsage(usize),
    /// The model's parameters are changed.
    SetParameters(u8),
    End(RunStatus),
    Rename(String),
    AnswerAgain,
    Choose(prop::sample::Index),
    OtherConversation,
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => "[a-z ]{1,8}".prop_map(Step::Ask),
        4 => "[a-zé🦀 ]{1,6}".prop_map(Step::Think),
        8 => "[a-zé🦀 ]{1,6}".prop_map(Step::Say),
        2 => ("[a-z]{1,5}", any::<bool>()).prop_map(|(tool, asks)| Step::CallTool(tool, asks)),
        4 => "[a-z]{1,5}".prop_map(Step::AdvanceCall),
        1 => "[a-z]{1,5}".prop_map(Step::SuggestValue),
        2 => "[a-z]{1,5}".prop_map(Step::MakePayload),
        2 => (0_usize..4).prop_map(Step::SuggestActions),
        1 => (0_usize..3).prop_map(Step::Cite),
        4 => (0_usize..9).prop_map(Step::TakeAction),
        2 => (0_usize..9, any::<bool>()).prop_map(|(which, accepts)| {
            Step::Judge(which, if accepts { Verdict::Accepted } else { Verdict::Rejected })
        }),
        1 => (0_usize..1000).prop_map(Step::CountUsage),
        1 => (0_u8..20).prop_map(Step::SetParameters),
        2 => prop_oneof![
            Just(RunStatus::Complete), Just(RunStatus::Stopped), Just(RunStatus::Failed),
            Just(RunStatus::Interrupted)
        ].prop_map(Step::End),
        1 => "[a-z]{1,5}".prop_map(Step::Rename),
        1 => Just(Step::AnswerAgain),
        1 => any::<prop::sample::Index>().prop_map(Step::Choose),
        1 => Just(Step::OtherConversation),
    ];
    prop::collection::vec(step, 0..40)
}

pub fn usage(input_tokens: usize) -> Usage {
    Usage {
        input_tokens,
        output_tokens: 5,
        estimated: false,
        estimate: 100,
        window: Some(1000),
        totals: TokenTotals::default(),
    }
}

fn parameters_with(temperature: &str) -> Parameters {
    let input = ParameterInput {
        temperature: temperature.into(),
        ..ParameterInput::default()
    };
    Parameters::parse(&input).unwrap()
}

/// The payload of the event with this number.
fn payload(at: usize) -> PayloadRef {
    PayloadRef {
        payload_id: at.to_string(),
        ..examples::payload()
    }
}

fn action(index: usize) -> SuggestedAction {
    SuggestedAction {
        label: index.to_string(),
        action: "do_it".into(),
        handler: ActionHandler::Client,
        data: Some("[0.5]".into()),
        style: ActionStyle::Warning,
        taken: false,
    }
}

/// The open actions of answers that have ended: the server accepts no others.
fn open_actions(state: &Transcript) -> Vec<(MessageId, usize)> {
    let answers = state
        .messages
        .iter()
        .filter_map(|message| Some((message.id, message.assistant()?)));
    let ended = answers.filter(|(_, answer)| answer.status.is_terminal());
    let actions = ended.flat_map(|(id, answer)| {
        let actions = answer.suggested_actions.iter().enumerate();
        let left = actions.filter(|(_, action)| !action.taken);
        left.map(move |(index, _)| (id, index))
    });
    actions.collect()
}

/// The payloads without a verdict: the first one stays, so the server writes no second one.
fn unjudged_payloads(state: &Transcript) -> Vec<String> {
    let answers = state.messages.iter().filter_map(Message::assistant);
    let parts = answers
        .flat_map(|answer| &answer.nodes)
        .flat_map(|node| &node.parts);
    let made = parts.filter_map(|part| match part {
        Part::Payload { payload } => Some(&payload.payload_id),
        Part::ToolCall(call) => call.payload.as_ref().map(|payload| &payload.payload_id),
        Part::Thinking { .. } | Part::Text { .. } | Part::File { .. } => None,
    });
    let left = made.filter(|id| state.verdict(id).is_none());
    left.cloned().collect()
}

/// The log that a server would write for the steps. Impossible steps (two runs at once) are left out.
pub fn log(conversation_id: ConversationId, steps: &[Step]) -> Vec<Event> {
    let mut state = Transcript::new(conversation_id);
    let mut events = Vec::new();
    for step in steps {
        let (run, at) = (state.active_run(), events.len());
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
                let saved = EventBody::Conversation(ConversationEvent::UserMessageSaved {
                    user_message_id,
                    expected_assistant_message_id: run,
                    parent_id: state.active_leaf,
                    text: text.clone(),
                    files: Vec::new(),
                    interaction: Default::default(),
                    created_at: AT,
                });
                add(conversation_id, Some(run), saved);
                let started = EventBody::Run(RunEvent::RunStarted {
                    parent_id: user_message_id,
                    model: "x/m".into(),
                    created_at: AT,
                });
                add(conversation_id, Some(run), started);
            }
            (Step::AnswerAgain, None) => {
                let answer = state.active_leaf.and_then(|leaf| state.message(leaf));
                let answer = answer.filter(|answer| answer.assistant().is_some());
                let Some(parent_id) = answer.and_then(|answer| answer.parent_id) else {
                    continue;
                };
                let started = EventBody::Run(RunEvent::RunStarted {
                    parent_id,
                    model: "x/n".into(),
                    created_at: AT,
                });
                add(conversation_id, Some(MessageId::new()), started);
            }
            (Step::Think(text), Some(run)) => {
                let (part, offset) = place(|part| matches!(part, Part::Thinking { .. }));
                add(
                    conversation_id,
                    Some(run),
                    EventBody::Run(RunEvent::Thinking {
                        node: 0,
                        part,
                        offset,
                        text: text.clone(),
                        took_ms: 0,
                    }),
                );
            }
            (Step::Say(text), Some(run)) => {
                let (part, offset) = place(|part| matches!(part, Part::Text { .. }));
                add(
                    conversation_id,
                    Some(run),
                    EventBody::Run(RunEvent::TextDelta {
                        node: 0,
                        part,
                        offset,
                        text: text.clone(),
                    }),
                );
            }
            (Step::CallTool(tool, asks), Some(run)) => {
                let index = tool_calls().len();
                let call = RequestedCall {
                    node: 0,
                    part: parts(0).len(),
                    index,
                    tool_use_id: index.to_string(),
                    tool: tool.clone(),
                    input: RawJson::parse_or_quote("{\"a\": [1]}"),
                    label: tool.clone(),
                    detail: None,
                };
                let event = if *asks {
                    EventBody::Run(RunEvent::ApprovalRequested(call))
                } else {
                    EventBody::Run(RunEvent::ToolStart { call, started_at: AT })
                };
                add(conversation_id, Some(run), event);
            }
            (Step::AdvanceCall(text), Some(run)) => {
                let Some(call) = tool_calls().into_iter().find(|call| call.output.is_none()) else {
                    continue;
                };
                let (index, tool_use_id, tool) = (call.index, call.tool_use_id.clone(), call.tool.clone());
                let event = match (call.status, &call.progress) {
                    (ToolStatus::Waiting, _) => EventBody::Run(RunEvent::ApprovalAnswered {
                        index,
                        tool_use_id,
                        allowed: text.len() > 2,
                    }),
                    (ToolStatus::Running, None) => EventBody::Run(RunEvent::ToolProgress {
                        index,
                        tool_use_id,
                        tool,
                        progress: ToolProgress {
                            stage: text.clone(),
                            message: text.clone(),
                            progress: Some(Fraction::from_ratio(1, 3)),
                            data: None,
                        },
                    }),
                    (status, _) => EventBody::Run(RunEvent::ToolComplete {
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
                        payload: (text.len() % 2 == 0).then(|| payload(at)),
                        attachments: vec![attachment(); text.len() / 2],
                        ended_at: AT,
                    }),
                };
                add(conversation_id, Some(run), event);
            }
            (Step::SuggestValue(text), Some(run)) => {
                let (label, value) = (text.clone(), text.clone());
                let values = vec![SuggestedValue { label, value }];
                add(
                    conversation_id,
                    Some(run),
                    EventBody::Run(RunEvent::SuggestedValues { values }),
                );
            }
            (Step::MakePayload(kind), Some(run)) => {
                let part = parts(0).len();
                let payload = PayloadRef {
                    kind: kind.clone(),
                    ..payload(at)
                };
                let made = EventBody::Run(RunEvent::PayloadMade {
                    node: 0,
                    part,
                    payload,
                });
                add(conversation_id, Some(run), made);
            }
            (Step::SuggestActions(count), Some(run)) => {
                let actions = (0..*count).map(action).collect();
                add(
                    conversation_id,
                    Some(run),
                    EventBody::Run(RunEvent::SuggestedActions { actions }),
                );
            }
            (Step::Cite(count), Some(run)) => {
                let sources = vec![source(); *count];
                add(
                    conversation_id,
                    Some(run),
                    EventBody::Run(RunEvent::Sources { sources }),
                );
            }
            (Step::TakeAction(which), _) => {
                let offered = open_actions(&state);
                if !offered.is_empty() {
                    let (answer, index) = offered[which % offered.len()];
                    add(
                        conversation_id,
                        Some(answer),
                        EventBody::Run(RunEvent::ActionTaken { index }),
                    );
                }
            }
            (Step::Judge(which, verdict), _) => {
                let proposed = unjudged_payloads(&state);
                if !proposed.is_empty() {
                    let payload_id = proposed[which % proposed.len()].clone();
                    let verdict = *verdict;
                    let accepted_fields = match verdict {
                        Verdict::Accepted if which % 2 == 0 => vec!["name".into()],
                        _ => Vec::new(),
                    };
                    let judged = EventBody::Conversation(ConversationEvent::PayloadJudged {
                        payload_id,
                        verdict,
                        accepted_fields,
                    });
                    add(conversation_id, None, judged);
                }
            }
            (Step::CountUsage(tokens), Some(run)) => {
                add(
                    conversation_id,
                    Some(run),
                    EventBody::Run(RunEvent::Usage(usage(*tokens))),
                );
            }
            (Step::SetParameters(tenths), _) => {
                let parameters = parameters_with(&format!("1.{tenths}"));
                add(
                    conversation_id,
                    None,
                    EventBody::Conversation(ConversationEvent::ParametersChosen { parameters }),
                );
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
                    RunEvent::run_ended(*status, Some(error), AT, 0).into(),
                );
            }
            (Step::Rename(title), _) => {
                add(
                    conversation_id,
                    None,
                    EventBody::Conversation(ConversationEvent::ConversationRenamed { title: title.clone() }),
                );
            }
            (Step::Choose(message), _) if !state.messages.is_empty() => {
                let leaf_id = state.messages[message.index(state.messages.len())].id;
                add(
                    conversation_id,
                    None,
                    EventBody::Conversation(ConversationEvent::LeafSelected { leaf_id }),
                );
            }
            (Step::OtherConversation, _) => {
                add(
                    ConversationId::new(),
                    None,
                    EventBody::Conversation(ConversationEvent::ConversationRenamed {
                        title: "other".into(),
                    }),
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
