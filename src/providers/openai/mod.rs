//! Endpoints that speak OpenAI's chat completions: OpenAI itself, Ollama, llama.cpp, vLLM, LM Studio, OpenRouter,
//! DeepSeek, Groq, Mistral, xAI and whoever else.
//!
//! Requests, addresses and the list of models are async-openai's; the answer's bytes are decoded here
//! ([`decoder`]), because its stream is unbounded and cannot tell a clean end from a broken one.

mod address;
mod answer;
mod calls;
mod cited;
pub mod decoder;
mod details;
mod facts;
mod models;
mod others;
mod quiet;
mod refusal;
mod request;
mod says;
#[cfg(test)]
mod tests;
mod transport;
mod window;
mod wire;
mod without;

use std::{
    collections::HashSet,
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use async_openai::{
    Client,
    config::{Config, OpenAIConfig},
};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;

use self::{
    address::{Address, address, base},
    facts::Facts,
    quiet::Quiet,
    transport::Transport,
    window::Windows,
};

use super::EndpointConfig;
use crate::{
    model::{
        Endpoint, ListedModels, Manners, ModelError, ModelErrorKind, ModelMessage, ModelRequest, ModelStream,
        Sent,
    },
    settings::{Dialect, PromptLength},
};

/// The kind of these endpoints.
const KIND: &str = "openai";

/// One OpenAI-compatible endpoint.
pub struct OpenAi {
    transport: Transport,
    client: Client<Address>,
    max_frame: usize,
    /// Models that the settings name; empty to ask the endpoint.
    listed: Vec<String>,
    dialect: Dialect,
    windows: Windows,
    /// For how long the server does not want to be asked for its models.
    quiet: Quiet,
    /// The server has refused to be asked for usage (as Mistral has).
    without_usage: AtomicBool,
    /// The server has refused to be told which tool to use, in the field that is there for it.
    without_tool_choice: AtomicBool,
    /// The server has refused to be shown what the model thought.
    without_thinking: AtomicBool,
    /// Models that the server has refused to give tools to.
    without_tools: Without,
    /// Models whose template has no place for tools.
    without_tool_template: Without,
    /// The same for all, as the settings say it: then no template is asked for.
    takes_tools: Option<bool>,
    prompt: PromptLength,
    /// Models that take no instructions as the system's.
    without_system: Without,
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenAi").field(&self.transport.facts).finish()
    }
}

impl OpenAi {
    /// An endpoint as the settings describe it. Nothing is asked of it yet.
    ///
    /// # Errors
    ///
    /// If it could never be asked: the address is none, a header or the key cannot be sent.
    pub fn new(config: &EndpointConfig) -> Result<Self, ModelError> {
        let url = address(config)?;
        let facts = Facts::new(config, &url);
        let unusable = |what: &str, hint: String| {
            facts.error(
                ModelErrorKind::Refused,
                "settings_invalid",
                format!("cannot be used: {what}"),
                hint,
            )
        };

        // All four are set: the default would take them from the environment, for whichever endpoint.
        let key = config
            .api_key
            .as_ref()
            .map_or("", |key| key.expose_secret())
            .trim();
        if HeaderValue::from_str(key).is_err() {
            return Err(unusable(
                "its API key has characters that no key has.",
                facts.key_hint(),
            ));
        }
        let openai = OpenAIConfig::default()
            .with_api_base(base(&url))
            .with_api_key(key)
            .with_org_id("")
            .with_project_id("");
        let mut headers = HeaderMap::new();
        for (name, value) in &config.headers {
            let header = HeaderName::try_from(name)
                .ok()
                .zip(HeaderValue::from_str(value.expose_secret()).ok());
            let Some((header, mut value)) = header else {
                return Err(unusable(
                    &format!("its header “{name}” cannot be sent."),
                    String::new(),
                ));
            };
            value.set_sensitive(true);
            headers.insert(header, value);
        }

        let transport = Transport::new(&url, facts, config.connect_timeout)?;
        let client = Client::build(
            transport.http().clone(),
            Address {
                openai,
                headers,
                query: url.query().map(str::to_owned),
            },
        )
        .with_http_service(transport.service());
        Ok(Self {
            transport,
            client,
            max_frame: config.max_frame,
            listed: config.models.clone(),
            dialect: config.dialect,
            windows: Windows::new(config, &url),
            quiet: Quiet::default(),
            without_usage: AtomicBool::new(false),
            without_tool_choice: AtomicBool::new(false),
            without_thinking: AtomicBool::new(config.dialect.forget_thinking),
            without_tools: Without::default(),
            without_tool_template: Without::default(),
            takes_tools: config.tools,
            prompt: config.prompt,
            without_system: Without::default(),
        })
    }

    /// Asks for a streamed answer.
    async fn ask(
        &self,
        model: &str,
        request: &ModelRequest,
        manners: Manners,
    ) -> Result<reqwest::Response, ModelError> {
        let config = self.client.config();
        let mut headers = config.headers();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let completion = request::completion(model, request, self.dialect, manners);
        let body = serde_json::to_vec(&completion).map_err(|error| {
            self.transport
                .bad_answer(format!("cannot be sent this conversation: {error}"))
        })?;
        let post = self
            .transport
            .http()
            .post(config.url("/chat/completions"))
            .headers(headers)
            .body(body);
        let post = post.build().map_err(|error| {
            self.transport
                .bad_answer(format!("cannot be asked: {}", error.without_url()))
        })?;
        self.transport.send(post, Some(model)).await
    }
}

