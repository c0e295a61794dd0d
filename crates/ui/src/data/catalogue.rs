//! The catalogue: databases, their subjects, the tables of these, and those of attached files, with a search.

use leptos::{prelude::*, web_sys};

use super::{files, load_error, state::DataState, texts};
use crate::{browser, runtime::erase::Erase, state::remote::Remote};
use parlor_protocol::{
    data::{self, DATA_PATH, DataLocation, DatabaseEntry, SubjectEntry, TableEntry},
    number_format::group_digits,
};

/// The number of tables shown at first.
const MAX_INITIAL_TABLES: usize = 200;
/// The number of a table's columns that are listed.
const MAX_LISTED_COLUMNS: usize = 12;

pub fn catalogue_view(state: DataState) -> AnyView {
    let body = move || {
        state.catalogue.with(|catalogue| match catalogue {
            Remote::NotRequested | Remote::Loading => {
                view! { <p class="notice-waiting" role="status">{texts::READING_CATALOGUE}</p> }.erase()
            }
            Remote::Failed(error) => load_error(texts::CATALOGUE_FAILED, error, move || {
                state.load_catalogue();
            }),
            Remote::Ready(catalogue) if catalogue.databases.is_empty() && catalogue.files.is_empty() => {
                how_to_try()
            }
            Remote::Ready(catalogue) => {
                let title = catalogue.title.clone();
                // The header says the page's own title already.
                let class = (title == data::PAGE.title).then_some("visually-hidden");
                view! {
                    <h2 class=class dir="auto">{title}</h2>
                    {searchable_list(state)}
                }
                .erase()
            }
        })
    };
    body.erase()
}

/// The card of a server without databases.
fn how_to_try() -> AnyView {
    view! {
        <section class="data-empty data-card">
            <h2>{texts::NO_DATABASE_TITLE}</h2>
            <p>{texts::NO_DATABASE}</p>
            <p>{texts::ATTACH_A_FILE}</p>
            <p>{texts::ADD_DATABASE}</p>
            <pre><code>{texts::DATABASE_EXAMPLE}</code></pre>
            <p>{texts::SUPPORTED_DATABASES} <code>{texts::SAMPLE_COMMAND}</code> {texts::SAMPLE_COMMAND_MEANING}</p>
        </section>
    }
    .erase()
}

fn searchable_list(state: DataState) -> AnyView {
    let words = Memo::new(move |_| state.location.with(|location| location.query.clone()));
    let show_all = RwSignal::new(false);
    // In the URL, so that the chat's context includes it, and a reload keeps it.
    let filter = move |event: web_sys::Event| {
        let to = DataLocation {
            query: event_target_value(&event),
            table: None,
        };
        state.navigation.set_url(to.to_url(), true);
    };
    let counts = Memo::new(move |_| {
        words.with(|words| {
            state.with_catalogue(|catalogue| {
                let of_databases = catalogue.databases.iter().flat_map(tables);
                let of_databases = of_databases.map(|(subject, table)| table.matches(&subject.name, words));
                let of_files = catalogue.files.iter().map(|file| file.matches(words));
                of_databases
                    .chain(of_files)
                    .fold((0, 0), |(found, total), matches| {
                        (found + usize::from(matches), total + 1)
                    })
            })
        })
    });
    let count = move || {
        let (found, total): (usize, usize) = counts.get();
        let total = texts::tables(&group_digits(total as u64), total == 1);
        match words.with(String::is_empty) {
            true => total,
            false => texts::found_tables(&group_digits(found as u64), &total),
        }
    };
    let list = move || {
        let mut room = if show_all.get() {
            usize::MAX
        } else {
            MAX_INITIAL_TABLES
        };
        words.with(|words| {
            state.with_catalogue(|catalogue| {
                let has_many = catalogue.databases.len() > 1;
                let shown = catalogue.databases.iter();
                let shown = shown.map(|database| database_section(database, has_many, words, &mut room));
                let databases: Vec<AnyView> = shown.collect();
                view! { {databases} {files::files_section(catalogue, words)} }.erase()
            })
        })
    };
    let more = move || {
        (!show_all.get() && counts.get().0 > MAX_INITIAL_TABLES).then(|| {
            view! { <button type="button" class="button needs-script" on:click=move |_| {
                show_all.set(true);
                // The button is removed.
                browser::focus_selector("#data");
            }>{texts::SHOW_ALL}</button> }
        })
    };
    let nothing = move || {
        (counts.get().0 == 0 && !words.with(String::is_empty)).then(|| {
            view! { <p class="data-note">{texts::NOTHING_FOUND}</p> }
        })
    };
    view! {
        <form
            class="search-box"
            role="search"
            method="get"
            action=DATA_PATH
            on:submit=|event| event.prevent_default()
        >
            <input
                type="search"
                name="q"
                aria-label=texts::SEARCH
                placeholder=texts::SEARCH
                autocomplete="off"
                dir="auto"
                value=words.get_untracked()
                prop:value=move || words.get()
                on:input=filter
            />
        </form>
        <p class="data-note" role="status">{count}</p>
        {list}
        {nothing}
        {more}
    }
    .erase()
}

