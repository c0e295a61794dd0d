//! Stops between a user's answer and the resumption of the run: nothing is started after them.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{recovery::abandoned_run, *};
use parlor_protocol::{
    AssistantMessage, RequestedCall, RunEvent, TokenTotals, ToolStatus, examples::requested_call,
    intent::ApprovalAnswer, transcript::apply_to_run,
};
use parlor_storage::{ApprovalDecision, usage::Day};
use parlor_tools::{Tool, ToolContext, ToolError, ToolKind, ToolResult};

/// Counts its calls, and uses a model for each.
struct CountingTool {
    calls: Arc<AtomicUsize>,
    /// True if a call never ends.
    hangs: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Anything {}

impl Tool for CountingTool {
    type Input = Anything;

    const KIND: ToolKind = ToolKind::plain("count");
    const DESCRIPTION: &'static str = "Counts.";
    const LABEL: &'static str = "Counting";
    const DONE: &'static str = "Counted";
    const NEEDS_APPROVAL: bool = true;

    async fn run(&self, _: Anything, call: ToolContext) -> Result<ToolResult, ToolError> {
        call.usage.add(TokenTotals {
            calls: 1,
            output_tokens: 7,
            ..TokenTotals::default()
        });
        self.calls.fetch_add(1, SeqCst);
        if self.hangs {
            std::future::pending::<()>().await;
        }
        Ok("counted".to_owned().into())
    }
}

/// A run that waits for the approval of a call, and the number of calls started.
struct WaitingRun {
    _folder: tempfile::TempDir,
    runs: Runs,
    run: RunKey,
    started_calls: Arc<AtomicUsize>,
}

impl WaitingRun {
    async fn new() -> Self {
        Self::with_tool(false).await
    }

    async fn with_tool(hangs: bool) -> Self {
        let begun = Arc::new(AtomicUsize::new(0));
        let tool = CountingTool {
            calls: begun.clone(),
            hangs,
        };
        let (folder, runs) = runs_with(ToolRegistry::default().with_tool(tool)).await;
        let run = abandoned_run(&runs).await;
        let asked = RunEvent::ApprovalRequested(RequestedCall {
            part: 0,
            index: 0,
            tool: "count".into(),
            ..requested_call(None)
        });
        let waits = RunEvent::Waiting { worked_ms: 0 };
        let mut message = AssistantMessage::new("parlor/tour");
        apply_to_run(&mut message, &asked);
        apply_to_run(&mut message, &waits);
        let events = vec![asked, waits];
        let pause = Change::Output {
            run,
            output: RunOutput::PauseRun { events, message },
        };
        runs.0.journal.submit(pause).await.unwrap();
        Self {
            _folder: folder,
            runs,
            run,
            started_calls: begun,
        }
    }

    /// The change that approves the call.
    fn approval(&self) -> Change {
        let approval = ApprovalDecision {
            run: self.run.message_id,
            index: 0,
            answer: ApprovalAnswer::Allow,
        };
        Change::Run(RunChange::AnswerApproval {
            user_id: self.run.user_id,
            approval,
        })
    }

    async fn stop(&self) -> Option<RunStatus> {
        self.runs
            .stop(self.run.user_id, self.run.message_id)
            .await
            .unwrap()
    }

    /// Asserts that the run is inactive and stopped, and that the call was never started.
    async fn assert_stopped(&self) {
        self.runs.0.active.wait_until_all_ended().await;
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
        assert_eq!(self.started_calls.load(SeqCst), 0);
    }
}

#[tokio::test]
async fn runs_the_approved_call() {
    let asking = WaitingRun::new().await;
    asking
        .runs
        .start_run(asking.run, asking.approval())
        .await
        .unwrap();
    wait_until(async || (asking.started_calls.load(SeqCst) == 1).then_some(())).await;
    asking.stop().await;
}

#[tokio::test]
async fn counts_models_that_a_stopped_call_has_used() {
    let asking = WaitingRun::with_tool(true).await;
    let approved = asking.approval();
    asking.runs.start_run(asking.run, approved).await.unwrap();
    wait_until(async || (asking.started_calls.load(SeqCst) == 1).then_some(())).await;
    asking.stop().await;
    asking.runs.0.active.wait_until_all_ended().await;
    let storage = &asking.runs.0.storage;
    let counted = storage
        .daily_usage(Some(asking.run.user_id), Day(0))
        .await
        .unwrap();
    let tokens: u64 = counted.iter().map(|day| day.usage.output_tokens).sum();
    assert_eq!(tokens, 7);
}

#[tokio::test]
async fn stop_before_start_ends_the_run() {
    let asking = WaitingRun::new().await;
    let mut slot = asking.runs.0.active.enter(asking.run).unwrap();
    asking.runs.0.journal.submit(asking.approval()).await.unwrap();
    let drive = async {
        slot.stop.cancelled().await;
        asking.runs.drive_run(asking.run, &mut slot).await;
        drop(slot);
    };
    let (stopped, ()) = tokio::join!(asking.stop(), drive);
    assert_eq!(stopped, Some(RunStatus::Stopped));
    asking.assert_stopped().await;
}

#[tokio::test]
async fn approval_after_a_stop_finds_run_ended() {
    let asking = WaitingRun::new().await;
    asking.runs.0.journal.submit(asking.approval()).await.unwrap();
    // The approval is committed, and the run has no driver.
    assert_eq!(asking.stop().await, Some(RunStatus::Stopped));
    let mut slot = asking.runs.0.active.enter(asking.run).unwrap();
    asking.runs.drive_run(asking.run, &mut slot).await;
    drop(slot);
    asking.assert_stopped().await;
}

#[tokio::test]
async fn keeps_a_stop_during_driver_cleanup() {
    let asking = WaitingRun::new().await;
    let before = asking.runs.0.active.enter(asking.run).unwrap();
    asking
        .runs
        .start_run(asking.run, asking.approval())
        .await
        .unwrap();
    let leave = async {
        before.stop.cancelled().await;
        drop(before);
    };
    let (stopped, ()) = tokio::join!(asking.stop(), leave);
    assert_eq!(stopped, Some(RunStatus::Stopped));
    asking.assert_stopped().await;
}

#[tokio::test]
async fn slot_taken_during_stop_starts_nothing() {
    let asking = WaitingRun::new().await;
    let before = asking.runs.0.active.enter(asking.run).unwrap();
    asking.runs.0.journal.submit(asking.approval()).await.unwrap();
    let take_over = async {
        before.stop.cancelled().await;
        // Without a pause between the two, the stop can't check before the slot is taken again.
        drop(before);
        let mut slot = asking.runs.0.active.enter(asking.run).unwrap();
        asking.runs.drive_run(asking.run, &mut slot).await;
    };
    let (stopped, ()) = tokio::join!(asking.stop(), take_over);
    assert_eq!(stopped, Some(RunStatus::Stopped));
    asking.assert_stopped().await;
}
