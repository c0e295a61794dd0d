//! The ends of a run, and the retries before them.

use std::time::Duration;

use super::*;

#[test]
fn error_quotes_the_explanation_of_a_refusal() {
    let explained = Input::Model(ModelEvent::Refusal("No, thanks.".into()));
    let inputs = [
        Input::Start,
        text("x"),
        explained,
        finished_with(FinishReason::Refusal),
    ];
    let (_, message) = play(inputs);
    assert_eq!(
        message.error.unwrap().message,
        "The model refused to answer: “No, thanks.”"
    );
}

#[test]
fn stop_ends_the_run_in_every_phase() {
    let busy = || failure(ModelErrorKind::Unavailable { after: None });
    let before: [Vec<Input>; 4] = [
        vec![],
        vec![Input::Start],
        vec![Input::Start, text("some")],
        vec![Input::Start, busy()],
    ];
    for inputs in before {
        let (effects, message) = play(inputs.clone().into_iter().chain([Input::Stop]));
        assert_eq!(
            (end_status(&effects), message.status),
            (Some(RunStatus::Stopped), RunStatus::Stopped)
        );
        let after = [
            Input::Stop,
            text("late"),
            finished(),
            Input::StreamEnded,
            Input::RetryDue,
            Input::Shutdown,
        ];
        let (more, _) = play(inputs.into_iter().chain([Input::Stop]).chain(after));
        assert_eq!(more, effects);
    }
}

#[test]
fn retries_a_busy_server_twice() {
    let busy = |after| failure(ModelErrorKind::Unavailable { after });
    let waits = |effects: &[Effect]| -> Vec<Duration> {
        effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::ScheduleRetry(wait) => Some(*wait),
                _ => None,
            })
            .collect()
    };
    let (effects, message) = play([
        Input::Start,
        busy(None),
        Input::RetryDue,
        busy(Some(Duration::from_secs(7))),
        Input::RetryDue,
        busy(None),
    ]);
    assert_eq!(waits(&effects), [Duration::from_secs(1), Duration::from_secs(7)]);
    assert_eq!(effects.iter().filter(|effect| **effect == CALL).count(), 3);
    assert_eq!(
        (end_status(&effects), message.error.unwrap().code.as_str()),
        (Some(RunStatus::Failed), "some_code")
    );
    // A `Retry-After` of an hour is not honoured.
    let (effects, _) = play([Input::Start, busy(Some(Duration::from_secs(3600)))]);
    assert_eq!(
        (waits(&effects), end_status(&effects)),
        (vec![], Some(RunStatus::Failed))
    );
}

#[test]
fn does_not_retry_a_started_answer() {
    for kind in [
        ModelErrorKind::Unavailable { after: None },
        ModelErrorKind::Refused,
        ModelErrorKind::StreamBroken,
    ] {
        let (effects, message) = play([Input::Start, text("half"), failure(kind)]);
        let status = if kind == ModelErrorKind::StreamBroken {
            RunStatus::Interrupted
        } else {
            RunStatus::Failed
        };
        assert_eq!(
            (end_status(&effects), message.text().as_str()),
            (Some(status), "half"),
            "{kind:?}"
        );
    }
}

#[test]
fn ends_with_status_and_error() {
    let span = Duration::from_secs(1);
    let cases = [
        (vec![Input::StreamEnded], RunStatus::Interrupted, "broke_off"),
        (
            vec![text("x"), Input::StreamEnded],
            RunStatus::Interrupted,
            "broke_off",
        ),
        (vec![Input::Shutdown], RunStatus::Interrupted, "shut_down"),
        (
            vec![Input::TimedOut(Timeout::FirstToken(span))],
            RunStatus::Failed,
            "no_answer",
        ),
        (
            vec![text("x"), Input::TimedOut(Timeout::Silence(span))],
            RunStatus::Interrupted,
            "fell_silent",
        ),
        (
            vec![text("x"), Input::TimedOut(Timeout::Run(span))],
            RunStatus::Interrupted,
            "too_long",
        ),
        (vec![finished()], RunStatus::Failed, "empty_answer"),
        (vec![text(" \n"), finished()], RunStatus::Failed, "empty_answer"),
        (
            vec![thought("Hm."), finished()],
            RunStatus::Failed,
            "no_answer_after_thinking",
        ),
        (
            vec![unreadable("video"), finished()],
            RunStatus::Failed,
            "unreadable_answer",
        ),
        (
            vec![text("x"), finished_with(FinishReason::Refusal)],
            RunStatus::Failed,
            "refusal",
        ),
        (
            vec![text("x"), finished_with(FinishReason::MalformedFunctionCall)],
            RunStatus::Failed,
            "malformed_function_call",
        ),
        (
            vec![thought("x"), Input::TooLong(9)],
            RunStatus::Failed,
            "answer_too_long",
        ),
        (
            vec![
                text("x"),
                Input::Model(ModelEvent::Finished(FinishReason::ContentFilter)),
            ],
            RunStatus::Failed,
            "content_filter",
        ),
    ];
    for (inputs, status, code) in cases {
        let (effects, message) = play([Input::Start].into_iter().chain(inputs.clone()));
        assert_eq!(
            (end_status(&effects), message.error.unwrap().code.as_str()),
            (Some(status), code),
            "{inputs:?}"
        );
    }
}