fn tables(database: &DatabaseEntry) -> impl Iterator<Item = (&SubjectEntry, &TableEntry)> {
    let subjects = database.subjects.iter();
    subjects.flat_map(|subject| subject.tables.iter().map(move |table| (subject, table)))
}

/// A database with its subjects. It has a heading if there are several databases.
fn database_section(database: &DatabaseEntry, has_heading: bool, words: &str, room: &mut usize) -> AnyView {
    let heading = has_heading.then(|| {
        view! { <h2 dir="auto">{database.name.clone()} <span class="data-note">{database.dialect.clone()}</span></h2> }
    });
    let problem = database.problem.clone().map(|problem| {
        view! {
            <p class="data-problem" role="alert">
                {texts::database_unreadable(&database.name)} {problem}
            </p>
        }
    });
    let is_empty = database.problem.is_none() && tables(database).next().is_none();
    let empty = is_empty.then(|| view! { <p class="data-note">{texts::DATABASE_EMPTY}</p> });
    let subjects: Vec<AnyView> = database
        .subjects
        .iter()
        .filter_map(|subject| subject_section(database, subject, words, room))
        .collect();
    view! {
        <section class="data-database">
            {heading}
            {problem}
            {empty}
            {subjects}
        </section>
    }
    .erase()
}

/// A subject with its matching tables; `None` without any.
fn subject_section(
    database: &DatabaseEntry,
    subject: &SubjectEntry,
    words: &str,
    room: &mut usize,
) -> Option<AnyView> {
    let matching = subject
        .tables
        .iter()
        .filter(|table| table.matches(&subject.name, words));
    let entries: Vec<AnyView> = matching
        .take(*room)
        .map(|table| table_entry(&database.name, table, words))
        .collect();
    *room -= entries.len();
    if entries.is_empty() {
        return None;
    }
    let about = (!subject.about.is_empty()).then(|| {
        view! { <p class="data-about" dir="auto">{subject.about.clone()}</p> }
    });
    let view = view! {
        <section class="data-subject">
            <h3 dir="auto">{subject.name.clone()}</h3>
            {about}
            <ul class="data-tables">{entries}</ul>
        </section>
    };
    Some(view.erase())
}

/// Returns the names of a table's columns, the first of them if there are many.
pub(super) fn listed_columns(table: &TableEntry) -> String {
    let mut columns = table.columns[..table.columns.len().min(MAX_LISTED_COLUMNS)].join(", ");
    if table.columns.len() > MAX_LISTED_COLUMNS {
        columns.push_str(", …");
    }
    columns
}

fn table_entry(database: &str, table: &TableEntry, words: &str) -> AnyView {
    let to = DataLocation {
        query: words.to_owned(),
        ..DataLocation::of_table(database, &table.name)
    };
    let first = table.about.lines().next().unwrap_or_default().to_owned();
    let about = (!first.is_empty()).then(|| view! { <p dir="auto">{first}</p> });
    let columns = listed_columns(table);
    view! {
        <li>
            <a href=to.to_url() dir="auto">{table.name.clone()}</a>
            {about}
            <p class="data-columns" dir="auto">{columns}</p>
        </li>
    }
    .erase()
}
