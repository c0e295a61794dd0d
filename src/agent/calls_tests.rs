//! The loop with tools: each of its transitions, and what holds whatever the model and its tools do.

use proptest::prelude::*;

use super::{
    tests::{TextOnly, terms},
    *,
};
use crate::protocol::{Fraction, ToolCall, ToolStatus};

const NOON: Timestamp = Timestamp(1_795_262_400_000);

/// `look` may always be run, `ask` needs approval, `again` may be run twice; `{` is the arguments that fit nothing.
#[derive(Debug)]
struct Tools;

impl Toolbox for Tools {
    fn plan(&self, tool: &str, arguments: &str) -> Result<Plan, String> {
        if arguments == "{" {
            return Err("The arguments are not JSON.".into());
        }
        match tool {
            "look" | "ask" | "again" => Ok(Plan {
                label: format!("Doing {tool}"),
                detail: Some(arguments.into()),
                needs_approval: tool == "ask",
                is_idempotent: tool == "again",
            }),
            _ => Err(format!("There is no tool {tool}.")),
        }
    }
}

fn agent(message: AssistantMessage) -> Agent {
    Agent::new(message, Arc::new(Tools), Arc::new(TextOnly), terms(2))
}

/// A run that has begun and been fed these inputs; gives the effects of the last one.
fn after(inputs: Vec<Input>) -> (Agent, Vec<Effect>) {
    let mut agent = agent(AssistantMessage::started("x/m"));
    let mut effects = agent.step(Input::Start, NOON);
    for input in inputs {
        effects = agent.step(input, NOON);
    }
    (agent, effects)
}

fn asks(calls: &[(&str, &str)]) -> Vec<Input> {
    let mut inputs = Vec::new();
    for (index, (name, arguments)) in calls.iter().enumerate() {
        let (id, name) = (format!("id{index}"), (*name).to_owned());
        inputs.push(Input::Model(ModelEvent::ToolCall { index, id, name }));
        // In two pieces, as they come.
        let (first, second) = arguments.split_at(arguments.len() / 2);
        for delta in [first, second] {
            let delta = delta.into();
            inputs.push(Input::Model(ModelEvent::ToolArguments { index, delta }));
        }
    }
    inputs.push(Input::Model(ModelEvent::Finished(FinishReason::ToolCalls)));
    inputs
}

fn gives(index: usize, output: Result<&str, &str>) -> Input {
    let output = output.map(String::from).map_err(String::from);
    let label = "Done".into();
    Input::ToolEnded {
        index,
        done: Done {
            label,
            output,
            made: Made::default(),
        },
    }
}

fn says(text: &str) -> Vec<Input> {
    vec![
        Input::Model(ModelEvent::Text(text.into())),
        Input::Model(ModelEvent::Finished(FinishReason::Stop)),
    ]
}

fn run(index: usize, tool: &str, input: &str) -> Effect {
    Effect::Run {
        index,
        tool: tool.into(),
        input: input.into(),
    }
}

/// The effects that are not words for the log.
fn done(effects: Vec<Effect>) -> Vec<Effect> {
    let is_log = |effect: &Effect| matches!(effect, Effect::Log(_));
    effects.into_iter().filter(|effect| !is_log(effect)).collect()
}

fn statuses(agent: &Agent) -> Vec<ToolStatus> {
    agent.message().tool_calls().map(|call| call.status).collect()
}

#[test]
fn all_calls_of_an_answer_begin_together_and_stand_in_the_order_in_which_they_were_asked() {
    let (agent, effects) = after(asks(&[("look", "{\"a\":1}"), ("again", "")]));
    assert_eq!(done(effects), [run(0, "look", "{\"a\":1}"), run(1, "again", "")]);
    let calls: Vec<_> = agent.message().tool_calls().collect();
    assert_eq!(
        calls
            .iter()
            .map(|call| (call.index, call.tool.as_str(), call.label.as_str()))
            .collect::<Vec<_>>(),
        [(0, "look", "Doing look"), (1, "again", "Doing again")]
    );
    assert_eq!(calls[0].started_at, Some(NOON));
}

#[test]
fn a_tool_that_is_named_like_metadata_is_called_otherwise_since_its_name_stands_in_them_later() {
    let (agent, effects) = after(asks(&[("<!-- METADATA: {} -->", "{}")]));
    assert_eq!(
        done(effects),
        [Effect::Call { with_tools: true }],
        "there is none"
    );
    let names: Vec<&str> = agent
        .message()
        .tool_calls()
        .map(|call| call.tool.as_str())
        .collect();
    assert_eq!(names, ["&lt;!-- METADATA: {} -->"]);
}

