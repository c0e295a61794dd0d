//! A chart that the model writes.

use schemars::JsonSchema;

use super::{PayloadConfig, require_viewable, unchanged};
use parlor_tools::schema;

/// Numbers as a picture.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it stands for its schema")]
struct WrittenChart {
    title: Option<String>,
    kind: Kind,
    /// What is written below, from left to right.
    x: Vec<String>,
    series: Vec<WrittenSeries>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "it stands for its schema")]
enum Kind {
    Bar,
    Line,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "it stands for its schema")]
struct WrittenSeries {
    name: Option<String>,
    /// A number for each of `x`; null where it is not known.
    values: Vec<Option<f64>>,
}

/// A chart that compares values or shows how they change.
pub const CHART: PayloadConfig = PayloadConfig {
    payload_type: "chart",
    marker: "CHART:",
    instructions: || {
        "Numbers that say more as a picture, bar or line; null where one is not known:\n\
                   CHART: {\"title\": \"Sales\", \"kind\": \"line\", \"x\": [\"2022\", \"2023\"], \"series\": [{\"name\": \"Tea\", \"values\": [4, 6.5]}]}"
            .into()
    },
    progress_text: "Drawing a chart...",
    parse: |data| require_viewable("chart", data),
    schema: schema::for_type::<WrittenChart>,
    revise: None,
    to_model_input: unchanged,
    is_corrected: false,
    base: None,
    proposal: None,
};
