//! Stops that come between a person's answer and the run's going on with it: nothing is begun after them.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    recovery_tests::left,
    tests::{runs_with, until},
    *,
};
use crate::{
    protocol::{
        AskedCall, AssistantMessage, EventBody, ToolStatus, examples::asked_call, intent::ApprovalAnswer,
        transcript::apply_to_run,
    },
    storage::Approval,
    tools::{Call, Tool, ToolError, ToolResult},
};

/// Counts how often it is begun.
struct Counting(Arc<AtomicUsize>);

#[derive(Deserialize, JsonSchema)]
struct Anything {}

impl Tool for Counting {
    type Input = Anything;

    const NAME: &'static str = "count";
    const DESCRIPTION: &'static str = "Counts.";
    const LABEL: &'static str = "Counting";
    const DONE: &'static str = "Counted";
    const NEEDS_APPROVAL: bool = true;

    async fn run(&self, _: Anything, _: Call) -> Result<ToolResult, ToolError> {
        self.0.fetch_add(1, SeqCst);
        Ok("counted".to_owned().into())
    }
}

/// A run that waits for a person to allow a call, and how often that was begun.
struct Asking {
    _folder: tempfile::TempDir,
    runs: Runs,
    run: RunKey,
    begun: Arc<AtomicUsize>,
}

impl Asking {
    async fn new() -> Self {
        let begun = Arc::new(AtomicUsize::new(0));
        let (folder, runs) = runs_with(Registry::default().with(Counting(begun.clone()))).await;
        let run = left(&runs).await;
        let asked = EventBody::ApprovalRequested(AskedCall {
            part: 0,
            index: 0,
            tool: "count".into(),
            ..asked_call(None)
        });
        let waits = EventBody::Waiting { worked_ms: 0 };
        let mut message = AssistantMessage::started("parlor/tour");
        apply_to_run(&mut message, &asked);
        apply_to_run(&mut message, &waits);
        let events = vec![asked, waits];
        let pause = Change::Pause { run, events, message };
        runs.0.journal.submit(pause).await.unwrap();
        Self {
            _folder: folder,
            runs,
            run,
            begun,
        }
    }

    /// The person allows it.
    fn allow(&self) -> Change {
        let approval = Approval {
            run: self.run.message_id,
            index: 0,
            answer: ApprovalAnswer::Allow,
        };
        Change::Answer {
            user_id: self.run.user_id,
            approval,
        }
    }

    async fn stop(&self) -> Option<RunStatus> {
        self.runs
            .stop(self.run.user_id, self.run.message_id)
            .await
            .unwrap()
    }

    /// The run is not at work, and stopped; the call was never begun.
    async fn assert_stopped(&self) {
        self.runs.0.at_work.all_ended().await;
        let stored = self
            .runs
            .0
            .storage
            .message(self.run.user_id, self.run.message_id)
            .await;
        let (_, message) = stored.unwrap().unwrap();
        let answer = message.assistant().unwrap();
        let calls: Vec<ToolStatus> = answer.tool_calls().map(|call| call.status).collect();
        assert_eq!(
            (answer.status, calls),
            (RunStatus::Stopped, vec![ToolStatus::Stopped])
        );
        assert_eq!(self.begun.load(SeqCst), 0);
    }
}

#[tokio::test]
async fn a_run_that_nobody_stops_goes_on_with_what_was_allowed() {
    let asking = Asking::new().await;
    asking.runs.begin(asking.run, asking.allow()).await.unwrap();
    until(async || (asking.begun.load(SeqCst) == 1).then_some(())).await;
    asking.stop().await;
}

#[tokio::test]
async fn a_stop_before_the_run_comes_to_its_turn_is_its_end() {
    let asking = Asking::new().await;
    let mut place = asking.runs.0.at_work.enter(asking.run).unwrap();
    asking.runs.0.journal.submit(asking.allow()).await.unwrap();
    let drive = async {
        place.stop.cancelled().await;
        asking.runs.drive(asking.run, &mut place).await;
        drop(place);
    };
    let (stopped, ()) = tokio::join!(asking.stop(), drive);
    assert_eq!(stopped, Some(RunStatus::Stopped));
    asking.assert_stopped().await;
}

#[tokio::test]
async fn who_would_go_on_after_a_stop_finds_the_run_ended() {
    let asking = Asking::new().await;
    asking.runs.0.journal.submit(asking.allow()).await.unwrap();
    // It is committed, and nobody drives it.
    assert_eq!(asking.stop().await, Some(RunStatus::Stopped));
    let mut place = asking.runs.0.at_work.enter(asking.run).unwrap();
    asking.runs.drive(asking.run, &mut place).await;
    drop(place);
    asking.assert_stopped().await;
}

#[tokio::test]
async fn a_stop_while_the_one_who_drove_it_before_still_tidies_up_is_not_lost() {
    let asking = Asking::new().await;
    let before = asking.runs.0.at_work.enter(asking.run).unwrap();
    asking.runs.begin(asking.run, asking.allow()).await.unwrap();
    let leave = async {
        before.stop.cancelled().await;
        drop(before);
    };
    let (stopped, ()) = tokio::join!(asking.stop(), leave);
    assert_eq!(stopped, Some(RunStatus::Stopped));
    asking.assert_stopped().await;
}

#[tokio::test]
async fn who_takes_the_place_during_a_stop_begins_nothing() {
    let asking = Asking::new().await;
    let before = asking.runs.0.at_work.enter(asking.run).unwrap();
    asking.runs.0.journal.submit(asking.allow()).await.unwrap();
    let take_over = async {
        before.stop.cancelled().await;
        // Without a pause between the two, the stop can't look before the place is taken again.
        drop(before);
        let mut place = asking.runs.0.at_work.enter(asking.run).unwrap();
        asking.runs.drive(asking.run, &mut place).await;
    };
    let (stopped, ()) = tokio::join!(asking.stop(), take_over);
    assert_eq!(stopped, Some(RunStatus::Stopped));
    asking.assert_stopped().await;
}
