//! The current time, in any time zone. Models don't know it.

use jiff::{Timestamp, tz::TimeZone};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolContext, ToolError, ToolKind, ToolResult};
use parlor_base::clock;
use parlor_protocol::tool_kind;

pub struct CurrentTime;

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The IANA name of a time zone, such as Europe/Copenhagen. UTC without it.
    time_zone: Option<String>,
}

impl Tool for CurrentTime {
    type Input = Input;

    const KIND: ToolKind = tool_kind::CURRENT_TIME;
    const DESCRIPTION: &'static str = "The date and time now, with the day of the week, in UTC or in any time zone. Use it whenever an answer depends on \
         today's date or on what time it is.";
    const LABEL: &'static str = "Looking at the clock";
    const DONE: &'static str = "Looked at the clock";
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &Input) -> Option<String> {
        input.time_zone.clone()
    }

    async fn run(&self, input: Input, _: ToolContext) -> Result<ToolResult, ToolError> {
        let name = input.time_zone.as_deref().unwrap_or("UTC");
        let zone = TimeZone::get(name).map_err(|_| {
            ToolError(format!(
                "There is no time zone “{name}”. Name one as IANA does, such as America/New_York."
            ))
        })?;
        let now = Timestamp::from_millisecond(clock::now().0).map_err(ToolError::new)?;
        let now = now.to_zoned(zone);
        Ok(now
            .strftime("%A, %Y-%m-%d %H:%M:%S %Z (UTC%:z)")
            .to_string()
            .into())
    }
}
