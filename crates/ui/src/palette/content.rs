//! The palette: a field, and below it what is found. Keyboard: ARIA APG, "Combobox" with a list that is always shown.

use leptos::{ev, prelude::*};

use super::{
    close_on_backdrop,
    entries::{self, Entry, Group},
    is_opening_key,
    ranking::{Found, Rank, fold, rank, select},
    text_search::{SearchState, TextSearch},
    texts,
};
use crate::{
    browser,
    commands::{keys, use_commands},
    components::{
        confirm::{close_dialog, use_modal},
        icon_button::IconButton,
        icons,
        listbox::Listbox,
    },
    runtime::{erase::Erase, when::When},
};
use parlor_protocol::{ConversationId, search::Snippet};

/// The field of the open palette.
const FIELD: &str = ".palette[open] input";

/// The state of the open palette.
#[derive(Clone, Copy)]
struct Palette {
    /// The folded query.
    query: RwSignal<String>,
    /// What the server finds.
    search: TextSearch,
    /// The shown entries in order.
    shown: Memo<Vec<Entry>>,
    /// The shown groups, with the number of their entries.
    groups: Memo<Vec<(Group, usize)>>,
    /// Their list, in which the key of a row is that of the entry.
    listbox: Listbox,
    /// The only conversation in which is searched.
    conversation_id: Option<ConversationId>,
}

impl Palette {
    fn new(conversation_id: Option<ConversationId>) -> Self {
        let query = RwSignal::new(String::new());
        let search = TextSearch::new(conversation_id);
        // Folding takes long, so it waits for no hits: these come with every key.
        let local = Memo::new(move |_| match conversation_id {
            Some(_) => Vec::new(),
            None => entries::local(),
        });
        let from_server = Memo::new(move |_| local.with(|local| entries::found(search, local)));
        let found: Memo<Vec<Found<Group>>> = Memo::new(move |_| {
            let query = query.get();
            let is_query = !query.trim().is_empty();
            let groups = match is_query {
                _ if conversation_id.is_some() => Group::OF_FIND,
                true => Group::OF_QUERY,
                false => Group::AT_FIRST,
            };
            local.with(|local| {
                let of_page = local.iter().map(|entry| (entry.group, rank(&entry.text, &query)));
                from_server.with(|from_server| {
                    // The server knows why.
                    let of_server = from_server
                        .iter()
                        .map(|entry| (entry.group, Some(Rank::Searched)));
                    select(of_page.chain(of_server), groups, |group| group.max(is_query))
                })
            })
        });
        let shown = Memo::new(move |_| {
            found.with(|found| {
                let places = found.iter().flat_map(|(_, places)| places);
                local.with(|local| {
                    from_server.with(|from_server| {
                        let entry = |place: &usize| match place.checked_sub(local.len()) {
                            Some(place) => from_server.get(place).cloned(),
                            None => local.get(*place).cloned(),
                        };
                        places.filter_map(entry).collect()
                    })
                })
            })
        });
        let groups = Memo::new(move |_| {
            found.with(|found| {
                let groups = found.iter().map(|(group, places)| (*group, places.len()));
                groups.collect()
            })
        });
        let rows = Memo::new(move |_| {
            let keys = |shown: &Vec<Entry>| shown.iter().map(|entry| entry.key.clone()).enumerate().collect();
            shown.with(keys)
        });
        Self {
            query,
            search,
            shown,
            groups,
            listbox: Listbox::new("palette", rows, None),
            conversation_id,
        }
    }

    fn is_query(self) -> bool {
        self.query.with(|query| !query.trim().is_empty())
    }

    /// The name of the field.
    fn label(self) -> &'static str {
        match self.conversation_id {
            Some(_) => texts::FIND,
            None => texts::SEARCH,
        }
    }

    /// The name of the dialog.
    fn name(self) -> &'static str {
        match self.conversation_id {
            Some(_) => texts::FIND,
            None => texts::DIALOG,
        }
    }
}

/// Shows the palette: for everything, or to find texts in a conversation.
pub fn palette(conversation_id: Option<ConversationId>) -> AnyView {
    let (dialog, commands) = (use_modal(|| true), use_commands());
    let palette = Palette::new(conversation_id);
    let opening = commands.opening();
    // What is on the page decides what an entry does, so its contexts are needed.
    let owner = Owner::current().unwrap_or_default();
    let choose = move |entry: Entry| {
        // The focus is where it was before the entry moves it.
        close_dialog(dialog);
        owner.with(|| untrack(|| entry.perform()));
        if let (Some(_), Some(place)) = (conversation_id, entry.place()) {
            palette.search.keep_places(place);
            // Enter goes on to the next place.
            browser::on_next_frame(|| browser::focus_selector(".found-next"));
        }
    };
    let choose_row = choose.clone();
    let listbox = palette.listbox;
    let on_key = move |event: ev::KeyboardEvent| {
        let perform = |key: String| {
            let shown = palette.shown.get_untracked();
            if let Some(entry) = shown.into_iter().find(|entry| entry.key == key) {
                choose(entry);
            }
        };
        if !listbox.press(&event, perform) && is_opening_key(&event) {
            close_dialog(dialog);
            event.prevent_default();
        }
    };
    let on_typed = move |typed: String| {
        palette.query.set(fold(&browser::decompose(&typed)));
        palette.search.search(typed);
    };
    let typed = commands.take_typed();
    if !typed.is_empty() {
        on_typed(typed.clone());
    }
    view! {
        <dialog
            node_ref=dialog
            class="dialog palette"
            aria-label=palette.name()
            on:click=move |event: ev::MouseEvent| close_on_backdrop(&event, dialog)
            on:close=move |_| commands.closed(opening)
        >
            <div class="palette-head">
                {icons::search()}
                {listbox.field(palette.label(), typed, NodeRef::new(), on_key, on_typed)}
                {IconButton::new(texts::CLOSE, icons::close(), move || close_dialog(dialog)).view()}
            </div>
            <div id=listbox.list_id() class="palette-list" role="listbox" aria-label=texts::FOUND tabindex="-1">
                {move || groups(palette, &choose_row)}
            </div>
            {notes(palette)}
        </dialog>
    }
    .erase()
}

