//! Tools, and the schema of an answer ([`answers`]), in the form that a kind of endpoint takes. Their schemas and names come from anywhere, and one that a server refuses
//! fails the whole request: schemas are rewritten ([`normalize`], [`fold`], [`gemini`]), names are replaced and given back in the
//! calls ([`names`]), and what a server refuses all the same is left out from then on ([`refusal`]).

mod answers;
mod calls;
mod fold;
mod gemini;
mod names;
mod normalize;
mod pattern;
mod refs;
mod refusal;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};
use serde_json::{Map, Value};

use self::{
    answers::adapt_answer,
    calls::{SentNames, restore_calls},
    names::ArgumentNames,
    refusal::{ToolRefusal, find_refusal},
};
use super::EndpointConfig;
use parlor_base::{
    settings::EndpointKind,
    text::{list_first, single_line, truncate_chars},
};
use parlor_model::{ModelError, ModelEvent, ModelMessage, ModelRequest, ModelStream, ToolSpec};
use parlor_protocol::RunError;

/// The maximum length of the rules in a tool's description, in characters.
const MAX_RULES_CHARS: usize = 1500;

/// The maximum number of rejections from which one call learns.
const MAX_LEARNED_PER_CALL: usize = 64;

/// The maximum length of a server's reason in a note, in characters.
const MAX_REASON_CHARS: usize = 300;

/// The maximum number of tools that a note names.
const MAX_NAMED: usize = 10;

/// The tools of one endpoint: their form, and what the server has refused.
#[derive(Debug)]
pub struct ToolForms {
    endpoint: String,
    kind: EndpointKind,
    max_tools: usize,
    by_model: Mutex<HashMap<String, RefusedTools>>,
}

/// The tools and numbers of tools that a server has refused for a model.
#[derive(Clone, Debug, Default)]
struct RefusedTools {
    /// The reasons by the tools' names.
    reasons: BTreeMap<String, String>,
    /// The maximum number of tools, if a server has named it.
    max_tools: Option<usize>,
}

impl ToolForms {
    pub fn new(config: &EndpointConfig) -> Self {
        Self {
            endpoint: config.name.clone(),
            kind: config.kind,
            max_tools: config.max_tools,
            by_model: Mutex::default(),
        }
    }

    /// Returns the number of tools that a request to a model may have.
    pub fn max_tools(&self, model: &str) -> usize {
        let learned = self.lock().get(model).and_then(|refused| refused.max_tools);
        self.max_tools.min(learned.unwrap_or(usize::MAX))
    }

    /// Returns the number of rejections that were learned for a model.
    pub fn count(&self, model: &str) -> usize {
        let known = self.lock();
        let count = |refused: &RefusedTools| refused.reasons.len() + usize::from(refused.max_tools.is_some());
        known.get(model).map_or(0, count)
    }

    /// Returns the names of the tools that are left out for a model.
    pub fn refused(&self, model: &str) -> Vec<String> {
        let known = self.lock();
        let refused = known.get(model).into_iter();
        refused
            .flat_map(|refused| refused.reasons.keys().cloned())
            .collect()
    }

    /// Returns what was refused, in words for the user.
    pub fn problems(&self) -> Vec<RunError> {
        let known = self.lock();
        let mut by_tool: BTreeMap<&String, (&String, Vec<String>)> = BTreeMap::new();
        for (model, refused) in known.iter() {
            for (tool, reason) in &refused.reasons {
                let (_, models) = by_tool.entry(tool).or_insert_with(|| (reason, Vec::new()));
                models.push(model.clone());
            }
        }
        let problem = |(tool, (reason, mut models)): (&String, (&String, Vec<String>))| {
            models.sort_unstable();
            RunError {
                code: "tool_refused".into(),
                message: format!(
                    "The endpoint “{}” refuses the tool “{tool}”, so it is left out for {}: {reason}",
                    self.endpoint,
                    models.join(", ")
                ),
                hint: "The other tools work. Whoever made the tool can correct its description; after that, restart Parlor.".into(),
            }
        };
        by_tool.into_iter().map(problem).collect()
    }

    /// Begins a call of a model.
    pub fn begin<'a>(&'a self, model: &'a str) -> ToolCallForms<'a> {
        ToolCallForms {
            forms: self,
            model,
            learned: 0,
            notes: Vec::new(),
        }
    }

