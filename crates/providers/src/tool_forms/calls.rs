//! The calls of an answer with the real names of tools and arguments.

use std::collections::{HashMap, VecDeque};

use futures::StreamExt;

use super::names::{ArgumentNames, with_names};
use parlor_model::{ModelError, ModelEvent, ModelStream};

/// The names of a request that differ from the real ones.
#[derive(Debug, Default)]
pub struct SentNames {
    /// The real names of tools, by their names in the request.
    tools: HashMap<String, String>,
    /// The real names of arguments, by the real names of their tools.
    arguments: HashMap<String, ArgumentNames>,
}

impl SentNames {
    pub fn add(&mut self, sent: &str, real: &str, arguments: ArgumentNames) {
        if sent != real {
            self.tools.insert(sent.to_owned(), real.to_owned());
        }
        if !arguments.is_empty() {
            self.arguments.insert(real.to_owned(), arguments);
        }
    }

    pub fn real_name<'a>(&'a self, sent: &'a str) -> &'a str {
        self.tools.get(sent).map_or(sent, String::as_str)
    }

    /// Returns the arguments of an earlier call of a tool as they are sent.
    pub fn sent_arguments(&self, tool: &str, arguments: &str) -> String {
        let Some(names) = self.arguments.get(tool) else {
            return arguments.to_owned();
        };
        with_names(arguments, |real| {
            let mut names = names.iter();
            names
                .find(|(_, name)| *name == real)
                .map(|(sent, _)| sent.clone())
        })
    }

    fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.arguments.is_empty()
    }
}

/// Returns the events of an answer with the real names. The notes precede its first content.
pub fn restore_calls(answer: ModelStream, names: SentNames, notes: Vec<ModelEvent>) -> ModelStream {
    if names.is_empty() && notes.is_empty() {
        return answer;
    }
    let restorer = CallRestorer {
        answer,
        names,
        open: Vec::new(),
        notes,
        ready: VecDeque::new(),
    };
    Box::pin(futures::stream::unfold(restorer, |mut restorer| async move {
        let event = restorer.next().await?;
        Some((event, restorer))
    }))
}

struct CallRestorer {
    answer: ModelStream,
    names: SentNames,
    /// The calls whose arguments have other names: they are renamed when they are complete.
    open: Vec<OpenCall>,
    /// They wait for the first content: until then the call may be repeated.
    notes: Vec<ModelEvent>,
    ready: VecDeque<Result<ModelEvent, ModelError>>,
}

struct OpenCall {
    index: usize,
    tool: String,
    arguments: String,
}

impl CallRestorer {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match self.answer.next().await {
                Some(Ok(event)) => self.push(event),
                Some(Err(error)) => {
                    self.close();
                    self.ready.push_back(Err(error));
                }
                None if self.open.is_empty() => return None,
                None => self.close(),
            }
        }
    }

    fn push(&mut self, event: ModelEvent) {
        if !matches!(event, ModelEvent::InputCounted(_) | ModelEvent::Usage(_)) {
            self.ready.extend(self.notes.drain(..).map(Ok));
        }
        let event = match event {
            ModelEvent::ToolCall { index, id, name } => {
                let name = self.names.real_name(&name).to_owned();
                if self.names.arguments.contains_key(&name) {
                    self.open.push(OpenCall {
                        index,
                        tool: name.clone(),
                        arguments: String::new(),
                    });
                }
                ModelEvent::ToolCall { index, id, name }
            }
            ModelEvent::ToolArguments { index, delta } => {
                if let Some(call) = self.open.iter_mut().find(|call| call.index == index) {
                    call.arguments.push_str(&delta);
                    return;
                }
                ModelEvent::ToolArguments { index, delta }
            }
            ModelEvent::Finished(reason) => {
                self.close();
                ModelEvent::Finished(reason)
            }
            other => other,
        };
        self.ready.push_back(Ok(event));
    }

    /// Emits the arguments of all calls that were held.
    fn close(&mut self) {
        for call in std::mem::take(&mut self.open) {
            let names = self.names.arguments.get(&call.tool);
            let delta = with_names(&call.arguments, |sent| names?.get(sent).cloned());
            if !delta.is_empty() {
                let index = call.index;
                self.ready
                    .push_back(Ok(ModelEvent::ToolArguments { index, delta }));
            }
        }
    }
}
