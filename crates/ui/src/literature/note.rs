//! The user's note about a saved article. An unsaved note is stored in this browser, as message drafts are, along
//! with the saved note that it is based on. If the saved note was changed elsewhere meanwhile, the change is shown
//! before it is overwritten, and the server overwrites nothing that this page has not seen.

use leptos::{ev, prelude::*};
use serde::{Deserialize, Serialize};

use super::{state::LiteratureState, texts};
use crate::{
    api::literature as rpc,
    browser,
    runtime::{erase::Erase, when::When},
};
use parlor_protocol::{ErrorCode, json};

/// The draft, and the saved note that it is based on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NoteDraft {
    of: String,
    text: String,
}

impl NoteDraft {
    fn key(pmid: &str) -> String {
        ["parlor-note:", pmid].concat()
    }

    fn load(pmid: &str) -> Option<Self> {
        let stored = browser::storage_get(&Self::key(pmid))?;
        let draft = json::parse(stored.as_bytes());
        // Earlier versions of Parlor stored the text alone.
        Some(draft.unwrap_or(Self {
            of: String::new(),
            text: stored,
        }))
    }

    /// Stores the draft if it differs from the saved note.
    fn store(&self, pmid: &str, saved: &str) {
        let stored = (!self.has_text(saved))
            .then(|| serde_json::to_string(self).ok())
            .flatten();
        browser::storage_set(&Self::key(pmid), stored.as_deref());
    }

    /// Returns true if the stored draft is this one. Another tab may have stored another since.
    fn is_stored(&self, pmid: &str) -> bool {
        Self::load(pmid).is_none_or(|stored| stored.text == self.text)
    }

    /// Removes the stored draft if it is this one and not a newer one.
    fn remove(pmid: &str, text: &str) {
        if Self::load(pmid).is_some_and(|draft| draft.text == text) {
            browser::storage_set(&Self::key(pmid), None);
        }
    }

    fn has_text(&self, note: &str) -> bool {
        self.text.trim() == note
    }

    /// The draft to continue with after `saved` was saved; `None` if nothing is left to save.
    fn rebase(self, saved: &str) -> Option<Self> {
        if self.has_text(saved) {
            let of = saved.to_owned();
            return Some(Self { of, ..self });
        }
        // The user has not changed the note.
        let is_untouched = self.has_text(&self.of);
        (!is_untouched).then_some(self)
    }
}

/// The editor of a note.
#[derive(Clone)]
struct NoteEditor {
    state: LiteratureState,
    pmid: String,
    /// The saved note; `None` while the article is not saved or the library is not loaded.
    saved: Memo<Option<String>>,
    draft: RwSignal<Option<NoteDraft>>,
    /// The text that was last sent to be saved.
    last_sent: RwSignal<Option<String>>,
}

impl NoteEditor {
    fn text(&self) -> String {
        let draft = self.draft.get().map(|draft| draft.text);
        draft.or_else(|| self.saved.get()).unwrap_or_default()
    }

    /// The saved note, if it was changed elsewhere since the draft was begun.
    fn conflicting_note(&self) -> Option<String> {
        let (draft, saved) = (self.draft.get()?, self.saved.get()?);
        let is_own =
            draft.of == saved || draft.has_text(&saved) || self.last_sent.get().as_ref() == Some(&saved);
        (!is_own).then_some(saved)
    }

    /// Restores the stored draft and follows changes of the saved note.
    fn follow_saved(&self) {
        let note = self.clone();
        Effect::new(move |before: Option<()>| {
            if before.is_none() {
                note.draft.set(NoteDraft::load(&note.pmid));
            }
            let (Some(saved), Some(mut draft)) = (note.saved.get(), note.draft.get_untracked()) else {
                return;
            };
            if note.last_sent.get_untracked().as_ref() == Some(&saved) {
                draft.of.clone_from(&saved);
            }
            let is_kept = draft.is_stored(&note.pmid);
            let draft = draft.rebase(&saved);
            match &draft {
                _ if !is_kept => {}
                Some(draft) => draft.store(&note.pmid, &saved),
                None => browser::storage_set(&NoteDraft::key(&note.pmid), None),
            }
            note.draft.set(draft);
        });
    }

