//! Numbers that are exact as long as possible: fractions of integers. Other numbers (logarithms,
//! most roots, fractions that would become too long) are floating point, and so are all results
//! computed from them.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

use crate::ToolError;

/// Maximum size of an exact number's numerator and denominator: some 600 digits. Longer results
/// become floating point, so no operation takes long.
const MAX_EXACT_BITS: u64 = 2048;

/// Maximum number of decimals written for an exact number.
const MAX_DECIMALS: u32 = 60;

/// The significant digits of a floating-point number: one less than it has, because of rounding
/// errors.
const SIGNIFICANT_DIGITS: usize = 15;

#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    Exact(BigRational),
    Approximate(f64),
}

use Number::{Approximate, Exact};

type Result<T = Number> = std::result::Result<T, ToolError>;

impl Number {
    pub fn exact(value: BigRational) -> Result {
        if bits(&value) <= MAX_EXACT_BITS {
            Ok(Exact(value))
        } else {
            Self::approximate(value.to_f64().unwrap_or(f64::NAN))
        }
    }

    pub fn approximate(value: f64) -> Result {
        if value.is_finite() {
            Ok(Approximate(value))
        } else if value.is_nan() {
            Err(ToolError::new("The result is not a real number."))
        } else {
            Err(too_large_error())
        }
    }

    /// Creates a number from its decimal digits before and after the point, and a power of ten.
    pub fn from_digits(whole: &str, decimals: &str, exponent: i32) -> Result {
        let digits = format!("0{whole}{decimals}");
        let digits: BigInt = digits.parse().map_err(ToolError::new)?;
        let power = i64::from(exponent) - decimals.len() as i64;
        if digits.is_zero() {
            return Ok(Exact(BigRational::zero()));
        }
        // No floating-point number has a larger exponent either.
        let Some(power) = i32::try_from(power).ok().filter(|power| power.abs() <= 2000) else {
            return Err(too_large_error());
        };
        Self::exact(BigRational::from(digits) * ten().pow(power))
    }

    pub fn to_f64(&self) -> f64 {
        match self {
            Exact(value) => value.to_f64().unwrap_or(f64::NAN),
            Approximate(value) => *value,
        }
    }

    pub fn plus(self, other: Self) -> Result {
        match (self, other) {
            (Exact(a), Exact(b)) => Self::exact(a + b),
            (a, b) => Self::approximate(a.to_f64() + b.to_f64()),
        }
    }

    pub fn minus(self, other: Self) -> Result {
        self.plus(other.negative())
    }

    pub fn times(self, other: Self) -> Result {
        match (self, other) {
            (Exact(a), Exact(b)) => Self::exact(a * b),
            (a, b) => Self::approximate(a.to_f64() * b.to_f64()),
        }
    }

    pub fn divided_by(self, other: Self) -> Result {
        match (self, other) {
            (_, other) if other.is_zero() => Err(division_by_zero()),
            (Exact(a), Exact(b)) => Self::exact(a / b),
            (a, b) => Self::approximate(a.to_f64() / b.to_f64()),
        }
    }

    /// Returns the remainder of a division whose quotient is rounded down. It has the divisor's
    /// sign.
    pub fn modulo(self, other: Self) -> Result {
        match (self, other) {
            (_, other) if other.is_zero() => Err(division_by_zero()),
            (Exact(a), Exact(b)) => {
                let times = (&a / &b).floor();
                Self::exact(a - times * b)
            }
            (a, b) => {
                let (a, b) = (a.to_f64(), b.to_f64());
                Self::approximate(a - (a / b).floor() * b)
            }
        }
    }

    pub fn power(self, exponent: Self) -> Result {
        if let (Exact(base), Exact(exponent)) = (&self, &exponent) {
            if base.is_zero() && exponent.is_negative() {
                return Err(division_by_zero());
            }
            if *exponent == half() {
                return self.root();
            }
            if exponent.is_integer()
                && let Some(times) = exponent.to_i32()
                // A lower bound of the result's length; a result of up to twice that length is
                // harmless.
                && (bits(base) - 1).saturating_mul(u64::from(times.unsigned_abs())) <= MAX_EXACT_BITS
            {
                return Self::exact(base.pow(times));
            }
        }
        Self::approximate(self.to_f64().powf(exponent.to_f64()))
    }

