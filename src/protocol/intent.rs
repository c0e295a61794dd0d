//! Intents: what a person wants done. The client makes the ids, so nothing has to be renamed later, and the
//! same intent sent twice is done once.

use serde::{Deserialize, Serialize};

use super::{
    ConversationId, IntentId, Interaction, MessageId, PageContext, Verdict, flat_json::Fields,
    parameters::ParameterInput,
};

/// Send a message and have it answered. Makes the conversation if there is none with that id yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendMessage {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    pub user_message_id: MessageId,
    pub text: String,
    /// The model to answer, as `endpoint/model`; without it, the conversation's, else the default one.
    #[serde(default)]
    pub model: Option<String>,
    /// Tools that the model has to use before it answers this message, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub force_tools: Vec<String>,
    /// How the model is to be asked from now on in this conversation; without it, as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<ParameterInput>,
    /// How the person said it.
    #[serde(default)]
    pub interaction: Interaction,
    /// What the person is looking at, if it is not the conversation alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<PageContext>,
}

/// Have a conversation's model asked in another way from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetParameters {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    pub parameters: ParameterInput,
}

/// Answer a person's message once more: a sibling of the answer that is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regenerate {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    /// The answer to make another one of.
    pub message_id: MessageId,
    /// The model to answer, as `endpoint/model`; without it, the conversation's.
    #[serde(default)]
    pub model: Option<String>,
}

/// Go on with an answer that was stopped, failed or interrupted: the same run and message, from where they stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContinueRun {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    /// The answer, the last message of its branch.
    pub message_id: MessageId,
}

/// A person's answer to whether a tool call may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalAnswer {
    Allow,
    /// This call, and every later one of the same tool in the same conversation.
    Always,
    Deny,
}

impl ApprovalAnswer {
    /// Whether the call that was asked about may begin.
    pub fn is_allowed(self) -> bool {
        self != Self::Deny
    }
}

/// Accept or reject something that was made for the panel. The first verdict stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgePayload {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    pub payload_id: String,
    pub verdict: Verdict,
}

/// A suggested action was taken on the page: it is not offered any more, in no tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeAction {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    /// The answer that suggests it.
    pub message_id: MessageId,
    /// Which of its actions.
    pub index: usize,
}

/// What became of an intent that starts a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct StartedRun {
    pub conversation_id: ConversationId,
    pub user_message_id: MessageId,
    /// The run, which is the message that it will produce.
    pub assistant_message_id: MessageId,
}

/// A title from a conversation's first message: its first 30 characters, cut at a word.
pub fn title_from(text: &str) -> String {
    const MAX_TITLE_CHARACTERS: usize = 30;
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
    // One long word (a URL, a language without spaces) is cut where the length ends.
    format!("{}…", whole_words.unwrap_or(&cut).trim_end())
}

#[cfg(test)]
mod tests {
    use super::title_from;

    #[test]
    fn cuts_a_title_at_a_word() {
        let cases = [
            ("Hello", "Hello"),
            ("  spaces \n and\tlines  ", "spaces and lines"),
            ("exactly thirty characters long", "exactly thirty characters long"),
            (
                "exactly thirty characters long and more",
                "exactly thirty characters long…",
            ),
            (
                "What is the unemployment rate in Denmark?",
                "What is the unemployment rate…",
            ),
            (
                "Donaudampfschifffahrtsgesellschaftskapitän",
                "Donaudampfschifffahrtsgesellsc…",
            ),
            (
                "日本語の長い質問を書いてみるとどうなるのかを確かめるための文章です。",
                "日本語の長い質問を書いてみるとどうなるのかを確かめるための文…",
            ),
            ("", ""),
        ];
        for (text, title) in cases {
            assert_eq!(title_from(text), title);
        }
    }
}
