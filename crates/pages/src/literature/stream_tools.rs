//! Tools of the page *Literature* for streams of research: listing them, and creating, changing and deleting
//! one with the user's approval. A change refers to the stream twice: by its id, and by the name that the
//! approval shows. Without them it is the open stream.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Literature, LiteratureError};
use parlor_protocol::{
    ResearchStreamId, UserId,
    literature::{LiteratureFields, ResearchStream},
};
use parlor_tools::{OpenItems, Tool, ToolContext, ToolError, ToolKind, ToolResult};

pub(super) struct ListStreams(pub Literature);

#[derive(Deserialize, JsonSchema)]
pub struct ListStreamsInput {}

impl Tool for ListStreams {
    type Input = ListStreamsInput;

    const KIND: ToolKind = ToolKind::plain("list_streams");
    const DESCRIPTION: &'static str = "Lists the person's streams of research: PubMed queries that they keep, each with its id, name and instructions.";
    const LABEL: &'static str = "Looking at the streams";
    const DONE: &'static str = "Looked at the streams";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, _: ListStreamsInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let library = self.0.library(call.user_id).await?;
        let lines: Vec<String> = library.streams.iter().map(stream_line).collect();
        Ok(if lines.is_empty() {
            "There are none.".to_owned()
        } else {
            lines.join("\n")
        }
        .into())
    }
}

/// Returns a stream as one line.
fn stream_line(stream: &ResearchStream) -> String {
    let ResearchStream {
        id,
        name,
        query,
        instructions,
        ..
    } = stream;
    let mut line = format!("{id}: {name}. Query: {query}");
    if !instructions.is_empty() {
        line.push_str(&format!(". Instructions: {instructions}"));
    }
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) struct SaveStream(pub Literature);

#[derive(Deserialize, JsonSchema)]
pub struct SaveStreamInput {
    /// A short name.
    name: String,
    /// What it searches PubMed for.
    query: String,
    /// What you are to mind when the person talks with you about it. Leave it out if they did not say.
    instructions: Option<String>,
}

impl Tool for SaveStream {
    type Input = SaveStreamInput;

    const KIND: ToolKind = ToolKind::plain("make_stream");
    const DESCRIPTION: &'static str = "Keeps a PubMed query as a new stream of research, which the person can open again with a click. The person \
         is asked before it happens. Use it when they want a query kept.";
    const LABEL: &'static str = "Making a stream";
    const DONE: &'static str = "Made a stream";
    const NEEDS_APPROVAL: bool = true;

    fn detail(&self, input: &SaveStreamInput) -> Option<String> {
        let SaveStreamInput {
            name,
            query,
            instructions,
        } = input;
        let instructions = instructions.as_deref().filter(|text| !text.trim().is_empty());
        let instructions = instructions.map_or(String::new(), |text| format!(". Instructions: {text}"));
        Some(format!("{name}: {query}{instructions}"))
    }

    async fn run(&self, input: SaveStreamInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let stream = ResearchStream {
            name: input.name,
            query: input.query,
            instructions: input.instructions.unwrap_or_default(),
            ..ResearchStream::new(ResearchStreamId::new())
        };
        let id = stream.id;
        self.0.save_stream(call.user_id, stream).await?;
        Ok(format!("The stream is kept. Its id: {id}").into())
    }
}

pub(super) struct ChangeStream(pub Literature);

#[derive(Deserialize, JsonSchema)]
pub struct ChangeStreamInput {
    /// The stream's id, as list_streams gives it. Leave it out for the open one.
    #[serde(default)]
    stream_id: String,
    /// The name that it has now, for the person to know it by. Leave it out for the open one.
    #[serde(default)]
    name: String,
    /// Another name.
    new_name: Option<String>,
    /// Another query.
    query: Option<String>,
    /// Other instructions in place of all that there are.
    instructions: Option<String>,
    /// True for the open stream, which needs no name: the request names it.
    #[serde(skip)]
    is_open: bool,
}

impl Tool for ChangeStream {
    type Input = ChangeStreamInput;

    const KIND: ToolKind = ToolKind::plain("change_stream");
    const DESCRIPTION: &'static str = "Changes the name, the query or the instructions of a stream of research: the open one, or one by its id. What is left out stays. The person is \
         asked before it happens.";
    const LABEL: &'static str = "Changing a stream";
    const DONE: &'static str = "Changed a stream";
    const IS_IDEMPOTENT: bool = true;
    const NEEDS_APPROVAL: bool = true;

    fn complete(&self, input: &mut ChangeStreamInput, open: OpenItems<'_>) -> Result<(), String> {
        input.is_open = self
            .0
            .complete_stream(&mut input.stream_id, &mut input.name, open)?;
        Ok(())
    }

