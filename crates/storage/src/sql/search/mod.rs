//! Full-text search: what is asked, what is found and its order. The index is asked by FTS5 on SQLite ([`fts5`]) and by a
//! `tsvector` on Postgres ([`tsvector`]), with the same hits.

use std::collections::HashSet;

use crate::sql::database::{Connection, Row, query, query_scalar};

use super::{commit::search::article_text, id, json, optional_id, optional_text, text};
use crate::{
    StorageError, StoredFile,
    damage::skip_damaged,
    projects::FoundPassage,
    search::{
        Candidate, MAX_RANKED, MAX_RANKED_PASSAGES, SearchRequest, Words, markdown_snippet, passages, rank,
        snippet,
    },
};
use parlor_protocol::{
    ConversationId, MessageBody, MessageId, Project, ProjectId, Timestamp, UserId,
    search::{HitKind, SearchHit, SearchHits, SearchOrder},
};

mod fts5;
mod tsvector;

/// Leaves out what is in conversations that are deleted and can be restored.
const NOT_DELETED: &str = " AND coalesce(d.conversation_id, '') NOT IN \
     (SELECT c.id FROM conversations c WHERE c.trashed_at IS NOT NULL AND c.user_id = $2)";

/// A document that was found.
#[derive(Clone, Debug)]
struct Document {
    id: i64,
    source: String,
    passage: usize,
    kind: HitKind,
    conversation_id: Option<ConversationId>,
    message_id: Option<MessageId>,
}

/// Searches. Expects a connection with an open transaction, so that the result is consistent.
pub(super) async fn search(
    connection: &mut Connection,
    user_id: UserId,
    request: &SearchRequest,
) -> Result<SearchHits, StorageError> {
    let indexed_percent = indexed_percent(&mut *connection).await?;
    let query = &request.query;
    let mut found = SearchHits {
        indexed_percent,
        ..SearchHits::default()
    };
    if query.is_empty() || request.limit == 0 {
        return Ok(found);
    }
    let projects = match &query.project {
        Some(name) => Some(projects_named(&mut *connection, user_id, name).await?),
        None => None,
    };
    let scope = Scope {
        user_id,
        owns_most: owns_most(&mut *connection, user_id).await?,
        files_of: None,
        condition: [
            projects.as_deref().map(in_projects).unwrap_or_default(),
            match request.in_conversations {
                true => " AND (d.kind <> 'file' OR d.conversation_id IS NOT NULL)".into(),
                false => String::new(),
            },
        ]
        .concat(),
    };
    if projects.is_some_and(|projects| projects.is_empty()) {
        return Ok(found);
    }
    let documents = match request.order {
        SearchOrder::Best => one_of_each_source(best(&mut *connection, &scope, request).await?),
        SearchOrder::Newest => newest(&mut *connection, &scope, request).await?,
    };
    let skipped = match request.order {
        SearchOrder::Best => cursor(request)
            .and_then(|skipped| skipped.try_into().ok())
            .unwrap_or(0),
        SearchOrder::Newest => 0,
    };
    let (mut taken, mut last) = (0, None);
    let mut rest = documents.into_iter().skip(skipped).peekable();
    while let Some(document) = rest.next_if(|_| found.hits.len() < request.limit) {
        taken += 1;
        last = Some(document.id);
        let hit = read_hit(&mut *connection, user_id, &document, request).await?;
        found.hits.extend(hit);
    }
    if rest.peek().is_some() {
        found.next = match request.order {
            SearchOrder::Best => Some((skipped + taken).to_string()),
            SearchOrder::Newest => last.map(|last| last.to_string()),
        };
    }
    Ok(found)
}

/// The documents of a search, whatever is looked for.
struct Scope {
    user_id: UserId,
    /// True if most documents seem to be the user's.
    owns_most: bool,
    /// Only files of this project, those first that the index ranks best: of a large project, the newest may all be of one file.
    files_of: Option<ProjectId>,
    /// A condition of SQL, which begins with `AND`, such as for those of some projects; empty for all.
    condition: String,
}