#[test]
fn limited_answer_can_be_continued() {
    for end in [finished_with(FinishReason::Length), Input::TooLong(1)] {
        let (effects, message) = play([Input::Start, text("half"), end.clone()]);
        assert_eq!(end_status(&effects), Some(RunStatus::Complete), "{end:?}");
        assert_eq!(
            (
                &message.finish_reason,
                message.is_cut_short(),
                message.error.as_ref()
            ),
            (&Some(FinishReason::Length), true, None)
        );
        // The continued run ends for another reason.
        let mut message = message;
        let goes_on = RunEvent::RunContinued { created_at: NOON };
        apply_to_run(&mut message, &goes_on);
        assert_eq!(message.finish_reason, None);
    }
}

#[test]
fn refused_calls_are_reported() {
    let call = || {
        Input::Model(ModelEvent::ToolCall {
            index: 0,
            id: "c".into(),
            name: "look".into(),
        })
    };
    for (before, status, code) in [
        (vec![text("Let me look again.")], RunStatus::Complete, None),
        (
            vec![thought("Hm.")],
            RunStatus::Failed,
            Some("no_answer_after_tools"),
        ),
    ] {
        let message = AssistantMessage::new("x/m");
        let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(NoPayloads), limits(0));
        let inputs = [Input::Start].into_iter().chain(before);
        for input in inputs.chain([call(), finished_with(FinishReason::ToolCalls)]) {
            agent.step(input, NOON);
        }
        let message = agent.message();
        assert_eq!(
            (
                message.status,
                message.error.as_ref().map(|error| error.code.as_str()),
                &message.finish_reason,
            ),
            (status, code, &Some(FinishReason::ToolLimit))
        );
        assert_eq!(message.is_cut_short(), status == RunStatus::Complete);
    }
}

#[test]
fn reports_thinking_that_reached_the_limit() {
    for (reason, words) in [
        (FinishReason::Length, "length limit"),
        (FinishReason::PauseTurn, "paused"),
    ] {
        let (_, message) = play([Input::Start, thought("Hm"), finished_with(reason.clone())]);
        let error = message.error.unwrap();
        assert_eq!(error.code, "no_answer_after_thinking");
        assert!(error.message.contains(words), "{}", error.message);
        assert_eq!(message.finish_reason, Some(reason));
    }
}

#[test]
fn ends_a_repeating_answer() {
    const SENTENCE: &str = "The model says that it does not know, and that it will say so. ";
    // Detection is not exact to the byte, because the text is checked at intervals.
    let longest = SENTENCE.len() * 80;
    for delta in [text, thought] {
        let deltas = std::iter::repeat_with(|| delta(SENTENCE)).take(500);
        let (effects, message) = play([Input::Start].into_iter().chain(deltas).chain([finished()]));
        assert_eq!(end_status(&effects), Some(RunStatus::Failed));
        assert_eq!(message.error.clone().unwrap().code, "answer_repeats");
        let part = message.nodes[0].parts[0].text();
        assert!(
            (repetition::MIN_PASSAGE_CHARS * 8..longest).contains(&part.len()),
            "what came is kept, and no more comes: {}",
            part.len()
        );
    }
}

#[test]
fn zero_disables_repetition_check() {
    let message = AssistantMessage::new("x/m");
    let off = AgentLimits {
        max_repetitions: 0,
        ..limits(5)
    };
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(NoPayloads), off);
    agent.step(Input::Start, NOON);
    for _ in 0..500 {
        agent.step(text("The same passage, again and again. "), NOON);
    }
    agent.step(finished(), NOON);
    assert_eq!(agent.message().status, RunStatus::Complete);
}
