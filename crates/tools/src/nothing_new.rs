//! The end of a scheduled answer that has nothing to tell: its user is then not told of it either.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolContext, ToolError, ToolKind, ToolResult};
use parlor_protocol::tool_kind;

/// Offered only to the answers of schedules whose user wants to hear of news alone.
pub struct NothingNew;

#[derive(Deserialize, JsonSchema)]
pub struct Input {}

impl Tool for NothingNew {
    type Input = Input;

    const KIND: ToolKind = tool_kind::NOTHING_NEW;
    const DESCRIPTION: &'static str = "This message was sent by a schedule, and the person wants to be told only if there is something new. Call this \
         after you have looked and found nothing that is worth telling; then answer in one short sentence. Do not call it if you \
         found something, or if you could not look.";
    const LABEL: &'static str = "Noting that nothing is new";
    const DONE: &'static str = "Found nothing new";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, _: Input, _: ToolContext) -> Result<ToolResult, ToolError> {
        Ok("The person is not notified of this answer.".to_owned().into())
    }
}
