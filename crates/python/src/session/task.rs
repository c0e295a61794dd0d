//! The task of a session, which owns its helper process.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};

use super::{Call, Ended, SessionError, Shared};
use crate::{
    cgroup::SessionGroup,
    folders::Folders,
    output::Output,
    process::HelperProcess,
    wire::{Report, Request},
};

/// The longest wait for the end of a call after its interruption. Then the session is ended.
const INTERRUPT_TIMEOUT: Duration = Duration::from_secs(3);

/// The task of a session.
pub(super) struct Task {
    pub helper: HelperProcess,
    pub shared: Arc<Shared>,
    pub next_id: u64,
    /// Deleted with the task.
    pub folders: Folders,
    pub group: Option<SessionGroup>,
}

impl Task {
    pub async fn run(mut self, mut calls: mpsc::Receiver<Call>) {
        let shared = Arc::clone(&self.shared);
        let ended = tokio::select! {
            biased;
            // Its cause is noted.
            () = shared.ending.notified() => Ended::outside("it was ended"),
            ended = self.perform_all(&mut calls) => ended,
        };
        shared.state.lock().ended.get_or_insert(ended);
        self.helper.close().await;
        drop((self.folders, self.group));
    }

    /// Performs calls until the session ends.
    async fn perform_all(&mut self, calls: &mut mpsc::Receiver<Call>) -> Ended {
        loop {
            tokio::select! {
                biased;
                call = calls.recv() => match call {
                    Some(call) => {
                        if let Err(ended) = self.perform(call).await {
                            return ended;
                        }
                    }
                    None => return Ended::outside("it was closed"),
                },
                // Between two calls, nothing but its end is of interest.
                report = self.helper.next() => if let Report::Gone { cause, is_by_code } = report {
                    return Ended {
                        cause,
                        is_by_code,
                        is_in_call: false,
                    };
                },
            }
        }
    }

    /// Performs a call. Returns the end of the session if it has ended.
    async fn perform(&mut self, call: Call) -> Result<(), Ended> {
        let Call {
            code,
            is_silent,
            limit,
            progress,
            mut result,
        } = call;
        if result.is_closed() {
            return Ok(());
        }
        self.next_id += 1;
        let id = self.next_id;
        let request = Request::Execute { id, code, is_silent };
        let deadline = Instant::now() + limit;
        let mut output = Output::default();
        let sent = timeout(limit, self.helper.send(&request)).await;
        let mut ended = match sent {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(Ended::outside(error.to_string())),
            Err(_) => Some(Ended::outside("its helper process does not read")),
        };
        while ended.is_none() {
            tokio::select! {
                biased;
                () = result.closed() => return self.interrupt(id).await.map_err(Ended::outside),
                // Before the reports: code that always shows something would starve this branch.
                () = tokio::time::sleep_until(deadline) => {
                    // Most code stops when it is interrupted, and its session goes on.
                    let seconds = limit.as_secs();
                    let stopped = self.interrupt(id).await.map_err(Ended::outside);
                    let error = match &stopped {
                        Ok(()) => SessionError::TimedOut(seconds),
                        Err(ended) => {
                            self.shared.state.lock().ended = Some(ended.clone());
                            SessionError::Stuck(seconds)
                        }
                    };
                    let _ = result.send(Err(error));
                    return stopped;
                }
                report = self.helper.next() => match report {
                    Report::Done { id: done, omitted_text, omitted_pictures } if done == id => {
                        output.set_omitted(omitted_text, omitted_pictures);
                        // The caller may have gone away.
                        let _ = result.send(Ok(output));
                        return Ok(());
                    }
                    Report::Gone { cause, is_by_code } => ended = Some(Ended {
                        cause,
                        is_by_code,
                        is_in_call: true,
                    }),
                    report => {
                        output.add(report);
                        progress.send_replace(output.tail());
                    }
                },
            }
        }
        let ended = ended.unwrap_or_else(|| Ended::outside("it was closed"));
        self.shared.state.lock().ended = Some(ended.clone());
        let _ = result.send(Err(SessionError::EndedByCall {
            cause: ended.cause.clone(),
            is_by_code: ended.is_by_code,
            output: output.text_before_end(),
        }));
        Err(ended)
    }

    /// Interrupts a call and waits for its end.
    async fn interrupt(&mut self, id: u64) -> Result<(), String> {
        let wait = async {
            self.helper
                .send(&Request::Interrupt)
                .await
                .map_err(|error| error.to_string())?;
            loop {
                match self.helper.next().await {
                    Report::Done { id: done, .. } if done == id => return Ok(()),
                    Report::Gone { cause, .. } => return Err(cause),
                    _ => {}
                }
            }
        };
        let stopped = timeout(INTERRUPT_TIMEOUT, wait).await;
        stopped.unwrap_or_else(|_| Err("its code did not stop when it was interrupted".into()))
    }
}