    fn write(&self, text: String) {
        let saved = self.saved.get_untracked().unwrap_or_default();
        let of = self
            .draft
            .get_untracked()
            .map_or_else(|| saved.clone(), |draft| draft.of);
        let draft = NoteDraft { of, text };
        draft.store(&self.pmid, &saved);
        self.draft.set(Some(draft));
    }

    fn save(&self) {
        let Some(NoteDraft { text, .. }) = self.draft.get_untracked() else {
            return;
        };
        let saved = self.saved.get_untracked();
        if saved.as_deref() == Some(text.trim()) {
            return;
        }
        // The notes that the user has seen or sent. The saved note may have changed since without this page knowing.
        let replaces = saved.into_iter().chain(self.last_sent.get_untracked()).collect();
        self.last_sent.set(Some(text.trim().to_owned()));
        let (pmid, state) = (self.pmid.clone(), self.state);
        let request = async move {
            let result = rpc::set_article_note(pmid.clone(), text.clone(), replaces).await;
            match &result {
                // Even if the page was left.
                Ok(()) => NoteDraft::remove(&pmid, &text),
                Err(error) if error.code == ErrorCode::NoteChanged && !state.last_removed.is_disposed() => {
                    state.library.load();
                }
                Err(_) => {}
            }
            result
        };
        self.state
            .send(request, |state| state.toasts.show(texts::NOTE_SAVED));
    }
}

/// The note's editor, once the article is saved.
pub fn note(state: LiteratureState, pmid: String) -> AnyView {
    let of = pmid.clone();
    let note = NoteEditor {
        state,
        pmid,
        saved: Memo::new(move |_| {
            state.with_library(|library| Some(library.saved_article(&of)?.note.clone()))
        }),
        draft: RwSignal::new(None),
        last_sent: RwSignal::new(None),
    };
    note.follow_saved();
    let is_saved = note.saved;
    let form = move || {
        let (shown, other, written, submitted) = (note.clone(), note.clone(), note.clone(), note.clone());
        let submit = move |event: ev::SubmitEvent| {
            event.prevent_default();
            submitted.save();
        };
        view! {
            <form class="article-note needs-script" on:submit=submit>
                <label for="article-note">{texts::YOUR_NOTE}</label>
                <textarea
                    id="article-note"
                    rows="3"
                    dir="auto"
                    prop:value=move || shown.text()
                    on:input=move |event| written.write(event_target_value(&event))
                ></textarea>
                {move || other.conflicting_note().map(conflict_notice)}
                <button type="submit" class="button">{texts::SAVE_NOTE}</button>
            </form>
        }
    };
    view! { <When when=move || is_saved.with(Option::is_some)>{form()}</When> }.erase()
}

fn conflict_notice(saved: String) -> AnyView {
    let what = match saved.as_str() {
        "" => texts::NOTE_EMPTIED.to_owned(),
        saved => texts::note_changed(saved),
    };
    view! { <p class="article-missing" role="status" dir="auto">{what} {texts::NOTE_OVERWRITTEN}</p> }.erase()
}

#[cfg(test)]
mod tests {
    use super::NoteDraft;

    #[test]
    fn unedited_draft_follows_the_saved_note() {
        let draft = |of: &str, text: &str| NoteDraft {
            of: of.into(),
            text: text.into(),
        };
        // It was saved: the draft continues from there, with the space at the end that the user may be about to write
        // after.
        assert_eq!(draft("old", "new ").rebase("new"), Some(draft("new", "new ")));
        // Unchanged: the saved note is shown.
        assert_eq!(draft("old", "old").rebase("new"), None);
        // Changed: the draft stays, with the note that it is based on.
        assert_eq!(
            draft("old", "old, and").rebase("new"),
            Some(draft("old", "old, and"))
        );
        assert_eq!(draft("", "").rebase(""), Some(draft("", "")));
    }
}
