//! The form of a stream: what is on the screen, what is saved, and what this device keeps of it until it is saved.

use leptos::{prelude::*, task::spawn_local};

use super::{state::StreamsState, texts};
use crate::{
    api::literature as rpc,
    browser,
    runtime::effect::effect,
    state::page_registry::{DraftOnScreen, use_page_registry},
};
use parlor_protocol::{
    PageContext, ResearchStreamId,
    draft::{Draft, FieldChange},
    json,
    literature::{Categories, EditStreamFields, EditStreamLocation, Schema, StreamDraft, StreamForm},
};

/// The form that is on the screen.
#[derive(Clone, Copy)]
pub struct FormState {
    pub page: StreamsState,
    /// The open stream; `None` for a new one.
    pub stream_id: Option<ResearchStreamId>,
    pub form: RwSignal<StreamForm>,
    /// The form as it is saved; empty for a new stream.
    pub saved: RwSignal<StreamForm>,
    /// True if the stream was changed elsewhere while this form has changes.
    pub is_outdated: RwSignal<bool>,
    pub is_saving: RwSignal<bool>,
    /// The id that a new stream gets: the same if saving is repeated.
    new_id: StoredValue<ResearchStreamId>,
}

/// The storage key of an unsaved form.
fn storage_key(stream_id: Option<ResearchStreamId>) -> String {
    let id = stream_id.map(|id| id.to_string());
    ["parlor-stream:", id.as_deref().unwrap_or("new")].concat()
}

fn load_unsaved(stream_id: Option<ResearchStreamId>) -> Option<StreamForm> {
    let stored = browser::storage_get(&storage_key(stream_id))?;
    json::parse(stored.as_bytes()).ok()
}

fn store_unsaved(stream_id: Option<ResearchStreamId>, form: Option<&StreamForm>) {
    let stored = form.and_then(|form| serde_json::to_string(form).ok());
    browser::storage_set(&storage_key(stream_id), stored.as_deref());
}

/// Puts changes into the form of a new stream that this device keeps. Returns its URL.
pub fn begin_new_stream(changes: &[FieldChange]) -> String {
    let mut form = load_unsaved(None).unwrap_or_default();
    for change in changes {
        form.stream.apply(change);
    }
    store_unsaved(None, Some(&form));
    EditStreamLocation { stream_id: None }.to_url()
}

impl FormState {
    /// The form of a stream that is loaded, with what this device keeps of it.
    pub fn new(page: StreamsState, stream_id: Option<ResearchStreamId>) -> Self {
        let saved = untrack(|| page.saved_form(stream_id)).unwrap_or_default();
        let state = Self {
            page,
            stream_id,
            form: RwSignal::new(saved.clone()),
            saved: RwSignal::new(saved),
            is_outdated: RwSignal::new(false),
            is_saving: RwSignal::new(false),
            new_id: StoredValue::new(ResearchStreamId::new()),
        };
        state.start();
        state
    }

    fn start(self) {
        // Not before hydration: the server knows nothing of this device.
        Effect::new(move |before: Option<()>| {
            if before.is_none()
                && let Some(unsaved) = load_unsaved(self.stream_id)
            {
                self.form.set(unsaved);
            }
        });
        effect(move || {
            let Some(saved) = self.page.saved_form(self.stream_id) else {
                return;
            };
            let before = self.saved.get_untracked();
            if saved == before {
                return;
            }
            let is_changed_here = self.form.with_untracked(|form| *form != before && *form != saved);
            self.is_outdated.set(is_changed_here);
            if !is_changed_here {
                self.change(|form| form.clone_from(&saved));
                store_unsaved(self.stream_id, None);
            }
            self.saved.set(saved);
        });
        let drafts = use_page_registry().drafts;
        drafts.register(self.on_screen::<StreamDraft>(|form| &form.stream, |form| &mut form.stream));
        drafts.register(self.on_screen::<Schema>(|form| &form.schema, |form| &mut form.schema));
        drafts.register(self.on_screen::<Categories>(|form| &form.categories, |form| &mut form.categories));
    }

    /// A part of the form, into which the assistant's proposals can be accepted.
    fn on_screen<D: Draft>(
        self,
        part: fn(&StreamForm) -> &D,
        part_mut: fn(&mut StreamForm) -> &mut D,
    ) -> DraftOnScreen {
        DraftOnScreen::of_part(self.form, part, part_mut, move |changed| {
            self.change(|form| *form = changed);
        })
    }

    /// Changes the form, and what this device keeps of it.
    pub fn change(self, change: impl FnOnce(&mut StreamForm)) {
        self.form.update(change);
        let is_saved = self
            .form
            .with_untracked(|form| self.saved.with_untracked(|saved| form == saved));
        self.form
            .with_untracked(|form| store_unsaved(self.stream_id, Some(form).filter(|_| !is_saved)));
    }

    /// True if the form has changes that are not saved. Tracked.
    pub fn is_changed(self) -> bool {
        self.form.with(|form| self.saved.with(|saved| form != saved))
    }

    /// Goes back to what is saved.
    pub fn discard(self) {
        let before = self.form.get_untracked();
        let saved = self.saved.get_untracked();
        self.change(|form| *form = saved);
        self.is_outdated.set(false);
        self.page.toasts.show_with_undo(texts::DISCARDED, move || {
            if !self.form.is_disposed() {
                self.change(|form| form.clone_from(&before));
            }
        });
    }

    /// Saves the form. The saved stream arrives with the log.
    pub fn save(self) {
        if self.is_saving.get_untracked() {
            return;
        }
        let form = self.form.get_untracked();
        let id = self.stream_id.unwrap_or_else(|| self.new_id.get_value());
        self.is_saving.set(true);
        spawn_local(async move {
            let saved = rpc::save_stream(form.clone().into_stream(id));
            let saved = self.page.connection.call(saved).await;
            // The page may be left by now.
            self.is_saving.try_set(false);
            match saved {
                Ok(()) => {
                    self.page.toasts.show(texts::SAVED);
                    let is_unchanged = self.form.try_with_untracked(|now| *now == form).unwrap_or(true);
                    if is_unchanged {
                        store_unsaved(self.stream_id, None);
                    }
                    if self.is_saving.is_disposed() {
                        return;
                    }
                    self.is_outdated.set(false);
                    self.saved.set(form);
                    if self.stream_id.is_none() {
                        // The log may be earlier than this response, or later.
                        if untrack(|| self.page.saved_form(Some(id))).is_none() {
                            let stream = self.saved.get_untracked().into_stream(id);
                            self.page.saved_here.set(Some(stream));
                        }
                        let stream_id = Some(id);
                        let url = EditStreamLocation { stream_id }.to_url();
                        self.page.navigation.set_url(url, true);
                    }
                }
                Err(error) => self.page.toasts.show(error.message),
            }
        });
    }

    /// Forgets what this device keeps of the form.
    pub fn forget(self) {
        store_unsaved(self.stream_id, None);
    }

    /// The context of a message: the form as it stands.
    pub fn context(self) -> PageContext {
        let fields = EditStreamFields {
            stream_id: self.stream_id,
            draft: Some(self.form.get_untracked()),
            omitted: Vec::new(),
        };
        PageContext::with_fields(None, &fields)
    }
}
