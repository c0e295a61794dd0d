//! Pages with given texts in all places.

use crate::{
    protocol::ActionHandler,
    protocol::ApiError,
    protocol::ApiToken,
    protocol::AssistantMessage,
    protocol::Attachment,
    protocol::AttachmentId,
    protocol::CitedSource,
    protocol::ConversationId,
    protocol::ConversationList,
    protocol::ConversationSummary,
    protocol::ErrorCode,
    protocol::Fraction,
    protocol::Interaction,
    protocol::Memory,
    protocol::MemoryId,
    protocol::Message,
    protocol::MessageBody,
    protocol::MessageId,
    protocol::ModelCapabilities,
    protocol::Node,
    protocol::Part,
    protocol::PayloadRef,
    protocol::PersonalData,
    protocol::Position,
    protocol::RawJson,
    protocol::RunError,
    protocol::RunStatus,
    protocol::StreamId,
    protocol::SuggestedAction,
    protocol::SuggestedValue,
    protocol::Timestamp,
    protocol::TokenId,
    protocol::ToolCall,
    protocol::ToolProgress,
    protocol::ToolStatus,
    protocol::Transcript,
    protocol::literature::Article,
    protocol::literature::ArticleSearchResults,
    protocol::literature::ArticleSort,
    protocol::literature::ArticleWithAbstract,
    protocol::literature::Library,
    protocol::literature::LiteraturePageData,
    protocol::literature::ResearchStream,
    protocol::literature::SavedArticle,
    protocol::model_list::ModelInfo,
    protocol::model_list::ModelList,
    ui::{state::route::Route, state::snapshot::FormIds, state::snapshot::PageSnapshot},
};

const NOW: Timestamp = Timestamp(1_790_000_000_000);

/// The differences between the pages of a test.
#[derive(Clone, Debug)]
pub struct Texts {
    pub title: String,
    pub question: String,
    pub answer: String,
    pub thinking: String,
    /// A tool's arguments, as the model wrote them.
    pub input: String,
    pub output: String,
    /// All other texts.
    pub other: String,
}

impl Texts {
    /// The same text everywhere.
    pub fn uniform(text: &str) -> Self {
        Self {
            title: text.into(),
            question: text.into(),
            answer: text.into(),
            thinking: text.into(),
            input: serde_json::json!({ "query": text, "content": text }).to_string(),
            output: text.into(),
            other: text.into(),
        }
    }
}

fn page(other: &str) -> PageSnapshot {
    PageSnapshot {
        now: NOW,
        list: Ok(ConversationList::default()),
        transcript: None,
        models: Ok(ModelList {
            models: vec![ModelInfo {
                id: other.into(),
                name: other.into(),
                endpoint: other.into(),
                capabilities: ModelCapabilities {
                    image_input: Some(true),
                    ..ModelCapabilities::default()
                },
            }],
            default: Some(other.into()),
            problems: vec![problem(other).into()],
            can_search: true,
        }),
        opened: None,
        personal: None,
        form: FormIds {
            intent_id: Default::default(),
            conversation_id: Default::default(),
            message_id: Default::default(),
            begins: false,
        },
    }
}

fn problem(text: &str) -> RunError {
    RunError {
        code: text.into(),
        message: text.into(),
        hint: text.into(),
    }
}

fn payload(text: &str) -> PayloadRef {
    PayloadRef {
        payload_id: "payload_1".into(),
        kind: text.into(),
        summary: text.into(),
    }
}

/// A file of the user, with these texts.
fn message_file(texts: &Texts, media_type: &str) -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: texts.other.clone(),
        media_type: media_type.into(),
        bytes: 7,
        width: Some(4),
        height: Some(3),
    }
}

fn call(texts: &Texts, index: usize, status: ToolStatus) -> Part {
    let other = &texts.other;
    let file = |media_type: &str| Attachment {
        id: AttachmentId::new(),
        name: other.clone(),
        media_type: media_type.into(),
        bytes: 7,
        width: None,
        height: None,
    };
    Part::ToolCall(Box::new(ToolCall {
        tool_use_id: other.clone(),
        index,
        tool: other.clone(),
        input: RawJson::parse_or_quote(&texts.input),
        label: other.clone(),
        detail: Some(other.clone()),
        status,
        progress: Some(ToolProgress {
            stage: other.clone(),
            message: other.clone(),
            progress: Some(Fraction::from_ratio(1, 3)),
            data: Some(RawJson::parse_or_quote(&texts.input)),
        }),
        output: Some(texts.output.clone()),
        payload: Some(payload(other)),
        attachments: vec![file("image/png"), file("audio/wav"), file(other)],
        started_at: Some(NOW),
        ended_at: None,
    }))
}