/// Returns true if the index is better asked without the user's term. Never on Postgres, which plans by counts of its own.
async fn owns_most(connection: &mut Connection, user_id: UserId) -> Result<bool, StorageError> {
    match connection.is_postgres() {
        true => Ok(false),
        false => fts5::owns_most(connection, user_id).await,
    }
}

/// Returns the projects of a user with this name, or whose name begins with it if there is none.
async fn projects_named(
    connection: &mut Connection,
    user_id: UserId,
    name: &str,
) -> Result<Vec<ProjectId>, StorageError> {
    let words = folded(name);
    let projects = super::projects::projects(connection, user_id).await?;
    let names: Vec<_> = projects
        .iter()
        .map(|listed| (listed.id, folded(&listed.project.name)))
        .collect();
    let named = |is_it: &dyn Fn(&str) -> bool| {
        let named = names.iter().filter(|(_, name)| is_it(name));
        named.map(|(id, _)| *id).collect::<Vec<_>>()
    };
    let exact = named(&|name| name == words);
    Ok(match exact.is_empty() {
        // Punctuation alone begins no name.
        true if words.is_empty() => exact,
        true => named(&|name| name.starts_with(&words)),
        false => exact,
    })
}

/// Returns the words of a name as the search compares them.
fn folded(name: &str) -> String {
    let words = Words::of(name).words.into_iter().map(|word| word.text);
    words.collect::<Vec<_>>().join(" ")
}

fn in_projects(projects: &[ProjectId]) -> String {
    let ids: Vec<_> = projects.iter().map(|id| format!("'{id}'")).collect();
    let ids = ids.join(", ");
    format!(
        " AND (d.conversation_id IN (SELECT c.id FROM conversations c WHERE c.user_id = $2 AND c.project_id IN ({ids})) \
         OR d.source IN (SELECT f.id FROM files f WHERE f.user_id = $2 AND f.project_id IN ({ids})))"
    )
}

fn cursor(request: &SearchRequest) -> Option<i64> {
    request.cursor.as_deref()?.parse().ok()
}

/// Returns the documents in the order of their rank.
async fn best(
    connection: &mut Connection,
    scope: &Scope,
    request: &SearchRequest,
) -> Result<Vec<Document>, StorageError> {
    let limit = match scope.files_of {
        Some(_) => MAX_RANKED_PASSAGES,
        None => MAX_RANKED,
    };
    let rows = select(connection, true, scope, request, (None, limit)).await?;
    let mut candidates = Vec::with_capacity(rows.len());
    for row in &rows {
        let hit = skip_damaged("search_documents", "one that was found", read_document(row))?;
        candidates.extend(hit.map(|hit| {
            Ok::<_, StorageError>(Candidate {
                hit,
                words: text(row, "words")?,
                parts: text(row, "parts")?,
            })
        }));
    }
    let candidates = candidates.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(rank(candidates, &request.query))
}

/// Searches the texts of a project's files, the best passages first.
pub(super) async fn search_project_files(
    connection: &mut Connection,
    user_id: UserId,
    project_id: ProjectId,
    request: &SearchRequest,
) -> Result<Vec<FoundPassage>, StorageError> {
    if request.query.terms.is_empty() {
        return Ok(Vec::new());
    }
    let scope = Scope {
        user_id,
        owns_most: false,
        files_of: Some(project_id),
        condition: String::new(),
    };
    let documents = best(connection, &scope, request).await?;
    let passages = documents.into_iter().filter_map(|document| {
        Some(FoundPassage {
            file_id: document.source.parse().ok()?,
            passage: document.passage,
        })
    });
    Ok(passages.take(request.limit).collect())
}

