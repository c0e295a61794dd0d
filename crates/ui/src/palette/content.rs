//! The palette: a field, and below it what is found. Keyboard: ARIA APG, "Combobox" with a list that is always shown.

use leptos::{ev, prelude::*};

use super::{
    close_on_backdrop,
    entries::{self, Entry, Group},
    older_titles::{OlderSearch, OlderTitles},
    ranking::{Found, fold, rank, select},
};
use crate::{
    browser,
    commands::{CommandDialog, Shortcut, keys, use_commands},
    components::{
        confirm::{close_dialog, use_modal},
        icon_button::IconButton,
        icons,
    },
    runtime::{
        effect::effect,
        erase::Erase,
        roving::{AtEnd, Move},
        when::When,
    },
};

/// The state of the open palette.
#[derive(Clone, Copy)]
struct Palette {
    /// The folded query.
    query: RwSignal<String>,
    entries: Memo<Vec<Entry>>,
    /// The shown entries by group, as positions in `entries`.
    found: Memo<Vec<Found<Group>>>,
    /// The key of the entry that Enter chooses, once the user has moved.
    chosen: RwSignal<Option<String>>,
}

impl Palette {
    fn new(older: OlderTitles) -> Self {
        let query = RwSignal::new(String::new());
        let entries = Memo::new(move |_| entries::all(older));
        let found = Memo::new(move |_| {
            let query = query.get();
            let is_query = !query.trim().is_empty();
            let groups = if is_query {
                Group::OF_QUERY
            } else {
                Group::AT_FIRST
            };
            entries.with(|entries| {
                let ranked = entries
                    .iter()
                    .map(|entry| (entry.group, rank(&entry.text, &query)));
                select(ranked, groups, |group| group.max(is_query))
            })
        });
        Self {
            query,
            entries,
            found,
            chosen: RwSignal::new(None),
        }
    }

    fn is_query(self) -> bool {
        self.query.with(|query| !query.trim().is_empty())
    }

    /// The shown entries in order. Tracked.
    fn shown(self) -> Vec<Entry> {
        self.found.with(|found| {
            let places = found.iter().flat_map(|(_, places)| places);
            self.entries
                .with(|entries| places.filter_map(|place| entries.get(*place).cloned()).collect())
        })
    }

    /// The position of the active entry among the shown ones: the chosen one, or the first. Tracked.
    fn active(self) -> Option<usize> {
        let chosen = self.chosen.get();
        let shown = self.shown();
        let place = shown.iter().position(|entry| Some(&entry.key) == chosen.as_ref());
        place.or((!shown.is_empty()).then_some(0))
    }

    fn move_active(self, to: Move) {
        let shown = untrack(|| self.shown());
        let from = untrack(|| self.active());
        let next = to.target(from, shown.len(), AtEnd::Wrap);
        let Some((place, entry)) = next.and_then(|next| Some((next, shown.get(next)?))) else {
            return;
        };
        self.chosen.set(Some(entry.key.clone()));
        if let Some(row) = browser::element_by_id(&row_id(place)) {
            browser::scroll_into_view(&row);
        }
    }
}

/// The id of a row, by which the field names the active one.
fn row_id(place: usize) -> String {
    ["found-", &place.to_string()].concat()
}

