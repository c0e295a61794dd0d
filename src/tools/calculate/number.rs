//! Numbers that are exact as long as that can be: fractions of integers. What can't (logarithms, most roots, what would become too
//! long) is a floating-point number, and whatever is made of one is one too.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

use crate::tools::ToolError;

/// How long an exact number's numerator and denominator may be: some 600 digits. What comes out longer goes on as floating point,
/// so no operation takes long.
const MAX_EXACT_BITS: u64 = 2048;

/// How many decimals of an exact number are written.
const MAX_DECIMALS: u32 = 60;

/// The significant digits that are left of a floating-point number: one less than it has, for what rounding has spoilt.
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

    /// A number in decimal digits: those before the point, those after it, a power of ten.
    pub fn from_digits(whole: &str, decimals: &str, exponent: i32) -> Result {
        let digits = format!("0{whole}{decimals}");
        let digits: BigInt = digits.parse().map_err(ToolError::new)?;
        let power = i64::from(exponent) - decimals.len() as i64;
        if digits.is_zero() {
            return Ok(Exact(BigRational::zero()));
        }
        // Further out is no floating-point number either.
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

    pub fn over(self, other: Self) -> Result {
        match (self, other) {
            (_, other) if other.is_zero() => Err(division_by_zero()),
            (Exact(a), Exact(b)) => Self::exact(a / b),
            (a, b) => Self::approximate(a.to_f64() / b.to_f64()),
        }
    }

    /// What is left of a division whose quotient is rounded down: it has the divisor's sign.
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
                // A lower bound of the result's length; what is at most twice as long is no harm.
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

    /// The same as a fraction: every floating-point number is one.
    pub fn into_fraction(self) -> Result<BigRational> {
        match self {
            Exact(value) => Ok(value),
            Approximate(value) => BigRational::from_float(value).ok_or_else(too_large_error),
        }
    }

    /// Rounded to so many decimals, a half away from zero.
    pub fn rounded(self, decimals: i32) -> Result {
        let shift = ten().pow(decimals);
        self.round_with(|value| (value * &shift).round() / &shift)
    }

    /// What a function makes of it that jumps from one number to another: what was rounded already is taken for the number that its
    /// digits say. `64^(1/3)` is 3.9999999999999996 to a computer.
    pub fn round_with(self, function: impl Fn(&BigRational) -> BigRational) -> Result {
        match self {
            Exact(value) => Self::exact(function(&value)),
            Approximate(value) => {
                let made = function(&from_significant_digits(value).ok_or_else(too_large_error)?);
                Self::approximate(made.to_f64().ok_or_else(too_large_error)?)
            }
        }
    }

    /// In decimal digits, and whether that is all there is of it.
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

/// The number that the digits say which count.
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

/// An exact number written out, if it ends soon enough.
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

/// The digits of a floating-point number that count, written out unless that would be long.
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
