//! Calls of a continued run: run, repeated, or reported as they are.

use super::*;

/// A continued run whose only call has this state.
fn resumed(tool: &str, status: ToolStatus, started: bool) -> (Agent, Vec<Effect>) {
    let (agent, _) = agent_after(tool_requests(&[(tool, "{}")]));
    let mut message = agent.message().clone();
    message.status = RunStatus::Running;
    for call in message.tool_calls_mut() {
        call.status = status;
        call.started_at = started.then_some(NOON);
    }
    let mut agent = self::agent(message);
    let effects = without_log(agent.step(Input::Start, NOON));
    (agent, effects)
}

#[test]
fn resumes_calls_by_status() {
    let call = || vec![Effect::CallModel { with_tools: true }];
    // The user has answered.
    let (_, effects) = resumed("ask", ToolStatus::Allowed, false);
    assert_eq!(effects, [run_effect(0, "ask", "{}")]);
    let (agent, effects) = resumed("ask", ToolStatus::Denied, false);
    assert_eq!((effects, statuses(&agent)), (call(), vec![ToolStatus::Denied]));
    // The user has not answered.
    let (_, effects) = resumed("ask", ToolStatus::Waiting, false);
    assert_eq!(effects, [Effect::Pause(RunEvent::Waiting { worked_ms: 0 })]);
    // The call had begun, and its outcome is unknown.
    for status in [ToolStatus::Unknown, ToolStatus::Stopped] {
        let (agent, effects) = resumed("look", status, true);
        assert_eq!((effects, statuses(&agent)), (call(), vec![ToolStatus::Failed]));
        let output = agent
            .message()
            .tool_calls()
            .next()
            .unwrap()
            .output
            .clone()
            .unwrap();
        assert!(output.contains("outcome"), "{output}");
        let (_, effects) = resumed("again", status, true);
        assert_eq!(effects, [run_effect(0, "again", "{}")], "it may be run twice");
    }
    // The same if the tool is unavailable now: the call may have had an effect.
    let (agent, _) = agent_after(tool_requests(&[("look", "{}")]));
    let mut message = agent.message().clone();
    for call in message.tool_calls_mut() {
        (call.status, call.tool) = (ToolStatus::Unknown, "gone".into());
    }
    let mut agent = self::agent(message);
    agent.step(Input::Start, NOON);
    let output = agent.message().tool_calls().next().unwrap().output.clone();
    assert!(output.unwrap().contains("outcome"));
    // The call had not begun.
    let (_, effects) = resumed("look", ToolStatus::Stopped, false);
    assert_eq!(effects, [run_effect(0, "look", "{}")]);
    let (_, effects) = resumed("ask", ToolStatus::Stopped, false);
    assert_eq!(
        effects,
        [Effect::Pause(RunEvent::Waiting { worked_ms: 0 })],
        "it is asked again"
    );
}

#[test]
fn does_not_repeat_ended_calls() {
    let (mut agent, _) = agent_after(tool_requests(&[("look", "{}"), ("look", "{}")]));
    agent.step(tool_output(0, Ok("kept")), NOON);
    agent.step(Input::Shutdown, NOON);
    assert_eq!(statuses(&agent), [ToolStatus::Complete, ToolStatus::Unknown]);
    let mut message = agent.message().clone();
    apply_to_run(&mut message, &RunEvent::RunContinued { created_at: NOON });
    let mut agent = self::agent(message);
    assert_eq!(
        without_log(agent.step(Input::Start, NOON)),
        [Effect::CallModel { with_tools: true }]
    );
    let kept = agent.message().tool_calls().next().unwrap();
    assert_eq!(
        (kept.status, kept.output.as_deref()),
        (ToolStatus::Complete, Some("kept"))
    );
}