/// Returns the newest documents, one of each source, and at least one more than the hits if there is one.
async fn newest(
    connection: &mut Connection,
    scope: &Scope,
    request: &SearchRequest,
) -> Result<Vec<Document>, StorageError> {
    // Further passages of the same text are no hits, nor are those of the text with which the last page ended. Of a file whose passages
    // were indexed between those of others, a later page may have another one.
    let mut limit = request.limit.saturating_mul(4).saturating_add(1);
    let (mut documents, mut known) = (Vec::new(), HashSet::new());
    let mut end = cursor(request);
    if let Some(last) = end {
        let source = query("SELECT source FROM search_documents WHERE id = $1 AND user_id = $2");
        let source = source.bind(last).bind_value(scope.user_id);
        if let Some(row) = source.fetch_optional(&mut *connection).await? {
            known.insert(text(&row, "source")?);
        }
    }
    loop {
        let rows = select(&mut *connection, false, scope, request, (end, limit)).await?;
        for row in &rows {
            let document = skip_damaged("search_documents", "one that was found", read_document(row))?;
            documents.extend(document.filter(|document| known.insert(document.source.clone())));
        }
        match rows.last() {
            Some(last) if rows.len() >= limit && documents.len() <= request.limit => {
                end = Some(last.try_get("id")?);
                // A long file has hundreds.
                limit = limit.saturating_mul(2).min(MAX_RANKED.max(limit));
            }
            _ => return Ok(documents),
        }
    }
}

/// Selects documents, at most as many as a limit, from an end on: the newest first, or of a project's files the best. With their words
/// for [`rank`], if asked.
async fn select(
    connection: &mut Connection,
    with_words: bool,
    scope: &Scope,
    request: &SearchRequest,
    (end, limit): (Option<i64>, usize),
) -> Result<Vec<Row>, StorageError> {
    let below = |time: Option<Timestamp>| time.map(|time| (time.0 / 1000).saturating_mul(1 << 20));
    let before = below(request.query.before).unwrap_or(i64::MAX);
    let end = end.map_or(before, |end| end.min(before));
    let (select, expression, phrases) = match connection.is_postgres() {
        true => tsvector::select(with_words, scope, request),
        false => fts5::select(with_words, scope, request),
    };
    let mut select = select
        .bind(expression)
        .bind_value(scope.user_id)
        .bind(end)
        .bind(below(request.query.after).unwrap_or(0))
        .bind_value(limit);
    for phrase in phrases {
        select = select.bind(phrase);
    }
    Ok(select.fetch_all(connection).await?)
}

fn one_of_each_source(documents: Vec<Document>) -> Vec<Document> {
    let mut known = HashSet::new();
    let mut documents = documents;
    documents.retain(|document| known.insert(document.source.clone()));
    documents
}

fn read_document(row: &Row) -> Result<Document, StorageError> {
    let passage: i64 = row.try_get("passage")?;
    Ok(Document {
        id: row.try_get("id")?,
        source: text(row, "source")?,
        passage: passage.try_into().unwrap_or_default(),
        kind: HitKind::parse(&text(row, "kind")?).unwrap_or(HitKind::Title),
        conversation_id: optional_id(row, "conversation_id")?,
        message_id: optional_id(row, "message_id")?,
    })
}

