//! Parses and evaluates an expression in one pass, by the operators' binding powers (Pratt's
//! method). Unknown syntax is rejected with an error that says how to write it; nothing is guessed.

use super::{functions, number::Number};
use crate::ToolError;
use parlor_base::text::single_line;

/// Maximum nesting depth of an expression, including chains of powers.
const MAX_DEPTH: usize = 64;

/// The maximum length of a quoted part of the expression, in characters.
const MAX_QUOTED_CHARS: usize = 20;

type Result<T = Number> = std::result::Result<T, ToolError>;

pub fn evaluate(expression: &str) -> Result {
    let mut parser = Parser {
        rest: expression,
        depth: 0,
    };
    let value = parser.expression(0)?.number;
    match parser.peek() {
        None => Ok(value),
        Some(')') => Err(ToolError::new("There is a “)” without its “(”.")),
        Some(',') => Err(separator_error()),
        Some(_) => Err(parser.unexpected()),
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

/// A part of an expression: its value, and whether it is a percentage.
struct Operand {
    number: Number,
    is_percent: bool,
}

impl From<Number> for Operand {
    fn from(number: Number) -> Self {
        Self {
            number,
            is_percent: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
    Power,
}

/// The binding power of a sign: less than a power's, so that -2^2 is -4.
const SIGN_POWER: u8 = 5;

impl Operator {
    /// Returns the binding powers to the left and to the right.
    fn binding_powers(self) -> (u8, u8) {
        match self {
            Self::Plus | Self::Minus => (1, 2),
            Self::Times | Self::Over | Self::Modulo => (3, 4),
            Self::Power => (7, 6),
        }
    }

    /// Applies the operator. With + and −, a percentage is one of the left number: 200 + 15% is 230.
    fn apply(self, left: Number, right: Operand) -> Result {
        let percent_of_left = right.is_percent && matches!(self, Self::Plus | Self::Minus);
        let right = if percent_of_left {
            right.number.times(left.clone())?
        } else {
            right.number
        };
        match self {
            Self::Plus => left.plus(right),
            Self::Minus => left.minus(right),
            Self::Times => left.times(right),
            Self::Over => left.divided_by(right),
            Self::Modulo => left.modulo(right),
            Self::Power => left.power(right),
        }
    }
}

impl<'a> Parser<'a> {
    /// Parses an expression up to the first operator that binds less tightly than `power`.
    fn expression(&mut self, power: u8) -> Result<Operand> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ToolError::new(
                "The expression is nested too deeply. Calculate it in parts.",
            ));
        }
        let mut left = self.operand()?;
        while let Some((operator, length)) = self.operator() {
            let (to_left, to_right) = operator.binding_powers();
            if to_left < power {
                break;
            }
            self.skip(length);
            let right = self.expression(to_right)?;
            left = operator.apply(left.number, right)?.into();
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Parses a number, a name or parentheses, with the signs before and the percent signs after
    /// it.
    fn operand(&mut self) -> Result<Operand> {
        let number = match self.peek() {
            Some('-' | '−') => {
                self.take_character();
                let Operand {
                    number,
                    is_percent: in_percent,
                } = self.expression(SIGN_POWER)?;
                return Ok(Operand {
                    number: number.negative(),
                    is_percent: in_percent,
                });
            }
            Some('+') => {
                self.take_character();
                return self.expression(SIGN_POWER);
            }
            Some('(') => {
                self.take_character();
                let inner = self.expression(0)?;
                self.expect_closing_parenthesis()?;
                inner.number
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number()?,
            Some(c) if c.is_alphabetic() => self.name()?,
            Some(_) => return Err(self.unexpected()),
            None => {
                return Err(ToolError::new(
                    "The expression ends where a number should follow.",
                ));
            }
        };
        let mut operand = Operand::from(number);
        while self.peek() == Some('%') && !self.is_modulo() {
            self.take_character();
            let hundred = Number::from_digits("100", "", 0)?;
            operand = Operand {
                number: operand.number.divided_by(hundred)?,
                is_percent: true,
            };
        }
        Ok(operand)
    }

    /// Returns `true` if a number follows the next %. A sign after it belongs to the number that
    /// the percentage is added to.
    fn is_modulo(&mut self) -> bool {
        let behind = self.rest.strip_prefix('%').unwrap_or_default().trim_start();
        let is_of = leading_name(behind).eq_ignore_ascii_case("of");
        !is_of && behind.starts_with(|c: char| c.is_alphanumeric() || c == '(' || c == '.')
    }

    /// Returns the next operator and its length.
    fn operator(&mut self) -> Option<(Operator, usize)> {
        let next = self.peek()?;
        let operator = match next {
            '*' if self.rest.starts_with("**") => return Some((Operator::Power, 2)),
            '+' => Operator::Plus,
            '-' | '−' => Operator::Minus,
            '*' | '×' | '·' => Operator::Times,
            '/' | '÷' => Operator::Over,
            '%' => Operator::Modulo,
            '^' => Operator::Power,
            _ if leading_name(self.rest).eq_ignore_ascii_case("of") => return Some((Operator::Times, 2)),
            _ => return None,
        };
        Some((operator, next.len_utf8()))
    }

    fn number(&mut self) -> Result {
        let whole = self.digits();
        let decimals = match self.rest.strip_prefix('.') {
            Some(rest) => {
                self.rest = rest;
                self.digits()
            }
            None => "",
        };
        if whole.is_empty() && decimals.is_empty() {
            return Err(ToolError::new("There is a point without digits."));
        }
        let exponent = self.exponent()?;
        if self.has_thousands_separator() {
            return Err(separator_error());
        }
        Number::from_digits(whole, decimals, exponent)
    }

    fn digits(&mut self) -> &'a str {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        digits
    }

    /// Parses an exponent such as the e-5 of 3e-5, if there is one: 3e alone is no number, and e is
    /// a constant.
    fn exponent(&mut self) -> Result<i32> {
        let Some(behind) = self.rest.strip_prefix(['e', 'E']) else {
            return Ok(0);
        };
        let (sign, digits) = match behind.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, behind.strip_prefix('+').unwrap_or(behind)),
        };
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(0);
        }
        self.rest = digits;
        // Larger exponents are beyond the range of numbers.
        let exponent: i32 = self.digits().parse().unwrap_or(i32::MAX);
        Ok(sign * exponent)
    }

    /// Returns `true` if the number just read continues after a thousands separator, or after a
    /// second point. `1,200` counts as one even where a comma may separate two numbers: it is
    /// ambiguous.
    fn has_thousands_separator(&self) -> bool {
        let mut rest = self.rest.chars();
        match rest.next() {
            Some('\'' | '’' | '_' | '.') => rest.next().is_some_and(|c| c.is_ascii_digit()),
            Some(',' | ' ' | '\u{a0}' | '\u{202f}') => {
                let digits = rest.as_str().bytes().take_while(u8::is_ascii_digit).count();
                digits == 3
            }
            _ => false,
        }
    }

    /// Parses a constant, or a function with its arguments.
    fn name(&mut self) -> Result {
        let name = leading_name(self.rest);
        self.skip(name.len());
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            "pi" | "π" => return Number::approximate(std::f64::consts::PI),
            "e" => return Number::approximate(std::f64::consts::E),
            _ => {}
        }
        if self.peek() != Some('(') {
            return Err(ToolError(format!(
                "“{name}” is not known here: there are no units and no variables."
            )));
        }
        self.take_character();
        let mut arguments = vec![self.expression(0)?.number];
        while self.peek() == Some(',') {
            self.take_character();
            arguments.push(self.expression(0)?.number);
        }
        self.expect_closing_parenthesis()?;
        functions::call(&lower, arguments)
    }

    fn expect_closing_parenthesis(&mut self) -> Result<()> {
        match self.peek() {
            Some(')') => {
                self.take_character();
                Ok(())
            }
            None => Err(ToolError::new("A “)” is missing at the end.")),
            Some(',') => Err(separator_error()),
            Some(_) => Err(self.unexpected()),
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take_character(&mut self) {
        let length = self.rest.chars().next().map_or(0, char::len_utf8);
        self.skip(length);
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn unexpected(&self) -> ToolError {
        let rest = single_line(self.rest, MAX_QUOTED_CHARS);
        ToolError(format!(
            "“{rest}” is not expected where it stands: between two numbers there has to be one of + - * / ^ %."
        ))
    }
}

/// Returns the name at the beginning of a text.
fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

fn separator_error() -> ToolError {
    ToolError::new(
        "Write decimals with a point and thousands without a separator: 1234.5, not 1,234.5. Between two numbers of a function, put \
         a space after the comma.",
    )
}
