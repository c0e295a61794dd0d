//! The entries of the palette: the commands, the pages, the models, the conversations, and what the server has found in texts.
//!
//! A further source adds its entries in [`local`]. One whose entries come later has them in a signal that a request fills, as
//! [`TextSearch`].

use leptos::prelude::*;

use super::{ranking::fold, text_search::TextSearch, texts};
use crate::{
    browser,
    commands::{Command, Shortcut, use_commands},
    components::icons,
    runtime::bidi::isolated,
    state::{
        FoundPlace, page_registry::use_page_registry, route::Route, settings_tab::SETTINGS_PATH,
        use_conversation_list, use_conversations, use_models, use_navigation, use_projects,
    },
};
use parlor_protocol::{
    ConversationId,
    search::{HitKind, SearchHit, Snippet},
};

/// The path of saved articles.
const ARTICLES: &str = "/literature/articles/";

/// A group of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Actions,
    Pages,
    Conversations,
    Texts,
    Models,
}

impl Group {
    /// The groups that are shown before anything is typed.
    pub const AT_FIRST: &[Self] = &[Self::Conversations, Self::Actions, Self::Pages];
    /// The groups of a query.
    pub const OF_QUERY: &[Self] = &[
        Self::Actions,
        Self::Pages,
        Self::Conversations,
        Self::Texts,
        Self::Models,
    ];
    /// The groups of a search in one conversation.
    pub const OF_FIND: &[Self] = &[Self::Texts];

    /// The maximum number of its entries, before something is typed or of a query.
    pub fn max(self, is_query: bool) -> usize {
        match self {
            // As many as the server was asked for.
            Self::Texts => usize::MAX,
            _ if is_query => 30,
            Self::Conversations => 5,
            _ => 8,
        }
    }

    /// Returns the heading above these entries.
    pub fn heading(self, is_query: bool) -> &'static str {
        match self {
            Self::Actions => texts::ACTIONS,
            Self::Pages => texts::PAGES,
            Self::Conversations if is_query => texts::CHATS,
            Self::Conversations => texts::RECENT_CHATS,
            Self::Texts => texts::IN_TEXTS,
            Self::Models => texts::MODELS,
        }
    }
}

/// The effect of an entry.
#[derive(Clone)]
enum Effect {
    Perform(Command),
    Go(String),
    Open(ConversationId),
    OpenAt(FoundPlace),
    UseModel(String),
}

/// An entry.
#[derive(Clone)]
pub struct Entry {
    /// Unique among the entries.
    pub key: String,
    pub group: Group,
    pub name: String,
    /// A few words behind the name.
    pub detail: String,
    pub icon: fn() -> AnyView,
    pub shortcut: Option<Shortcut>,
    /// The folded text in which a query is searched.
    pub text: String,
    /// The part of a text that the server has found, with what it is.
    pub snippet: Option<(&'static str, Snippet)>,
    effect: Effect,
}

/// Entries with the same key look the same if their texts do.
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
            && self.name == other.name
            && self.detail == other.detail
            && self.snippet == other.snippet
    }
}

impl Entry {
    fn new(group: Group, key: &str, name: &str, words: &str, icon: fn() -> AnyView, effect: Effect) -> Self {
        let text = [name, " ", words].concat();
        Self {
            key: [group.heading(true), " ", key].concat(),
            group,
            name: name.into(),
            detail: String::new(),
            icon,
            shortcut: None,
            text: fold(&browser::decompose(&text)),
            snippet: None,
            effect,
        }
    }

    fn conversation(id: ConversationId, title: &str) -> Self {
        let group = Group::Conversations;
        Self::new(group, &id.to_string(), title, "", icons::chat, Effect::Open(id))
    }

    /// The place in a conversation that it opens.
    pub fn place(&self) -> Option<&FoundPlace> {
        match &self.effect {
            Effect::OpenAt(place) => Some(place),
            Effect::Perform(_) | Effect::Go(_) | Effect::Open(_) | Effect::UseModel(_) => None,
        }
    }

    /// Does what the entry says. The palette is closed by then.
    pub fn perform(&self) {
        let navigation = use_navigation();
        match &self.effect {
            Effect::Perform(command) => command.perform(),
            Effect::Go(url) => navigation.set_url(url.clone(), false),
            Effect::Open(id) => {
                navigation.set_url(Route::Conversation(*id).path(), false);
                if browser::has_hardware_keyboard() {
                    // The box may be hidden until the next frame.
                    browser::on_next_frame(|| browser::focus_selector("#message"));
                }
            }
            Effect::OpenAt(place) => use_conversations().open_at(place.clone()),
            Effect::UseModel(id) => use_models().choose(id.clone()),
        }
    }
}

/// The entries of what the page has, the recent conversations first. Tracked.
pub fn local() -> Vec<Entry> {
    let mut entries = commands();
    entries.extend(pages());
    entries.extend(projects());
    entries.extend(conversations());
    entries.extend(models());
    entries
}

