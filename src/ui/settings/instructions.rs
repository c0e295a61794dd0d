//! What the assistant is told in every conversation. What is written and not saved stays in this browser.

use leptos::{prelude::*, task::spawn_local};

use super::{
    heading,
    state::{Phase, Settings},
};
use crate::{
    api::personal,
    ui::{browser, erase::Erase, when::When},
};

/// Where what is not saved is kept.
const DRAFT: &str = "parlor-draft:instructions";

/// How the last saving went.
#[derive(Clone, PartialEq, Eq)]
enum Saving {
    Nothing,
    UnderWay,
    Done,
    Failed(String),
}

#[derive(Clone, Copy)]
struct Instructions {
    settings: Settings,
    saving: RwSignal<Saving>,
    is_unsaved: Memo<bool>,
    /// By how many bytes they are too long.
    too_long: Memo<usize>,
}

pub fn section(settings: Settings) -> AnyView {
    let Settings {
        saved, text, longest, ..
    } = settings;
    let instructions = Instructions {
        settings,
        saving: RwSignal::new(Saving::Nothing),
        is_unsaved: Memo::new(move |_| text.with(|text| saved.with(|saved| saved != text))),
        too_long: Memo::new(move |_| text.with(String::len).saturating_sub(longest.get())),
    };
    Effect::new(move |_| instructions.take_up());
    let can_save = move || instructions.can_save();
    let failed = move || match instructions.saving.get() {
        Saving::Failed(message) => Some(["Not saved. ", &message].concat()),
        _ => None,
    };
    view! {
        <section class="settings-section" aria-labelledby="settings-instructions">
            {heading(
                "settings-instructions",
                "Instructions",
                "What the assistant should know about you, and how you want to be answered. It is told this in every conversation, \
                 from your next message on.",
            )}
            <div class="settings-text without-script" dir="auto">{move || saved.get()}</div>
            <textarea
                class="settings-area needs-script"
                rows="6"
                dir="auto"
                aria-labelledby="settings-instructions"
                aria-describedby="instructions-note"
                placeholder="For example: I am a nurse, so you can skip the basics. Answer briefly, and name your sources."
                prop:value=move || text.get()
                on:input:target=move |event| instructions.write(event.target().value())
            ></textarea>
            <div class="settings-bar needs-script">
                <p id="instructions-note" class="settings-note" role="status">{move || instructions.note()}</p>
                <When when=move || instructions.is_unsaved.get()>
                    <button type="button" class="button button-quiet" on:click=move |_| instructions.discard()>
                        "Discard changes"
                    </button>
                </When>
                <button
                    type="button"
                    id="save-instructions"
                    class="button button-primary"
                    aria-disabled=move || (!can_save()).to_string()
                    on:click=move |_| instructions.save()
                >
                    "Save"
                </button>
            </div>
            <div role="alert" class="settings-alarm">{failed}</div>
        </section>
    }
    .erase()
}

impl Instructions {
    /// What was written here before, and not saved.
    fn take_up(self) {
        if self.settings.phase.get() == Phase::Ready
            && let Some(draft) = browser::stored(DRAFT)
        {
            self.settings.text.set(draft);
        }
    }

    fn write(self, text: String) {
        let is_saved = self.settings.saved.with_untracked(|saved| *saved == text);
        browser::store(DRAFT, (!is_saved).then_some(text.as_str()));
        self.settings.text.set(text);
        if self.saving.get_untracked() != Saving::Nothing {
            self.saving.set(Saving::Nothing);
        }
    }

    fn discard(self) {
        self.write(self.settings.saved.get_untracked());
        self.settings.overtaken.set(false);
        browser::focus_selector(".settings-area");
    }

    fn can_save(self) -> bool {
        self.is_unsaved.get() && self.too_long.get() == 0 && self.saving.get() != Saving::UnderWay
    }

    fn save(self) {
        if !untrack(|| self.can_save()) {
            return;
        }
        let text = self.settings.text.get_untracked();
        self.saving.set(Saving::UnderWay);
        let request = personal::save_instructions(text.clone());
        spawn_local(async move {
            let answer = self.settings.live.ask(request).await;
            let done = answer.is_ok();
            if done && browser::stored(DRAFT).as_ref() == Some(&text) {
                browser::store(DRAFT, None);
            }
            let outcome = answer.map_or_else(|error| Saving::Failed(error.message), |()| Saving::Done);
            // The person may have left by now.
            if self.saving.try_set(outcome).is_none() && done {
                self.settings.saved.set(text);
                self.settings.overtaken.set(false);
            }
        });
    }

    fn note(self) -> String {
        let too_long = self.too_long.get();
        if too_long > 0 {
            let longest = self.settings.longest.get();
            return [
                &too_long.to_string(),
                " bytes too long: there is room for ",
                &longest.to_string(),
                ".",
            ]
            .concat();
        }
        let note = match (self.saving.get(), self.is_unsaved.get()) {
            (Saving::UnderWay, _) => "Saving…",
            (Saving::Done, false) => "Saved",
            (_, true) if self.settings.overtaken.get() => {
                "They were changed elsewhere meanwhile. Saving replaces that; discarding shows it."
            }
            (_, true) => "Not saved yet. Kept in this browser.",
            (_, false) => "",
        };
        note.into()
    }
}
