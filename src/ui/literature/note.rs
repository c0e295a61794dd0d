//! What the person writes about an article that they have saved. What is not saved yet this browser keeps, as it does with
//! messages, along with the note that it was begun from: what was saved elsewhere meanwhile is shown before it is replaced, and the
//! server replaces nothing that this page has not heard of.

use leptos::{ev, prelude::*};
use serde::{Deserialize, Serialize};

use super::desk::Desk;
use crate::{
    api::rpc,
    protocol::{ErrorCode, json},
    ui::{browser, erase::Erase, when::When},
};

/// What is written, and what was saved when it was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Draft {
    of: String,
    text: String,
}

impl Draft {
    fn key(pmid: &str) -> String {
        ["parlor-note:", pmid].concat()
    }

    fn load(pmid: &str) -> Option<Self> {
        let kept = browser::stored(&Self::key(pmid))?;
        let draft = json::read(kept.as_bytes());
        // Of an earlier Parlor there is the text alone.
        Some(draft.unwrap_or(Self {
            of: String::new(),
            text: kept,
        }))
    }

    /// Keeps it, if there is anything in it that is not saved.
    fn keep(&self, pmid: &str, saved: &str) {
        let kept = (!self.says(saved))
            .then(|| serde_json::to_string(self).ok())
            .flatten();
        browser::store(&Self::key(pmid), kept.as_deref());
    }

    /// Whether what is kept is this. In another tab something else may have been written since.
    fn is_kept(&self, pmid: &str) -> bool {
        Self::load(pmid).is_none_or(|kept| kept.text == self.text)
    }

    /// Drops what is kept if it is this and nothing that was written since.
    fn forget(pmid: &str, text: &str) {
        if Self::load(pmid).is_some_and(|draft| draft.text == text) {
            browser::store(&Self::key(pmid), None);
        }
    }

    fn says(&self, note: &str) -> bool {
        self.text.trim() == note
    }

    /// What is to be written on, now that this is saved.
    fn after(self, saved: &str) -> Option<Self> {
        if self.says(saved) {
            let of = saved.to_owned();
            return Some(Self { of, ..self });
        }
        // Nothing was added to what was there.
        let is_untouched = self.says(&self.of);
        (!is_untouched).then_some(self)
    }
}

/// A note at work.
#[derive(Clone)]
struct Note {
    desk: Desk,
    pmid: String,
    /// The note as it is saved; nothing as long as the article is not, or the library is not here.
    saved: Memo<Option<String>>,
    draft: RwSignal<Option<Draft>>,
    /// What was sent to be saved last.
    sent: RwSignal<Option<String>>,
}

impl Note {
    fn text(&self) -> String {
        let draft = self.draft.get().map(|draft| draft.text);
        draft.or_else(|| self.saved.get()).unwrap_or_default()
    }

    /// What somebody has saved since the draft was begun.
    fn overtaken(&self) -> Option<String> {
        let (draft, saved) = (self.draft.get()?, self.saved.get()?);
        let is_ours = draft.of == saved || draft.says(&saved) || self.sent.get().as_ref() == Some(&saved);
        (!is_ours).then_some(saved)
    }

    /// Goes on with what this browser has kept, and follows what is saved.
    fn follow(&self) {
        let note = self.clone();
        Effect::new(move |before: Option<()>| {
            if before.is_none() {
                note.draft.set(Draft::load(&note.pmid));
            }
            let (Some(saved), Some(mut draft)) = (note.saved.get(), note.draft.get_untracked()) else {
                return;
            };
            if note.sent.get_untracked().as_ref() == Some(&saved) {
                draft.of.clone_from(&saved);
            }
            let is_kept = draft.is_kept(&note.pmid);
            let draft = draft.after(&saved);
            match &draft {
                _ if !is_kept => {}
                Some(draft) => draft.keep(&note.pmid, &saved),
                None => browser::store(&Draft::key(&note.pmid), None),
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
        let draft = Draft { of, text };
        draft.keep(&self.pmid, &saved);
        self.draft.set(Some(draft));
    }

    fn save(&self) {
        let Some(Draft { text, .. }) = self.draft.get_untracked() else {
            return;
        };
        let saved = self.saved.get_untracked();
        if saved.as_deref() == Some(text.trim()) {
            return;
        }
        // What the person sees, and what they have sent themselves. It may be something else by now that this page has not heard of.
        let replaces = saved.into_iter().chain(self.sent.get_untracked()).collect();
        self.sent.set(Some(text.trim().to_owned()));
        let (pmid, desk) = (self.pmid.clone(), self.desk);
        let told = async move {
            let told = rpc::note_article(pmid.clone(), text.clone(), replaces).await;
            match &told {
                // Whether or not the page is still there.
                Ok(()) => Draft::forget(&pmid, &text),
                Err(error) if error.code == ErrorCode::NoteChanged && !desk.removed.is_disposed() => {
                    desk.load_library();
                }
                Err(_) => {}
            }
            told
        };
        self.desk
            .tell(told, |desk| desk.live.toasts.say("The note is saved."));
    }
}

/// The box for it, once the article is saved.
pub fn note(desk: Desk, pmid: String) -> AnyView {
    let of = pmid.clone();
    let note = Note {
        desk,
        pmid,
        saved: Memo::new(move |_| desk.with_library(|library| Some(library.saved(&of)?.note.clone()))),
        draft: RwSignal::new(None),
        sent: RwSignal::new(None),
    };
    note.follow();
    let is_saved = note.saved;
    let form = move || {
        let (shown, other, written, submitted) = (note.clone(), note.clone(), note.clone(), note.clone());
        let submit = move |event: ev::SubmitEvent| {
            event.prevent_default();
            submitted.save();
        };
        view! {
            <form class="article-note needs-script" on:submit=submit>
                <label for="article-note">"Your note"</label>
                <textarea
                    id="article-note"
                    rows="3"
                    dir="auto"
                    prop:value=move || shown.text()
                    on:input=move |event| written.write(event_target_value(&event))
                ></textarea>
                {move || other.overtaken().map(meanwhile)}
                <button type="submit" class="button">"Save the note"</button>
            </form>
        }
    };
    view! { <When when=move || is_saved.with(Option::is_some)>{form()}</When> }.erase()
}

fn meanwhile(saved: String) -> AnyView {
    let what = match saved.as_str() {
        "" => "It was emptied elsewhere meanwhile.".to_owned(),
        saved => ["Meanwhile it was changed elsewhere to: “", saved, "”"].concat(),
    };
    view! { <p class="article-missing" role="status" dir="auto">{what} " Saving replaces that."</p> }.erase()
}

#[cfg(test)]
mod tests {
    use super::Draft;

    #[test]
    fn a_draft_follows_what_is_saved_until_something_is_written_in_it() {
        let draft = |of: &str, text: &str| Draft {
            of: of.into(),
            text: text.into(),
        };
        // It was saved: it goes on from there, with the space at its end that somebody is about to write behind.
        assert_eq!(draft("old", "new ").after("new"), Some(draft("new", "new ")));
        // Nothing was added: what is saved is shown.
        assert_eq!(draft("old", "old").after("new"), None);
        // Something was: it stays, and knows what it was begun from.
        assert_eq!(
            draft("old", "old, and").after("new"),
            Some(draft("old", "old, and"))
        );
        assert_eq!(draft("", "").after(""), Some(draft("", "")));
    }
}
