//! Diagnostics of answers.

mod calls;
mod report;
mod retention;

use serde_json::Value;
use tokio::time::timeout;

use crate::support::{Parlor, TEST_TIMEOUT};

async fn get_diagnostics(parlor: &Parlor, message_id: &Value) -> Value {
    let path = format!("/api/messages/{}/diagnostics", message_id.as_str().unwrap());
    let (status, made) = parlor.get_json(&path).await;
    assert_eq!(status, 200);
    made
}

/// Waits for a recorded call of a running answer, and returns the diagnostics so far.
async fn wait_for_diagnostics(parlor: &Parlor, message_id: &Value) -> Value {
    let path = format!("/api/messages/{}/diagnostics", message_id.as_str().unwrap());
    let written = async {
        loop {
            match parlor.get_json(&path).await {
                (200, made) => break made,
                (status, _) => assert_eq!(status, 404),
            }
        }
    };
    timeout(TEST_TIMEOUT, written).await.expect("it is written down")
}

async fn diagnostics_status(parlor: &Parlor, message_id: &Value) -> u16 {
    let path = format!("/api/messages/{}/diagnostics", message_id.as_str().unwrap());
    parlor.get_json(&path).await.0
}

/// Runs a turn and returns its last event.
async fn final_event(parlor: &Parlor, message: &str) -> Value {
    parlor.turn(None, message).await.pop().unwrap()
}
