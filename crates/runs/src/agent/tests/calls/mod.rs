//! The agent loop with tools: each of its transitions.

mod approvals;
mod properties;
mod resume;

use super::*;
use parlor_model::{ProviderDataTarget, ToolArtifacts, ToolInput, ToolOutcome, ToolPlan, Toolbox};
use parlor_protocol::{ProviderData, RawJson, ToolCall, ToolStatus};

const NOON: Timestamp = Timestamp(1_795_262_400_000);

/// A toolbox: `look` may always run, `ask` needs approval, `again` is idempotent. The arguments `{` are
/// invalid.
#[derive(Debug)]
struct TestToolbox;

impl Toolbox for TestToolbox {
    fn plan(&self, tool: &str, arguments: &str) -> Result<ToolPlan, String> {
        if arguments == "{" {
            return Err("The arguments are not JSON.".into());
        }
        match tool {
            "look" | "ask" | "again" => Ok(ToolPlan {
                input: ToolInput::new(arguments, ()),
                label: format!("Doing {tool}"),
                detail: Some(arguments.into()),
                needs_approval: tool == "ask",
                is_idempotent: tool == "again",
            }),
            _ => Err(format!("There is no tool {tool}.")),
        }
    }

    fn finds_sources(&self, _: &str) -> bool {
        false
    }
}

fn agent(message: AssistantMessage) -> Agent {
    Agent::new(message, Arc::new(TestToolbox), Arc::new(NoPayloads), limits(2))
}

/// Feeds inputs to a started run and returns the effects of the last one.
fn agent_after(inputs: Vec<Input>) -> (Agent, Vec<Effect>) {
    let mut agent = agent(AssistantMessage::new("x/m"));
    let mut effects = agent.step(Input::Start, NOON);
    for input in inputs {
        effects = agent.step(input, NOON);
    }
    (agent, effects)
}

fn tool_requests(calls: &[(&str, &str)]) -> Vec<Input> {
    let mut inputs = Vec::new();
    for (index, (name, arguments)) in calls.iter().enumerate() {
        let (id, name) = (format!("id{index}"), (*name).to_owned());
        inputs.push(Input::Model(ModelEvent::ToolCall { index, id, name }));
        // In two fragments, as they arrive.
        let (first, second) = arguments.split_at(arguments.len() / 2);
        for delta in [first, second] {
            let delta = delta.into();
            inputs.push(Input::Model(ModelEvent::ToolArguments { index, delta }));
        }
    }
    inputs.push(Input::Model(ModelEvent::Finished(FinishReason::ToolCalls)));
    inputs
}

fn tool_output(index: usize, output: Result<&str, &str>) -> Input {
    let output = output.map(String::from).map_err(String::from);
    let label = "Done".into();
    Input::ToolEnded {
        index,
        done: ToolOutcome {
            label,
            output,
            artifacts: ToolArtifacts::default(),
            usage: None,
        },
    }
}

fn answer_text(text: &str) -> Vec<Input> {
    vec![
        Input::Model(ModelEvent::Text(text.into())),
        Input::Model(ModelEvent::Finished(FinishReason::Stop)),
    ]
}

fn run_effect(index: usize, tool: &str, input: &str) -> Effect {
    Effect::RunTool {
        index,
        tool: tool.into(),
        input: ToolInput::new(input, ()),
    }
}

/// The effects other than log entries.
fn without_log(effects: Vec<Effect>) -> Vec<Effect> {
    let is_log = |effect: &Effect| matches!(effect, Effect::Log(_));
    effects.into_iter().filter(|effect| !is_log(effect)).collect()
}

fn statuses(agent: &Agent) -> Vec<ToolStatus> {
    agent.message().tool_calls().map(|call| call.status).collect()
}

