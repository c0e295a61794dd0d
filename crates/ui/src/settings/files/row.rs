//! A file of the list, with the places where it is used.

use leptos::prelude::*;

use super::{state::FilesState, texts};
use crate::{
    components::{icon_button::IconButton, icons, time::Time},
    files::preview_button,
    runtime::erase::Erase,
    state::route::Route,
};
use parlor_protocol::{
    FileUse, FileUseState, ListedFile, attachment::AttachmentDisplay, number_format::format_size,
};

/// The row of a file. `delete` asks for its deletion.
pub fn row(
    state: FilesState,
    listed: ListedFile,
    delete: impl Fn(ListedFile) + Send + Sync + 'static,
) -> AnyView {
    let file = listed.file.clone();
    let (id, url, name) = (file.id, file.url(), file.name.clone());
    let opens_here = AttachmentDisplay::for_media_type(&file.media_type) == AttachmentDisplay::Image;
    let icon = match opens_here {
        true => view! { <img src=url.clone() alt="" loading="lazy"/> }.erase(),
        false => icons::page(),
    };
    let is_chosen = move || state.chosen.with(|chosen| chosen.contains(&id));
    let choose = move |event| state.choose(id, event_target_checked(&event));
    let uses = listed.uses.iter().map(place).collect::<Vec<_>>();
    let more = (listed.more_uses > 0).then(|| texts::more_places(listed.more_uses));
    let created_at = listed.created_at;
    let (label, delete_label) = (texts::choose(&name), texts::delete(&name));
    view! {
        <li class="settings-row file-row">
            <label class="file-choice needs-script">
                <input type="checkbox" aria-label=label prop:checked=is_chosen on:change=choose/>
            </label>
            <span class="attached-preview">{icon}</span>
            <div class="settings-what">
                <a
                    class="file-name"
                    dir="auto"
                    href=url
                    download=(!opens_here).then(|| name.clone())
                    target=opens_here.then_some("_blank")
                    rel="noopener"
                >
                    {name.clone()}
                </a>
                <p class="settings-facts">
                    <span>{texts::kind(&file.media_type)}</span>
                    <span>{format_size(file.bytes)}</span>
                    <Time at=created_at/>
                </p>
                <ul class="file-uses" aria-label=texts::USED_IN>
                    {uses}
                    {more.map(|more| view! { <li>{more}</li> }.erase())}
                </ul>
            </div>
            {preview_button(&file)}
            {IconButton::new(delete_label, icons::trash(), move || delete(listed.clone()))
                .title(texts::DELETE)
                .view()}
        </li>
    }
    .erase()
}

/// A place where a file is used.
fn place(place: &FileUse) -> AnyView {
    let title = match place.title.is_empty() {
        true => texts::NEW_CHAT.to_owned(),
        false => place.title.clone(),
    };
    let path = match (place.project_id, place.conversation_id) {
        (Some(id), _) => Some(Route::Project(id).path()),
        // One that has not begun is at no address.
        (None, _) if place.title.is_empty() => None,
        (None, Some(id)) if place.state != FileUseState::Deleted => Some(Route::Conversation(id).path()),
        (None, _) => None,
    };
    let note = match (place.project_id, place.state) {
        (Some(_), _) => Some(texts::PROJECT),
        (None, FileUseState::Shown) => None,
        (None, FileUseState::Archived) => Some(texts::ARCHIVED),
        (None, FileUseState::Deleted) => Some(texts::DELETED),
        (None, FileUseState::Unsent) => Some(texts::UNSENT),
    };
    let name = match path {
        Some(path) => view! { <a href=path dir="auto">{title}</a> }.erase(),
        None => view! { <span dir="auto">{title}</span> }.erase(),
    };
    view! { <li>{name} {note.map(|note| view! { <span class="file-use-note">{note}</span> }.erase())}</li> }
        .erase()
}
