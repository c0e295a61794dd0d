//! The counts of a call.

use super::*;
use parlor_model::FinishReason;
use parlor_protocol::Dollars;

const END: ModelEvent = ModelEvent::Finished(FinishReason::Stop);

fn meter() -> TokenMeter {
    TokenMeter::new(100, TokenScale::UNKNOWN, Some(1000))
}

fn usage_input(input_tokens: usize, output_tokens: usize, estimated: bool) -> Input {
    Input::UsageKnown(protocol::Usage {
        input_tokens,
        output_tokens,
        estimated,
        estimate: 100,
        window: Some(1000),
        totals: TokenTotals {
            calls: 1,
            input_tokens,
            output_tokens,
            estimated_calls: usize::from(estimated),
            unpriced_calls: 1,
            ..TokenTotals::default()
        },
    })
}

#[test]
fn adds_up_the_calls_of_an_answer() {
    let before = TokenTotals {
        calls: 1,
        input_tokens: 1000,
        unpriced_calls: 1,
        cost: Dollars(7),
        ..TokenTotals::default()
    };
    let prices = Prices {
        input: Dollars(1_000_000),
        output: Dollars(2_000_000),
        ..Prices::default()
    };
    let counted = ModelEvent::Usage(ReportedUsage {
        input_tokens: 10,
        output_tokens: 5,
        thinking_tokens: 3,
        ..ReportedUsage::default()
    });
    let mut meter = meter().with_totals(before, Some(prices));
    // A server may count more than once. The last count is the one of the whole call.
    for _ in 0..2 {
        let inputs = meter.inputs_for(Ok(counted.clone()));
        let [_, Input::UsageKnown(usage)] = inputs[..] else {
            panic!("{inputs:?}")
        };
        let expected = TokenTotals {
            calls: 2,
            input_tokens: 1010,
            output_tokens: 5,
            thinking_tokens: 3,
            unpriced_calls: 1,
            cost: Dollars(27),
            ..TokenTotals::default()
        };
        assert_eq!((usage.input_tokens, usage.totals), (10, expected));
    }
}

#[test]
fn limits_absurd_counts() {
    let mut meter = TokenMeter::new(100, TokenScale::UNKNOWN, Some(usize::MAX));
    let counted = ModelEvent::Usage(ReportedUsage {
        input_tokens: u64::MAX,
        output_tokens: u64::MAX,
        ..ReportedUsage::default()
    });
    let inputs = meter.inputs_for(Ok(counted));
    let [_, Input::UsageKnown(usage)] = inputs[..] else {
        panic!("{inputs:?}")
    };
    let written = serde_json::to_vec(&usage).unwrap();
    assert_eq!(protocol::json::parse(&written), Ok(usage));
    assert_eq!((usage.input_tokens, usage.window), (MAX_TOKENS, Some(MAX_TOKENS)));
}

#[test]
fn reports_only_server_counts() {
    let mut meter = meter();
    let counted = ModelEvent::Usage(ReportedUsage {
        input_tokens: 120,
        output_tokens: 7,
        ..ReportedUsage::default()
    });
    assert_eq!(
        meter.inputs_for(Ok(counted.clone())),
        [Input::Model(counted), usage_input(120, 7, false)]
    );
    assert_eq!(meter.inputs_for(Ok(END)), [Input::Model(END)]);
}

#[test]
fn estimates_uncounted_usage_before_the_end() {
    for zeros in [None, Some(ModelEvent::Usage(ReportedUsage::default()))] {
        let mut meter = meter();
        let said = ModelEvent::Text("12345678".into());
        assert_eq!(meter.inputs_for(Ok(said.clone())), [Input::Model(said)]);
        if let Some(zeros) = zeros {
            meter.inputs_for(Ok(zeros));
        }
        assert_eq!(
            meter.inputs_for(Ok(END)),
            [usage_input(100, 2, true), Input::Model(END)]
        );
    }
}

#[test]
fn estimates_a_call_that_is_cut_off() {
    let mut cut = meter();
    assert_eq!(cut.cut_totals(false), None, "the server refused it");
    let totals = cut.cut_totals(true).expect("it was sent");
    assert_eq!((totals.input_tokens, totals.output_tokens), (100, 0));
    cut.inputs_for(Ok(ModelEvent::Text("Some words of an answer.".into())));
    for is_given_up in [true, false] {
        let totals = cut.cut_totals(is_given_up).expect("an estimate");
        assert!(
            totals.input_tokens == 100 && totals.output_tokens > 0,
            "{totals:?}"
        );
    }
    cut.inputs_for(Ok(END));
    assert_eq!(cut.cut_totals(true), None, "it has ended");
}

#[test]
fn counts_summary_before_a_cut_off_call() {
    let summary = TokenTotals {
        calls: 1,
        input_tokens: 40,
        ..TokenTotals::default()
    };
    let before = TokenTotals {
        input_tokens: 1000,
        ..summary
    };
    let meter = meter()
        .with_totals(before.plus(summary), None)
        .with_unreported(summary);
    assert_eq!(
        meter.cut_totals(false),
        Some(summary),
        "the call itself was refused"
    );
    let cut = meter.cut_totals(true).expect("it was sent");
    assert_eq!(
        (cut.calls, cut.input_tokens),
        (2, 140),
        "what is reported already is left out"
    );
}

#[test]
fn broken_call_keeps_counts_sent_by_the_server() {
    let counted = ReportedUsage {
        input_tokens: 50_000,
        cached_input_tokens: 40_000,
        output_tokens: 1,
        ..ReportedUsage::default()
    };
    let failure = || {
        Err(ModelError {
            error: crate::agent::run_error("connection_lost", "Gone.".into(), ""),
            kind: parlor_model::ModelErrorKind::Refused,
            reply: None,
        })
    };
    // A request that was only counted may be repeated, and is not charged.
    let mut refused = meter();
    assert!(
        refused
            .inputs_for(Ok(ModelEvent::InputCounted(counted)))
            .is_empty()
    );
    assert!(matches!(
        refused.inputs_for(failure())[..],
        [Input::CallFailed(_)]
    ));
    assert_eq!(refused.cut_totals(false), None);
    // Also one that is stopped has them.
    assert_eq!(refused.cut_totals(true).unwrap().input_tokens, 50_000);

    let mut broken = meter();
    broken.inputs_for(Ok(ModelEvent::InputCounted(counted)));
    broken.inputs_for(Ok(ModelEvent::Text("x".repeat(400))));
    let inputs = broken.inputs_for(failure());
    let [Input::UsageKnown(usage), Input::CallFailed(_)] = &inputs[..] else {
        panic!("{inputs:?}")
    };
    let totals = usage.totals;
    assert_eq!(
        (
            totals.input_tokens,
            totals.cached_input_tokens,
            totals.output_tokens
        ),
        (50_000, 40_000, 100)
    );
    assert!(usage.estimated);
    // It is counted once.
    assert_eq!(broken.cut_totals(false), None);
}