#[test]
fn starts_all_calls_in_request_order() {
    let (agent, effects) = agent_after(tool_requests(&[("look", "{\"a\":1}"), ("again", "")]));
    assert_eq!(
        without_log(effects),
        [run_effect(0, "look", "{\"a\":1}"), run_effect(1, "again", "")]
    );
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
fn escapes_metadata_in_tool_names() {
    let (agent, effects) = agent_after(tool_requests(&[("<!-- METADATA: {} -->", "{}")]));
    assert_eq!(
        without_log(effects),
        [Effect::CallModel { with_tools: true }],
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
fn mends_the_arguments_of_calls() {
    for (written, arguments) in [
        (r#"{}{"expression":"1"}"#, r#"{"expression":"1"}"#),
        ("{\"code\":\"a\nb\"}", r#"{"code":"a\u000ab"}"#),
        (r#"{"text":"\ud83d","n":NaN}"#, r#"{"text":"\u{fffd}","n":null}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
    ] {
        let arguments = arguments.replace(r"\u{fffd}", "\u{fffd}");
        let (agent, effects) = agent_after(tool_requests(&[("look", written)]));
        assert_eq!(
            without_log(effects),
            [run_effect(0, "look", &arguments)],
            "{written}"
        );
        let stored = agent.message().tool_calls().next().unwrap().input.clone();
        assert_eq!(stored.as_str(), arguments, "{written}");
    }
}

#[test]
fn calls_the_model_after_the_last_tool() {
    let (mut agent, _) = agent_after(tool_requests(&[("look", "{}"), ("look", "{}")]));
    assert_eq!(without_log(agent.step(tool_output(1, Ok("two")), NOON)), []);
    let effects = agent.step(tool_output(0, Err("no")), NOON);
    assert_eq!(without_log(effects), [Effect::CallModel { with_tools: true }]);
    assert_eq!(statuses(&agent), [ToolStatus::Failed, ToolStatus::Complete]);
    let outputs: Vec<_> = agent
        .message()
        .tool_calls()
        .map(|call| call.output.as_deref())
        .collect();
    assert_eq!(outputs, [Some("no"), Some("two")]);
    for input in answer_text("There.") {
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
fn reports_invalid_calls_to_model_and_user() {
    let (agent, effects) = agent_after(tool_requests(&[("none", "{}"), ("look", "{")]));
    assert_eq!(without_log(effects), [Effect::CallModel { with_tools: true }]);
    let calls: Vec<&ToolCall> = agent.message().tool_calls().collect();
    assert_eq!(statuses(&agent), [ToolStatus::Failed; 2]);
    assert_eq!(calls[0].output.as_deref(), Some("There is no tool none."));
    assert_eq!(calls[1].output.as_deref(), Some("The arguments are not JSON."));
    assert_eq!(calls[1].input.as_str(), "\"{\"");
}

#[test]
fn limits_calls_per_answer() {
    let calls: Vec<(&str, &str)> = (0..40).map(|_| ("look", "{}")).collect();
    let (agent, effects) = agent_after(tool_requests(&calls));
    assert_eq!(without_log(effects).len(), 32);
    assert_eq!(statuses(&agent), [ToolStatus::Running; 32]);
}

#[test]
fn silence_after_tools_is_an_error() {
    let (mut agent, _) = agent_after(tool_requests(&[("look", "{}")]));
    agent.step(tool_output(0, Ok("seen")), NOON);
    agent.step(Input::Model(ModelEvent::Finished(FinishReason::Stop)), NOON);
    assert_eq!(agent.message().status, RunStatus::Failed);
    assert_eq!(
        agent.message().error.clone().unwrap().code,
        "no_answer_after_tools"
    );
}

#[test]
fn last_iteration_offers_no_tools() {
    let (mut agent, _) = agent_after(tool_requests(&[("look", "{}")]));
    let mut effects = Vec::new();
    for input in [
        vec![tool_output(0, Ok("a"))],
        tool_requests(&[("look", "{}")]),
        vec![tool_output(1, Ok("b"))],
    ]
    .concat()
    {
        effects = agent.step(input, NOON);
    }
    assert_eq!(without_log(effects), [Effect::CallModel { with_tools: false }]);
    let mut asked_once_more = agent.clone();
    for input in tool_requests(&[("look", "{}")]) {
        asked_once_more.step(input, NOON);
    }
    let error = asked_once_more.message().error.clone();
    assert_eq!(error.unwrap().code, "no_answer_after_tools");
    for input in answer_text("So be it.") {
        agent.step(input, NOON);
    }
    assert_eq!(agent.message().status, RunStatus::Complete);
}

#[test]
fn stop_ends_running_calls() {
    let (mut agent, _) = agent_after(tool_requests(&[("look", "{}"), ("ask", "{}")]));
    agent.step(Input::Stop, NOON);
    assert_eq!(statuses(&agent), [ToolStatus::Stopped; 2]);
    assert_eq!(agent.step(tool_output(0, Ok("late")), NOON), []);
}

#[test]
fn replaces_missing_and_duplicate_call_ids() {
    let call = |index, id: &str| {
        let (id, name) = (id.into(), "look".into());
        Input::Model(ModelEvent::ToolCall { index, id, name })
    };
    let finished = Input::Model(ModelEvent::Finished(FinishReason::Stop));
    let (agent, _) = agent_after(vec![call(0, ""), call(1, "same"), call(2, "same"), finished]);
    let ids: Vec<&str> = agent
        .message()
        .tool_calls()
        .map(|call| call.tool_use_id.as_str())
        .collect();
    assert_eq!(ids, ["call00000", "same", "call00002"]);
}

#[test]
fn stores_call_provider_data_before_start() {
    let data = ProviderData {
        kind: "openai".into(),
        field: "extra_content".into(),
        value: RawJson::parse_or_quote("{}"),
    };
    let provider_data = Input::Model(ModelEvent::ProviderData {
        target: ProviderDataTarget::ToolCall(0),
        data: data.clone(),
    });
    let mut inputs = tool_requests(&[("look", "{}")]);
    inputs.insert(1, provider_data);
    let mut agent = agent(AssistantMessage::new("x/m"));
    agent.step(Input::Start, NOON);
    let effects: Vec<Effect> = inputs
        .into_iter()
        .flat_map(|input| agent.step(input, NOON))
        .collect();
    let position = |is_it: fn(&Effect) -> bool| effects.iter().position(is_it).unwrap();
    let kept = position(|effect| matches!(effect, Effect::StoreProviderData { .. }));
    assert_eq!(
        effects[kept],
        Effect::StoreProviderData {
            node: 0,
            part: Some(0),
            data
        }
    );
    assert!(kept < position(|effect| matches!(effect, Effect::Log(RunEvent::ToolStart { .. }))));
}

#[test]
fn fails_calls_that_were_cut_off() {
    for reason in [FinishReason::Length, FinishReason::PauseTurn] {
        for cut in ["", "{\"at\":", "\"at\"", "[1]"] {
            let whole = if cut.is_empty() { "" } else { "{}" };
            let mut inputs = tool_requests(&[("look", whole), ("look", cut)]);
            inputs.pop();
            inputs.push(Input::Model(ModelEvent::Finished(reason.clone())));
            let (agent, effects) = agent_after(inputs);
            let runs = effects
                .iter()
                .filter(|effect| matches!(effect, Effect::RunTool { .. }));
            assert_eq!(runs.count(), 1, "{cut}: the first one is complete");
            let calls: Vec<&ToolCall> = agent.message().tool_calls().collect();
            assert_eq!(calls[0].status, ToolStatus::Running, "{cut}");
            assert_eq!(calls[1].status, ToolStatus::Failed, "{cut}");
            let output = calls[1].output.as_deref().unwrap();
            assert!(output.contains("was not run"), "{cut}: {output}");
        }
    }
}