    /// Returns a request as it is sent: without refused tools, with the others in the server's form.
    pub fn adapt(&self, model: &str, request: &ModelRequest) -> AdaptedRequest {
        let refused = self.refused(model);
        let taken = request.tools.iter().filter(|tool| !refused.contains(&tool.name));
        let mut names = SentNames::default();
        let mut tools = Vec::new();
        for tool in taken.take(self.max_tools(model)) {
            let (sent, arguments) = adapt_tool(tool, self.kind);
            names.add(&sent.name, &tool.name, arguments);
            tools.push(Arc::new(sent));
        }
        let sent_name = |name: &String| names::tool_name(name, self.kind);
        let mut messages = request.messages.clone();
        for message in &mut messages {
            if let ModelMessage::Assistant { tool_calls, .. } = message {
                for call in tool_calls {
                    call.arguments = names.sent_arguments(&call.name, &call.arguments);
                    call.name = sent_name(&call.name);
                }
            }
        }
        AdaptedRequest {
            request: ModelRequest {
                model: request.model.clone(),
                messages,
                tools,
                force_tools: request.force_tools.iter().map(sent_name).collect(),
                continues_answer: request.continues_answer,
                answer_schema: request
                    .answer_schema
                    .as_ref()
                    .map(|schema| Arc::new(adapt_answer(schema, self.kind))),
                parameters: request.parameters.clone(),
            },
            names,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, RefusedTools>> {
        self.by_model.lock()
    }
}

/// A request in the server's form.
#[derive(Debug)]
pub struct AdaptedRequest {
    pub request: ModelRequest,
    names: SentNames,
}

/// One call of a model, and what it learns.
#[derive(Debug)]
pub struct ToolCallForms<'a> {
    forms: &'a ToolForms,
    model: &'a str,
    learned: usize,
    notes: Vec<String>,
}

impl ToolCallForms<'_> {
    pub fn adapt(&self, request: &ModelRequest) -> AdaptedRequest {
        self.forms.adapt(self.model, request)
    }

    /// Learns from a rejected request. Returns true if the next one will have fewer tools.
    pub fn learn(&mut self, sent: &AdaptedRequest, error: &ModelError) -> bool {
        let sent_names: Vec<&str> = sent.request.tools.iter().map(|tool| &*tool.name).collect();
        if sent_names.is_empty() || self.learned == MAX_LEARNED_PER_CALL {
            return false;
        }
        let Some(refusal) = find_refusal(error, &sent_names) else {
            return false;
        };
        tracing::warn!(model = self.model, ?refusal, %error, "asking without these tools from now on");
        self.learned += 1;
        let reply = error.reply.as_ref().map_or("", |reply| &reply.text);
        let reason = single_line(reply, MAX_REASON_CHARS);
        let mut known = self.forms.lock();
        let refused = known.entry(self.model.to_owned()).or_default();
        match refusal {
            ToolRefusal::Tools(positions) => {
                let tools = positions
                    .into_iter()
                    .filter_map(|position| sent_names.get(position));
                let tools: Vec<String> = tools.map(|name| sent.names.real_name(name).to_owned()).collect();
                self.notes.push(refused_note(&tools, &reason));
                refused
                    .reasons
                    .extend(tools.into_iter().map(|tool| (tool, reason.clone())));
            }
            ToolRefusal::TooMany(max) => {
                refused.max_tools = Some(max);
                let left_out: Vec<String> = sent_names[max..]
                    .iter()
                    .map(|name| sent.names.real_name(name).to_owned())
                    .collect();
                self.notes.push(format!(
                    "The model server takes {max} tools at once. These were left out: {}.",
                    named(&left_out)
                ));
            }
        }
        true
    }

    /// Returns the events of an answer with the real names in its calls, after notes about what was left out.
    pub fn restore(self, sent: AdaptedRequest, answer: ModelStream) -> ModelStream {
        let notes = self.notes.into_iter().map(ModelEvent::Note).collect();
        restore_calls(answer, sent.names, notes)
    }
}

fn refused_note(tools: &[String], reason: &str) -> String {
    let (what, they) = match tools.len() {
        1 => ("the tool", "it"),
        _ => ("the tools", "they"),
    };
    format!(
        "The model server refused {what} {}, so {they} can’t be used here: {reason}",
        named(tools)
    )
}

fn named(tools: &[String]) -> String {
    list_first(tools, MAX_NAMED)
}

/// Returns a tool in the form of a kind of endpoint, and the real names of its arguments.
fn adapt_tool(tool: &ToolSpec, kind: EndpointKind) -> (ToolSpec, ArgumentNames) {
    let (mut schema, rules) = adapt_schema(&tool.input_schema, kind);
    let mut arguments = ArgumentNames::new();
    names::rename_arguments(&mut schema, kind, &mut arguments);
    let mut description = tool.description.clone();
    if !rules.is_empty() {
        let rules = truncate_chars(&rules.join(" "), MAX_RULES_CHARS);
        description = format!("{description}\n\n{rules}").trim_start().to_owned();
    }
    let sent = ToolSpec {
        name: names::tool_name(&tool.name, kind),
        description,
        input_schema: Value::Object(schema),
    };
    (sent, arguments)
}

/// Returns a tool's schema in the form of a kind of endpoint, and the rules that it can't express.
fn adapt_schema(schema: &Value, kind: EndpointKind) -> (Map<String, Value>, Vec<String>) {
    let (root, rules) = fold::fold_root(&normalize::normalize(schema));
    let root = match kind {
        EndpointKind::Gemini => gemini::to_google(&root),
        EndpointKind::OpenAi | EndpointKind::OpenAiResponses | EndpointKind::Anthropic => {
            refs::without_dangling(root)
        }
    };
    (root, rules)
}