/// Shows the palette.
pub fn palette() -> AnyView {
    let (dialog, commands) = (use_modal(|| true), use_commands());
    let older = OlderTitles::new();
    let palette = Palette::new(older);
    // What is on the page decides what an entry does, so its contexts are needed.
    let owner = Owner::current().unwrap_or_default();
    let choose = move |entry: Option<Entry>| {
        if let Some(entry) = entry {
            // The focus is where it was before the entry moves it.
            close_dialog(dialog);
            owner.with(|| untrack(|| entry.perform()));
        }
    };
    let choose_active = choose.clone();
    let on_key = move |event: ev::KeyboardEvent| {
        if browser::is_composing(&event) {
            return;
        }
        let key = event.key();
        if let Some(to) = Move::from_arrow(&key) {
            palette.move_active(to);
        } else if key == "Enter" {
            let active = untrack(|| {
                palette
                    .active()
                    .and_then(|place| palette.shown().into_iter().nth(place))
            });
            choose_active(active);
        } else if Shortcut::Search.is_pressed(&event) {
            close_dialog(dialog);
        } else {
            return;
        }
        event.prevent_default();
    };
    effect(move || {
        if palette.is_query() {
            untrack(|| older.load());
        }
    });
    let active = Memo::new(move |_| palette.active());
    view! {
        <dialog
            node_ref=dialog
            class="dialog palette"
            aria-label="Search"
            on:click=move |event: ev::MouseEvent| close_on_backdrop(&event, dialog)
            on:close=move |_| commands.closed(CommandDialog::Search)
        >
            <div class="palette-head">
                {icons::search()}
                <input
                    type="text"
                    role="combobox"
                    autofocus
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    enterkeyhint="go"
                    placeholder="Search chats and actions"
                    aria-label="Search chats and actions"
                    aria-expanded="true"
                    aria-autocomplete="list"
                    aria-controls="palette-list"
                    aria-activedescendant=move || active.get().map(row_id)
                    on:keydown=on_key
                    on:input=move |event| {
                        palette.query.set(fold(&browser::decompose(&event_target_value(&event))));
                        // Enter takes the best match.
                        palette.chosen.set(None);
                    }
                />
                {IconButton::new("Close", icons::close(), move || close_dialog(dialog)).view()}
            </div>
            <div id="palette-list" class="palette-list" role="listbox" aria-label="Found" tabindex="-1">
                {move || groups(palette, active, &choose)}
            </div>
            {notes(palette, older)}
        </dialog>
    }
    .erase()
}

/// The groups with their rows.
fn groups(
    palette: Palette,
    active: Memo<Option<usize>>,
    choose: &(impl Fn(Option<Entry>) + Clone + Send + 'static),
) -> AnyView {
    let is_query = palette.is_query();
    let mut place = 0..;
    let mut shown = palette.shown().into_iter();
    let groups = palette.found.get().into_iter().map(|(group, places)| {
        let rows: Vec<_> = shown
            .by_ref()
            .take(places.len())
            .zip(place.by_ref())
            .map(|(entry, place)| row(entry, place, active, choose.clone()))
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

fn row(
    entry: Entry,
    place: usize,
    active: Memo<Option<usize>>,
    choose: impl Fn(Option<Entry>) + Send + 'static,
) -> AnyView {
    let is_active = Memo::new(move |_| active.get() == Some(place));
    let Entry {
        name,
        detail,
        icon,
        shortcut,
        ..
    } = entry.clone();
    view! {
        <div
            id=row_id(place)
            class="palette-row"
            class:palette-active=is_active
            role="option"
            aria-selected=move || is_active.get().to_string()
            on:click=move |_| choose(Some(entry.clone()))
        >
            {icon()}
            <span class="palette-name" dir="auto">{name}</span>
            {(!detail.is_empty()).then(|| view! { <span class="palette-detail">{detail}</span> })}
            {shortcut.map(keys)}
        </div>
    }
    .erase()
}

/// What is said besides the entries: their number, and what is still missing.
fn notes(palette: Palette, older: OlderTitles) -> AnyView {
    let count = Memo::new(move |_| {
        palette
            .found
            .with(|found| found.iter().map(|(_, places)| places.len()).sum())
    });
    let is_loading = move || older.search() == OlderSearch::Loading;
    let said = move || match count.get() {
        0 if is_loading() => "Searching older chats…".to_owned(),
        0 => "Nothing is called like this.".into(),
        1 => "1 found".into(),
        count => [&usize::to_string(&count), " found"].concat(),
    };
    view! {
        <p class="palette-note" class:visually-hidden=move || { count.get() > 0 } role="status">{said}</p>
        <When when=move || older.search() == OlderSearch::Failed>
            <p class="palette-note" role="alert">"Older chats could not be searched."</p>
        </When>
        <p class="palette-hints" aria-hidden="true">
            <span class="keys"><kbd>"↑"</kbd><kbd>"↓"</kbd>"to move"</span>
            <span class="keys"><kbd>"↵"</kbd>"to open"</span>
            <span class="keys"><kbd>"Esc"</kbd>"to close"</span>
        </p>
    }
    .erase()
}