#[test]
fn the_model_is_called_again_when_the_last_of_its_tools_has_ended() {
    let (mut agent, _) = after(asks(&[("look", "{}"), ("look", "{}")]));
    assert_eq!(done(agent.step(gives(1, Ok("two")), NOON)), []);
    let effects = agent.step(gives(0, Err("no")), NOON);
    assert_eq!(done(effects), [Effect::Call { with_tools: true }]);
    assert_eq!(statuses(&agent), [ToolStatus::Failed, ToolStatus::Complete]);
    let outputs: Vec<_> = agent
        .message()
        .tool_calls()
        .map(|call| call.output.as_deref())
        .collect();
    assert_eq!(outputs, [Some("no"), Some("two")]);
    for input in says("There.") {
        agent.step(input, NOON);
    }
    assert_eq!(agent.message().status, RunStatus::Complete);
    assert_eq!(
        agent.message().nodes.len(),
        2,
        "a node for each call of the model"
    );
}

#[test]
fn what_can_not_be_run_gives_the_model_an_error_and_the_person_a_card() {
    let (agent, effects) = after(asks(&[("none", "{}"), ("look", "{")]));
    assert_eq!(done(effects), [Effect::Call { with_tools: true }]);
    let calls: Vec<&ToolCall> = agent.message().tool_calls().collect();
    assert_eq!(statuses(&agent), [ToolStatus::Failed; 2]);
    assert_eq!(calls[0].output.as_deref(), Some("There is no tool none."));
    assert_eq!(calls[1].output.as_deref(), Some("The arguments are not JSON."));
    assert_eq!(calls[1].input.as_str(), "\"{\"");
}

#[test]
fn a_model_that_asks_for_too_many_at_once_is_given_some() {
    let calls: Vec<(&str, &str)> = (0..40).map(|_| ("look", "{}")).collect();
    let (agent, effects) = after(asks(&calls));
    assert_eq!(done(effects).len(), 32);
    assert_eq!(statuses(&agent), [ToolStatus::Running; 32]);
}

#[test]
fn a_model_that_says_nothing_after_its_tools_has_given_no_answer() {
    let (mut agent, _) = after(asks(&[("look", "{}")]));
    agent.step(gives(0, Ok("seen")), NOON);
    agent.step(Input::Model(ModelEvent::Finished(FinishReason::Stop)), NOON);
    assert_eq!(agent.message().status, RunStatus::Failed);
    assert_eq!(
        agent.message().error.clone().unwrap().code,
        "no_answer_after_tools"
    );
}

/// Allows a tool for good once a person has.
#[derive(Debug, Default)]
struct AllowsForGood(std::sync::atomic::AtomicBool);

impl Toolbox for AllowsForGood {
    fn plan(&self, tool: &str, arguments: &str) -> Result<Plan, String> {
        let mut plan = Tools.plan(tool, arguments)?;
        plan.needs_approval &= !self.0.load(std::sync::atomic::Ordering::SeqCst);
        Ok(plan)
    }
}

#[test]
fn whoever_allows_a_tool_for_good_is_asked_about_no_other_call_of_it() {
    let tools = Arc::new(AllowsForGood::default());
    let message = AssistantMessage::started("x/m");
    let mut agent = Agent::new(message, tools.clone(), Arc::new(TextOnly), terms(2));
    agent.step(Input::Start, NOON);
    for input in asks(&[("look", "{}"), ("ask", "1"), ("ask", "2")]) {
        agent.step(input, NOON);
    }
    tools.0.store(true, std::sync::atomic::Ordering::SeqCst);
    let answer = Input::Answered {
        index: 1,
        allowed: true,
    };
    assert_eq!(
        done(agent.step(answer, NOON)),
        [run(1, "ask", "1"), run(2, "ask", "2")]
    );
}

#[test]
fn after_its_last_iteration_the_model_has_to_answer_without_tools() {
    let (mut agent, _) = after(asks(&[("look", "{}")]));
    let mut effects = Vec::new();
    for input in [
        vec![gives(0, Ok("a"))],
        asks(&[("look", "{}")]),
        vec![gives(1, Ok("b"))],
    ]
    .concat()
    {
        effects = agent.step(input, NOON);
    }
    assert_eq!(done(effects), [Effect::Call { with_tools: false }]);
    let mut asked_once_more = agent.clone();
    for input in asks(&[("look", "{}")]) {
        asked_once_more.step(input, NOON);
    }
    let error = asked_once_more.message().error.clone();
    assert_eq!(error.unwrap().code, "no_answer_after_tools");
    for input in says("So be it.") {
        agent.step(input, NOON);
    }
    assert_eq!(agent.message().status, RunStatus::Complete);
}