/// The groups with their rows.
fn groups(palette: Palette, choose: &(impl Fn(Entry) + Clone + Send + 'static)) -> AnyView {
    let is_query = palette.is_query();
    let mut place = 0..;
    let mut shown = palette.shown.get().into_iter();
    let groups = palette.groups.get().into_iter().map(|(group, count)| {
        let rows: Vec<_> = shown
            .by_ref()
            .take(count)
            .zip(place.by_ref())
            .map(|(entry, place)| row(entry, place, palette.listbox, choose.clone()))
            .collect();
        let heading = group.heading(is_query);
        view! {
            <div role="group" aria-label=heading>
                <div class="palette-heading" aria-hidden="true">{heading}</div>
                {rows}
            </div>
        }
        .erase()
    });
    groups.collect::<Vec<_>>().into_any()
}

fn row(entry: Entry, place: usize, listbox: Listbox, choose: impl Fn(Entry) + Send + 'static) -> AnyView {
    let key = entry.key.clone();
    let is_active = Memo::new(move |_| listbox.is_active(&key));
    let Entry {
        name,
        detail,
        icon,
        shortcut,
        snippet,
        ..
    } = entry.clone();
    let is_text = snippet.is_some();
    view! {
        <div
            id=listbox.row_id(place)
            class="palette-row"
            class:palette-active=is_active
            class:palette-found=is_text
            role="option"
            aria-selected=move || is_active.get().to_string()
            on:click=move |_| choose(entry.clone())
        >
            {icon()}
            <span class="palette-name" dir="auto">{name}</span>
            {(!detail.is_empty()).then(|| view! { <span class="palette-detail">{detail}</span> })}
            {shortcut.map(keys)}
            {snippet.map(|(kind, snippet)| snippet_view(kind, &snippet))}
        </div>
    }
    .erase()
}

/// A part of a text with the found words marked.
fn snippet_view(kind: &'static str, snippet: &Snippet) -> AnyView {
    let mut parts = Vec::with_capacity(2 * snippet.marks.len() + 1);
    let mut from = 0;
    let part = |from: usize, to: usize| snippet.text.get(from..to).unwrap_or_default().to_owned();
    for (start, end) in &snippet.marks {
        let marked = part(*start, *end);
        parts.push(part(from, *start).into_any());
        parts.push(view! { <mark>{marked}</mark> }.erase());
        from = *end;
    }
    parts.push(part(from, snippet.text.len()).into_any());
    view! {
        <span class="palette-snippet" dir="auto"><span class="palette-kind">{kind}</span>{parts}</span>
    }
    .erase()
}

/// What is said besides the entries: their number, what is still missing, and how to search.
fn notes(palette: Palette) -> AnyView {
    let search = palette.search;
    let count = Memo::new(move |_| palette.shown.with(Vec::len));
    let said = move || match count.get() {
        0 if !palette.is_query() => texts::HOW_TO_SEARCH.to_owned(),
        0 if search.state() == SearchState::Loading => texts::SEARCHING.into(),
        0 => texts::NOTHING_FOUND.into(),
        count => texts::number_found(count, search.has_more()),
    };
    let indexing = move || {
        let percent = search.indexed_percent().filter(|_| palette.is_query());
        percent.map(|percent| {
            view! { <p class="palette-note palette-indexing">{texts::still_indexing(percent)}</p> }.erase()
        })
    };
    view! {
        <p class="palette-note" class:visually-hidden=move || { count.get() > 0 } role="status">{said}</p>
        <When when=move || search.state() == SearchState::Failed>
            <p class="palette-note" role="alert">
                {texts::FAILED}
                " "
                <button type="button" class="button button-quiet" on:click=move |_| search.load()>{texts::TRY_AGAIN}</button>
            </p>
        </When>
        <When when=move || search.has_more() && palette.is_query()>
            <div class="palette-more">
                <button
                    type="button"
                    class="button button-quiet"
                    aria-busy=move || (search.state() == SearchState::Loading).to_string()
                    on:click=move |_| {
                        search.more();
                        // The button may be gone with the last hits.
                        browser::focus_selector(FIELD);
                    }
                >
                    {texts::SHOW_MORE}
                </button>
            </div>
        </When>
        {indexing}
        <p class="palette-hints" aria-hidden="true">
            <span class="keys"><kbd>"↑"</kbd><kbd>"↓"</kbd>{texts::TO_MOVE}</span>
            <span class="keys"><kbd>"↵"</kbd>{texts::TO_OPEN}</span>
            <span class="keys"><kbd>{texts::KEY_ESCAPE}</kbd>{texts::TO_CLOSE}</span>
        </p>
    }
    .erase()
}
