//! The memories of a project on its page: what the assistant remembers for its conversations. The list is in a file of its own
//! that is loaded after hydration ([`load_view`]).

use std::{cmp::Reverse, sync::Arc};

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::texts;
use crate::{
    api::{
        personal::{edit_memory, forget_memory},
        projects::{project_memories, restore_project_memory},
    },
    browser,
    components::{
        edit_field::EditField,
        icon_button::IconButton,
        icons,
        time::Time,
        toast::{Toasts, use_toasts},
    },
    runtime::{
        each::Each,
        effect::effect,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        requests::LastRequest,
        signal::after_hydration,
        when::When,
    },
    state::{Projects, use_projects},
};
use parlor_protocol::{Memory, MemoryId, ProjectId, sorted_vec, text::truncate_chars};

/// The maximum length of a memory in its button's label, in characters.
const MAX_LABEL_CHARS: usize = 60;

/// The section of the memories.
pub fn memories(id: ProjectId) -> AnyView {
    let is_hydrated = after_hydration();
    let list = move || is_hydrated.get().then(|| lazy_part(move || load_view(id)));
    view! {
        <section class="project-memories" aria-labelledby="project-memories">
            <h3 id="project-memories" tabindex="-1">{texts::MEMORIES}</h3>
            {list}
        </section>
    }
    .erase()
}

/// Loads the code of the list.
#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(id: ProjectId) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || list(id)))
}

#[derive(Clone, Copy)]
struct Memories {
    project_id: ProjectId,
    projects: Projects,
    toasts: Toasts,
    /// Newest first; `None` until they are loaded.
    list: RwSignal<Option<Vec<Memory>>>,
    /// Those that were deleted on this page: they can be restored as long as it is open.
    forgotten: RwSignal<Vec<Memory>>,
    edited: RwSignal<Option<MemoryId>>,
    error: RwSignal<Option<String>>,
    requests: LastRequest,
}

fn list(project_id: ProjectId) -> AnyView {
    let projects = use_projects();
    let memories = Memories {
        project_id,
        projects,
        toasts: use_toasts(),
        list: RwSignal::new(None),
        forgotten: RwSignal::default(),
        edited: RwSignal::new(None),
        error: RwSignal::new(None),
        requests: LastRequest::new(),
    };
    effect(move || {
        projects.version();
        if untrack(|| projects.get(project_id).is_some()) {
            memories.load();
        }
    });
    let is_empty = move || memories.list.with(Option::is_some) && memories.all().is_empty();
    view! {
        <When when=is_empty>
            <p class="project-empty">{texts::NO_MEMORIES}</p>
        </When>
        {move || memories.error.get().map(|error| failure(memories, error))}
        <ul class="project-memory-list">
            <Each of=move || memories.all() key=|memory| memory.id let:memory>
                {row(memories, memory)}
            </Each>
        </ul>
    }
    .erase()
}

fn failure(memories: Memories, error: String) -> AnyView {
    view! {
        <p class="project-alarm" role="alert">{error}</p>
        <button type="button" class="button button-quiet" on:click=move |_| memories.load()>{texts::TRY_AGAIN}</button>
    }
    .erase()
}

fn row(memories: Memories, memory: Memory) -> AnyView {
    let id = memory.id;
    let is_gone = Memo::new(move |_| memories.is_forgotten(id));
    let is_edited = Memo::new(move |_| memories.edited.get() == Some(id));
    let named_by = truncate_chars(&memory.text, MAX_LABEL_CHARS);
    let (edit_name, forget_name, undo_name) = (
        texts::edit_memory(&named_by),
        texts::forget(&named_by),
        texts::undo_forgetting(&named_by),
    );
    // It changes when it is edited.
    let first = memory.text;
    let text = Memo::new(move |_| memories.text_of(id).unwrap_or_else(|| first.clone()));
    let content = move || match is_edited.get() {
        true => view! {
            <EditField
                name=texts::MEMORY
                save_label=texts::SAVE
                text=text.get_untracked()
                on_input=|_| {}
                on_save=move |text| memories.edit(id, text)
                on_cancel=move || memories.close(id)
            />
        }
        .erase(),
        false => view! {
            <p dir="auto">{move || text.get()}</p>
            <p class="attached-note"><Time at=memory.created_at/></p>
        }
        .erase(),
    };
    let buttons = move || {
        match (is_gone.get(), is_edited.get()) {
        (_, true) => ().into_any(),
        (true, _) => view! {
            <span class="attached-note" role="status">{texts::FORGOTTEN}</span>
            <button type="button" class="button button-quiet" aria-label=undo_name.clone() on:click=move |_| memories.restore(id)>
                {texts::UNDO}
            </button>
        }
        .erase(),
        (false, false) => view! {
            {IconButton::new(edit_name.clone(), icons::pencil(), move || memories.edited.set(Some(id)))
                .title(texts::EDIT_MEMORY)
                .view()}
            {IconButton::new(forget_name.clone(), icons::trash(), move || memories.forget(id))
                .title(texts::FORGET)
                .view()}
        }
        .erase(),
    }
    };
    view! {
        <li id=element_id(id) class="project-memory" class:project-memory-gone=is_gone>
            <div class="project-memory-text">{content}</div>
            {buttons}
        </li>
    }
    .erase()
}