#[async_trait::async_trait]
impl Endpoint for OpenAi {
    fn name(&self) -> &str {
        &self.transport.facts.name
    }

    async fn models(&self) -> Result<ListedModels, ModelError> {
        let name = self.name();
        if !self.listed.is_empty() {
            return Ok(models::named(name, &self.listed));
        }
        let answer = self.list().await?;
        self.windows.read(&answer);
        models::listed(name, &answer)
            .ok_or_else(|| self.transport.bad_answer("gave a list of models that is none."))
    }

    async fn context_window(&self, model: &str) -> Option<usize> {
        let set = self.windows.set(model);
        if set.is_some() && self.takes_tools.is_some() {
            return set;
        }
        // The list may say it. Whoever chose a model has usually seen one already.
        if set.is_none()
            && self.listed.is_empty()
            && !self.windows.have_list()
            && let Ok(answer) = self.list().await
        {
            self.windows.read(&answer);
        }
        let headers = self.client.config().headers();
        let said = self.windows.ask(&self.transport, &headers, model).await;
        match said.takes_tools {
            Some(false) if self.takes_tools.is_none() => self.without_tool_template.add(model),
            // The server may have been started again with another model of that name.
            Some(_) => self.without_tool_template.remove(model),
            None => {}
        }
        set.or(said.window)
    }

    fn prompt_length(&self) -> PromptLength {
        self.prompt
    }

    fn manners(&self, model: &str) -> Manners {
        Manners {
            tools: self.takes_tools != Some(false)
                && !self.without_tools.has(model)
                && !self.without_tool_template.has(model),
            system: !self.without_system.has(model),
            usage: !self.without_usage.load(Ordering::Relaxed),
            tool_choice: !self.without_tool_choice.load(Ordering::Relaxed),
            thinking: !self.without_thinking.load(Ordering::Relaxed),
        }
    }

    fn sends(&self, model: &str, request: &ModelRequest) -> Sent {
        let completion = request::completion(model, request, self.dialect, self.manners(model));
        let body = match serde_json::to_value(completion) {
            Ok(serde_json::Value::Object(body)) => body,
            // Then it can't be sent either, and the call says so.
            _ => serde_json::Map::new(),
        };
        Sent {
            address: self.transport.facts.address.clone(),
            body,
        }
    }

    async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let response = loop {
            let manners = self.manners(model);
            // Not a retry of what failed: another question.
            match self.ask(model, request, manners).await {
                Err(error) if manners.usage && error.error.message.contains("stream_options") => {
                    self.without_usage.store(true, Ordering::Relaxed);
                }
                Err(error) if manners.thinking && shows_thinking(request) && is_of_thinking(&error) => {
                    self.without_thinking.store(true, Ordering::Relaxed);
                }
                Err(error)
                    if manners.tool_choice
                        && !request::forced(request, manners).is_empty()
                        && error.error.message.contains("tool_choice") =>
                {
                    self.without_tool_choice.store(true, Ordering::Relaxed);
                }
                Err(error) if manners.tools && has_tools(request) && says::knows_no_tools(&error) => {
                    tracing::warn!(%model, error = %error, "asking without tools from now on");
                    self.without_tools.add(model);
                }
                Err(error) if manners.system && has_system(request) && says::knows_no_system(&error) => {
                    tracing::warn!(%model, error = %error, "asking without a system prompt from now on");
                    self.without_system.add(model);
                }
                response => break response?,
            }
        };
        answer::stream(self.transport.clone(), response, self.max_frame).await
    }
}

impl OpenAi {
    /// The answer to `/v1/models`. A server that says `Retry-After` is not asked again before that.
    async fn list(&self) -> Result<serde_json::Value, ModelError> {
        if let Some(error) = self.quiet.error() {
            return Err(error);
        }
        let answer = self.ask_for_list().await;
        self.quiet.heed(answer.as_ref().err());
        answer
    }

    async fn ask_for_list(&self) -> Result<serde_json::Value, ModelError> {
        let list = self.client.models();
        match tokio::time::timeout(models::TIMEOUT, list.list_byot()).await {
            Ok(answer) => answer.map_err(|error| self.transport.explain(error)),
            Err(_) => Err(self.transport.silent(models::TIMEOUT)),
        }
    }
}

/// Models for which something was refused, until Parlor is started again.
#[derive(Debug, Default)]
struct Without(Mutex<HashSet<String>>);

impl Without {
    fn has(&self, model: &str) -> bool {
        self.models().contains(model)
    }

    fn add(&self, model: &str) {
        self.models().insert(model.to_owned());
    }

    fn remove(&self, model: &str) {
        self.models().remove(model);
    }

    fn models(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a request tells the model of tools, or of what they gave.
fn has_tools(request: &ModelRequest) -> bool {
    let is_tool = |message: &ModelMessage| matches!(message, ModelMessage::Tool { .. });
    !request.tools.is_empty() || request.messages.iter().any(is_tool)
}

fn has_system(request: &ModelRequest) -> bool {
    matches!(request.messages.first(), Some(ModelMessage::System(_)))
}

/// Whether a request shows the model what it thought.
fn shows_thinking(request: &ModelRequest) -> bool {
    let shows = |message: &ModelMessage| {
        matches!(
            message,
            ModelMessage::Assistant {
                thinking: Some(_),
                ..
            }
        )
    };
    request.messages.iter().any(shows)
}

/// Whether the server says that it does not know the field with what the model thought.
fn is_of_thinking(error: &ModelError) -> bool {
    error.kind == ModelErrorKind::Refused && error.error.message.contains("reasoning_content")
}