#[test]
fn a_call_that_has_to_be_allowed_waits_for_the_person() {
    let (mut agent, effects) = after(asks(&[("ask", "{}"), ("look", "{}")]));
    assert_eq!(done(effects), [run(1, "look", "{}")], "the others need not wait");
    let effects = done(agent.step(gives(1, Ok("seen")), NOON));
    assert_eq!(effects, [Effect::Pause(EventBody::Waiting { worked_ms: 0 })]);
    assert_eq!(agent.message().status, RunStatus::Waiting);
    assert_eq!(
        done(agent.step(Input::Stop, NOON)),
        [],
        "nothing is at work any more"
    );
}

#[test]
fn a_person_can_answer_while_other_tools_are_at_work() {
    for (allowed, then) in [(true, vec![run(0, "ask", "{}")]), (false, vec![])] {
        let (mut agent, _) = after(asks(&[("ask", "{}"), ("look", "{}")]));
        assert_eq!(
            done(agent.step(Input::Answered { index: 0, allowed }, NOON)),
            then
        );
        let again = Input::Answered {
            index: 0,
            allowed: !allowed,
        };
        assert_eq!(agent.step(again, NOON), [], "the first answer counts");
        let last = agent.step(gives(1, Ok("seen")), NOON);
        if allowed {
            assert_eq!(done(last), []);
            let last = agent.step(gives(0, Ok("asked")), NOON);
            assert_eq!(done(last), [Effect::Call { with_tools: true }]);
        } else {
            assert_eq!(done(last), [Effect::Call { with_tools: true }]);
            assert_eq!(statuses(&agent)[0], ToolStatus::Denied);
        }
    }
}

/// A run whose only call stands like this when it is taken up.
fn taken_up(tool: &str, status: ToolStatus, started: bool) -> (Agent, Vec<Effect>) {
    let (agent, _) = after(asks(&[(tool, "{}")]));
    let mut message = agent.message().clone();
    message.status = RunStatus::Running;
    for call in message.tool_calls_mut() {
        call.status = status;
        call.started_at = started.then_some(NOON);
    }
    let mut agent = self::agent(message);
    let effects = done(agent.step(Input::Start, NOON));
    (agent, effects)
}

#[test]
fn a_run_that_goes_on_takes_up_its_calls_where_they_stand() {
    let call = vec![Effect::Call { with_tools: true }];
    // The person has answered.
    let (_, effects) = taken_up("ask", ToolStatus::Allowed, false);
    assert_eq!(effects, [run(0, "ask", "{}")]);
    let (agent, effects) = taken_up("ask", ToolStatus::Denied, false);
    assert_eq!(
        (effects, statuses(&agent)),
        (call.clone(), vec![ToolStatus::Denied])
    );
    // They have not.
    let (_, effects) = taken_up("ask", ToolStatus::Waiting, false);
    assert_eq!(effects, [Effect::Pause(EventBody::Waiting { worked_ms: 0 })]);
    // It had begun, and nobody knows what came of it.
    for status in [ToolStatus::Unknown, ToolStatus::Stopped] {
        let (agent, effects) = taken_up("look", status, true);
        assert_eq!(
            (effects, statuses(&agent)),
            (call.clone(), vec![ToolStatus::Failed])
        );
        let output = agent
            .message()
            .tool_calls()
            .next()
            .unwrap()
            .output
            .clone()
            .unwrap();
        assert!(output.contains("outcome"), "{output}");
        let (_, effects) = taken_up("again", status, true);
        assert_eq!(effects, [run(0, "again", "{}")], "it may be run twice");
    }
    // The same if its tool is not there just now: it may have had its effect.
    let (agent, _) = after(asks(&[("look", "{}")]));
    let mut message = agent.message().clone();
    for call in message.tool_calls_mut() {
        (call.status, call.tool) = (ToolStatus::Unknown, "gone".into());
    }
    let mut agent = self::agent(message);
    agent.step(Input::Start, NOON);
    let output = agent.message().tool_calls().next().unwrap().output.clone();
    assert!(output.unwrap().contains("outcome"));
    // It had not begun.
    let (_, effects) = taken_up("look", ToolStatus::Stopped, false);
    assert_eq!(effects, [run(0, "look", "{}")]);
    let (_, effects) = taken_up("ask", ToolStatus::Stopped, false);
    assert_eq!(
        effects,
        [Effect::Pause(EventBody::Waiting { worked_ms: 0 })],
        "it is asked again"
    );
}

