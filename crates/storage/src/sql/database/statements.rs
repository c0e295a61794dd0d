//! Texts of several statements, whose parameters (`$1`) all of them share.
//!
//! SQLite takes such a text in one round trip to its thread. Postgres prepares one statement at a time, whose parameters have
//! no gaps: the text is split, and the parameters of each statement are numbered anew.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use parking_lot::Mutex;

use super::dialect;

/// A statement for Postgres.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub sql: Arc<str>,
    /// The indexes of the text's values that its parameters have, in their order.
    pub values: Vec<usize>,
}

/// The statements of texts that are constants, by their address: there are some hundreds.
static KNOWN: LazyLock<Mutex<HashMap<TextAddress, Arc<[Statement]>>>> = LazyLock::new(Mutex::default);

/// The address and the length of a constant text.
type TextAddress = (usize, usize);

/// Returns the statements of a constant text.
pub(super) fn of_constant(text: &'static str) -> Arc<[Statement]> {
    let key = (text.as_ptr() as usize, text.len());
    let mut known = KNOWN.lock();
    known.entry(key).or_insert_with(|| split(text)).clone()
}

/// Splits a text into the statements that Postgres takes.
pub(super) fn split(text: &str) -> Arc<[Statement]> {
    let text = dialect::to_postgres(text);
    let mut statements = Vec::new();
    let mut sql = String::new();
    let mut values = Vec::new();
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, quote) {
            (_, Some(open)) if character == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"', None) => quote = Some(character),
            (';', None) => {
                push(&mut statements, &mut sql, &mut values);
                continue;
            }
            ('$', None) => {
                let mut number = 0_usize;
                while let Some(digit) = characters.peek().and_then(|next| next.to_digit(10)) {
                    number = number * 10 + digit as usize;
                    characters.next();
                }
                let value = number.saturating_sub(1);
                let known = values.iter().position(|known| *known == value);
                let place = known.unwrap_or_else(|| {
                    values.push(value);
                    values.len() - 1
                });
                sql.push_str(&format!("${}", place + 1));
                continue;
            }
            _ => {}
        }
        sql.push(character);
    }
    push(&mut statements, &mut sql, &mut values);
    statements.into()
}

fn push(statements: &mut Vec<Statement>, sql: &mut String, values: &mut Vec<usize>) {
    let text = std::mem::take(sql);
    let values = std::mem::take(values);
    if !text.trim().is_empty() {
        statements.push(Statement {
            sql: text.trim().into(),
            values,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_each_statement_have_no_gaps() {
        let text = "INSERT INTO a VALUES ($3, ';$1', $1); UPDATE a SET b = $2 WHERE c = $2; COMMIT; ";
        let found = split(text);
        let found: Vec<(&str, &[usize])> = found.iter().map(|one| (&*one.sql, &*one.values)).collect();
        assert_eq!(
            found,
            [
                ("INSERT INTO a VALUES ($1, ';$1', $2)", &[2, 0][..]),
                ("UPDATE a SET b = $1 WHERE c = $1", &[1][..]),
                ("COMMIT", &[][..]),
            ]
        );
    }
}
