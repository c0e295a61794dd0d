//! The index of SQLite: a table of FTS5, whose columns are those of the documents.

use super::{
    super::{
        commit::search::{TAG_OF_ASSISTANT, TAG_OF_ME, conversation_tag, kind_tag, project_tag, user_tag},
        database::{Connection, Query, query, query_scalar},
    },
    NOT_DELETED, Scope,
};
use crate::{
    StorageError,
    search::{SearchRequest, Term},
};
use parlor_protocol::{
    UserId,
    search::{HitKind, SearchedAuthor},
};

/// Selects documents by a query of FTS5 (`$1`) of a user (`$2`), below an id (`$3`) and not below another (`$4`), the newest
/// first, or of a project's files the best.
macro_rules! select_documents {
    ($columns:literal, $scope:expr) => {
        format!(
            concat!(
            "SELECT d.id, d.source, d.passage, d.kind, d.conversation_id, d.message_id",
                $columns,
            " FROM search_index i CROSS JOIN search_documents d ON d.id = i.rowid \
             WHERE search_index MATCH $1 AND i.rowid < $3 AND i.rowid >= $4 AND d.user_id = $2{}{} ORDER BY {} LIMIT $5"
            ),
            NOT_DELETED,
            $scope.condition,
            match $scope.files_of {
                Some(_) => "i.rank",
                None => "i.rowid DESC",
            }
        )
    };
}

/// Returns the query for a request, its expression, and no further values.
pub(super) fn select(
    with_words: bool,
    scope: &Scope,
    request: &SearchRequest,
) -> (Query, String, Vec<String>) {
    let select = match with_words {
        true => select_documents!(", d.words, d.parts || d.file AS parts", scope),
        false => select_documents!("", scope),
    };
    (query(select), match_expression(scope, request), Vec::new())
}

/// The size of each sample by which [`owns_most`] estimates.
const SAMPLE: i64 = 16;

/// Counts a user's (`$1`) documents in two samples (of `$2` each): spread evenly over the time, and the newest. Returns the smaller
/// number.
const COUNT_OWN: &str = "WITH RECURSIVE probes (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM probes WHERE number < $2 - 1), \
     ids (first, last) AS (SELECT (SELECT min(id) FROM search_documents), (SELECT max(id) FROM search_documents)) \
     SELECT min((SELECT count(*) FROM ids JOIN probes ON (SELECT d.user_id FROM search_documents d \
             WHERE d.id >= ids.first + (ids.last - ids.first) / $2 * probes.number ORDER BY d.id LIMIT 1) = $1), \
         (SELECT count(*) FROM (SELECT user_id FROM search_documents ORDER BY id DESC LIMIT $2) n WHERE n.user_id = $1))";

/// Returns true if most documents seem to be a user's. Then the user's term excludes little, and costs the most: FTS5 joins each
/// word with the list of all the user's documents. Without it, others' documents are left out when they are read; so an estimate
/// is enough.
pub(super) async fn owns_most(connection: &mut Connection, user_id: UserId) -> Result<bool, StorageError> {
    let own: i64 = query_scalar(COUNT_OWN)
        .bind_value(user_id)
        .bind(SAMPLE)
        .fetch_one(connection)
        .await?;
    Ok(own > SAMPLE / 2)
}

/// Returns the expression of FTS5 for a request.
fn match_expression(scope: &Scope, request: &SearchRequest) -> String {
    let query = &request.query;
    let mut conditions = Vec::new();
    let mut add_tag = |tag: &str| conditions.push(format!("tags : \"{tag}\""));
    match query.from {
        Some(SearchedAuthor::Me) => add_tag(TAG_OF_ME),
        Some(SearchedAuthor::Assistant) => add_tag(TAG_OF_ASSISTANT),
        None => {}
    }
    if query.file.is_some() {
        add_tag(kind_tag(HitKind::File));
    }
    if let Some(conversation_id) = request.conversation_id {
        add_tag(&conversation_tag(conversation_id));
    }
    if let Some(project_id) = scope.files_of {
        add_tag(&project_tag(project_id));
    }
    let file = query.file.as_deref().unwrap_or_default();
    if !file.is_empty() {
        conditions.push(format!("file : ({})", terms_expression(file, false)));
    }
    if !query.terms.is_empty() {
        let terms = terms_expression(&query.terms, request.any_term);
        conditions.push(format!("{{words parts file}} : ({terms})"));
    }
    let excludes_others = scope.owns_most || scope.files_of.is_some() || request.conversation_id.is_some();
    if !excludes_others || conditions.is_empty() {
        // In any column: a filter by column reads the places of each of the user's documents. No text of others is found by
        // writing this word, since the query compares the user, too.
        conditions.push(format!("\"{}\"", user_tag(scope.user_id)));
    }
    let mut expression = conditions.join(" AND ");
    if let Some(except) = request.except {
        expression = format!("({expression}) NOT tags : \"{}\"", conversation_tag(except));
    }
    expression
}

fn terms_expression(terms: &[Term], any_term: bool) -> String {
    let terms = terms.iter().map(|Term(phrases)| {
        let phrases = phrases.iter().map(|phrase| {
            let words = phrase.words.join(" ").replace('"', "");
            let star = if phrase.is_beginning { " *" } else { "" };
            format!("\"{words}\"{star}")
        });
        format!("({})", phrases.collect::<Vec<_>>().join(" OR "))
    });
    terms
        .collect::<Vec<_>>()
        .join(if any_term { " OR " } else { " AND " })
}
