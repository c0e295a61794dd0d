//! The dialog with the text or the tables of a document, as models get them. Its code is loaded when one is first opened.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::texts;
use crate::{
    api::files::file_preview,
    columns::table_with_columns,
    components::{
        confirm::{close_dialog, use_modal},
        icon_button::IconButton,
        icons,
    },
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError},
        shared_view::is_read_only,
    },
    state::use_connection,
};
use parlor_protocol::{
    AttachmentId, FilePreview,
    columns::ColumnSource,
    file_preview::{ColumnPreview, TablePreview},
};

/// Loads the code of the dialog for one file on first use.
#[wasm_split(overlays, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(id: AttachmentId, name: String, is_open: RwSignal<bool>) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || dialog(name.clone(), is_open, file_view(id))))
}

fn dialog(name: String, is_open: RwSignal<bool>, content: AnyView) -> AnyView {
    let dialog = use_modal(|| true);
    let label = name.clone();
    view! {
        <dialog
            node_ref=dialog
            class="dialog diagnostics file-preview"
            aria-label=label
            on:close=move |_| is_open.set(false)
        >
            <div class="diagnostics-head">
                <h2 dir="auto">{name}</h2>
                {IconButton::new(texts::CLOSE, icons::close(), move || close_dialog(dialog)).view()}
            </div>
            // What is written in it belongs to the file. Without this form it would be in that of a draft's message, and send it.
            <form
                class="file-preview-form"
                on:submit=|event| {
                    event.prevent_default();
                    event.stop_propagation();
                }
            >
                {content}
            </form>
        </dialog>
    }
    .erase()
}

/// Loads a file and renders its text or tables.
fn file_view(id: AttachmentId) -> AnyView {
    let may_add_columns = !is_read_only();
    let connection = use_connection();
    let found = RwSignal::new(None::<Result<FilePreview, String>>);
    let load = move || {
        found.set(None);
        spawn_local(async move {
            let outcome = connection.call(file_preview(id)).await;
            // The dialog may be closed by now.
            found.try_set(Some(outcome.map_err(|error| error.message)));
        });
    };
    load();
    let shown = move || match found.get() {
        None => view! { <div class="notice notice-waiting" role="status">{texts::LOADING}</div> }.erase(),
        Some(Err(message)) => view! {
            <div class="notice" role="alert">
                <p>{message}</p>
                <button type="button" class="button" on:click=move |_| load()>{texts::TRY_AGAIN}</button>
            </div>
        }
        .erase(),
        // Only the rows of a single table have columns.
        Some(Ok(preview))
            if may_add_columns
                && preview.text.is_empty()
                && preview.tables.len() == 1
                && preview.omitted_tables == 0 =>
        {
            let plain = move || document(preview.clone());
            table_with_columns("file-grid", ColumnSource::File(id), false, plain)
        }
        Some(Ok(preview)) => document(preview),
    };
    shown.erase()
}

fn document(preview: FilePreview) -> AnyView {
    let FilePreview {
        text,
        tables,
        omitted_tables,
    } = preview;
    let text =
        (!text.is_empty()).then(|| view! { <pre class="file-preview-text" dir="auto">{text}</pre> }.erase());
    let tables: Vec<AnyView> = tables.into_iter().map(table).collect();
    let omitted = (omitted_tables > 0).then(|| {
        let note = texts::omitted_sheets(omitted_tables);
        view! { <p>{note}</p> }.erase()
    });
    view! {
        <div class="file-preview-content" tabindex="0" role="region" aria-label=texts::CONTENT>
            <p>{texts::CONTENT_HINT}</p>
            {text}
            {tables}
            {omitted}
        </div>
    }
    .erase()
}

fn table(table: TablePreview) -> AnyView {
    let summary = summary(&table);
    let TablePreview {
        name,
        columns,
        rows,
        notes,
        ..
    } = table;
    let notes: Vec<AnyView> = notes
        .into_iter()
        .map(|note| view! { <p>{note}</p> }.erase())
        .collect();
    let name = (!name.is_empty()).then(|| view! { <h3 dir="auto">{name}</h3> }.erase());
    let headings: Vec<AnyView> = columns.into_iter().map(heading).collect();
    let rows: Vec<AnyView> = rows.into_iter().map(row).collect();
    view! {
        <section>
            {name}
            <p>{summary}</p>
            {notes}
            <div class="file-preview-table">
                <table>
                    <thead><tr>{headings}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
    .erase()
}

/// Returns the size of a table, and how much of it is shown.
fn summary(table: &TablePreview) -> String {
    let shown = table.rows.len();
    let shown = (shown < table.row_count).then_some(shown);
    texts::table_summary(&table.counted_rows(), shown, table.omitted_columns)
}

fn heading(column: ColumnPreview) -> AnyView {
    view! {
        <th scope="col" dir="auto">
            {column.name}
            <span class="file-preview-kind">{column.kind}</span>
        </th>
    }
    .erase()
}

fn row(cells: Vec<String>) -> AnyView {
    let cells: Vec<AnyView> = cells
        .into_iter()
        .map(|cell| view! { <td dir="auto">{cell}</td> }.erase())
        .collect();
    view! { <tr>{cells}</tr> }.erase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run_in_page;
    use xss::assert_harmless_in;

    fn preview_of(text: &str) -> FilePreview {
        let column = ColumnPreview {
            name: text.into(),
            kind: text.into(),
        };
        FilePreview {
            text: text.into(),
            tables: vec![TablePreview {
                name: text.into(),
                columns: vec![column],
                rows: vec![vec![text.into()]],
                row_count: 7,
                has_more: true,
                omitted_columns: 2,
                notes: vec![text.into()],
            }],
            omitted_tables: 2,
        }
    }

    #[test]
    fn no_text_becomes_markup() {
        assert_harmless_in("a file's preview", |text| {
            run_in_page(|| dialog(text.into(), RwSignal::new(true), document(preview_of(text))))
        });
    }
}
