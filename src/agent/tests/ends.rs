//! The ends of a run, and what is tried again before.

use super::*;

#[test]
fn a_stop_ends_the_run_in_every_phase_and_nothing_comes_after_it() {
    let busy = || failure(ModelErrorKind::Unavailable { after: None });
    let before: [Vec<Input>; 4] = [
        vec![],
        vec![Input::Start],
        vec![Input::Start, text("some")],
        vec![Input::Start, busy()],
    ];
    for inputs in before {
        let (effects, message) = played(inputs.clone().into_iter().chain([Input::Stop]));
        assert_eq!(
            (ended(&effects), message.status),
            (Some(RunStatus::Stopped), RunStatus::Stopped)
        );
        let after = [
            Input::Stop,
            text("late"),
            finished(),
            Input::BrokeOff,
            Input::Waited,
            Input::ShutDown,
        ];
        let (more, _) = played(inputs.into_iter().chain([Input::Stop]).chain(after));
        assert_eq!(more, effects);
    }
}

#[test]
fn a_busy_server_is_asked_twice_more_and_then_no_more() {
    let busy = |after| failure(ModelErrorKind::Unavailable { after });
    let waits = |effects: &[Effect]| -> Vec<Duration> {
        effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Wait(wait) => Some(*wait),
                _ => None,
            })
            .collect()
    };
    let (effects, message) = played([
        Input::Start,
        busy(None),
        Input::Waited,
        busy(Some(Duration::from_secs(7))),
        Input::Waited,
        busy(None),
    ]);
    assert_eq!(waits(&effects), [Duration::from_secs(1), Duration::from_secs(7)]);
    assert_eq!(effects.iter().filter(|effect| **effect == CALL).count(), 3);
    assert_eq!(
        (ended(&effects), message.error.unwrap().code.as_str()),
        (Some(RunStatus::Failed), "some_code")
    );
    // A server that wants to be left alone for an hour is not waited for.
    let (effects, _) = played([Input::Start, busy(Some(Duration::from_secs(3600)))]);
    assert_eq!(
        (waits(&effects), ended(&effects)),
        (vec![], Some(RunStatus::Failed))
    );
}

#[test]
fn nothing_is_tried_again_once_the_answer_has_begun() {
    for kind in [
        ModelErrorKind::Unavailable { after: None },
        ModelErrorKind::Refused,
        ModelErrorKind::Broken,
    ] {
        let (effects, message) = played([Input::Start, text("half"), failure(kind)]);
        let status = if kind == ModelErrorKind::Broken {
            RunStatus::Interrupted
        } else {
            RunStatus::Failed
        };
        assert_eq!(
            (ended(&effects), message.text().as_str()),
            (Some(status), "half"),
            "{kind:?}"
        );
    }
}

#[test]
fn every_other_end_has_its_status_and_its_words() {
    let span = Duration::from_secs(1);
    let cases = [
        (vec![Input::BrokeOff], RunStatus::Interrupted, "broke_off"),
        (
            vec![text("x"), Input::BrokeOff],
            RunStatus::Interrupted,
            "broke_off",
        ),
        (vec![Input::ShutDown], RunStatus::Interrupted, "shut_down"),
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
            vec![cannot_read("video"), finished()],
            RunStatus::Failed,
            "unreadable_answer",
        ),
        (
            vec![text("x"), finished_because(FinishReason::Refusal)],
            RunStatus::Failed,
            "refusal",
        ),
        (
            vec![text("x"), finished_because(FinishReason::MalformedFunctionCall)],
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
        let (effects, message) = played([Input::Start].into_iter().chain(inputs.clone()));
        assert_eq!(
            (ended(&effects), message.error.unwrap().code.as_str()),
            (Some(status), code),
            "{inputs:?}"
        );
    }
}

#[test]
fn a_limit_ends_an_answer_that_can_go_on() {
    for end in [finished_because(FinishReason::Length), Input::TooLong(1)] {
        let (effects, message) = played([Input::Start, text("half"), end.clone()]);
        assert_eq!(ended(&effects), Some(RunStatus::Complete), "{end:?}");
        assert_eq!(
            (
                &message.finish_reason,
                message.is_cut_short(),
                message.error.as_ref()
            ),
            (&Some(FinishReason::Length), true, None)
        );
        // Continued, it ends for another reason.
        let mut message = message;
        let goes_on = EventBody::RunContinued { created_at: NOON };
        apply_to_run(&mut message, &goes_on);
        assert_eq!(message.finish_reason, None);
    }
}

#[test]
fn thinking_up_to_the_limit_is_told_as_such() {
    for (reason, words) in [
        (FinishReason::Length, "longest"),
        (FinishReason::PauseTurn, "paused"),
    ] {
        let (_, message) = played([Input::Start, thought("Hm"), finished_because(reason.clone())]);
        let error = message.error.unwrap();
        assert_eq!(error.code, "no_answer_after_thinking");
        assert!(error.message.contains(words), "{}", error.message);
        assert_eq!(message.finish_reason, Some(reason));
    }
}

#[test]
fn an_answer_that_goes_round_in_circles_is_ended() {
    const SENTENCE: &str = "The model says that it does not know, and that it will say so. ";
    // Not to the byte: it is looked at now and then.
    let longest = SENTENCE.len() * 80;
    for piece in [text, thought] {
        let pieces = std::iter::repeat_with(|| piece(SENTENCE)).take(500);
        let (effects, message) = played([Input::Start].into_iter().chain(pieces).chain([finished()]));
        assert_eq!(ended(&effects), Some(RunStatus::Failed));
        assert_eq!(message.error.clone().unwrap().code, "answer_repeats");
        let part = message.nodes[0].parts[0].text();
        assert!(
            (repeats::MIN_PASSAGE * 8..longest).contains(&part.len()),
            "what came is kept, and no more comes: {}",
            part.len()
        );
    }
}

#[test]
fn repetition_is_no_end_where_the_setting_is_zero() {
    let message = AssistantMessage::started("x/m");
    let off = Terms {
        repetitions: 0,
        ..terms(5)
    };
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(TextOnly), off);
    agent.step(Input::Start, NOON);
    for _ in 0..500 {
        agent.step(text("The same passage, again and again. "), NOON);
    }
    agent.step(finished(), NOON);
    assert_eq!(agent.message().status, RunStatus::Complete);
}
