//! Pages with given texts in all places.
//!
//! - [`conversation`]: a conversation with every kind of content
//! - [`data`], [`literature`], [`reports`], [`schedules`], [`settings`]: the data of those pages
//! - [`shared`]: a shared conversation

mod conversation;
mod data;
mod literature;
mod reports;
mod schedules;
mod settings;
mod shared;

pub use self::{conversation::conversation, shared::shared_page};
use crate::state::{
    person::Person,
    route::Route,
    settings_tab::SettingsTab,
    snapshot::{FormIds, PageSnapshot},
};
use parlor_protocol::{
    ApiError, Attachment, AttachmentId, ConversationId, ConversationList, ErrorCode, ListedConversation,
    ListedProject, ModelCapabilities, News, Position, Project, ProjectColour, ProjectId, ProjectList,
    RawJson, RunError, SharedChat, SharedProject, SharedProjectContent, Timestamp,
    data::DataPageData,
    literature::LiteraturePageData,
    model_list::{ModelInfo, ModelList},
    schedule::{ScheduleList, ScheduleLocation},
};
use uuid::Uuid;

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

/// A page without a conversation.
pub fn page(other: &str) -> PageSnapshot {
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
            can_connect: true,
            can_bring_keys: true,
        }),
        projects: Ok(ProjectList {
            as_of: Position(0),
            projects: vec![project(other)],
            limit: 1,
            shared: vec![shared_project(other)],
        }),
        project_chats: None,
        shared_project: None,
        shares: Ok(Vec::new()),
        listed_pages: Ok(vec![other.into()]),
        unseen_reports: Vec::new(),
        opened: None,
        personal: None,
        news: Some(News {
            version: other.into(),
            items: vec![other.into()],
        }),
        person: Some(Person {
            name: other.into(),
            is_administrator: true,
            has_session: true,
            has_password: true,
            may_bring_keys: true,
        }),
        form: FormIds {
            intent_id: Default::default(),
            conversation_id: Default::default(),
            message_id: Default::default(),
            begins: false,
            project_id: None,
        },
    }
}

/// The project on all pages.
const PROJECT: ProjectId = ProjectId(Uuid::from_u128(7));

fn project(text: &str) -> ListedProject {
    ListedProject {
        id: PROJECT,
        project: Project {
            name: text.into(),
            instructions: text.into(),
            model: Some(text.into()),
            ..Project::default()
        },
        conversations: 1,
        files: 2,
        readers: 3,
    }
}

fn shared_project(text: &str) -> SharedProject {
    SharedProject {
        id: PROJECT,
        name: text.into(),
        colour: ProjectColour::Green,
        owner: text.into(),
    }
}

/// The page of a project of another person.
fn shared_project_page(text: &str) -> PageSnapshot {
    let file = Attachment {
        id: AttachmentId::new(),
        name: text.into(),
        media_type: text.into(),
        bytes: 1,
        width: None,
        height: None,
        text_bytes: None,
        problem: None,
    };
    let content = SharedProjectContent {
        as_of: Position(0),
        project: shared_project(text),
        instructions: text.into(),
        files: vec![file],
        conversations: vec![SharedChat {
            id: ConversationId::new(),
            title: text.into(),
            updated_at: NOW,
        }],
        next: Some(text.into()),
    };
    PageSnapshot {
        shared_project: Some(Ok(content)),
        ..page(text)
    }
}

/// The page of the project, with a conversation that the list has, too.
fn project_page(text: &str) -> PageSnapshot {
    let listed = ListedConversation {
        id: ConversationId::new(),
        title: text.into(),
        updated_at: NOW,
        activity: Position(9),
        active_run: None,
        waiting: false,
        unseen: false,
        pinned: false,
        archived: false,
        temporary: false,
        project_id: Some(PROJECT),
    };
    let list = ConversationList {
        as_of: Position(9),
        conversations: vec![listed],
        ..ConversationList::default()
    };
    PageSnapshot {
        project_chats: Some(Ok(ConversationList {
            project_id: Some(PROJECT),
            ..list.clone()
        })),
        list: Ok(list),
        ..page(text)
    }
}

fn problem(text: &str) -> RunError {
    RunError {
        code: text.into(),
        message: text.into(),
        hint: text.into(),
    }
}

