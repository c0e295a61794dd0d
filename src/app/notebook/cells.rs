//! Makes notebook cells of messages and finished calls.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    CodeCall,
    content::StoredContent,
    outputs::{lines, outputs},
};
use parlor_base::text::single_line;
use parlor_pages::data::QueryCell;
use parlor_protocol::{
    AssistantMessage, Attachment, Message, MessageBody, MessageId, Transcript,
    damaged_message::damaged_message_text, message::JoinedPartKind,
};
use parlor_python::UsedName;

/// The maximum length of the title, in characters.
const MAX_TITLE_CHARS: usize = 200;

/// The cells so far.
struct CellList<'a> {
    cells: Vec<Value>,
    content: &'a StoredContent,
    /// The number of code cells that have run.
    executed: usize,
    has_setup: bool,
    /// The usual names of packages that a cell has imported.
    imported: HashSet<&'static str>,
}

/// Returns the notebook of a conversation's shown branch.
pub fn notebook(transcript: &Transcript, content: &StoredContent) -> Value {
    let mut list = CellList {
        cells: Vec::new(),
        content,
        executed: 0,
        has_setup: false,
        imported: HashSet::new(),
    };
    let title = single_line(&transcript.title, MAX_TITLE_CHARS);
    if !title.is_empty() {
        list.push_markdown("title".into(), &format!("# {title}"));
    }
    for message in transcript.shown_branch() {
        list.push_message(message);
    }
    json!({
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": { "display_name": "Python 3", "language": "python", "name": "python3" },
            "language_info": { "name": "python", "file_extension": ".py", "mimetype": "text/x-python" },
            "title": title,
        },
        "cells": list.cells,
    })
}

impl CellList<'_> {
    fn push_message(&mut self, message: &Message) {
        let id = message.id;
        match &message.body {
            MessageBody::User { text, files, .. } => {
                self.push_markdown(id.to_string(), &question(text, files));
            }
            MessageBody::Assistant(answer) => self.push_answer(id, answer),
            MessageBody::Damaged => self.push_markdown(id.to_string(), &damaged_message_text(id)),
        }
    }

    fn push_answer(&mut self, id: MessageId, answer: &AssistantMessage) {
        for joined in answer.joined_parts() {
            let (node, part) = joined.key;
            let id = format!("{id}-{node}-{part}");
            match joined.kind {
                JoinedPartKind::Text => self.push_markdown(id, joined.texts.concat().trim()),
                JoinedPartKind::ToolCall(call) => {
                    if let Some(code) = CodeCall::from_call(call) {
                        let outputs = outputs(call, &code, self.content);
                        self.push_call(id, &code, outputs);
                    }
                }
                JoinedPartKind::Thinking | JoinedPartKind::Payload(_) | JoinedPartKind::File(_) => {}
            }
        }
    }

    fn push_call(&mut self, id: String, code: &CodeCall, outputs: Vec<Value>) {
        let source = match code {
            CodeCall::Python(cell) => {
                self.push_imports(&id, &cell.code);
                &cell.code
            }
            CodeCall::Query(query) => {
                if !self.has_setup {
                    self.has_setup = true;
                    self.imported.insert("pd");
                    self.push_code("setup".into(), QueryCell::SETUP, None, Vec::new());
                }
                &query.code
            }
        };
        self.executed += 1;
        self.push_code(id, source, Some(self.executed), outputs);
    }

    /// Adds the imports of names that code uses, which sessions have without them.
    fn push_imports(&mut self, id: &str, code: &str) {
        let mut imports = Vec::new();
        for name in UsedName::find(code) {
            if self.imported.insert(name.name) && !name.is_imported {
                imports.push(name.import());
            }
        }
        if !imports.is_empty() {
            self.push_code(format!("{id}-imports"), &imports.join("\n"), None, Vec::new());
        }
    }

    /// Adds a text, if there is one.
    fn push_markdown(&mut self, id: String, text: &str) {
        if !text.is_empty() {
            self.cells
                .push(json!({ "id": id, "cell_type": "markdown", "metadata": {}, "source": lines(text) }));
        }
    }

    /// Adds code. Without a number, it has not run.
    fn push_code(&mut self, id: String, source: &str, number: Option<usize>, outputs: Vec<Value>) {
        self.cells.push(json!({
            "id": id,
            "cell_type": "code",
            "metadata": {},
            "source": lines(source),
            "execution_count": number,
            "outputs": outputs,
        }));
    }
}

/// Returns a message of the user, which is told from the answers by its first line.
fn question(text: &str, files: &[Attachment]) -> String {
    let mut question = format!("**Question**\n\n{}", text.trim());
    for file in files {
        // Nothing in the name ends the code.
        question.push_str(&format!("\n\nAttached: `{}`", file.name.replace('`', "'")));
    }
    question
}
