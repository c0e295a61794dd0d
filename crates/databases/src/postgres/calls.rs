//! The calls of a query, held against the list of harmless functions ([`functions`]).
//!
//! A transaction that can only read does not undo everything that a function does, and SQL has many ways to write a call. So each word
//! that can be one must be on the list: before a parenthesis, and after a dot, since `(x).f` and `t.f` call `f(x)` and `f(t)` where
//! there is no such column. About words after a dot, the database says which are functions ([`Calls::check`]).

use std::{borrow::Cow, collections::BTreeSet};

use sqlx::PgConnection;

use super::{
    super::QueryError,
    functions,
    scan::{Token, TokenKind, scan},
    session::own_error,
    syntax::{REFUSED_TYPES, REFUSED_WORDS, SYNTAX, SYNTAX_AFTER, SYNTAX_OR_FUNCTIONS, has_word},
};
use parlor_base::text::single_line;

/// The longest name that an error shows, in characters.
const MAX_NAME_CHARS: usize = 80;

/// The functions that a query uses, or may use, by their names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Functions of the list, called by their names.
    plain: BTreeSet<String>,
    /// Functions of the list, called with a schema.
    qualified: BTreeSet<String>,
    /// Words after a dot that are on the list.
    listed_attributes: BTreeSet<String>,
    /// Words after a dot that are not. Mostly columns.
    attributes: BTreeSet<String>,
}

/// Finds functions that are not what the list means: for words after a dot, functions that can be called with one argument; for names
/// of the list, functions of others that may have effects. Those of extensions are as harmless as their names. The second column is
/// true for a word after a dot.
const FOUND: &str = "WITH found AS (
        SELECT p.proname, p.oid, pg_catalog.pg_function_is_visible(p.oid) AS is_visible,
            p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1 + (p.provariadic <> 0)::int
                AND NOT 'pg_catalog.internal'::pg_catalog.regtype = ANY (p.proargtypes) AS takes_one,
            p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace AND p.provolatile = 'v'
                AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
                    AND d.objid = p.oid AND d.deptype = 'e') AS has_effects
        FROM pg_catalog.pg_proc p
        WHERE p.proname = ANY ($1::text[]::name[] || $2::text[]::name[] || $3::text[]::name[] || $4::text[]::name[]))
    SELECT proname::text, false FROM found
    WHERE has_effects AND (is_visible AND proname = ANY ($1::text[]::name[]) OR proname = ANY ($2::text[]::name[]))
    UNION ALL
    SELECT proname::text, true FROM found
    WHERE takes_one AND is_visible AND (has_effects AND proname = ANY ($3::text[]::name[]) OR proname = ANY ($4::text[]::name[]))
    LIMIT 1";

impl Calls {
    /// Refuses a query whose words are functions of the database that are not on the list.
    pub async fn check(&self, connection: &mut PgConnection) -> Result<(), QueryError> {
        if *self == Self::default() {
            return Ok(());
        }
        let names = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>();
        let found: Option<(String, bool)> = sqlx::query_as(FOUND)
            .bind(names(&self.plain))
            .bind(names(&self.qualified))
            .bind(names(&self.listed_attributes))
            .bind(names(&self.attributes))
            .fetch_optional(connection)
            .await
            .map_err(|error| own_error(&error))?;
        match found {
            Some((name, true)) => Err(refused_attribute(&name)),
            Some((name, false)) => Err(refused_function(&name)),
            None => Ok(()),
        }
    }
}

/// Returns the only statement of a text without the semicolon at its end, and its calls. `allowed` are functions besides the list.
///
/// # Errors
///
/// If there are several statements, none, or one with a function that is not allowed.
pub fn single_query<'a>(sql: &'a str, allowed: &BTreeSet<String>) -> Result<(&'a str, Calls), QueryError> {
    if sql.contains('\0') {
        return Err(QueryError::refused("A query has no NUL characters."));
    }
    let mut tokens = scan(sql)?;
    let mut statement = sql;
    if let Some(end) = tokens.iter().position(|token| token.is_symbol(b';')) {
        if tokens[end..].iter().any(|token| !token.is_symbol(b';')) {
            return Err(QueryError::refused("The query has more than one statement."));
        }
        statement = sql.get(..tokens[end].start).unwrap_or_default();
        tokens.truncate(end);
    }
    if tokens.is_empty() {
        return Err(QueryError::refused("There is no statement in the query."));
    }
    let calls = Checker::new(&tokens, allowed).check()?;
    Ok((statement, calls))
}

