//! Executes a tool with a time limit and a limit on its output, and contains its failures.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::{AnyTool, CallOrigin, ProgressReporter, ToolContext, ToolError, ToolResult};
use parlor_model::ToolInput;
use parlor_protocol::ToolProgress;

/// The minimum time between two progress reports: each one is an event in the log.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Runs a tool and returns its result. Meanwhile `progress` receives the tool's reports, at a
/// limited rate.
///
/// # Errors
///
/// The message for the model: the tool's own error, a timeout, or a panic.
pub async fn execute(
    tool: Arc<dyn AnyTool>,
    input: ToolInput,
    origin: CallOrigin,
    progress: impl FnMut(ToolProgress),
) -> Result<ToolResult, ToolError> {
    let options = tool.run_options();
    let (sender, receiver) = watch::channel(None);
    let CallOrigin {
        user_id,
        conversation_id,
        run,
        index,
        page,
        files,
        usage,
    } = origin;
    let call = ToolContext {
        user_id,
        conversation_id,
        run,
        index,
        page,
        files,
        progress: ProgressReporter(sender),
        usage,
    };
    let running = AssertUnwindSafe(tool.run(input, call)).catch_unwind();
    let outcome = tokio::select! {
        outcome = timeout(options.timeout, running) => outcome,
        never = forward_progress(receiver, progress) => match never {},
    };
    let result = match outcome {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => {
            tracing::error!(tool = %tool.spec().name, "a tool panicked");
            return Err(ToolError::new("A fault in the tool broke it off."));
        }
        Err(_) => {
            let seconds = options.timeout.as_secs_f64();
            return Err(ToolError(format!(
                "It took longer than {seconds} seconds and was ended. Ask for less, or do without it."
            )));
        }
    };
    match result {
        Ok(mut result) => {
            truncate_output(&mut result.text, options.output_bytes);
            Ok(result)
        }
        Err(mut error) => {
            truncate_output(&mut error.0, options.output_bytes);
            Err(error)
        }
    }
}

/// Forwards a tool's progress reports, at a limited rate.
async fn forward_progress(
    mut receiver: watch::Receiver<Option<ToolProgress>>,
    mut progress: impl FnMut(ToolProgress),
) -> std::convert::Infallible {
    while receiver.changed().await.is_ok() {
        let report = receiver.borrow_and_update().clone();
        if let Some(report) = report {
            progress(report);
        }
        sleep(PROGRESS_INTERVAL).await;
    }
    std::future::pending().await
}

/// Cuts a text to `limit` bytes and adds a note about that.
fn truncate_output(text: &mut String, limit: usize) {
    if text.len() <= limit {
        return;
    }
    let cut = text.len() - text.floor_char_boundary(limit);
    text.truncate(text.len() - cut);
    text.push_str(&format!("\n\n[{cut} more bytes were cut off here.]"));
}
