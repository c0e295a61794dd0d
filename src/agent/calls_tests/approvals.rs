//! Calls that a person has to allow.

use super::*;

/// Allows a tool for good once a person has.
#[derive(Debug, Default)]
struct AllowsForGood(std::sync::atomic::AtomicBool);

impl Toolbox for AllowsForGood {
    fn plan(&self, tool: &str, arguments: &str) -> Result<ToolPlan, String> {
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
