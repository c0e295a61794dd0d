//! The index of Postgres: a `tsvector` of the words in a document, without their places.
//!
//! A phrase is found by its words, and then looked up in the texts, which have the words with a space before and after each.
//! Postgres would keep 255 places of a word, and none after the 16,383rd.

use super::{
    super::{
        commit::search::{TAG_OF_ASSISTANT, TAG_OF_ME, conversation_tag, kind_tag, project_tag, user_tag},
        database::{Query, query},
    },
    NOT_DELETED, Scope,
};
use crate::search::{Phrase, SearchRequest, Term};
use parlor_protocol::search::{HitKind, SearchedAuthor};

/// The number of the first parameter of a phrase.
const FIRST_PHRASE: usize = 6;

/// The columns that all words are looked up in, and those of a file's name.
const ALL_TEXTS: &str = "d.words || d.parts || d.file";
const FILE_TEXT: &str = "d.file";

/// Returns the query for a request, its expression, and the phrases that are its further values.
pub(super) fn select(
    with_words: bool,
    scope: &Scope,
    request: &SearchRequest,
) -> (Query, String, Vec<String>) {
    let searched = &request.query;
    let mut conditions = vec![tag(&user_tag(scope.user_id))];
    conditions.extend(match searched.from {
        Some(SearchedAuthor::Me) => Some(tag(TAG_OF_ME)),
        Some(SearchedAuthor::Assistant) => Some(tag(TAG_OF_ASSISTANT)),
        None => None,
    });
    if searched.file.is_some() {
        conditions.push(tag(kind_tag(HitKind::File)));
    }
    conditions.extend(request.conversation_id.map(|id| tag(&conversation_tag(id))));
    conditions.extend(scope.files_of.map(|id| tag(&project_tag(id))));
    conditions.extend(
        request
            .except
            .map(|id| format!("!{}", tag(&conversation_tag(id)))),
    );

    let mut phrases = Vec::new();
    let mut checks = String::new();
    let file = searched.file.as_deref().unwrap_or_default();
    for (terms, any_term, place) in [
        (file, false, Place::File),
        (&*searched.terms, request.any_term, Place::Anywhere),
    ] {
        if terms.is_empty() {
            continue;
        }
        conditions.push(terms_expression(terms, any_term, place));
        if terms
            .iter()
            .flat_map(|term| &term.0)
            .any(|phrase| phrase.words.len() > 1)
        {
            checks.push_str(" AND ");
            checks.push_str(&phrases_check(terms, any_term, place, &mut phrases));
        }
    }
    let words = if with_words {
        ", d.words, d.parts || d.file AS parts"
    } else {
        ""
    };
    let sql = format!(
        "SELECT d.id, d.source, d.passage, d.kind, d.conversation_id, d.message_id{words} FROM search_documents d \
         WHERE d.lexemes @@ CAST($1 AS tsquery) AND d.user_id = $2 AND d.id < $3 AND d.id >= $4{NOT_DELETED}{}{checks} ORDER BY {} LIMIT $5",
        scope.condition,
        match scope.files_of {
            Some(_) => "ts_rank(d.lexemes, CAST($1 AS tsquery)) DESC, d.id DESC",
            None => "d.id DESC",
        }
    );
    // The plan depends on how frequent the words are.
    (query(sql).persistent(false), conditions.join(" & "), phrases)
}

/// The columns in which words are looked up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Anywhere,
    File,
}

fn tag(tag: &str) -> String {
    format!("'@{tag}'")
}

/// Returns the expression that a document with all words of the phrases fulfils.
fn terms_expression(terms: &[Term], any_term: bool, place: Place) -> String {
    combine(terms, any_term, [" | ", " & "], |phrase| {
        phrase_expression(phrase, place)
    })
}

fn phrase_expression(phrase: &Phrase, place: Place) -> String {
    let prefix = if place == Place::File { "/" } else { "" };
    let last = phrase.words.len().saturating_sub(1);
    let words = phrase.words.iter().enumerate().map(|(index, word)| {
        let word = word.replace('\\', "\\\\").replace('\'', "''");
        let star = if phrase.is_beginning && index == last {
            ":*"
        } else {
            ""
        };
        format!("'{prefix}{word}'{star}")
    });
    format!("({})", words.collect::<Vec<_>>().join(" & "))
}

/// Returns the condition that the phrases stand in the texts.
fn phrases_check(terms: &[Term], any_term: bool, place: Place, phrases: &mut Vec<String>) -> String {
    let texts = if place == Place::File {
        FILE_TEXT
    } else {
        ALL_TEXTS
    };
    combine(terms, any_term, [" OR ", " AND "], |phrase| {
        let parameter = FIRST_PHRASE + phrases.len();
        if phrase.words.len() > 1 {
            let end = if phrase.is_beginning { "" } else { " " };
            phrases.push(format!(" {}{end}", phrase.words.join(" ")));
            format!("strpos({texts}, ${parameter}) > 0")
        } else {
            phrases.push(phrase_expression(phrase, place));
            format!("d.lexemes @@ CAST(${parameter} AS tsquery)")
        }
    })
}

/// Combines the expressions of phrases: any of a term, and all or any of the terms.
fn combine(
    terms: &[Term],
    any_term: bool,
    [or, and]: [&str; 2],
    mut phrase: impl FnMut(&Phrase) -> String,
) -> String {
    let terms: Vec<String> = terms
        .iter()
        .map(|Term(phrases)| {
            let phrases: Vec<String> = phrases.iter().map(&mut phrase).collect();
            format!("({})", phrases.join(or))
        })
        .collect();
    format!("({})", terms.join(if any_term { or } else { and }))
}
