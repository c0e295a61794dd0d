//! The functions that expressions may use.

use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::number::Number;
use crate::ToolError;

type Result = std::result::Result<Number, ToolError>;

/// Maximum number of decimals for rounding, after or before the point.
const MAX_ROUNDING_DECIMALS: i32 = 60;

/// Values nearer to zero than this are zero with a rounding error, such as sin(pi).
const ZERO_EPSILON: f64 = 1e-15;

pub fn call(name: &str, arguments: Vec<Number>) -> Result {
    match (name, arguments.len()) {
        ("min", _) => min_or_max(arguments, |new, best| new < best),
        ("max", _) => min_or_max(arguments, |new, best| new > best),
        ("round", 1 | 2) => round(arguments),
        ("log", _) => Err(ToolError::new(
            "“log” could be two things: write ln(x) for the natural logarithm or log10(x).",
        )),
        (_, 1) => match arguments.into_iter().next() {
            Some(argument) => unary(name, argument),
            None => Err(argument_count_error(name)),
        },
        _ => Err(argument_count_error(name)),
    }
}

fn unary(name: &str, x: Number) -> Result {
    match name {
        "sqrt" => x.root(),
        "abs" => Ok(if x.to_f64() < 0.0 { x.negative() } else { x }),
        "floor" => x.round_with(BigRational::floor),
        "ceil" => x.round_with(BigRational::ceil),
        "ln" => Number::approximate(logarithm_argument(x)?.ln()),
        "log10" => Number::approximate(logarithm_argument(x)?.log10()),
        "exp" => Number::approximate(x.to_f64().exp()),
        "sin" => Number::approximate(snap_to_zero(x.to_f64().sin())),
        "cos" => Number::approximate(snap_to_zero(x.to_f64().cos())),
        "tan" => {
            let x = x.to_f64();
            Number::approximate(snap_to_zero(x.sin()))?
                .divided_by(Number::approximate(snap_to_zero(x.cos()))?)
        }
        _ => Err(ToolError(format!(
            "There is no function “{name}”. There are sqrt, ln, log10, exp, sin, cos, tan, abs, round, floor, ceil, min and max."
        ))),
    }
}

fn min_or_max(arguments: Vec<Number>, is_better: fn(&BigRational, &BigRational) -> bool) -> Result {
    let mut best: Option<(BigRational, Number)> = None;
    for number in arguments {
        let fraction = number.clone().into_fraction()?;
        if best.as_ref().is_none_or(|(best, _)| is_better(&fraction, best)) {
            best = Some((fraction, number));
        }
    }
    best.map(|(_, number)| number)
        .ok_or_else(|| argument_count_error("min or max"))
}

fn round(arguments: Vec<Number>) -> Result {
    let mut arguments = arguments.into_iter();
    let number = arguments.next().ok_or_else(|| argument_count_error("round"))?;
    let decimals = match arguments.next().map(Number::into_fraction).transpose()? {
        None => 0,
        Some(decimals) => decimals
            .to_i32()
            .filter(|_| decimals.is_integer() && decimals.abs().to_i32().is_some_and(|d| d <= MAX_ROUNDING_DECIMALS))
            .ok_or_else(|| {
                ToolError(format!(
                    "round(number, decimals) takes a whole number of decimals, at most {MAX_ROUNDING_DECIMALS}."
                ))
            })?,
    };
    number.rounded(decimals)
}

fn logarithm_argument(x: Number) -> std::result::Result<f64, ToolError> {
    match x.to_f64() {
        x if x > 0.0 => Ok(x),
        _ => Err(ToolError::new("Only numbers above zero have a logarithm.")),
    }
}

fn snap_to_zero(x: f64) -> f64 {
    if x.abs() < ZERO_EPSILON { 0.0 } else { x }
}

fn argument_count_error(name: &str) -> ToolError {
    ToolError(format!("“{name}” is given the wrong number of arguments."))
}
