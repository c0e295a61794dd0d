//! The words of a query, as far as they matter for refusing it early.
//!
//! This is no parser, and nothing relies on it alone: Postgres itself accepts only one statement, in a
//! transaction that can only read. It finds functions with effects that such a transaction does not undo.

use super::super::QueryError;

/// Functions that reach outside the database, disturb other sessions or run SQL from a text: whole names.
const REFUSED_FUNCTIONS: [&str; 18] = [
    "nextval",
    "pg_cancel_backend",
    "pg_current_logfile",
    "pg_export_snapshot",
    "pg_notify",
    "pg_promote",
    "pg_reload_conf",
    "pg_stat_file",
    "pg_terminate_backend",
    "query_to_xml",
    "query_to_xml_and_xmlschema",
    "query_to_xmlschema",
    "cursor_to_xml",
    "cursor_to_xmlschema",
    "set_config",
    "setval",
    "ts_stat",
    "xpath_table",
];

/// The beginnings of names of such functions.
const REFUSED_PREFIXES: [&str; 22] = [
    "binary_upgrade_",
    "database_to_xml",
    "dblink",
    "lo_",
    "pg_advisory_",
    "pg_backup_",
    "pg_create_",
    "pg_drop_",
    "pg_file_",
    "pg_log_",
    "pg_logical_",
    "pg_ls_",
    "pg_read_",
    "pg_replication_",
    "pg_rotate_",
    "pg_sleep",
    "pg_start_",
    "pg_stat_reset",
    "pg_stop_",
    "pg_switch_",
    "pg_try_advisory_",
    "postgres_fdw_",
];

/// A token of a query, with its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A name or a keyword, without its quotes.
    Word(&'a str),
    Symbol(char),
}

/// Returns the only statement of a text without the semicolon at its end.
///
/// # Errors
///
/// If there are several, none, or one with a function that has effects.
pub fn single_query(sql: &str) -> Result<&str, QueryError> {
    if sql.contains('\0') {
        return Err(QueryError::refused("A query has no NUL characters."));
    }
    let tokens = tokens(sql);
    let end = tokens.iter().find(|(_, token)| *token == Token::Symbol(';'));
    let statement = match end {
        Some((end, _)) => {
            if tokens
                .iter()
                .any(|(at, token)| at > end && *token != Token::Symbol(';'))
            {
                return Err(QueryError::refused("The query has more than one statement."));
            }
            &sql[..*end]
        }
        None => sql,
    };
    if !tokens.iter().any(|(_, token)| matches!(token, Token::Word(_))) {
        return Err(QueryError::refused("There is no statement in the query."));
    }
    if tokens.windows(3).any(|three| is_coded_name(sql, three)) {
        return Err(QueryError::refused("Write names without U&."));
    }
    for pair in tokens.windows(2) {
        if let [(_, Token::Word(name)), (_, Token::Symbol('('))] = pair
            && is_refused(name)
        {
            return Err(QueryError::refused(format!(
                "The function {name} is not allowed here."
            )));
        }
    }
    Ok(statement)
}

