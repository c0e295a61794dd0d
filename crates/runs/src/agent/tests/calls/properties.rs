//! Invariants for any behaviour of the model, its tools and the user.

use fuzzing::properties;
use proptest::prelude::*;

use super::*;
use parlor_protocol::Fraction;

/// Any possible input, valid in the current state or not.
fn any_input() -> impl Strategy<Value = Input> {
    let name = prop_oneof![Just("look"), Just("ask"), Just("again"), Just("none"), Just("")];
    let index = 0..6_usize;
    let progress = parlor_protocol::ToolProgress {
        stage: String::new(),
        message: String::new(),
        progress: Some(Fraction::from_ratio(1, 2)),
        data: None,
    };
    let reasons = [
        FinishReason::Stop,
        FinishReason::Length,
        FinishReason::ToolCalls,
        FinishReason::ContentFilter,
    ];
    prop_oneof![
        4 => (0..3_usize, "[a-b]?", name).prop_map(|(index, id, name)| {
            Input::Model(ModelEvent::ToolCall { index, id, name: name.into() })
        }),
        4 => (0..3_usize, "[{}\"a]{0,2}").prop_map(|(index, delta)| {
            Input::Model(ModelEvent::ToolArguments { index, delta })
        }),
        4 => prop::sample::select(reasons.to_vec()).prop_map(|reason| Input::Model(ModelEvent::Finished(reason))),
        4 => (index.clone(), any::<bool>()).prop_map(|(index, fine)| {
            tool_output(index, if fine { Ok("fine") } else { Err("bad") })
        }),
        2 => (index.clone(), any::<bool>()).prop_map(|(index, allowed)| Input::ApprovalAnswered { index, allowed }),
        1 => index.prop_map(move |index| Input::ToolProgress { index, progress: progress.clone() }),
        2 => "[xy]{0,2}".prop_map(|text| Input::Model(ModelEvent::Text(text))),
        2 => "[xy]{0,2}".prop_map(|text| Input::Model(ModelEvent::Thinking(text))),
        1 => Just(Input::StreamEnded),
        1 => Just(Input::Stop),
        1 => Just(Input::RetryDue),
    ]
}

properties! {
    256;

    /// Invariants for any inputs in any order.
    #[test]
    fn agent_loop_keeps_its_invariants(inputs in prop::collection::vec(any_input(), 0..60)) {
        let mut agent = agent(AssistantMessage::new("x/m"));
        let mut replayed = AssistantMessage::new("x/m");
        let (mut ran, mut over) = (Vec::new(), false);
        for input in std::iter::once(Input::Start).chain(inputs) {
            for effect in agent.step(input, NOON) {
                prop_assert!(!over, "nothing comes after the end: {effect:?}");
                match effect {
                    Effect::Log(event) => {
                        prop_assert!(apply_to_run(&mut replayed, &event).is_some(), "{event:?} does not follow");
                    }
                    Effect::CallModel { with_tools } => {
                        let at_work = agent.message().tool_calls().any(|call| call.output.is_none());
                        prop_assert!(!at_work, "the model is called when all its calls have an output");
                        prop_assert!(with_tools || replayed.nodes.len() >= 2);
                    }
                    Effect::RunTool { index, .. } => {
                        prop_assert!(!ran.contains(&index), "a call is made once");
                        let call = replayed.tool_calls().find(|call| call.index == index);
                        prop_assert_eq!(call.map(|call| call.status), Some(ToolStatus::Running), "its start is logged");
                        ran.push(index);
                    }
                    Effect::ScheduleRetry(_)
                    | Effect::Check(_)
                    | Effect::LeaveOut(_)
                    | Effect::StorePayload(_)
                    | Effect::StoreProviderData { .. } => {}
                    Effect::Pause(event) | Effect::End(event) => {
                        over = true;
                        apply_to_run(&mut replayed, &event);
                    }
                }
            }
        }
        // A client that follows the log has the same state as the agent.
        prop_assert_eq!(&replayed, agent.message());
        let indices: Vec<usize> = replayed.tool_calls().map(|call| call.index).collect();
        prop_assert_eq!(&indices, &(0..indices.len()).collect::<Vec<_>>(), "in the order of asking");
    }
}
