//! The assistant's memories of the user. Memories stored meanwhile appear automatically.

use std::{cmp::Reverse, sync::Arc};

use leptos::prelude::*;

use super::{heading, state::SettingsState, texts};
use crate::{
    api::personal,
    browser,
    components::{
        confirm::{Confirm, ConfirmRequest},
        icon_button::IconButton,
        icons,
        time::Time,
    },
    runtime::{each::Each, erase::Erase, when::When},
};
use parlor_protocol::{Memory, MemoryId, sorted_vec, text::truncate_chars};

/// The maximum number of memories that are shown without a search box.
const MAX_WITHOUT_SEARCH: usize = 7;

/// The maximum length of a memory in its button's label, in characters.
const MAX_LABEL_CHARS: usize = 60;

#[derive(Clone, Copy)]
struct Memories {
    settings: SettingsState,
    /// Memories deleted on this page: they can be restored as long as it is open.
    forgotten: RwSignal<Vec<Memory>>,
    /// The search text.
    query: RwSignal<String>,
}

pub fn section(settings: SettingsState, confirm: Confirm) -> AnyView {
    let memories = Memories {
        settings,
        forgotten: RwSignal::default(),
        query: RwSignal::default(),
    };
    let count = Memo::new(move |_| settings.memories.with(Vec::len));
    let shown = Memo::new(move |_| memories.matching());
    let nothing = Memo::new(move |_| memories.all().is_empty());
    let forget_all = move |_| {
        confirm.ask(ConfirmRequest {
            title: texts::FORGET_ALL_TITLE.into(),
            text: texts::FORGET_ALL_WARNING.into(),
            button_label: texts::FORGET_ALL,
            on_confirm: Arc::new(move || {
                memories.forget_all();
                browser::focus_selector("#settings-memories");
            }),
        });
    };
    view! {
        <section class="settings-section" aria-labelledby="settings-memories">
            {heading(
                "settings-memories",
                texts::MEMORIES,
                texts::MEMORIES_ABOUT,
            )}
            <When when=move || !settings.is_memory_on.get()>
                <p class="settings-hint">
                    {texts::MEMORY_OFF}
                </p>
            </When>
            <button
                type="button"
                class="switch-row needs-script"
                role="switch"
                aria-checked=move || settings.searches_chats.get().to_string()
                on:click=move |_| switch_chat_search(settings)
            >
                <span class="switch-text">{texts::SEARCH_CHATS}</span>
                <span class="switch" aria-hidden="true"></span>
            </button>
            <When when=move || nothing.get()>
                <p class="settings-empty">
                    {texts::NO_MEMORIES}
                </p>
            </When>
            <When when=move || { count.get() > MAX_WITHOUT_SEARCH }>
                <input
                    type="search"
                    class="settings-input needs-script"
                    aria-label=texts::SEARCH_MEMORIES
                    placeholder=texts::SEARCH_MEMORIES
                    autocomplete="off"
                    prop:value=move || memories.query.get()
                    on:input=move |event| memories.query.set(event_target_value(&event))
                />
            </When>
            <When when=move || !nothing.get() && shown.with(Vec::is_empty)>
                <p class="settings-empty" role="status">{texts::NO_MATCHES}</p>
            </When>
            <ul class="settings-list">
                <Each of=move || shown.get() key=|memory| memory.id let:memory>
                    {row(memories, memory)}
                </Each>
            </ul>
            <When when=move || { count.get() > 0 }>
                <div class="settings-bar needs-script">
                    <p class="settings-note">{move || texts::memories(count.get())}</p>
                    <button type="button" class="button button-quiet" on:click=forget_all>{texts::FORGET_ALL}</button>
                </div>
            </When>
        </section>
    }
    .erase()
}

/// Lets the assistant search earlier conversations, or not any more.
fn switch_chat_search(settings: SettingsState) {
    let is_on = !settings.searches_chats.get_untracked();
    settings.searches_chats.set(is_on);
    settings.send(personal::set_chat_search(is_on), move || {
        settings.searches_chats.set(!is_on);
    });
}

fn row(memories: Memories, memory: Memory) -> AnyView {
    let id = memory.id;
    let is_gone = Memo::new(move |_| memories.is_forgotten(id));
    let named_by = truncate_chars(&memory.text, MAX_LABEL_CHARS);
    let (forget_name, undo_name) = (texts::forget(&named_by), texts::undo_forgetting(&named_by));
    let button = move || {
        if is_gone.get() {
            let undo = move |_| memories.restore(id);
            view! {
                <span class="settings-note" role="status">{texts::FORGOTTEN}</span>
                <button type="button" class="button button-quiet" aria-label=undo_name.clone() on:click=undo>
                    {texts::UNDO}
                </button>
            }
            .erase()
        } else {
            IconButton::new(forget_name.clone(), icons::trash(), move || memories.forget(id))
                .title(texts::FORGET)
                .view()
        }
    };
    view! {
        <li id=element_id(id) class="settings-row" class:settings-gone=is_gone>
            <div class="settings-what">
                <p dir="auto">{memory.text}</p>
                <p class="settings-facts"><Time at=memory.created_at/></p>
            </div>
            {button}
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
    /// All visible memories, newest first, including those deleted here.
    fn all(self) -> Vec<Memory> {
        let mut all = self.settings.memories.get();
        self.forgotten.with(|forgotten| {
            for memory in forgotten {
                if all.iter().all(|known| known.id != memory.id) {
                    sorted_vec::insert_sorted(&mut all, memory.clone(), |memory| Reverse(memory.id));
                }
            }
        });
        all
    }

    /// The memories that contain all search words.
    fn matching(self) -> Vec<Memory> {
        let words = self.query.get().to_lowercase();
        let mut all = self.all();
        if !words.trim().is_empty() {
            all.retain(|memory| {
                let text = memory.text.to_lowercase();
                words.split_whitespace().all(|word| text.contains(word))
            });
        }
        all
    }

    fn is_forgotten(self, id: MemoryId) -> bool {
        self.forgotten
            .with(|forgotten| forgotten.iter().any(|memory| memory.id == id))
    }

    fn forget(self, id: MemoryId) {
        let memories = self.settings.memories.read_untracked();
        let Some(memory) = memories.iter().find(|memory| memory.id == id).cloned() else {
            return;
        };
        drop(memories);
        self.forgotten.update(|forgotten| forgotten.push(memory));
        focus_button(id);
        let revert = move || {
            self.forgotten
                .update(|forgotten| forgotten.retain(|memory| memory.id != id));
        };
        self.settings.send(personal::forget_memory(id), revert);
    }

    fn restore(self, id: MemoryId) {
        let forgotten = self.forgotten.read_untracked();
        let Some(memory) = forgotten.iter().find(|memory| memory.id == id).cloned() else {
            return;
        };
        drop(forgotten);
        let again = memory.clone();
        self.settings.memories.update(|memories| {
            if memories.iter().all(|known| known.id != id) {
                sorted_vec::insert_sorted(memories, memory.clone(), |memory| Reverse(memory.id));
            }
        });
        self.forgotten
            .update(|forgotten| forgotten.retain(|memory| memory.id != id));
        focus_button(id);
        let revert = move || self.forgotten.update(|forgotten| forgotten.push(again));
        self.settings.send(personal::restore_memory(memory), revert);
    }

    fn forget_all(self) {
        let before = self.settings.memories.get_untracked();
        self.settings.memories.set(Vec::new());
        self.forgotten.set(Vec::new());
        let revert = move || self.settings.memories.set(before);
        self.settings.send(personal::forget_all_memories(), revert);
    }
}
