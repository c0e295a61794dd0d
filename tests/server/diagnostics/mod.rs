//! How answers are made, as their diagnostics tell it.

mod calls;
mod kept;
mod told;

use serde_json::Value;

use crate::support::Parlor;

async fn diagnostics(parlor: &Parlor, message_id: &Value) -> Value {
    let path = format!("/api/messages/{}/diagnostics", message_id.as_str().unwrap());
    let (status, made) = parlor.get_json(&path).await;
    assert_eq!(status, 200);
    made
}

async fn status(parlor: &Parlor, message_id: &Value) -> u16 {
    let path = format!("/api/messages/{}/diagnostics", message_id.as_str().unwrap());
    parlor.get_json(&path).await.0
}

/// A turn, and its last event.
async fn turn(parlor: &Parlor, message: &str) -> Value {
    parlor.turn(None, message).await.pop().unwrap()
}
