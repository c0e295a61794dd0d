//! Arithmetic for models, which can only guess at it. Results are exact where possible, and rounded
//! results are marked.
//!
//! evalexpr 13 and fend-core 1.5 were weighed. evalexpr calculates in floating point (0.1 + 0.2 is
//! 0.30000000000000004, 1 / 3 is 0). fend-core is exact, but reads units, dates and dice as well
//! (200 + 10% is 200.1), and has no bound on numbers: 9^9^6 runs until it is interrupted. Here no
//! expression takes long: lengths, depths and the numbers themselves are bounded.

mod functions;
mod number;
mod parse;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, ToolContext, ToolError, ToolKind, ToolResult};
use parlor_protocol::tool_kind;

/// Maximum length of an expression, in bytes.
const MAX_EXPRESSION_BYTES: usize = 1000;

pub struct Calculate;

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Such as (1 + 2) * 3.5 ^ 2, sqrt(2) / 2, 15% of 80, round(pi, 4).
    expression: String,
}

impl Tool for Calculate {
    type Input = Input;

    const KIND: ToolKind = tool_kind::CALCULATE;
    const DESCRIPTION: &'static str = "Calculates an arithmetic expression. Use it for every calculation, however simple. It knows + - * / ^ and % (the \
         remainder between two numbers, a percentage after one: 200 + 15% is 230), parentheses, pi, e and sqrt, ln, log10, exp, \
         sin, cos, tan (in radians), abs, round(number, decimals), floor, ceil, min and max. Decimals have a point; thousands have \
         no separator. No units, no variables.";
    const LABEL: &'static str = "Calculating";
    const DONE: &'static str = "Calculated";
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &Input) -> Option<String> {
        Some(input.expression.clone())
    }

    async fn run(&self, input: Input, _: ToolContext) -> Result<ToolResult, ToolError> {
        calculate(input.expression.trim()).map(ToolResult::from)
    }
}

/// Returns the expression with its value: `0.1 + 0.2 = 0.3`.
fn calculate(expression: &str) -> Result<String, ToolError> {
    if expression.len() > MAX_EXPRESSION_BYTES {
        return Err(ToolError(format!(
            "The expression has {} bytes; at most {MAX_EXPRESSION_BYTES} are allowed. Calculate it in parts.",
            expression.len()
        )));
    }
    let value = parse::evaluate(expression)?;
    let (value, is_exact) = value.to_digits()?;
    let sign = if is_exact { "=" } else { "≈" };
    Ok(format!("{expression} {sign} {value}"))
}
