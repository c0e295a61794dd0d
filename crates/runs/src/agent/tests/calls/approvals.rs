//! Calls that need a user's approval.

use super::*;

/// Allows a tool permanently after the first approval.
#[derive(Debug, Default)]
struct AlwaysAllowToolbox(std::sync::atomic::AtomicBool);

impl Toolbox for AlwaysAllowToolbox {
    fn plan(&self, tool: &str, arguments: &str) -> Result<ToolPlan, String> {
        let mut plan = TestToolbox.plan(tool, arguments)?;
        plan.needs_approval &= !self.0.load(std::sync::atomic::Ordering::SeqCst);
        Ok(plan)
    }

    fn finds_sources(&self, tool: &str) -> bool {
        TestToolbox.finds_sources(tool)
    }
}

#[test]
fn always_allowed_tool_needs_no_further_approval() {
    let tools = Arc::new(AlwaysAllowToolbox::default());
    let message = AssistantMessage::new("x/m");
    let mut agent = Agent::new(message, tools.clone(), Arc::new(NoPayloads), limits(2));
    agent.step(Input::Start, NOON);
    for input in tool_requests(&[("look", "{}"), ("ask", "1"), ("ask", "2")]) {
        agent.step(input, NOON);
    }
    tools.0.store(true, std::sync::atomic::Ordering::SeqCst);
    let answer = Input::ApprovalAnswered {
        index: 1,
        allowed: true,
    };
    assert_eq!(
        without_log(agent.step(answer, NOON)),
        [run_effect(1, "ask", "1"), run_effect(2, "ask", "2")]
    );
}

#[test]
fn waits_for_approval() {
    let (mut agent, effects) = agent_after(tool_requests(&[("ask", "{}"), ("look", "{}")]));
    assert_eq!(
        without_log(effects),
        [run_effect(1, "look", "{}")],
        "the others need not wait"
    );
    let effects = without_log(agent.step(tool_output(1, Ok("seen")), NOON));
    assert_eq!(effects, [Effect::Pause(RunEvent::Waiting { worked_ms: 0 })]);
    assert_eq!(agent.message().status, RunStatus::Waiting);
    assert_eq!(
        without_log(agent.step(Input::Stop, NOON)),
        [],
        "nothing is at work any more"
    );
}

#[test]
fn accepts_approval_while_other_tools_run() {
    for (allowed, then) in [(true, vec![run_effect(0, "ask", "{}")]), (false, vec![])] {
        let (mut agent, _) = agent_after(tool_requests(&[("ask", "{}"), ("look", "{}")]));
        assert_eq!(
            without_log(agent.step(Input::ApprovalAnswered { index: 0, allowed }, NOON)),
            then
        );
        let again = Input::ApprovalAnswered {
            index: 0,
            allowed: !allowed,
        };
        assert_eq!(agent.step(again, NOON), [], "the first answer counts");
        let last = agent.step(tool_output(1, Ok("seen")), NOON);
        if allowed {
            assert_eq!(without_log(last), []);
            let last = agent.step(tool_output(0, Ok("asked")), NOON);
            assert_eq!(without_log(last), [Effect::CallModel { with_tools: true }]);
        } else {
            assert_eq!(without_log(last), [Effect::CallModel { with_tools: true }]);
            assert_eq!(statuses(&agent)[0], ToolStatus::Denied);
        }
    }
}
