//! The attached files with tables, each with its conversation, in which it can be queried.

use leptos::prelude::*;

use super::{catalogue::listed_columns, texts};
use crate::{files::preview_button, runtime::erase::Erase, state::route::Route};
use parlor_protocol::{
    data::{DataCatalogue, FileEntry, TableEntry},
    number_format::format_size,
};

/// The section of the files that match; `None` without any.
pub fn files_section(catalogue: &DataCatalogue, words: &str) -> Option<AnyView> {
    let entries: Vec<AnyView> = catalogue
        .files
        .iter()
        .filter(|file| file.matches(words))
        .map(file_entry)
        .collect();
    if entries.is_empty() {
        return None;
    }
    let more = catalogue.has_more_files.then(|| {
        view! { <p class="data-note">{texts::OLDER_FILES}</p> }
    });
    let view = view! {
        <section class="data-database">
            <h2>{texts::ATTACHED_FILES}</h2>
            <p class="data-note">{texts::ATTACHED_FILES_HINT}</p>
            <ul class="data-tables">{entries}</ul>
            {more}
        </section>
    };
    Some(view.erase())
}

fn file_entry(entry: &FileEntry) -> AnyView {
    let FileEntry {
        file,
        conversation_id,
        title,
        tables,
    } = entry;
    let place = texts::file_place(title, &format_size(file.bytes));
    let tables: Vec<AnyView> = tables.iter().map(table_line).collect();
    view! {
        <li>
            <span class="data-file">
                <a href=Route::Conversation(*conversation_id).path() dir="auto">{file.name.clone()}</a>
                {preview_button(file)}
            </span>
            <p class="data-note" dir="auto">{place}</p>
            {tables}
        </li>
    }
    .erase()
}

fn table_line(table: &TableEntry) -> AnyView {
    let line = texts::table_of_file(&table.name, &table.about, &listed_columns(table));
    view! { <p class="data-columns" dir="auto">{line}</p> }.erase()
}
