//! Errors of queries: for the model, which corrects its query, and for the person.

use std::{fmt, time::Duration};

use parlor_base::text::single_line;

/// The longest line of a query that an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 160;

/// An error of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    pub kind: QueryErrorKind,
    /// The message of the database or of Parlor.
    pub message: String,
    /// The line and the column of the mistake, from 1, and that line.
    pub position: Option<QueryErrorPosition>,
    pub hint: Option<String>,
}

/// The place of a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryErrorPosition {
    pub line: usize,
    pub column: usize,
    pub text: String,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryErrorKind {
    /// The query has a mistake.
    Invalid,
    /// The query may not be run: it would change or reach something.
    Refused,
    /// The query took too long.
    Timeout(Duration),
    /// The query needs more than a limit allows.
    TooLarge,
    /// Too many queries run already.
    Busy,
    /// The database can't be reached or read. The cause is in the log.
    Unavailable,
}

impl QueryError {
    pub fn new(kind: QueryErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            position: None,
            hint: None,
        }
    }

    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(QueryErrorKind::Refused, message).with_hint(
            "The databases can only be read, by one SELECT statement (WITH and VALUES too) at a time.",
        )
    }

    pub fn timeout(limit: Duration) -> Self {
        Self::new(
            QueryErrorKind::Timeout(limit),
            format!(
                "The query was stopped after {} s (setting data.query_timeout).",
                limit.as_secs_f64()
            ),
        )
        .with_hint("Filter earlier, join on keys, or aggregate, so that fewer rows are read.")
    }

    pub fn busy() -> Self {
        Self::new(
            QueryErrorKind::Busy,
            "Too many queries of this database run already. Try again in a moment.",
        )
    }

    pub fn not_stored() -> Self {
        Self::new(
            QueryErrorKind::Unavailable,
            "The rows can't be stored just now. The server's log has the cause.",
        )
    }

    pub fn unavailable() -> Self {
        Self::new(
            QueryErrorKind::Unavailable,
            "The database can't be read just now. The server's log has the cause.",
        )
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the place of the mistake: an offset in the query, in bytes.
    pub fn with_position(mut self, sql: &str, offset: usize) -> Self {
        let offset = sql.floor_char_boundary(offset.min(sql.len()));
        let before = &sql[..offset];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let text = sql[start..].lines().next().unwrap_or_default();
        self.position = Some(QueryErrorPosition {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            text: text.to_owned(),
        });
        self
    }
}

impl std::error::Error for QueryError {}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.position, self.kind) {
            (Some(QueryErrorPosition { line, column, text }), _) => {
                write!(f, "SQL error at line {line}, column {column}: {}", self.message)?;
                if text.chars().count() <= MAX_QUOTED_CHARS {
                    let indent = " ".repeat(column.saturating_sub(1));
                    write!(f, "\n{}\n{indent}^", text.replace('\t', " "))?;
                }
            }
            (None, QueryErrorKind::Invalid) => write!(f, "SQL error: {}", self.message)?,
            (None, _) => write!(f, "{}", self.message)?,
        }
        match &self.hint {
            Some(hint) => write!(f, "\nHint: {}", single_line(hint, 1000)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_at_the_mistake() {
        let sql = "SELECT é,\n\tnope FROM t";
        let error = QueryError::new(QueryErrorKind::Invalid, "no such column: nope").with_position(sql, 12);
        assert_eq!(
            error.with_hint("Look it up.").to_string(),
            "SQL error at line 2, column 2: no such column: nope\n nope FROM t\n ^\nHint: Look it up."
        );
        let at_end = QueryError::new(QueryErrorKind::Invalid, "incomplete").with_position(sql, 999);
        assert_eq!(at_end.position.map(|at| (at.line, at.column)), Some((2, 13)));
    }
}