fn element_id(id: MemoryId) -> String {
    ["memory-", &id.to_string()].concat()
}

/// Focuses the button that replaced the pressed one of a memory.
fn focus_button(id: MemoryId) {
    browser::on_next_frame(move || browser::focus_selector(&["#", &element_id(id), " button"].concat()));
}

impl Memories {
    fn load(self) {
        let (number, connection) = (self.requests.begin(), self.projects.connection());
        spawn_local(async move {
            let loaded = connection.call(project_memories(self.project_id)).await;
            if !self.requests.is_last(number) {
                return;
            }
            match loaded {
                Ok(list) => {
                    self.error.set(None);
                    // One that is there again was not forgotten.
                    self.forgotten.update(|forgotten| {
                        forgotten.retain(|memory| list.iter().all(|known| known.id != memory.id))
                    });
                    self.list.set(Some(list));
                }
                Err(error) => self.error.set(Some(error.message)),
            }
        });
    }

    /// All that are shown, newest first, with those deleted here. Tracked.
    fn all(self) -> Vec<Memory> {
        let mut all = self.list.get().unwrap_or_default();
        for memory in self.forgotten.get() {
            if all.iter().all(|known| known.id != memory.id) {
                sorted_vec::insert_sorted(&mut all, memory, |memory| Reverse(memory.id));
            }
        }
        all
    }

    /// Returns the text of a memory as the server has it. Tracked.
    fn text_of(self, id: MemoryId) -> Option<String> {
        self.list.with(|list| {
            let mut memories = list.iter().flatten();
            memories
                .find(|memory| memory.id == id)
                .map(|memory| memory.text.clone())
        })
    }

    fn is_forgotten(self, id: MemoryId) -> bool {
        self.forgotten
            .with(|forgotten| forgotten.iter().any(|memory| memory.id == id))
    }

    fn forget(self, id: MemoryId) {
        let known = self
            .list
            .with_untracked(|list| list.iter().flatten().find(|memory| memory.id == id).cloned());
        let Some(memory) = known else { return };
        self.forgotten.update(|forgotten| forgotten.push(memory));
        focus_button(id);
        let connection = self.projects.connection();
        spawn_local(async move {
            if let Err(error) = connection.call(forget_memory(id)).await {
                self.toasts.show(error.message);
                self.forgotten
                    .try_update(|forgotten| forgotten.retain(|memory| memory.id != id));
            }
        });
    }

    fn restore(self, id: MemoryId) {
        let known = self
            .forgotten
            .with_untracked(|forgotten| forgotten.iter().find(|memory| memory.id == id).cloned());
        let Some(memory) = known else { return };
        focus_button(id);
        let connection = self.projects.connection();
        spawn_local(async move {
            match connection
                .call(restore_project_memory(self.project_id, memory))
                .await
            {
                Ok(()) => self.load(),
                Err(error) => self.toasts.show(error.message),
            }
        });
    }

    /// Saves another text. What was written stays in its field until it is stored.
    fn edit(self, id: MemoryId, text: String) {
        let connection = self.projects.connection();
        spawn_local(async move {
            match connection.call(edit_memory(id, text)).await {
                Ok(()) => {
                    self.close(id);
                    self.load();
                }
                Err(error) => self.toasts.show(error.message),
            }
        });
    }

    fn close(self, id: MemoryId) {
        self.edited.try_set(None);
        focus_button(id);
    }
}