/// What the server has found, without the titles that `known` has. Tracked.
pub fn found(search: TextSearch, known: &[Entry]) -> Vec<Entry> {
    search.with(|hits| {
        let entries = hits
            .iter()
            .enumerate()
            .filter_map(|(place, hit)| found_entry(place, hit, search.is_in_one_chat()));
        let mut found: Vec<Entry> = Vec::with_capacity(hits.len());
        for entry in entries {
            if known.iter().chain(&found).all(|known| known.key != entry.key) {
                found.push(entry);
            }
        }
        found
    })
}

fn found_entry(place: usize, hit: &SearchHit, is_in_one_chat: bool) -> Option<Entry> {
    let icon: fn() -> AnyView = match hit.kind {
        HitKind::Title | HitKind::Question | HitKind::Answer => icons::chat,
        HitKind::Tool => icons::wrench,
        HitKind::File => icons::page,
        HitKind::Article => icons::book,
    };
    // The beginning of a chat is often its title, which says nothing in the chat itself.
    let is_title =
        hit.message_id.is_none() || (hit.kind == HitKind::Question && hit.snippet.text == hit.title);
    let is_title = is_title && !is_in_one_chat;
    let effect = match (hit.conversation_id, hit.message_id) {
        (Some(id), _) if is_title => return Some(Entry::conversation(id, &hit.title)),
        (Some(_), _) => Effect::OpenAt(FoundPlace::of_hit(hit)?),
        (None, _) => Effect::Go(match hit.project_id {
            Some(id) => Route::Project(id).path(),
            None => [ARTICLES, hit.pmid.as_deref()?].concat(),
        }),
    };
    let name = texts::hit_name(hit.kind);
    let detail = [Some(browser::local_time(hit.created_at)), hit.file_name.clone()];
    let detail: Vec<String> = detail.into_iter().flatten().collect();
    Some(Entry {
        detail: detail.join(" · "),
        snippet: Some((name, hit.snippet.clone())),
        // The same message may be found by its text and by a tool's result.
        ..Entry::new(Group::Texts, &place.to_string(), &hit.title, "", icon, effect)
    })
}

fn commands() -> Vec<Entry> {
    let entry = |command: Command| Entry {
        shortcut: command.shortcut,
        ..Entry::new(
            Group::Actions,
            command.name,
            command.name,
            command.words,
            command.icon,
            Effect::Perform(command),
        )
    };
    use_commands().possible().into_iter().map(entry).collect()
}

fn pages() -> Vec<Entry> {
    let page = |name: &str, words: &str, icon, path: String| {
        Entry::new(Group::Pages, &path.clone(), name, words, icon, Effect::Go(path))
    };
    let registered = use_page_registry().pages.iter();
    let mut pages: Vec<Entry> = registered
        .filter(|entry| entry.parent.is_none())
        .map(|entry| page(entry.info.title, "page", entry.icon, entry.info.path.into()))
        .collect();
    let sections = "preferences instructions memories API tokens";
    pages.push(page(texts::SETTINGS, sections, icons::gear, SETTINGS_PATH.into()));
    pages
}

/// The user's projects, and those of others that the user may read.
fn projects() -> Vec<Entry> {
    let entry = |route: Route, name: &str, detail: String| {
        let path = route.path();
        let effect = Effect::Go(path.clone());
        Entry {
            detail,
            ..Entry::new(Group::Pages, &path, name, "project", icons::folder, effect)
        }
    };
    use_projects().with(|list| {
        let own = list.projects.iter().map(|listed| {
            entry(
                Route::Project(listed.id),
                &listed.project.name,
                texts::PROJECT.into(),
            )
        });
        let shared = list.shared.iter().map(|shared| {
            let route = Route::SharedProject(shared.id);
            entry(route, &shared.name, texts::project_of(&isolated(&shared.owner)))
        });
        own.chain(shared).collect()
    })
}

fn conversations() -> Vec<Entry> {
    use_conversation_list().with_rows(|rows| {
        let entry = |row: &crate::state::ListRow| row.title.with(|title| Entry::conversation(row.id, title));
        rows.iter().map(entry).collect()
    })
}

fn models() -> Vec<Entry> {
    let models = use_models();
    let current = models.current();
    models.with_list(|list| {
        let entry = |model: &parlor_protocol::model_list::ModelInfo| {
            let detail = match current.as_ref() == Some(&model.id) {
                true => texts::IN_USE.into(),
                false => model.endpoint.clone(),
            };
            let words = [&model.id, " use switch model"].concat();
            let effect = Effect::UseModel(model.id.clone());
            Entry {
                detail,
                ..Entry::new(Group::Models, &model.id, &model.name, &words, icons::bulb, effect)
            }
        };
        list.models.iter().map(entry).collect()
    })
}
