//! The snapshots that a page starts from: read on the server and sent with the page, so that the browser starts with
//! the state that the server rendered.

use leptos::{
    prelude::StoredValue,
    server::codee::{Decoder, Encoder},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::api::{personal, projects, reports, rpc, sharing};
use crate::{
    browser,
    state::{
        page_registry::PageEntry,
        person::Person,
        route::{self, Route},
    },
};
use parlor_protocol::{
    ApiError, ConversationId, ConversationList, IntentId, JobId, MessageId, News, ProjectId, ProjectList,
    RawJson, Share, SharedProjectContent, Timestamp, Transcript,
    json::{self, JsonError},
    model_list::ModelList,
};

/// The snapshots of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageSnapshot {
    /// The server's clock, which defines "today" until the browser's own is known.
    pub now: Timestamp,
    pub list: Result<ConversationList, ApiError>,
    /// The conversation that the URL names.
    pub transcript: Option<Result<Transcript, ApiError>>,
    pub models: Result<ModelList, ApiError>,
    /// The user's projects.
    pub projects: Result<ProjectList, ApiError>,
    /// The conversations of the project that the URL names.
    pub project_chats: Option<Result<ConversationList, ApiError>>,
    /// The project of another that the URL names.
    pub shared_project: Option<Result<SharedProjectContent, ApiError>>,
    /// The user's shares.
    pub shares: Result<Vec<Share>, ApiError>,
    /// The names of the pages that can do something for the user.
    pub listed_pages: Result<Vec<String>, ApiError>,
    /// The reports that the user has not seen yet.
    pub unseen_reports: Vec<JobId>,
    /// The data of the registered page that the URL names. Parsed by that page only.
    pub opened: Option<RawJson>,
    /// The data of the settings page, if the URL names it. Parsed by that page only, because few people need it.
    pub personal: Option<RawJson>,
    /// The news for the user since they last closed them.
    pub news: Option<News>,
    /// The user, if there are accounts.
    pub person: Option<Person>,
    pub form: FormIds,
}

/// The ids that the plain form sends, for pages without scripts: if it is submitted twice, the message is stored once.
/// The server generates them with the page; the browser reads them from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormIds {
    pub intent_id: IntentId,
    pub conversation_id: ConversationId,
    pub message_id: MessageId,
    /// True if the message starts the conversation.
    pub begins: bool,
    /// The project in which it starts.
    pub project_id: Option<ProjectId>,
}

impl FormIds {
    pub(super) fn new(route: Route) -> Self {
        Self {
            intent_id: IntentId::new(),
            conversation_id: route.conversation_id().unwrap_or_default(),
            message_id: MessageId::new(),
            begins: route.conversation_id().is_none(),
            project_id: route.project_id(),
        }
    }
}

/// Serialises the snapshots of a page: JSON, with another character in place of each `<`.
///
/// Leptos writes the data into a script and replaces each `<` by `\u003c`. In a JSON string this reads back the same,
/// but JSON that is stored as text ([`RawJson`]) comes out longer than it went in. Without `<` in the data, Leptos changes
/// nothing.
pub struct PageCodec;

/// Replaces `<` in the encoded data. Leptos writes it as it is, in two bytes: an answer may be 8 MiB of `<`.
const LESS_THAN_SUBSTITUTE: &str = "¬";

/// Replaces that character where the data have it. JSON has no unescaped control characters, so nothing else is
/// taken for it.
const SUBSTITUTE_IN_DATA: &str = "\u{1}";

impl<T: Serialize> Encoder<T> for PageCodec {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(page: &T) -> serde_json::Result<String> {
        Ok(serde_json::to_string(page)?
            .replace(LESS_THAN_SUBSTITUTE, SUBSTITUTE_IN_DATA)
            .replace('<', LESS_THAN_SUBSTITUTE))
    }
}

impl<T: DeserializeOwned> Decoder<T> for PageCodec {
    type Error = JsonError;
    type Encoded = str;

