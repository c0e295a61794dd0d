//! The loop with tools: each of its transitions.

mod approvals;
mod promises;
mod taken_up;

use super::{
    tests::{TextOnly, terms},
    *,
};
use crate::{
    model::{Beside, Done, Made, ToolPlan, Toolbox},
    protocol::{Json, Opaque, ToolCall, ToolStatus},
};

const NOON: Timestamp = Timestamp(1_795_262_400_000);

/// `look` may always be run, `ask` needs approval, `again` may be run twice; `{` is the arguments that fit nothing.
#[derive(Debug)]
struct Tools;

impl Toolbox for Tools {
    fn plan(&self, tool: &str, arguments: &str) -> Result<ToolPlan, String> {
        if arguments == "{" {
            return Err("The arguments are not JSON.".into());
        }
        match tool {
            "look" | "ask" | "again" => Ok(ToolPlan {
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

#[test]
fn data_beside_a_call_are_kept_before_it_begins() {
    let data = Opaque {
        kind: "openai".into(),
        field: "extra_content".into(),
        value: Json::or_string("{}"),
    };
    let said = Input::Model(ModelEvent::Opaque {
        beside: Beside::ToolCall(0),
        data: data.clone(),
    });
    let mut inputs = asks(&[("look", "{}")]);
    inputs.insert(1, said);
    let mut agent = agent(AssistantMessage::started("x/m"));
    agent.step(Input::Start, NOON);
    let effects: Vec<Effect> = inputs
        .into_iter()
        .flat_map(|input| agent.step(input, NOON))
        .collect();
    let place = |is_it: fn(&Effect) -> bool| effects.iter().position(is_it).unwrap();
    let kept = place(|effect| matches!(effect, Effect::KeepOpaque { .. }));
    assert_eq!(
        effects[kept],
        Effect::KeepOpaque {
            node: 0,
            part: Some(0),
            data
        }
    );
    assert!(kept < place(|effect| matches!(effect, Effect::Log(EventBody::ToolStart { .. }))));
}