    pub fn root(self) -> Result {
        if let Exact(value) = &self
            && !value.is_negative()
        {
            let root = BigRational::new(value.numer().sqrt(), value.denom().sqrt());
            if root.clone().pow(2_u32) == *value {
                return Ok(Exact(root));
            }
        }
        Self::approximate(self.to_f64().sqrt())
    }

    pub fn negative(self) -> Self {
        match self {
            Exact(value) => Exact(-value),
            Approximate(value) => Approximate(-value),
        }
    }

    pub fn is_zero(&self) -> bool {
        match self {
            Exact(value) => value.is_zero(),
            Approximate(value) => *value == 0.0,
        }
    }

    /// Converts to a fraction. Every finite floating-point number is one.
    pub fn into_fraction(self) -> Result<BigRational> {
        match self {
            Exact(value) => Ok(value),
            Approximate(value) => BigRational::from_float(value).ok_or_else(too_large_error),
        }
    }

    /// Rounds to a number of decimals, a half away from zero.
    pub fn rounded(self, decimals: i32) -> Result {
        let shift = ten().pow(decimals);
        self.round_with(|value| (value * &shift).round() / &shift)
    }

    /// Applies a function with steps, such as rounding. A number that was rounded before is first
    /// replaced by the value of its significant digits: in floating point, `64^(1/3)` is
    /// 3.9999999999999996.
    pub fn round_with(self, function: impl Fn(&BigRational) -> BigRational) -> Result {
        match self {
            Exact(value) => Self::exact(function(&value)),
            Approximate(value) => {
                let result = function(&from_significant_digits(value).ok_or_else(too_large_error)?);
                Self::approximate(result.to_f64().ok_or_else(too_large_error)?)
            }
        }
    }

    /// Returns the decimal digits, and `true` if they are the exact value.
    pub fn to_digits(&self) -> Result<(String, bool)> {
        if let Exact(value) = self
            && let Some(digits) = format_exact(value)
        {
            return Ok((digits, true));
        }
        let nearly = self.to_f64();
        match nearly {
            0.0 if !self.is_zero() => Err(ToolError::new("The result is too small: nearly 0.")),
            nearly if nearly.is_finite() => Ok((format_significant(nearly), false)),
            _ => Err(too_large_error()),
        }
    }
}

/// Returns the value of a number's significant digits.
fn from_significant_digits(value: f64) -> Option<BigRational> {
    let written = format!("{value:.*e}", SIGNIFICANT_DIGITS - 1);
    let (digits, exponent) = written.split_once('e')?;
    let digits: BigInt = digits.replace('.', "").parse().ok()?;
    let exponent = exponent.parse::<i32>().ok()? - (SIGNIFICANT_DIGITS as i32 - 1);
    Some(BigRational::from(digits) * ten().pow(exponent))
}

fn ten() -> BigRational {
    BigRational::from(BigInt::from(10))
}

fn half() -> BigRational {
    BigRational::new(BigInt::one(), BigInt::from(2))
}

fn bits(value: &BigRational) -> u64 {
    value.numer().bits().max(value.denom().bits())
}

/// Writes an exact number in full, if it has few enough decimals.
fn format_exact(value: &BigRational) -> Option<String> {
    let mut decimals = 0;
    let mut scaled = value.clone();
    while !scaled.is_integer() {
        decimals += 1;
        if decimals > MAX_DECIMALS {
            return None;
        }
        scaled *= ten();
    }
    let digits = scaled.numer().abs().to_string();
    let decimals = decimals as usize;
    let digits = format!("{digits:0>width$}", width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let sign = if value.is_negative() { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{whole}{point}{fraction}"))
}

/// Writes the significant digits of a floating-point number, in full unless that would be long.
fn format_significant(value: f64) -> String {
    let scientific = format!("{value:.*e}", SIGNIFICANT_DIGITS - 1);
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |digits: &str| digits.trim_end_matches('0').trim_end_matches('.').to_owned();
    if (-7..SIGNIFICANT_DIGITS as i32).contains(&exponent) {
        let decimals = (SIGNIFICANT_DIGITS as i32 - 1 - exponent).unsigned_abs() as usize;
        let written = format!("{value:.decimals$}");
        if decimals == 0 { written } else { trim(&written) }
    } else {
        format!("{}e{exponent}", trim(digits))
    }
}

fn division_by_zero() -> ToolError {
    ToolError::new("That divides by zero.")
}

fn too_large_error() -> ToolError {
    ToolError::new("A number in it is too large (or too close to zero): beyond some 300 digits.")
}