    fn detail(&self, input: &ChangeStreamInput) -> Option<String> {
        let changes = [
            ("name", &input.new_name),
            ("query", &input.query),
            ("instructions", &input.instructions),
        ];
        let changes = changes
            .into_iter()
            .filter_map(|(what, new)| Some(format!("{what}: {}", new.as_ref()?)));
        Some(format!(
            "{} → {}",
            input.name,
            changes.collect::<Vec<_>>().join(", ")
        ))
    }

    async fn run(&self, input: ChangeStreamInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let is_named = |now: &ResearchStream| {
            // The change may be repeated after a crash.
            let is_changed = input.new_name.as_deref().is_some_and(|name| has_name(now, name));
            input.is_open || is_changed || has_name(now, &input.name)
        };
        let now = load_stream(&self.0, call.user_id, &input.stream_id, is_named).await?;
        let stream = ResearchStream {
            name: input.new_name.unwrap_or(now.name),
            query: input.query.unwrap_or(now.query),
            instructions: input.instructions.unwrap_or(now.instructions),
            ..now
        };
        self.0.save_stream(call.user_id, stream).await?;
        Ok("The stream is changed.".to_owned().into())
    }
}

pub(super) struct DeleteStream(pub Literature);

#[derive(Deserialize, JsonSchema)]
pub struct DeleteStreamInput {
    /// The stream's id, as list_streams gives it. Leave it out for the open one.
    #[serde(default)]
    stream_id: String,
    /// The name that it has, for the person to know it by. Leave it out for the open one.
    #[serde(default)]
    name: String,
    /// True for the open stream, which needs no name: the request names it.
    #[serde(skip)]
    is_open: bool,
}

impl Tool for DeleteStream {
    type Input = DeleteStreamInput;

    const KIND: ToolKind = ToolKind::plain("delete_stream");
    const DESCRIPTION: &'static str = "Deletes a stream of research for good, with its instructions: the open one, or one by its id. Saved articles stay. The person is asked before it \
         happens. Use it only when they want the stream deleted.";
    const LABEL: &'static str = "Deleting a stream";
    const DONE: &'static str = "Deleted a stream";
    const NEEDS_APPROVAL: bool = true;

    fn complete(&self, input: &mut DeleteStreamInput, open: OpenItems<'_>) -> Result<(), String> {
        input.is_open = self
            .0
            .complete_stream(&mut input.stream_id, &mut input.name, open)?;
        Ok(())
    }

    fn detail(&self, input: &DeleteStreamInput) -> Option<String> {
        Some(input.name.clone())
    }

    async fn run(&self, input: DeleteStreamInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let is_named = |now: &ResearchStream| input.is_open || has_name(now, &input.name);
        let stream = load_stream(&self.0, call.user_id, &input.stream_id, is_named).await?;
        self.0.delete_stream(call.user_id, stream.id).await?;
        Ok("The stream is deleted. Saved articles stay.".to_owned().into())
    }
}

impl Literature {
    /// Sets the stream of a call that names none: the open one, with the name that its description has told the model. Returns true
    /// if the name is the open stream's by this.
    fn complete_stream(
        &self,
        stream_id: &mut String,
        name: &mut String,
        open: OpenItems<'_>,
    ) -> Result<bool, String> {
        let fields: Option<LiteratureFields> = open.on_page();
        let open = fields.and_then(|fields| fields.stream_id);
        if stream_id.trim().is_empty() {
            let open = open
                .ok_or("No stream is open. Name one by its id and its name, as list_streams gives them.")?;
            *stream_id = open.to_string();
        }
        if !name.trim().is_empty() {
            return Ok(false);
        }
        let open = open
            .filter(|open| open.to_string() == stream_id.trim())
            .ok_or("Say the name that the stream has now, as list_streams gives it.")?;
        // Another process may have described it.
        *name = self
            .0
            .stream_names
            .get(open)
            .unwrap_or_else(|| "the open stream".to_owned());
        Ok(true)
    }
}

fn has_name(stream: &ResearchStream, name: &str) -> bool {
    name.split_whitespace().eq(stream.name.split_whitespace())
}

/// Returns the stream if it is the one that is meant: an approval for one stream must not change another.
async fn load_stream(
    literature: &Literature,
    user_id: UserId,
    stream_id: &str,
    is_meant: impl Fn(&ResearchStream) -> bool,
) -> Result<ResearchStream, LiteratureError> {
    let stream_id = stream_id
        .trim()
        .parse()
        .map_err(|_| LiteratureError::StreamNotFound)?;
    let stream = literature.stream(user_id, stream_id).await?;
    match is_meant(&stream) {
        true => Ok(stream),
        false => Err(LiteratureError::StreamNameMismatch(stream.name)),
    }
}
