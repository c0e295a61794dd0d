//! SQLite's mathematical functions, which the linked SQLite is built without.
//!
//! They are those of <https://www.sqlite.org/lang_mathfunc.html>: what is no number, and what has no result, is NULL.

use rusqlite::{
    Connection, Result,
    functions::{Context, FunctionFlags},
    types::{Value, ValueRef},
};

type OfOne = fn(f64) -> f64;
type OfTwo = fn(f64, f64) -> f64;

/// Functions of one number.
const UNARY: [(&str, OfOne); 20] = [
    ("acos", f64::acos),
    ("acosh", f64::acosh),
    ("asin", f64::asin),
    ("asinh", f64::asinh),
    ("atan", f64::atan),
    ("atanh", f64::atanh),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("degrees", f64::to_degrees),
    ("exp", f64::exp),
    ("ln", logarithm),
    ("log", |x| logarithm_of(x, f64::log10)),
    ("log10", |x| logarithm_of(x, f64::log10)),
    ("log2", |x| logarithm_of(x, f64::log2)),
    ("radians", f64::to_radians),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
];

/// Functions of two numbers.
const BINARY: [(&str, OfTwo); 5] = [
    ("atan2", f64::atan2),
    ("log", |base, x| logarithm(x) / logarithm(base)),
    ("mod", |x, y| x % y),
    ("pow", f64::powf),
    ("power", f64::powf),
];

/// Functions that keep the type of a whole number.
const ROUNDING: [(&str, OfOne); 4] = [
    ("ceil", f64::ceil),
    ("ceiling", f64::ceil),
    ("floor", f64::floor),
    ("trunc", f64::trunc),
];

fn logarithm(x: f64) -> f64 {
    logarithm_of(x, f64::ln)
}

/// Returns no infinity for 0.
fn logarithm_of(x: f64, logarithm: OfOne) -> f64 {
    if x > 0.0 { logarithm(x) } else { f64::NAN }
}

/// Adds the functions to a connection.
pub fn register(connection: &Connection) -> Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, function) in UNARY {
        connection.create_scalar_function(name, 1, flags, move |call| {
            Ok(number(call, 0).map(function).and_then(to_value))
        })?;
    }
    for (name, function) in BINARY {
        connection.create_scalar_function(name, 2, flags, move |call| {
            let numbers = number(call, 0).zip(number(call, 1));
            Ok(numbers.and_then(|(first, second)| to_value(function(first, second))))
        })?;
    }
    for (name, function) in ROUNDING {
        connection.create_scalar_function(name, 1, flags, move |call| {
            Ok(match numeric_value(call.get_raw(0)) {
                Some(Value::Real(number)) => to_value(function(number)),
                whole => whole,
            })
        })?;
    }
    connection.create_scalar_function("pi", 0, flags, |_| Ok(std::f64::consts::PI))
}

fn number(call: &Context<'_>, index: usize) -> Option<f64> {
    match numeric_value(call.get_raw(index))? {
        Value::Integer(number) => Some(number as f64),
        Value::Real(number) => Some(number),
        _ => None,
    }
}

/// Returns a number as it is, also one that is written as text.
fn numeric_value(value: ValueRef<'_>) -> Option<Value> {
    match value {
        ValueRef::Integer(number) => Some(Value::Integer(number)),
        ValueRef::Real(number) => Some(Value::Real(number)),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).ok()?.trim_ascii();
            let is_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
            if !text.bytes().all(is_number) {
                return None;
            }
            let integer = text.parse().ok().map(Value::Integer);
            integer.or_else(|| text.parse().ok().map(Value::Real))
        }
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

fn to_value(number: f64) -> Option<Value> {
    (!number.is_nan()).then_some(Value::Real(number))
}
