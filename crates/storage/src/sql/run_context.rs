//! The queries for a run's context. They are few, because each is a round trip to the database thread and
//! delays the first token.

use crate::sql::database::{Connection, Row, Sql, query};

use super::{
    branch, json_array, messages, number_or_zero, optional_id, optional_text, page_context, parameters,
    projects, provider_data, text,
};
use crate::{HistorySummary, PageSize, RunContext, RunKey, RunOptions, StorageError, damage::skip_damaged};
use parlor_protocol::{ConversationId, Message, MessageBody, MessageId, Project, ProjectId};

/// The short parts of a run's context, most of which are usually empty. Forced tools belong to the question,
/// for every answer to it: they are stored with the run that was started with the question.
macro_rules! select_context {
    ($allowed:literal, $summaries:literal, $verdicts:literal) => {
        concat!(
            "SELECT c.parameters, c.temporary, p.id AS project_id, p.definition AS project, l.context, l.text, l.instructions, \
             (SELECT i.text FROM instructions i WHERE i.user_id = $1) AS user_instructions, \
             EXISTS (SELECT 1 FROM chat_search h WHERE h.user_id = $1) AS may_search, \
             (SELECT r.force_tools FROM messages m JOIN runs r ON r.id = m.id \
                 WHERE m.user_id = $1 AND m.parent_id = $3 AND r.force_tools IS NOT NULL LIMIT 1) AS forced, (SELECT ",
            $allowed,
            " FROM allowed_tools a WHERE a.user_id = $1 AND a.conversation_id = $2) AS allowed, (SELECT ",
            $summaries,
            " FROM summaries s WHERE s.user_id = $1 AND s.conversation_id = $2) AS summaries, (SELECT ",
            $verdicts,
            " FROM payload_verdicts v WHERE v.user_id = $1 AND v.conversation_id = $2) AS verdicts \
             FROM conversations c LEFT JOIN contexts l ON l.user_id = c.user_id AND l.message_id = $3 \
             LEFT JOIN projects p ON p.user_id = c.user_id AND p.id = c.project_id \
             WHERE c.user_id = $1 AND c.id = $2"
        )
    };
}

/// JSON functions of SQLite reject blobs, which only damaged rows have.
pub(crate) const SELECT_CONTEXT: Sql = Sql::Two {
    sqlite: select_context!(
        "json_group_array(CAST(a.tool AS TEXT))",
        "json_group_array(json_array(CAST(s.message_id AS TEXT), CAST(s.text AS TEXT)))",
        "json_group_array(json_object('payload_id', CAST(v.payload_id AS TEXT), 'verdict', CAST(v.verdict AS TEXT), \
             'accepted_fields', CASE WHEN json_valid(v.fields) THEN json(v.fields) ELSE json('[]') END) ORDER BY v.position)"
    ),
    postgres: select_context!(
        "coalesce(json_agg(a.tool), '[]')",
        "coalesce(json_agg(json_build_array(s.message_id, s.text)), '[]')",
        "coalesce(json_agg(json_build_object('payload_id', v.payload_id, 'verdict', v.verdict, \
             'accepted_fields', CAST(coalesce(v.fields, '[]') AS JSON)) ORDER BY v.position), '[]')"
    ),
};

/// Returns the context of a run. Expects a connection with an open transaction, so that the result is
/// consistent.
pub(super) async fn run_context(
    connection: &mut Connection,
    run: RunKey,
) -> Result<Option<RunContext>, StorageError> {
    let message = messages::message(&mut *connection, run.user_id, run.message_id).await?;
    let Some((
        conversation_id,
        Message {
            body: MessageBody::Assistant(answer),
            parent_id: Some(question),
            ..
        },
    )) = message
    else {
        return Ok(None);
    };
    let ids = (run.user_id, conversation_id);
    let history = branch::read_branch(&mut *connection, ids, question, PageSize::UNLIMITED, None).await?;
    let provider_data = provider_data::provider_data_of_branch(&mut *connection, run, &history).await?;
    let row = query(SELECT_CONTEXT)
        .bind_value(run.user_id)
        .bind_value(conversation_id)
        .bind_value(question)
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let project = match read_project(&row, conversation_id)? {
        Some((id, project)) => Some(projects::in_use(connection, run.user_id, id, project).await?),
        None => None,
    };
    Ok(Some(RunContext {
        answer,
        history,
        provider_data,
        context_snapshot: page_context::read_context_snapshot(&row, question)?,
        verdicts: json_array(&row, "verdicts", "payload_verdicts")?,
        instructions: text(&row, "user_instructions")?,
        project,
        may_search_chats: row.try_get("may_search")?,
        is_temporary: number_or_zero("conversations", conversation_id, &row, "temporary")? != 0,
        allowed_tools: json_array(&row, "allowed", "allowed_tools")?,
        options: read_options(&row, conversation_id, question)?,
    }))
}

/// Reads the project. One that can't be read counts as none.
fn read_project(
    row: &Row,
    conversation_id: ConversationId,
) -> Result<Option<(ProjectId, Project)>, StorageError> {
    let read = || match (optional_id(row, "project_id")?, optional_text(row, "project")?) {
        (Some(id), Some(definition)) => Ok(Some((id, serde_json::from_str(&definition)?))),
        _ => Ok(None),
    };
    let place = format_args!("of the conversation {conversation_id}");
    Ok(skip_damaged("projects", place, read())?.flatten())
}

fn read_options(
    row: &Row,
    conversation_id: ConversationId,
    question: MessageId,
) -> Result<RunOptions, StorageError> {
    let summaries: Vec<(MessageId, String)> = json_array(row, "summaries", "summaries")?;
    let forced = || match row.try_get::<Option<String>>("forced")? {
        Some(tools) => Ok(serde_json::from_str(&tools)?),
        None => Ok(Vec::new()),
    };
    Ok(RunOptions {
        parameters: parameters::read_parameters(row, conversation_id)?,
        force_tools: skip_damaged("runs", format_args!("that answers {question}"), forced())?
            .unwrap_or_default(),
        summaries: summaries
            .into_iter()
            .map(|(reaches, text)| HistorySummary {
                last_message_id: reaches,
                text,
            })
            .collect(),
    })
}
