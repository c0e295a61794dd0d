//! Intents: the changes that a user requests. The client makes the ids, so that nothing is renamed later,
//! and an intent that is sent twice is done once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AttachmentId, ConversationId, IntentId, Interaction, MessageId, PageContext, ProjectId, Verdict,
    flat_json::Fields, parameters::ParameterInput,
};

/// Sends a message and starts its answer. Creates the conversation if there is none with that id yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendMessage {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    pub user_message_id: MessageId,
    pub text: String,
    /// Uploaded files of the conversation, in their order. Another version of a message keeps its files if it names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<AttachmentId>,
    /// The message of the user that this is another version of: it follows the same answer and becomes the one that is
    /// shown. Without it, the message follows the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<MessageId>,
    /// The model to answer, as `endpoint/model`; without it, the conversation's, else the default one.
    #[serde(default)]
    pub model: Option<String>,
    /// The names of tools that the model has to use before it answers this message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub force_tools: Vec<String>,
    /// The parameters of the model in this conversation from now on; without them, those in use stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<ParameterInput>,
    /// The way in which the user wrote the message.
    #[serde(default)]
    pub interaction: Interaction,
    /// The page that the user looks at, if it is not the conversation alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<PageContext>,
    /// True if the conversation that begins with the message is temporary. Ignored in one that exists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// The project of the conversation that begins with the message. Ignored in one that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}

/// Sets the parameters of a conversation's model from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetParameters {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    pub parameters: ParameterInput,
}

/// Generates another answer to a user's message: a sibling of the present answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regenerate {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    /// The present answer.
    pub message_id: MessageId,
    /// The model to answer, as `endpoint/model`; without it, the conversation's.
    #[serde(default)]
    pub model: Option<String>,
}

/// Continues an answer that was stopped, failed, was interrupted or was cut short: the same run and message,
/// from where they ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContinueRun {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    /// The answer, the last message of its branch.
    pub message_id: MessageId,
}

/// Copies a branch into a new conversation: up to an answer, with it, or up to a message of the user, without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchConversation {
    pub intent_id: IntentId,
    pub message_id: MessageId,
    /// The new conversation.
    pub conversation_id: ConversationId,
}

/// The user's answer to a tool call that waits for approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ApprovalChoice")]
pub enum ApprovalAnswer {
    /// Allows this call.
    Allow,
    /// Allows this call and every later one of the same tool in the same conversation.
    Always,
    /// Denies this call.
    Deny,
}

impl ApprovalAnswer {
    /// Returns true if the call may begin.
    pub fn is_allowed(self) -> bool {
        self != Self::Deny
    }
}

/// Accepts or rejects a payload. The first verdict stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgePayload {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    pub payload_id: String,
    pub verdict: Verdict,
    /// The accepted fields, if not the whole proposal is accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_fields: Vec<String>,
}

/// Records that a suggested action was taken in the page. No tab offers it any longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeAction {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    /// The answer that suggests it.
    pub message_id: MessageId,
    /// The index of the action in the answer.
    pub index: usize,
}

/// A change of a conversation's queue. Repeating one changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum QueueChange {
    /// Replaces the text of a message.
    Edit { message_id: MessageId, text: String },
    /// Puts a message before another one, or at the end.
    Move {
        message_id: MessageId,
        before: Option<MessageId>,
    },
    /// Deletes a message.
    Remove { message_id: MessageId },
    /// Sends the messages of a held queue: at once, or when the active run has ended.
    Release,
}

/// The result of an intent that starts a run, or that queues a message: then the run begins later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct StartedRun {
    pub conversation_id: ConversationId,
    pub user_message_id: MessageId,
    /// The run, whose id is that of the message that it will produce.
    pub assistant_message_id: MessageId,
}

/// Derives a title from a conversation's first message: from its text, else from the name of its first file.
pub fn derive_title(text: &str, first_file: Option<&str>) -> String {
    match text.trim().is_empty() {
        true => title_from(first_file.unwrap_or_default()),
        false => title_from(text),
    }
}

/// Derives a title from a conversation's first message: its first 80 characters, cut at a word. Where there is less
/// room, less of it is shown.
pub fn title_from(text: &str) -> String {
    const MAX_TITLE_CHARACTERS: usize = 80;
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= MAX_TITLE_CHARACTERS {
        return line;
    }
    let cut: String = line.chars().take(MAX_TITLE_CHARACTERS).collect();
    let next_is_space = line.chars().nth(MAX_TITLE_CHARACTERS) == Some(' ');
    let whole_words = if next_is_space {
        Some(cut.as_str())
    } else {
        cut.rsplit_once(' ').map(|(head, _)| head)
    };
    // A single long word (a URL, a language without spaces) is cut at the maximum length.
    format!("{}…", whole_words.unwrap_or(&cut).trim_end())
}

#[cfg(test)]
mod tests {
    use super::{derive_title, title_from};

    #[test]
    fn cuts_a_title_at_a_word() {
        let long = "What is the unemployment rate in Denmark, and how did it change over the last ten";
        let cut = format!("{long} years?");
        let word = "Donaudampfschifffahrtsgesellschaft".repeat(3);
        let japanese = "日本語の長い質問".repeat(20);
        let cases = [
            ("Hello", "Hello".to_owned()),
            ("  spaces \n and\tlines  ", "spaces and lines".into()),
            (&long[..77], long[..77].into()),
            (&cut, format!("{}…", &long[..77])),
            (&word, format!("{}…", &word[..80])),
            (
                &japanese,
                format!("{}…", japanese.chars().take(80).collect::<String>()),
            ),
            ("", String::new()),
        ];
        for (text, title) in cases {
            assert_eq!(title_from(text), title);
        }
    }

    #[test]
    fn first_file_names_a_message_without_text() {
        assert_eq!(derive_title(" \n", Some("map  of\nOslo.png")), "map of Oslo.png");
        assert_eq!(derive_title("Hello", Some("map.png")), "Hello");
        assert_eq!(derive_title("", None), "");
    }
}