fn refused_function(name: &str) -> QueryError {
    let name = single_line(name, MAX_NAME_CHARS);
    QueryError::refused(format!("The function {name} is not allowed here.")).with_hint(
        "A query may call functions that only compute. Write AS before the name of a table with columns: AS t(a, b). Whoever runs \
         Parlor can allow more functions (setting databases.functions).",
    )
}

fn refused_attribute(name: &str) -> QueryError {
    refused_function(name).with_hint(
        "After a dot, the name of a function can call it. If it is a column, write the column without the table's name, or select it \
         in a subquery. Whoever runs Parlor can allow the function (setting databases.functions).",
    )
}

/// The meaning of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A type, after `::`.
    Type,
    /// A table, after FROM or JOIN.
    Table,
    Other,
}

/// Looks at the tokens of a statement.
struct Checker<'a> {
    tokens: &'a [Token<'a>],
    allowed: &'a BTreeSet<String>,
    /// The other parenthesis of a pair.
    pairs: Vec<Option<usize>>,
    calls: Calls,
}

impl<'a> Checker<'a> {
    fn new(tokens: &'a [Token<'a>], allowed: &'a BTreeSet<String>) -> Self {
        let mut pairs = vec![None; tokens.len()];
        let mut open = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            if token.is_symbol(b'(') {
                open.push(index);
            } else if token.is_symbol(b')')
                && let Some(opening) = open.pop()
            {
                pairs[opening] = Some(index);
                pairs[index] = Some(opening);
            }
        }
        Self {
            tokens,
            allowed,
            pairs,
            calls: Calls::default(),
        }
    }

    fn check(mut self) -> Result<Calls, QueryError> {
        let mut places = Vec::with_capacity(self.tokens.len());
        // For each open parenthesis, whether a SELECT is in it.
        let mut selects = vec![false];
        for (index, token) in self.tokens.iter().enumerate() {
            let mut place = Place::Other;
            match &token.kind {
                TokenKind::Symbol(b'(') => selects.push(false),
                TokenKind::Symbol(b')') if selects.len() > 1 => {
                    selects.pop();
                }
                TokenKind::Word(_) | TokenKind::Quoted(_) => {
                    let is_in_select = selects.last().copied().unwrap_or_default();
                    place = self.place(index, &places, is_in_select);
                    if self.is_keyword(index, "select")
                        && let Some(last) = selects.last_mut()
                    {
                        *last = true;
                    }
                    self.check_name(index, place)?;
                }
                _ => {}
            }
            places.push(place);
        }
        Ok(self.calls)
    }

    /// Returns the token at a distance before another.
    fn before(&self, index: usize, distance: usize) -> Option<&'a Token<'a>> {
        self.tokens.get(index.checked_sub(distance)?)
    }

    fn is_after_dot(&self, index: usize) -> bool {
        self.before(index, 1).is_some_and(|token| token.is_symbol(b'.'))
    }

    /// Returns true for a keyword: after a dot, each word is a name.
    fn is_keyword(&self, index: usize, keyword: &str) -> bool {
        let token = self.tokens.get(index);
        token.is_some_and(|token| token.is_keyword(keyword)) && !self.is_after_dot(index)
    }

    fn is_keyword_before(&self, index: usize, distance: usize, keyword: &str) -> bool {
        let index = index.checked_sub(distance);
        index.is_some_and(|index| self.is_keyword(index, keyword))
    }

    fn place(&self, index: usize, places: &[Place], is_in_select: bool) -> Place {
        if self.is_after_dot(index) {
            // A part of a longer name.
            return index
                .checked_sub(2)
                .and_then(|first| places.get(first).copied())
                .unwrap_or(Place::Other);
        }
        if let [.., first, second] = &self.tokens[..index]
            && first.is_symbol(b':')
            && second.is_symbol(b':')
            && first.start + 1 == second.start
        {
            return Place::Type;
        }
        // FROM also stands in calls, such as EXTRACT(… FROM …), and in IS DISTINCT FROM.
        let is_from = is_in_select
            && self.is_keyword_before(index, 1, "from")
            && !self
                .before(index, 2)
                .is_some_and(|token| token.is_keyword("distinct"));
        match is_from || self.is_keyword_before(index, 1, "join") {
            true => Place::Table,
            false => Place::Other,
        }
    }

    fn check_name(&mut self, index: usize, place: Place) -> Result<(), QueryError> {
        let token = &self.tokens[index];
        let Some(name) = token.name() else {
            return Ok(());
        };
        if REFUSED_TYPES.contains(&&*name) {
            return Err(QueryError::refused(format!(
                "The type {name} is not allowed here."
            )));
        }
        let is_before_parenthesis = self
            .tokens
            .get(index + 1)
            .is_some_and(|next| next.is_symbol(b'('));
        let is_after_dot = self.is_after_dot(index);
        if !is_before_parenthesis {
            if is_after_dot && place == Place::Other {
                self.add_attribute(name);
            }
            return Ok(());
        }
        if place == Place::Type || !is_after_dot && (self.is_alias(index) || self.is_common_table(index)) {
            return Ok(());
        }
        if matches!(token.kind, TokenKind::Word(_)) && !is_after_dot {
            let refused = REFUSED_WORDS.iter().find(|(word, _)| *word == name);
            if let Some((_, text)) = refused {
                return Err(QueryError::refused(*text));
            }
            if has_word(SYNTAX, &name) || self.is_syntax_after(index, &name) {
                return Ok(());
            }
            if has_word(SYNTAX_OR_FUNCTIONS, &name) {
                self.calls.plain.insert(name.into_owned());
                return Ok(());
            }
        }
        if self.allowed.contains(&*name) {
            return Ok(());
        }
        if !functions::is_harmless(&name) {
            return Err(refused_function(&name));
        }
        let calls = match is_after_dot {
            true => &mut self.calls.qualified,
            false => &mut self.calls.plain,
        };
        calls.insert(name.into_owned());
        Ok(())
    }

    fn add_attribute(&mut self, name: Cow<'_, str>) {
        if self.allowed.contains(&*name) {
            return;
        }
        if functions::is_harmless(&name) {
            self.calls.listed_attributes.insert(name.into_owned());
            return;
        }
        // In an encoding with one byte a letter, a server folds other letters too.
        let folded = name.to_lowercase();
        self.calls.attributes.insert(folded);
        self.calls.attributes.insert(name.into_owned());
    }

    /// Returns true for the name of a table with its columns: `AS t(a)`, `) t(a)`, `WITH ORDINALITY t(a)`. Types after AS look like it,
    /// and OVER and FILTER after a call.
    fn is_alias(&self, index: usize) -> bool {
        if self.is_keyword_before(index, 1, "as") {
            return true;
        }
        if self.is_keyword_before(index, 1, "ordinality") {
            return self.is_keyword_before(index, 2, "with");
        }
        let closing = index
            .checked_sub(1)
            .filter(|before| self.tokens[*before].is_symbol(b')'));
        let opening = closing.and_then(|closing| self.pairs[closing]);
        // A call can follow DISTINCT ON (…) only.
        opening.is_some_and(|opening| !self.is_keyword_before(opening, 1, "on"))
    }

    /// Returns true for a name of WITH: `name (a, b) AS (SELECT …)`. After a function, AS ( begins the types of its columns.
    fn is_common_table(&self, index: usize) -> bool {
        let Some(closing) = self.pairs[index + 1] else {
            return false;
        };
        if !self.is_keyword(closing + 1, "as") {
            return false;
        }
        let mut next = closing + 2;
        next += usize::from(self.is_keyword(next, "not"));
        next += usize::from(self.is_keyword(next, "materialized"));
        let is_opening = |at: usize| self.tokens.get(at).is_some_and(|token| token.is_symbol(b'('));
        let is_query = ["select", "with", "table"]
            .iter()
            .any(|word| self.is_keyword(next + 1, word));
        is_opening(next)
            && (is_query
                || is_opening(next + 1)
                || self.is_keyword(next + 1, "values") && is_opening(next + 2))
    }

    fn is_syntax_after(&self, index: usize, name: &str) -> bool {
        SYNTAX_AFTER.iter().any(|(word, before)| {
            let mut before = (1..).zip(before.iter());
            *word == name
                && before.all(|(distance, keyword)| self.is_keyword_before(index, distance, keyword))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str) -> Result<Calls, String> {
        let allowed = BTreeSet::from(["mine".to_owned()]);
        let checked = single_query(sql, &allowed).map_err(|error| error.message);
        checked.map(|(_, calls)| calls)
    }

    #[test]
    fn accepts_one_statement_only() {
        let none = BTreeSet::new();
        let statement = |sql| single_query(sql, &none).map(|(statement, _)| statement);
        for sql in [
            "SELECT 1",
            "SELECT ';' AS \"a;b\" -- ; c",
            "SELECT $x$ ; $y$ ; $x$ /* ; /* ; */ ; */",
            "SELECT E'\\';' , 'it''s;'",
            "SELECT 'pg_sleep(9)', pg_sleep_column FROM t",
            "SELECT u & \"mask\", e FROM t WHERE name = 'e'",
        ] {
            assert_eq!(statement(sql), Ok(sql));
        }
        assert_eq!(statement("SELECT 1 ; ; -- end"), Ok("SELECT 1 "));
        for sql in [
            "",
            " -- SELECT 1",
            ";",
            "SELECT 1; SELECT 2",
            "SELECT 1;/**/DROP TABLE t",
            "SELECT 'a\0'",
        ] {
            assert!(statement(sql).is_err(), "{sql}");
        }
    }

    #[test]
    fn names_are_sorted_by_their_use() {
        let calls = check(
            "SELECT count(*), public.lower(t.a), t.mine, t.max, mine(1), x::pay.mood FROM pay.best t JOIN pay.other USING (id)",
        );
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(
            calls,
            Ok(Calls {
                plain: names(&["count"]),
                qualified: names(&["lower"]),
                listed_attributes: names(&["max"]),
                attributes: names(&["a"]),
            })
        );
    }

    #[test]
    fn tables_with_columns_are_no_calls() {
        for sql in [
            "WITH f(a) AS (SELECT 1), g (b) AS NOT MATERIALIZED ((SELECT 2)) SELECT * FROM f, g",
            "WITH f(a) AS (VALUES (1)) TABLE f",
            "SELECT * FROM (VALUES (1)) f(a), unnest(x) WITH ORDINALITY g(b, n)",
            "SELECT * FROM t AS f(a) JOIN u AS \"G\"(b) ON (a = b)",
            "SELECT CAST(x AS geometry(point)), x::public.geometry(point) FROM t",
            "SELECT sum(x) FILTER (WHERE x > 1) OVER (PARTITION BY y) FROM t",
        ] {
            assert!(check(sql).is_ok(), "{sql}");
        }
        for (sql, function) in [
            ("SELECT * FROM t, f(a) AS (values int)", "f"),
            ("SELECT * FROM t, f(a) AS (x int)", "f"),
            ("SELECT DISTINCT ON (a) f(b) FROM t", "f"),
            ("SELECT * FROM t f(a)", "f"),
            ("SELECT filter(1)", "filter"),
            ("SELECT \"SELECT\"(1)", "SELECT"),
            ("SELECT \"Count\"(1)", "Count"),
            ("SELECT \u{212a}(1)", "\u{212a}"),
            ("SELECT Mine(1), MINE2(1)", "mine2"),
        ] {
            assert_eq!(
                check(sql),
                Err(format!("The function {function} is not allowed here.")),
                "{sql}"
            );
        }
    }
}