/// A page that is made when it is needed, and its URL.
pub struct OtherPage<'a> {
    make: Box<dyn Fn() -> PageSnapshot + 'a>,
    pub url: String,
}

impl<'a> OtherPage<'a> {
    fn new(url: impl Into<String>, make: impl Fn() -> PageSnapshot + 'a) -> Self {
        Self {
            make: Box::new(make),
            url: url.into(),
        }
    }

    /// Of a registered page with its data.
    fn opened<T: serde::Serialize>(text: &'a str, url: impl Into<String>, data: impl Fn() -> T + 'a) -> Self {
        Self::new(url, move || PageSnapshot {
            opened: Some(json(&data())),
            ..page(text)
        })
    }

    pub fn make(&self) -> PageSnapshot {
        (self.make)()
    }
}

/// Returns true if a text is tried on one of the [`other_pages`], by the numbers of both. Each is on every fourth; the seed says on which.
pub fn is_tried(seed: u64, text: usize, page: usize) -> bool {
    (seed % 4) as usize == (text + page) % 4
}

/// The other pages with a user's texts in them: the settings, the literature, and errors.
pub fn other_pages(text: &str) -> Vec<OtherPage<'_>> {
    let error = move || ApiError::new(ErrorCode::Unavailable, text);
    let id = ConversationId::new();
    let failed = move || PageSnapshot {
        list: Err(error()),
        transcript: Some(Err(error())),
        models: Err(error()),
        ..page(text)
    };
    let settings = move || PageSnapshot {
        personal: Some(json(&settings::personal(text))),
        ..page(text)
    };
    let general = Route::Settings(SettingsTab::General).path();
    let mut pages = vec![
        OtherPage::new(Route::Conversation(id).path(), failed),
        OtherPage::new(general, settings),
        OtherPage::new(Route::New.path(), move || page(text)),
        OtherPage::new(Route::Project(PROJECT).path(), move || project_page(text)),
        OtherPage::new(Route::Project(ProjectId::new()).path(), move || page(text)),
        OtherPage::new(Route::SharedProject(PROJECT).path(), move || {
            shared_project_page(text)
        }),
    ];
    let edit = format!("/stream/{}", literature::STREAM_ID);
    for url in [
        "/literature",
        "/literature/saved",
        "/literature/saved?view=table",
        "/literature/streams",
        "/literature/articles/11",
        "/literature/articles/11?quote=Not+there",
        "/streams",
        &edit,
        "/stream/new",
    ] {
        pages.push(OtherPage::opened(text, url, move || literature::opened(text)));
    }
    for url in ["/literature/articles/11?q=tea", "/streams", &edit] {
        let refused = move || LiteraturePageData {
            library: Err(error()),
            found: Some(Err(error())),
            article: Some(Err(error())),
        };
        pages.push(OtherPage::opened(text, url, refused));
    }
    for (url, has_table, has_failed) in [
        ("/data", false, false),
        ("/data/town/jobs", true, false),
        ("/data/town/jobs?q=tea", true, true),
    ] {
        let data = move || DataPageData {
            catalogue: data::catalogue(text),
            table: has_table.then(|| match has_failed {
                true => Err(error()),
                false => Ok(data::table(text)),
            }),
        };
        pages.push(OtherPage::opened(text, url, data));
    }
    for (opened, location) in reports::pages(text) {
        pages.push(OtherPage::opened(text, location.to_url(), move || opened.clone()));
    }
    let list = schedules::list(text);
    let switched_off = ScheduleList {
        limit: 0,
        ..list.clone()
    };
    let edit = ScheduleLocation::Edit(list.schedules[0].id);
    for (list, location) in [
        (&list, ScheduleLocation::List),
        (&list, ScheduleLocation::New),
        (&list, edit),
        (&switched_off, ScheduleLocation::List),
        (&switched_off, ScheduleLocation::New),
    ] {
        let list = list.clone();
        pages.push(OtherPage::opened(text, location.to_url(), move || list.clone()));
    }
    pages
}

fn json(value: &impl serde::Serialize) -> RawJson {
    RawJson::parse_or_quote(&serde_json::to_string(value).expect("it can be written"))
}