/// A conversation: a question, an answer with every kind of content, and one that waits for a user.
pub fn conversation(texts: &Texts) -> (PageSnapshot, String) {
    let id = ConversationId::new();
    let other = &texts.other;
    let (question, answer) = (MessageId::new(), MessageId::new());
    let text = |text: &str| Part::Text { text: text.into() };
    let thinking = Part::Thinking {
        text: texts.thinking.clone(),
    };
    let assistant = AssistantMessage {
        status: RunStatus::Failed,
        nodes: vec![
            Node {
                parts: vec![
                    thinking,
                    text(&texts.answer),
                    call(texts, 0, ToolStatus::Complete),
                    call(texts, 1, ToolStatus::Failed),
                    Part::Payload {
                        payload: payload(other),
                    },
                ],
            },
            Node {
                parts: vec![text(&texts.output)],
            },
        ],
        activity: Some(other.clone()),
        error: Some(problem(other)),
        suggested_values: vec![SuggestedValue {
            label: other.clone(),
            value: other.clone(),
        }],
        suggested_actions: vec![SuggestedAction {
            label: other.clone(),
            action: other.clone(),
            handler: ActionHandler::Server,
            data: Some(texts.input.clone()),
            style: crate::protocol::suggestion::ActionStyle::Primary,
            taken: false,
        }],
        sources: vec![CitedSource {
            number: 1,
            title: other.clone(),
            url: "https://example.com/".into(),
        }],
        ended_at: Some(NOW),
        ..AssistantMessage::new(other.as_str())
    };
    let pressed = Interaction::ActionExecuted {
        action: other.clone(),
        data: Some(texts.input.clone()),
    };
    let (again, waiting) = (MessageId::new(), MessageId::new());
    let waiting_answer = AssistantMessage {
        status: RunStatus::Waiting,
        activity: Some(other.clone()),
        nodes: vec![Node {
            parts: vec![call(texts, 0, ToolStatus::Waiting)],
        }],
        ..AssistantMessage::new(other.as_str())
    };
    let message = |id, parent_id, body| Message {
        id,
        parent_id,
        created_at: NOW,
        body,
    };
    let asked = |interaction| MessageBody::User {
        text: texts.question.clone(),
        files: ["image/png", "text/plain"]
            .map(|media_type| message_file(texts, media_type))
            .into(),
        interaction,
    };
    let transcript = Transcript {
        title: texts.title.clone(),
        model: Some(other.clone()),
        messages: vec![
            message(question, None, asked(Interaction::TextInput)),
            message(answer, Some(question), MessageBody::Assistant(assistant)),
            message(again, Some(answer), asked(pressed)),
            message(waiting, Some(again), MessageBody::Assistant(waiting_answer)),
        ],
        active_leaf: Some(waiting),
        as_of: Position(9),
        ..Transcript::new(id)
    };
    let route = Route::Conversation(id);
    let list = ConversationList {
        as_of: Position(9),
        conversations: vec![ConversationSummary {
            id,
            title: texts.title.clone(),
            updated_at: NOW,
            activity: Position(9),
            active_run: None,
            waiting: true,
            unseen: true,
        }],
        has_more: true,
    };
    let page = PageSnapshot {
        list: Ok(list),
        transcript: Some(Ok(transcript)),
        ..page(other)
    };
    (page, route.path())
}

/// The other pages with a user's texts in them: the settings, the literature, and errors.
pub fn other_pages(text: &str) -> Vec<(PageSnapshot, String)> {
    let error = || ApiError::new(ErrorCode::Unavailable, text);
    let id = ConversationId::new();
    let route = Route::Conversation(id);
    let failed = PageSnapshot {
        list: Err(error()),
        transcript: Some(Err(error())),
        models: Err(error()),
        ..page(text)
    };
    let settings = PageSnapshot {
        personal: Some(json(&personal(text))),
        ..page(text)
    };
    let mut pages = vec![
        (failed, route.path()),
        (settings, Route::Settings.path()),
        (page(text), Route::New.path()),
    ];
    for address in [
        "/literature",
        "/literature/saved",
        "/literature/streams",
        "/literature/articles/11",
    ] {
        let literature = PageSnapshot {
            opened: Some(json(&opened(text))),
            ..page(text)
        };
        pages.push((literature, address.into()));
    }
    let refused = LiteraturePageData {
        library: Err(error()),
        found: Some(Err(error())),
        article: Some(Err(error())),
    };
    let literature = PageSnapshot {
        opened: Some(json(&refused)),
        ..page(text)
    };
    pages.push((literature, "/literature/articles/11?q=tea".into()));
    pages
}

fn json(value: &impl serde::Serialize) -> RawJson {
    RawJson::parse_or_quote(&serde_json::to_string(value).expect("it can be written"))
}

fn personal(text: &str) -> PersonalData {
    PersonalData {
        instructions: text.into(),
        instructions_bytes: 8192,
        remembers: true,
        memories: vec![Memory {
            id: MemoryId::new(),
            text: text.into(),
            created_at: NOW,
        }],
        tokens: vec![ApiToken {
            id: TokenId::new(),
            name: text.into(),
            beginning: text.into(),
            created_at: NOW,
            expires_at: None,
            last_used_at: Some(NOW),
        }],
    }
}

fn opened(text: &str) -> LiteraturePageData {
    let article = || Article {
        pmid: "11".into(),
        title: text.into(),
        authors: vec![text.into()],
        journal: text.into(),
        published: text.into(),
        doi: Some(text.into()),
    };
    LiteraturePageData {
        library: Ok(Library {
            as_of: Position(9),
            articles: vec![SavedArticle {
                article: article(),
                note: text.into(),
                saved_at: NOW,
            }],
            streams: vec![ResearchStream {
                id: StreamId::new(),
                name: text.into(),
                query: text.into(),
                instructions: text.into(),
            }],
            no_search: Some(text.into()),
        }),
        found: Some(Ok(ArticleSearchResults {
            query: text.into(),
            sort: ArticleSort::Relevance,
            page: 1,
            pages: 2,
            total: 21,
            articles: vec![article()],
        })),
        article: Some(Ok(ArticleWithAbstract {
            article: article(),
            summary: vec![text.into()],
            problem: Some(text.into()),
        })),
    }
}
