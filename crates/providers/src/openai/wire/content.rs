//! The content of the chunks' types: their text, thinking, sources and calls, in whatever field a server sends them.

use serde_json::Value;

use super::{
    Annotation, Choice, Citation, CitedPage, Content, ContentPart, Delta, Function, ReasoningDetail,
    ThinkingField, TypedPart,
};
use crate::sources::document_name;
use parlor_model::lenient_json;
use parlor_protocol::RawJson;

impl From<Citation> for CitedPage {
    fn from(citation: Citation) -> Self {
        match citation {
            Citation::Url(url) => Self { title: None, url },
            Citation::Page(page) => page,
            // It keeps its number.
            Citation::Other(_) => Self::default(),
        }
    }
}

impl Annotation {
    /// Returns the cited page or document, in any form.
    pub fn into_page(self) -> Option<CitedPage> {
        let is_citation = self.kind.as_deref() == Some("url_citation");
        let flat = self.url.clone().filter(|_| is_citation).map(|url| CitedPage {
            title: self.title.clone(),
            url,
        });
        self.url_citation.clone().or(flat).or_else(|| self.document())
    }

    /// Returns the cited document or file.
    fn document(&self) -> Option<CitedPage> {
        let files = [
            &self.file_citation,
            &self.container_file_citation,
            &self.file_path,
            &self.file,
        ];
        let files = files.into_iter().flatten();
        let of_files = files.flat_map(|file| [&*file.filename, &*file.file_id]);
        let own = [
            &*self.filename,
            &self.document_title,
            self.title.as_deref().unwrap_or_default(),
            &self.file_id,
        ];
        let title = document_name(own.into_iter().chain(of_files))?;
        Some(CitedPage {
            title: Some(title),
            url: String::new(),
        })
    }
}

impl Choice {
    /// Takes the new content. A message in addition to deltas (Perplexity) repeats them and adds nothing.
    pub fn take_delta(&mut self, had_deltas: bool) -> Box<Delta> {
        let delta = self.delta.take().unwrap_or_default();
        if had_deltas || !delta.is_empty() {
            return delta;
        }
        if let Some(message) = self.message.take_if(|message| !message.is_empty()) {
            return message;
        }
        match self.text.take().filter(|text| !text.is_empty()) {
            Some(text) => Box::new(Delta {
                content: Some(Content::Text(text)),
                ..*delta
            }),
            None => delta,
        }
    }

    /// Returns true if the choice has no content and no finish reason.
    pub fn is_empty(&self) -> bool {
        let is_silent = |delta: &Option<Box<Delta>>| delta.as_ref().is_none_or(|delta| delta.is_empty());
        let has_text = self.text.as_ref().is_some_and(|text| !text.is_empty());
        self.finish_reason.is_none()
            && self.error.is_none()
            && !has_text
            && is_silent(&self.delta)
            && is_silent(&self.message)
    }
}

impl Delta {
    /// Returns true if the delta has no known content.
    pub fn is_empty(&self) -> bool {
        let Self {
            content,
            reasoning_content,
            reasoning,
            reasoning_text,
            thinking,
            reasoning_details,
            thinking_blocks,
            refusal,
            tool_calls,
            function_call,
            images,
            audio,
            annotations,
            extra_content,
        } = self;
        let is_empty = |text: &Option<String>| text.as_ref().is_none_or(String::is_empty);
        let has_content = match content {
            Some(Content::Text(text)) => !text.is_empty(),
            Some(Content::Parts(parts)) => parts.iter().any(ContentPart::is_known),
            Some(Content::Part(part)) => part.is_known(),
            Some(Content::Other(_)) | None => false,
        };
        let has_thinking = match thinking {
            Some(ThinkingField::Text(text)) => !text.is_empty(),
            Some(ThinkingField::Parts(_) | ThinkingField::Part(_)) => true,
            Some(ThinkingField::Other(_)) | None => false,
        };
        !has_content
            && !has_thinking
            && [reasoning_content, reasoning, reasoning_text, refusal]
                .into_iter()
                .all(is_empty)
            && [reasoning_details, thinking_blocks, images, extra_content]
                .iter()
                .all(|json| json.is_none())
            && tool_calls.is_empty()
            && function_call.is_none()
            && audio.is_none()
            && annotations.is_none()
    }

    /// Takes the reasoning of this delta. Servers send the same text in several fields, so only one is used.
    pub fn take_reasoning(&mut self) -> Option<String> {
        let thinking = self.thinking.take().map(ThinkingField::into_text);
        let texts = [
            self.reasoning_content.take(),
            self.reasoning.take(),
            self.reasoning_text.take(),
            thinking,
        ];
        let mut texts = texts.into_iter().flatten();
        texts.find(|text| !text.is_empty()).or_else(|| {
            let lists = [&self.reasoning_details, &self.thinking_blocks];
            lists
                .into_iter()
                .flatten()
                .map(detail_text)
                .find(|text| !text.is_empty())
        })
    }
}

/// Returns the text of a list of details.
fn detail_text(list: &RawJson) -> String {
    let details: Vec<ReasoningDetail> = lenient_json::parse(list.as_str()).unwrap_or_default();
    let texts = details
        .into_iter()
        .filter_map(|detail| detail.text.or(detail.summary).or(detail.thinking));
    texts.collect()
}

impl ContentPart {
    fn is_known(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Part(part) => part.is_known(),
            Self::Other(_) => false,
        }
    }

    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Part(part) => part.into_text(),
            Self::Other(_) => String::new(),
        }
    }
}

impl TypedPart {
    fn is_known(&self) -> bool {
        let is_there = self.text.is_some() || self.thinking.is_some() || self.refusal.is_some();
        is_there || self.is_image()
    }

    pub fn is_image(&self) -> bool {
        self.others.contains_key("image_url")
            || self.kind.as_deref().is_some_and(|kind| kind.contains("image"))
    }

    /// Returns true for a part with thinking.
    pub fn is_thinking(&self) -> bool {
        matches!(
            self.kind.as_deref(),
            Some("thinking" | "reasoning" | "reasoning_text")
        )
    }

    fn into_text(self) -> String {
        let thinking = self.thinking.map(ThinkingField::into_text);
        self.text.or(thinking).unwrap_or_default()
    }
}

impl ThinkingField {
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().map(ContentPart::into_text).collect(),
            Self::Part(part) => part.into_text(),
            Self::Other(_) => String::new(),
        }
    }
}

impl Function {
    /// Takes this fragment's arguments as text.
    pub fn take_arguments(&mut self) -> String {
        match self.arguments.take() {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(json) => json.to_string(),
        }
    }
}