    fn decode(encoded: &str) -> Result<T, JsonError> {
        let json = encoded
            .replace(LESS_THAN_SUBSTITUTE, "<")
            .replace(SUBSTITUTE_IN_DATA, LESS_THAN_SUBSTITUTE);
        json::parse(json.as_bytes())
    }
}

/// The data of the registered page that was opened first. Only the page's own code parses them.
#[derive(Clone)]
pub struct OpenedPage(pub Option<RawJson>);

/// The project of another that was opened first. Its page takes it; opened again, it loads what is there then.
#[derive(Clone, Copy)]
pub struct OpenedSharedProject(pub StoredValue<Option<Result<SharedProjectContent, ApiError>>>);

impl PageSnapshot {
    /// Reads the snapshots of a URL. If it names a message, the conversation reaches back to the page before it.
    pub async fn load(url: String, pages: &'static [PageEntry], person: Option<Person>) -> Self {
        let (route, before) = (Route::parse(&url, pages), route::before_message(&url));
        let transcript = async {
            match route.conversation_id() {
                Some(id) => Some(load_conversation(id, before).await),
                None => None,
            }
        };
        let opened = async {
            match route {
                // If this fails, the page requests the data itself.
                Route::Page(_) => rpc::open_page(url).await.ok(),
                _ => None,
            }
        };
        let project_chats = async {
            match route.project_id() {
                Some(id) => Some(rpc::conversations(None, false, Some(id)).await),
                None => None,
            }
        };
        let shared_project = async {
            match route {
                Route::SharedProject(id) => Some(projects::shared_project(id, None).await),
                _ => None,
            }
        };
        let (
            list,
            transcript,
            models,
            opened,
            shares,
            listed_pages,
            projects,
            project_chats,
            shared_project,
            news,
        ) = futures::join!(
            rpc::conversations(None, false, None),
            transcript,
            rpc::models(),
            opened,
            sharing::shares(),
            rpc::listed_pages(),
            projects::projects(),
            project_chats,
            shared_project,
            personal::news(),
        );
        // After the list: the stream continues from the list's position and reports later changes.
        let unseen_reports = reports::unseen_reports().await;
        let personal = match route {
            Route::Settings(tab) if !tab.is_of_server() => load_personal().await,
            _ => None,
        };
        Self {
            now: browser::now(),
            list,
            transcript,
            models,
            projects,
            project_chats,
            shared_project,
            shares,
            listed_pages,
            unseen_reports: unseen_reports.unwrap_or_default(),
            opened,
            personal,
            // A page without them is better than none.
            news: news.ok().flatten(),
            person,
            form: FormIds::new(route),
        }
    }
}

/// The user's settings as JSON, if they can be read.
async fn load_personal() -> Option<RawJson> {
    let personal = personal::personal().await.ok()?;
    Some(RawJson::parse_or_quote(&serde_json::to_string(&personal).ok()?))
}

impl PageSnapshot {
    /// The snapshot of a reader's page: one conversation, and nothing of its owner.
    pub fn of_share(now: Timestamp, transcript: Transcript) -> Self {
        let route = Route::Conversation(transcript.conversation_id);
        Self {
            now,
            list: Ok(ConversationList {
                as_of: transcript.as_of,
                ..ConversationList::default()
            }),
            models: Ok(ModelList::default()),
            projects: Ok(ProjectList {
                as_of: transcript.as_of,
                ..ProjectList::default()
            }),
            transcript: Some(Ok(transcript)),
            project_chats: None,
            shared_project: None,
            shares: Ok(Vec::new()),
            listed_pages: Ok(Vec::new()),
            unseen_reports: Vec::new(),
            opened: None,
            personal: None,
            news: None,
            person: None,
            form: FormIds::new(route),
        }
    }
}

/// A conversation's newest messages, and those that the URL asks for.
async fn load_conversation(id: ConversationId, before: Option<MessageId>) -> Result<Transcript, ApiError> {
    let mut transcript = rpc::conversation(id, before).await?;
    if let Some(before) = before.filter(|before| transcript.earliest == Some(*before)) {
        transcript.prepend(rpc::older_messages(id, before).await?);
    }
    Ok(transcript)
}
