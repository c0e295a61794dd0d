//! Full-text search in everything that a user has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AttachmentId, ConversationId, MessageId, ProjectId, Timestamp, flat_json::Fields};

/// The author of a text that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchedAuthor {
    Me,
    Assistant,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HitKind {
    /// The title of a conversation.
    Title,
    /// A message of the user.
    Question,
    /// The text of an answer.
    Answer,
    /// The result of a tool call.
    Tool,
    /// The name of a file or its text.
    File,
    /// A saved article.
    Article,
}

impl HitKind {
    /// The kind's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Question => "question",
            Self::Answer => "answer",
            Self::Tool => "tool",
            Self::File => "file",
            Self::Article => "article",
        }
    }

    /// Parses a kind's name.
    pub fn parse(name: &str) -> Option<Self> {
        let kinds = [
            Self::Title,
            Self::Question,
            Self::Answer,
            Self::Tool,
            Self::File,
            Self::Article,
        ];
        kinds.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The order of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchOrder {
    /// The best of the newest 1,000 hits first.
    #[default]
    Best,
    /// The newest first.
    Newest,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct SearchHit {
    pub kind: HitKind,
    /// The conversation with the hit; missing for an article and for a file of a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// The project of a file that is in no conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// The conversation's or the article's title, or the project's name.
    pub title: String,
    /// The message with the hit: of a tool's result its answer, of a file the message that has it. Missing for a title, for an
    /// article and for a file of a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The number in its answer of the tool call whose result was found (`index` of the call).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<usize>,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<AttachmentId>,
    /// The file's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// The article's PubMed ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pmid: Option<String>,
    /// The time of the message, of the conversation's start, or at which the article was saved.
    pub created_at: Timestamp,
    pub snippet: Snippet,
}

/// A part of a text with the places of what was searched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Snippet {
    /// Plain text, in one line.
    pub text: String,
    /// The start and the end of each marked place, as UTF-8 byte offsets in `text`, in order.
    pub marks: Vec<(usize, usize)>,
}

/// A part of the hits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct SearchHits {
    pub hits: Vec<SearchHit>,
    /// The cursor of the next part; missing at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The percentage of older data that can be searched, while it is being indexed after an update; missing once all can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indexed_percent: Option<u8>,
}

/// Returns true for characters of scripts without spaces between words, and of Korean, whose words have endings.
pub fn is_unspaced(character: char) -> bool {
    matches!(character,
        // Thai, Lao, Myanmar, Khmer
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' | '\u{e81}'..='\u{ec6}' | '\u{ec8}'..='\u{ecd}' | '\u{edc}'..='\u{edf}'
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{109d}' | '\u{1780}'..='\u{17d3}'
        // Hangul
        | '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{a960}'..='\u{a97c}' | '\u{ac00}'..='\u{d7fb}' | '\u{ffa1}'..='\u{ffdc}'
        // Han
        | '\u{2e80}'..='\u{2fd5}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303b}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
        // Kana, Bopomofo
        | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{3130}' | '\u{31a0}'..='\u{31ff}'
        | '\u{ff66}'..='\u{ff9d}')
}
