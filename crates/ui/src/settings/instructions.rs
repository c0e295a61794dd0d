//! The user's instructions for the assistant, which apply to every conversation. Unsaved text is stored in this
//! browser.

use leptos::{prelude::*, task::spawn_local};

use super::{
    heading,
    state::{SettingsPhase, SettingsState},
    texts,
};
use crate::{
    api::personal,
    browser,
    runtime::{effect::effect, erase::Erase, when::When},
};
use parlor_protocol::number_format::group_digits;

/// The storage key of the unsaved text.
const DRAFT_KEY: &str = "parlor-draft:instructions";

/// The result of the last save.
#[derive(Clone, PartialEq, Eq)]
enum SaveStatus {
    Idle,
    Saving,
    Saved,
    Failed(String),
}

#[derive(Clone, Copy)]
struct InstructionsForm {
    settings: SettingsState,
    save_status: RwSignal<SaveStatus>,
    is_unsaved: Memo<bool>,
    /// The number of bytes beyond the limit.
    excess_bytes: Memo<usize>,
}

pub fn section(settings: SettingsState) -> AnyView {
    let SettingsState {
        saved_instructions: saved,
        edited_instructions: text,
        max_instructions_bytes: longest,
        ..
    } = settings;
    let instructions = InstructionsForm {
        settings,
        save_status: RwSignal::new(SaveStatus::Idle),
        is_unsaved: Memo::new(move |_| text.with(|text| saved.with(|saved| saved != text))),
        excess_bytes: Memo::new(move |_| text.with(String::len).saturating_sub(longest.get())),
    };
    effect(move || instructions.restore_draft());
    let can_save = move || instructions.can_save();
    let failed = move || match instructions.save_status.get() {
        SaveStatus::Failed(message) => Some(texts::not_saved(&message)),
        _ => None,
    };
    view! {
        <section class="settings-section" aria-labelledby="settings-instructions">
            {heading(
                "settings-instructions",
                texts::INSTRUCTIONS,
                texts::INSTRUCTIONS_ABOUT,
            )}
            <div class="settings-text without-script" dir="auto">{move || saved.get()}</div>
            <textarea
                class="settings-area needs-script"
                rows="6"
                dir="auto"
                aria-labelledby="settings-instructions"
                aria-describedby="instructions-note"
                placeholder=texts::INSTRUCTIONS_EXAMPLE
                prop:value=move || text.get()
                on:input=move |event| instructions.edit(event_target_value(&event))
            ></textarea>
            <div class="settings-bar needs-script">
                <p id="instructions-note" class="settings-note" role="status">{move || instructions.status_text()}</p>
                <When when=move || instructions.is_unsaved.get()>
                    <button type="button" class="button button-quiet" on:click=move |_| instructions.discard()>
                        {texts::DISCARD}
                    </button>
                </When>
                <button
                    type="button"
                    id="save-instructions"
                    class="button button-primary"
                    aria-disabled=move || (!can_save()).to_string()
                    on:click=move |_| instructions.save()
                >
                    {texts::SAVE}
                </button>
            </div>
            <div role="alert" class="settings-alarm">{failed}</div>
        </section>
    }
    .erase()
}

impl InstructionsForm {
    /// Restores the unsaved text of an earlier visit.
    fn restore_draft(self) {
        if self.settings.phase.get() == SettingsPhase::Ready
            && let Some(draft) = browser::storage_get(DRAFT_KEY)
        {
            self.settings.edited_instructions.set(draft);
        }
    }

    fn edit(self, text: String) {
        let is_saved = self
            .settings
            .saved_instructions
            .with_untracked(|saved| *saved == text);
        browser::storage_set(DRAFT_KEY, (!is_saved).then_some(text.as_str()));
        self.settings.edited_instructions.set(text);
        if self.save_status.get_untracked() != SaveStatus::Idle {
            self.save_status.set(SaveStatus::Idle);
        }
    }

    fn discard(self) {
        self.edit(self.settings.saved_instructions.get_untracked());
        self.settings.has_conflict.set(false);
        browser::focus_selector(".settings-area");
    }

    fn can_save(self) -> bool {
        self.is_unsaved.get() && self.excess_bytes.get() == 0 && self.save_status.get() != SaveStatus::Saving
    }

    fn save(self) {
        if !untrack(|| self.can_save()) {
            return;
        }
        let text = self.settings.edited_instructions.get_untracked();
        self.save_status.set(SaveStatus::Saving);
        let request = personal::save_instructions(text.clone());
        spawn_local(async move {
            let answer = self.settings.connection.call(request).await;
            let done = answer.is_ok();
            if done && browser::storage_get(DRAFT_KEY).as_ref() == Some(&text) {
                browser::storage_set(DRAFT_KEY, None);
            }
            let outcome =
                answer.map_or_else(|error| SaveStatus::Failed(error.message), |()| SaveStatus::Saved);
            // The user may have left by now.
            if self.save_status.try_set(outcome).is_none() && done {
                self.settings.saved_instructions.set(text);
                self.settings.has_conflict.set(false);
            }
        });
    }

    fn status_text(self) -> String {
        let too_long = self.excess_bytes.get();
        if too_long > 0 {
            let longest = self.settings.max_instructions_bytes.get();
            return texts::too_long(&group_digits(too_long as u64), &group_digits(longest as u64));
        }
        let note = match (self.save_status.get(), self.is_unsaved.get()) {
            (SaveStatus::Saving, _) => texts::SAVING,
            (SaveStatus::Saved, false) => texts::SAVED,
            (_, true) if self.settings.has_conflict.get() => texts::CHANGED_ELSEWHERE,
            (_, true) => texts::NOT_SAVED_YET,
            (_, false) => "",
        };
        note.into()
    }
}