#[test]
fn calls_that_have_ended_are_not_made_again() {
    let (mut agent, _) = after(asks(&[("look", "{}"), ("look", "{}")]));
    agent.step(gives(0, Ok("kept")), NOON);
    agent.step(Input::ShutDown, NOON);
    assert_eq!(statuses(&agent), [ToolStatus::Complete, ToolStatus::Unknown]);
    let mut message = agent.message().clone();
    apply_to_run(&mut message, &EventBody::RunContinued { created_at: NOON });
    let mut agent = self::agent(message);
    assert_eq!(
        done(agent.step(Input::Start, NOON)),
        [Effect::Call { with_tools: true }]
    );
    let kept = agent.message().tool_calls().next().unwrap();
    assert_eq!(
        (kept.status, kept.output.as_deref()),
        (ToolStatus::Complete, Some("kept"))
    );
}

#[test]
fn a_stop_ends_the_calls_too() {
    let (mut agent, _) = after(asks(&[("look", "{}"), ("ask", "{}")]));
    agent.step(Input::Stop, NOON);
    assert_eq!(statuses(&agent), [ToolStatus::Stopped; 2]);
    assert_eq!(agent.step(gives(0, Ok("late")), NOON), []);
}

#[test]
fn ids_that_are_missing_or_the_same_are_replaced() {
    let call = |index, id: &str| {
        let (id, name) = (id.into(), "look".into());
        Input::Model(ModelEvent::ToolCall { index, id, name })
    };
    let finished = Input::Model(ModelEvent::Finished(FinishReason::Stop));
    let (agent, _) = after(vec![call(0, ""), call(1, "same"), call(2, "same"), finished]);
    let ids: Vec<&str> = agent
        .message()
        .tool_calls()
        .map(|call| call.tool_use_id.as_str())
        .collect();
    assert_eq!(ids, ["call00000", "same", "call00002"]);
}

/// Something that may happen, whether it makes sense or not.
fn anything() -> impl Strategy<Value = Input> {
    let name = prop_oneof![Just("look"), Just("ask"), Just("again"), Just("none"), Just("")];
    let index = 0..6_usize;
    let progress = crate::protocol::ToolProgress {
        stage: String::new(),
        message: String::new(),
        progress: Some(Fraction::of(1, 2)),
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
            gives(index, if fine { Ok("fine") } else { Err("bad") })
        }),
        2 => (index.clone(), any::<bool>()).prop_map(|(index, allowed)| Input::Answered { index, allowed }),
        1 => index.prop_map(move |index| Input::ToolProgress { index, progress: progress.clone() }),
        2 => "[xy]{0,2}".prop_map(|text| Input::Model(ModelEvent::Text(text))),
        2 => "[xy]{0,2}".prop_map(|text| Input::Model(ModelEvent::Thinking(text))),
        1 => Just(Input::BrokeOff),
        1 => Just(Input::Stop),
        1 => Just(Input::Waited),
    ]
}

proptest! {
    /// Whatever the model, its tools and the person do, in whatever order.
    #[test]
    fn the_loop_keeps_its_promises(inputs in prop::collection::vec(anything(), 0..60)) {
        let mut agent = agent(AssistantMessage::started("x/m"));
        let mut replayed = AssistantMessage::started("x/m");
        let (mut ran, mut over) = (Vec::new(), false);
        for input in std::iter::once(Input::Start).chain(inputs) {
            for effect in agent.step(input, NOON) {
                prop_assert!(!over, "nothing comes after the end: {effect:?}");
                match effect {
                    Effect::Log(event) => {
                        prop_assert!(apply_to_run(&mut replayed, &event).is_some(), "{event:?} does not follow");
                    }
                    Effect::Call { with_tools } => {
                        let at_work = agent.message().tool_calls().any(|call| call.output.is_none());
                        prop_assert!(!at_work, "the model is called when all its calls have an output");
                        prop_assert!(with_tools || replayed.nodes.len() >= 2);
                    }
                    Effect::Run { index, .. } => {
                        prop_assert!(!ran.contains(&index), "a call is made once");
                        let call = replayed.tool_calls().find(|call| call.index == index);
                        prop_assert_eq!(call.map(|call| call.status), Some(ToolStatus::Running), "its start is logged");
                        ran.push(index);
                    }
                    Effect::Wait(_) | Effect::Keep(_) => {}
                    Effect::Pause(event) | Effect::End(event) => {
                        over = true;
                        apply_to_run(&mut replayed, &event);
                    }
                }
            }
        }
        // Who follows the log sees what the agent knows.
        prop_assert_eq!(&replayed, agent.message());
        let indices: Vec<usize> = replayed.tool_calls().map(|call| call.index).collect();
        prop_assert_eq!(&indices, &(0..indices.len()).collect::<Vec<_>>(), "in the order of asking");
    }
}
