//! Accept and Reject, below a proposal. The verdict is stored, sent to the model, and shown in every tab; its effect is
//! up to the page.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Panel, texts};
use crate::{
    browser,
    components::icons,
    runtime::erase::Erase,
    state::page_registry::{AcceptedChanges, DraftOnScreen, PayloadHandler, ShownPayload},
};
use parlor_protocol::{
    PanelView, PayloadVerdict, Verdict,
    draft::FieldChange,
    panel::{PanelBody, ProposedField},
};

/// What a verdict is about, besides the payload.
#[derive(Clone, Copy, Default)]
pub struct VerdictInput {
    /// The names of the selected fields; `None` for a proposal without fields.
    pub selected: Option<RwSignal<Vec<String>>>,
    /// The draft on the screen.
    pub draft: Option<DraftOnScreen>,
}

/// The icon and the word of a verdict.
pub fn verdict_word(judged: &PayloadVerdict) -> (AnyView, &'static str) {
    match judged.verdict {
        Verdict::Accepted if judged.accepted_fields.is_empty() => (icons::check(), texts::ACCEPTED),
        Verdict::Accepted => (icons::check(), texts::ACCEPTED_IN_PART),
        Verdict::Rejected => (icons::close(), texts::REJECTED),
    }
}

/// The fields of a proposal.
fn fields_of(view: &PanelView) -> &[ProposedField] {
    match &view.body {
        PanelBody::Proposal(proposal) => &proposal.fields,
        _ => &[],
    }
}

/// The buttons, or the verdict. The buttons are removed when one is pressed, and the focus goes to the element that `focus`
/// selects.
pub fn verdict_buttons(
    focus: impl Into<Arc<str>>,
    panel: Panel,
    shown: &ShownPayload,
    handler: &PayloadHandler,
    proposal: Arc<PanelView>,
    input: VerdictInput,
) -> AnyView {
    let VerdictInput { selected, draft } = input;
    let judged = panel.judged(shown.conversation_id, &shown.payload.payload_id);
    let is_sending = RwSignal::new(false);
    let announcement = move || {
        judged.get().map(|judged| {
            let (icon, word) = verdict_word(&judged);
            view! { <p class="verdict">{icon} {word}</p> }
        })
    };
    let (id, payload_id) = (shown.conversation_id, shown.payload.payload_id.clone());
    let accept = handler.accept.or(draft.map(|draft| draft.accept));
    let reject = handler.reject.or(draft.and_then(|draft| draft.reject));
    // A proposal that the present page can't accept is accepted on another one.
    let elsewhere = handler.other_page.filter(|_| accept.is_none());
    let needs_draft = handler.is_for_draft && accept.is_none() && elsewhere.is_none();
    let obstacle = proposal
        .obstacle
        .clone()
        .or(needs_draft.then(|| texts::NO_DRAFT.into()));
    let field_count = fields_of(&proposal).len();
    let focus: Arc<str> = focus.into();
    let say = Callback::new(move |verdict: Verdict| {
        if is_sending.get_untracked() {
            return;
        }
        let chosen = selected.map_or(Vec::new(), |selected| selected.get_untracked());
        if verdict == Verdict::Accepted && selected.is_some() && chosen.is_empty() {
            return;
        }
        is_sending.set(true);
        let fields = fields_of(&proposal).iter();
        let changes: Vec<FieldChange> = fields
            .filter(|field| chosen.contains(&field.change.name))
            .map(|field| field.change.clone())
            .collect();
        let is_whole = changes.len() == field_count || verdict == Verdict::Rejected;
        let accepted_fields = match is_whole {
            true => Vec::new(),
            false => changes.iter().map(|change| change.name.clone()).collect(),
        };
        let (proposal, focus) = (proposal.clone(), focus.clone());
        let counts = move || {
            // The panel may show something else by now, and the page that handles the verdict may be left.
            if !is_sending.is_disposed() {
                browser::focus_selector(&focus);
            }
            if verdict == Verdict::Rejected {
                if let Some(reject) = reject {
                    reject.try_run(());
                }
                return;
            }
            let accepted = AcceptedChanges {
                view: proposal,
                changes,
            };
            if let Some(accept) = accept {
                accept.try_run(accepted);
            } else if let Some(there) = elsewhere
                && let Some(url) = (there.url)(&accepted)
            {
                panel.navigation.open_page(url);
            }
        };
        let over = move || {
            // The panel may show something else by now.
            is_sending.try_set(false);
        };
        panel.conversations.send_verdict(
            id,
            PayloadVerdict {
                payload_id: payload_id.clone(),
                verdict,
                accepted_fields,
            },
            counts,
            over,
        );
    });
    let accept_word = move || {
        let word = elsewhere.map_or(texts::ACCEPT, |there| there.button_label);
        match selected.map(|selected| selected.with(Vec::len)) {
            Some(count) if count < field_count => texts::accept_some(word, count, field_count),
            _ => word.to_owned(),
        }
    };
    let is_nothing = move || selected.is_some_and(|selected| selected.with(Vec::is_empty));
    let button = move |class: &'static str, word: Box<dyn Fn() -> String + Send>, verdict: Verdict| {
        let is_off = move || is_sending.get() || (verdict == Verdict::Accepted && is_nothing());
        view! {
            <button
                type="button"
                class=class
                aria-disabled=move || is_off().then_some("true")
                on:click=move |_| say.run(verdict)
            >
                {word}
            </button>
        }
    };
    let buttons = move || {
        judged.with(Option::is_none).then(|| {
            let about = obstacle
                .clone()
                .or(elsewhere.map(|there| there.description.into()));
            view! {
                <div class="verdict-buttons" role="group" aria-label=texts::ACCEPT_THIS>
                    {obstacle.is_none().then(|| button(
                        "button button-primary",
                        Box::new(accept_word),
                        Verdict::Accepted,
                    ))}
                    {button("button", Box::new(|| texts::REJECT.to_owned()), Verdict::Rejected)}
                </div>
                {about.map(|about| view! { <p class="panel-meta">{about}</p> })}
            }
        })
    };
    view! {
        <div class="panel-verdict">
            <div role="status">{announcement}</div>
            {buttons}
        </div>
    }
    .erase()
}