/// Reads what was found. `None` if it can't be read, or its message waits in a queue.
async fn read_hit(
    connection: &mut Connection,
    user_id: UserId,
    document: &Document,
    request: &SearchRequest,
) -> Result<Option<SearchHit>, StorageError> {
    let sql = match document.kind {
        HitKind::Title => {
            "SELECT id, title, created_at, title AS shown FROM conversations WHERE user_id = $1 AND id = $2"
        }
        HitKind::Question | HitKind::Answer | HitKind::Tool => {
            "SELECT m.id, c.title, m.created_at, m.body FROM messages m JOIN conversations c ON c.id = m.conversation_id \
             WHERE m.user_id = $1 AND m.id = $2"
        }
        HitKind::File => {
            "SELECT f.id, c.title, p.id AS project_id, p.definition, f.created_at, f.name AS shown, d.text FROM search_documents d \
             JOIN files f ON f.id = d.source LEFT JOIN conversations c ON c.id = f.conversation_id AND c.user_id = f.user_id \
             LEFT JOIN messages m ON m.id = f.message_id LEFT JOIN projects p ON p.id = f.project_id \
             WHERE f.user_id = $1 AND f.id = $2 AND d.id = $3 AND (c.id IS NOT NULL AND m.id IS NOT NULL OR p.id IS NOT NULL)"
        }
        HitKind::Article => {
            "SELECT pmid, title, authors, summary, note, saved_at AS created_at FROM articles WHERE user_id = $1 AND user_id || '/' || pmid = $2"
        }
    };
    let mut found = query(sql).bind_value(user_id).bind(&document.source);
    if document.kind == HitKind::File {
        found = found.bind(document.id);
    }
    let Some(row) = found.fetch_optional(connection).await? else {
        return Ok(None);
    };
    let read = || {
        let mut tool_call = None;
        let shown = match document.kind {
            HitKind::Title => text(&row, "shown")?,
            HitKind::File => match optional_text(&row, "text")? {
                Some(text) => text,
                None => text(&row, "shown")?,
            },
            HitKind::Question | HitKind::Answer | HitKind::Tool => {
                let body: MessageBody = json(&row, "body")?;
                let passages = passages::of_message(&body);
                match passages.into_iter().nth(document.passage) {
                    Some(passage) => {
                        tool_call = passage.tool_call;
                        passage.text
                    }
                    None => String::new(),
                }
            }
            HitKind::Article => article_text(&row)?,
        };
        let project_id = match document.kind {
            HitKind::File => optional_id(&row, "project_id")?,
            _ => None,
        };
        Ok(SearchHit {
            kind: document.kind,
            conversation_id: document.conversation_id,
            project_id,
            title: match project_id {
                Some(_) => json::<Project>(&row, "definition")?.name,
                None => text(&row, "title")?,
            },
            message_id: document.message_id,
            tool_call,
            file_id: match document.kind {
                HitKind::File => Some(id(&row, "id")?),
                _ => None,
            },
            file_name: match document.kind {
                HitKind::File => optional_text(&row, "shown")?,
                _ => None,
            },
            pmid: match document.kind {
                HitKind::Article => Some(text(&row, "pmid")?),
                _ => None,
            },
            created_at: Timestamp(row.try_get("created_at")?),
            snippet: match document.kind {
                HitKind::Answer if !request.keeps_markup => {
                    markdown_snippet(&shown, &request.query, request.snippet_bytes)
                }
                _ => snippet(&shown, &request.query, request.snippet_bytes),
            },
        })
    };
    skip_damaged("search_documents", document.id, read())
}

/// Returns the percentage of all data that is indexed, if something older is not.
async fn indexed_percent(connection: &mut Connection) -> Result<Option<u8>, StorageError> {
    let has_pending: bool =
        query_scalar("SELECT EXISTS (SELECT 1 FROM search_pending WHERE kind IN ('title', 'message'))")
            .fetch_one(&mut *connection)
            .await?;
    if !has_pending {
        return Ok(None);
    }
    let row = query(
        "SELECT (SELECT count(*) FROM search_pending WHERE kind IN ('title', 'message')) AS pending, \
             (SELECT count(*) FROM messages) + (SELECT count(*) FROM conversations) AS present",
    )
    .fetch_one(connection)
    .await?;
    let (pending, present): (i64, i64) = (row.try_get("pending")?, row.try_get("present")?);
    let indexed = (present - pending).max(0) * 100 / present.max(1);
    Ok(Some(indexed.clamp(0, 99).try_into().unwrap_or(99)))
}

/// Returns a file in a message or a project whose text is to be indexed.
pub(super) async fn next_unindexed_file(
    connection: &mut Connection,
) -> Result<Option<(UserId, StoredFile)>, StorageError> {
    let row = query(
        "SELECT f.user_id, f.id FROM search_pending p JOIN files f ON f.id = p.source WHERE p.kind = 'text' \
         ORDER BY p.source DESC LIMIT 1",
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let (user_id, file_id) = (id(&row, "user_id")?, id(&row, "id")?);
    let file = super::files::file(&mut *connection, user_id, file_id).await?;
    Ok(file.map(|file| (user_id, file)))
}