/// Returns true for `U&"…"`, a name with code points in place of letters.
fn is_coded_name(sql: &str, tokens: &[(usize, Token<'_>)]) -> bool {
    let [
        (start, Token::Word(prefix)),
        (ampersand, Token::Symbol('&')),
        (name, Token::Word(_)),
    ] = tokens
    else {
        return false;
    };
    prefix.eq_ignore_ascii_case("u")
        && start + 1 == *ampersand
        && ampersand + 1 == *name
        && sql[*name..].starts_with('"')
}

fn is_refused(function: &str) -> bool {
    let name = function.to_lowercase();
    REFUSED_FUNCTIONS.contains(&&*name) || REFUSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Splits a query into its tokens, without whitespace, comments and texts.
fn tokens(sql: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    // A text after one with escapes, on another line, continues it.
    let mut continues_escapes = false;
    while let Some(c) = sql[at..].chars().next() {
        let rest = &sql[at..];
        let is_blank = c.is_whitespace() || rest.starts_with("--") || rest.starts_with("/*");
        let had_escapes = continues_escapes;
        continues_escapes = had_escapes && is_blank;
        let length = if rest.starts_with("--") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment_length(rest)
        } else if c == '\'' {
            let has_prefix = matches!(tokens.last(), Some((start, Token::Word(word)))
                if start + word.len() == at && word.eq_ignore_ascii_case("e"));
            continues_escapes = had_escapes || has_prefix;
            text_length(rest, '\'', continues_escapes)
        } else if c == '"' {
            let length = text_length(rest, '"', false);
            let inner = rest.get(1..length.saturating_sub(1)).unwrap_or_default();
            tokens.push((at, Token::Word(inner)));
            length
        } else if c == '$' && dollar_quote_length(rest).is_some() {
            dollar_quote_length(rest).unwrap_or(1)
        } else if c.is_alphabetic() || c == '_' {
            let length = word_length(rest);
            tokens.push((at, Token::Word(&rest[..length])));
            length
        } else if c.is_ascii_digit() {
            word_length(rest).max(1)
        } else {
            if !c.is_whitespace() {
                tokens.push((at, Token::Symbol(c)));
            }
            c.len_utf8()
        };
        at += length.max(1);
        at = sql.ceil_char_boundary(at);
    }
    tokens
}

fn word_length(text: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.find(|c: char| !is_part(c)).unwrap_or(text.len())
}

/// Returns the length in bytes of a quoted text with its quotes. A doubled quote does not end it.
fn text_length(text: &str, quote: char, is_escaped: bool) -> usize {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if is_escaped && c == '\\' {
            characters.next();
        } else if c == quote {
            match characters.peek() {
                Some((_, next)) if *next == quote => {
                    characters.next();
                }
                _ => return at + c.len_utf8(),
            }
        }
    }
    text.len()
}

/// Returns the length in bytes of a comment. Comments can be nested.
fn comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth = depth.saturating_sub(1);
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the length in bytes of a text in dollar quotes: `$$…$$`, `$tag$…$tag$`.
fn dollar_quote_length(text: &str) -> Option<usize> {
    let tag_end = text[1..].find('$')? + 2;
    let tag = &text[..tag_end];
    let name = &tag[1..tag_end - 1];
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then(|| {
        text[tag_end..]
            .find(tag)
            .map_or(text.len(), |end| tag_end + end + tag_end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_one_statement_only() {
        for sql in [
            "SELECT 1",
            "SELECT ';' AS \"a;b\" -- ; c",
            "SELECT $x$ ; $y$ ; $x$ /* ; /* ; */ ; */",
            "SELECT E'\\';' , 'it''s;'",
            "SELECT 'pg_sleep(9)', pg_sleep_column FROM t",
            "SELECT u & \"mask\", e FROM t WHERE name = 'e'",
        ] {
            assert_eq!(single_query(sql), Ok(sql));
        }
        assert_eq!(single_query("SELECT 1 ; ; -- end"), Ok("SELECT 1 "));
        for sql in [
            "",
            " -- SELECT 1",
            ";",
            "SELECT 1; SELECT 2",
            "SELECT 1;/**/DROP TABLE t",
            "SELECT 'a\0'",
        ] {
            assert!(single_query(sql).is_err(), "{sql}");
        }
    }

    #[test]
    fn refuses_functions_with_effects() {
        for sql in [
            "SELECT pg_sleep(1)",
            "SELECT PG_SLEEP /* x */ (1)",
            "SELECT pg_catalog.\"pg_read_file\"('/etc/passwd')",
            "SELECT lo_import('x')",
            "SELECT é, dblink_exec('x', 'y')",
            "SELECT 1 --x\r, dblink('host=evil', 'x')",
            "SELECT name'\\', pg_terminate_backend(7), ''",
            "SELECT E'a'\n'\\'b', dblink('x', 'y'), 'c'",
            "SELECT E'a' -- more\n'\\'b', dblink('x', 'y'), 'c'",
            "SELECT U&\"dblin\\006B\"('x', 'y')",
            "SELECT u&\"dblin!006B\" UESCAPE '!' ('x', 'y')",
        ] {
            assert!(single_query(sql).is_err(), "{sql}");
        }
    }
}
