//! A proposal for a draft: its changes field by field, and Accept and Reject. With the draft on the screen, each field is compared
//! with it, and can be accepted alone.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    Panel, texts,
    verdict::{VerdictInput, verdict_buttons},
};
use crate::{
    markdown::{MarkdownView, Prose},
    runtime::{effect::effect, erase::Erase, shared_view::is_read_only},
    state::page_registry::{DraftOnScreen, PayloadHandler, ShownPayload, use_page_registry},
};
use parlor_protocol::{
    PanelView, PayloadVerdict, Verdict,
    panel::{PanelBody, ProposalView, ProposedField},
};

/// A proposal without buttons: in a share, and in the list of all components.
pub fn proposal(view: &ProposalView) -> AnyView {
    let fields: Vec<_> = view
        .fields
        .iter()
        .map(|field| field_view(field, None, None, None))
        .collect();
    frame(view, fields)
}

/// A proposal of the person, with the buttons below it.
pub fn own_proposal(
    focus: String,
    panel: Panel,
    shown: &ShownPayload,
    handler: &PayloadHandler,
    view: Arc<PanelView>,
) -> AnyView {
    let PanelBody::Proposal(content) = &view.body else {
        return ().into_any();
    };
    if is_read_only() || !view.is_proposal {
        return proposal(content);
    }
    let draft = on_screen(content);
    let names = content.fields.iter().map(|field| field.change.name.clone());
    let selected = RwSignal::new(names.collect::<Vec<_>>());
    if let Some(draft) = draft {
        deselect_stale(draft, view.clone(), selected);
    }
    let judged = panel.judged(shown.conversation_id, &shown.payload.payload_id);
    let can_choose = content.fields.len() > 1;
    let fields: Vec<_> = content
        .fields
        .iter()
        .map(|field| field_view(field, draft, can_choose.then_some(selected), Some(judged)))
        .collect();
    let input = VerdictInput {
        selected: Some(selected),
        draft,
    };
    let buttons = verdict_buttons(focus, panel, shown, handler, view.clone(), input);
    view! {
        {frame(content, fields)}
        {buttons}
    }
    .erase()
}

/// Deselects the fields that were changed since, and those that are being changed.
fn deselect_stale(draft: DraftOnScreen, view: Arc<PanelView>, selected: RwSignal<Vec<String>>) {
    let stale_names = move || {
        let fields = match &view.body {
            PanelBody::Proposal(content) => &content.fields[..],
            _ => &[],
        };
        let stale = fields.iter().filter(|field| stale(&draft, field));
        stale.map(|field| field.change.name.clone()).collect::<Vec<_>>()
    };
    let known = StoredValue::new(Vec::<String>::new());
    effect(move || {
        let now = stale_names();
        let new: Vec<String> = known.with_value(|known| {
            let new = now.iter().filter(|name| !known.contains(name));
            new.cloned().collect()
        });
        known.set_value(now);
        if !new.is_empty() {
            selected.update(|selected| selected.retain(|name| !new.contains(name)));
        }
    });
}

/// The draft that a proposal is for, if it is on the screen.
fn on_screen(view: &ProposalView) -> Option<DraftOnScreen> {
    let drafts = use_page_registry().drafts;
    untrack(|| drafts.find(|draft| *draft.name == view.draft))
}

/// True if the field was changed after the model was asked, to something else than it proposes.
fn stale(draft: &DraftOnScreen, field: &ProposedField) -> bool {
    let now = draft.text.run(field.change.name.clone()).unwrap_or_default();
    field
        .base
        .as_ref()
        .is_some_and(|base| now.trim() != base.trim() && now != field.change.text)
}

fn frame(view: &ProposalView, fields: Vec<AnyView>) -> AnyView {
    let explanation = view.explanation.as_deref().map(|text| {
        let prose = Prose::finished(text);
        view! { <div class="prose proposal-reason"><MarkdownView prose prefix="panel-proposal"/></div> }
    });
    view! {
        <div class="proposal">
            {explanation}
            <ul class="proposal-fields">{fields}</ul>
        </div>
    }
    .erase()
}

/// A field: its name, which selects it, the text that it has, and the proposed one.
fn field_view(
    field: &ProposedField,
    draft: Option<DraftOnScreen>,
    selected: Option<RwSignal<Vec<String>>>,
    judged: Option<Memo<Option<PayloadVerdict>>>,
) -> AnyView {
    let label = field.change.label.clone();
    let name = field.change.name.clone();
    let heading = move || {
        let verdict = judged.and_then(|judged| judged.get());
        let choice = selected.filter(|_| verdict.is_none());
        match choice {
            Some(selected) => checkbox(selected, name.clone(), label.clone()),
            None => {
                let is_accepted = verdict.is_some_and(|judged| {
                    let fields = judged.accepted_fields;
                    judged.verdict == Verdict::Accepted && !fields.is_empty() && fields.contains(&name)
                });
                let mark =
                    is_accepted.then(|| view! { <span class="proposal-mark">{texts::ACCEPTED}</span> });
                view! { <span class="proposal-name" dir="auto">{label.clone()}</span> {mark} }.erase()
            }
        }
    };
    let proposed = match (field.change.text.as_str(), field.change.value.as_str()) {
        ("", "null") => view! { <p class="proposal-removal">{texts::REMOVE_IT}</p> }.erase(),
        ("", _) => view! { <p class="proposal-removal">{texts::EMPTY_IT}</p> }.erase(),
        (text, _) => view! { <p class="proposal-new" dir="auto">{text.to_owned()}</p> }.erase(),
    };
    let shown_base = field.base.clone();
    let new = field.change.text.clone();
    let present = Memo::new({
        let name = field.change.name.clone();
        move |_| match draft {
            Some(draft) => draft.text.run(name.clone()).unwrap_or_default(),
            None => shown_base.clone().unwrap_or_default(),
        }
    });
    let before = move || {
        let present = present.get();
        let is_other = !present.trim().is_empty() && present != new;
        is_other.then(|| view! { <p class="proposal-old" dir="auto">{present}</p> })
    };
    let compared = field.clone();
    let note = move || {
        let draft = draft?;
        if judged.is_some_and(|judged| judged.with(Option::is_some)) {
            return None;
        }
        let is_stale = stale(&draft, &compared);
        let is_same = !is_stale && present.with(|present| *present == compared.change.text);
        let text = match (is_stale, is_same) {
            (true, _) => texts::STALE,
            (_, true) => texts::SAME,
            _ => return None,
        };
        Some(view! { <p class="proposal-note">{text}</p> })
    };
    view! {
        <li class="proposal-field">
            <div class="proposal-head">{heading}</div>
            {before}
            {proposed}
            {note}
        </li>
    }
    .erase()
}

fn checkbox(selected: RwSignal<Vec<String>>, name: String, label: String) -> AnyView {
    let is_checked = {
        let name = name.clone();
        move || selected.with(|selected| selected.contains(&name))
    };
    let toggle = move |_| {
        selected.update(
            |selected| match selected.iter().position(|other| *other == name) {
                Some(place) => {
                    selected.remove(place);
                }
                None => selected.push(name.clone()),
            },
        );
    };
    view! {
        <label class="proposal-choice">
            <input type="checkbox" prop:checked=is_checked on:change=toggle/>
            <span class="proposal-name" dir="auto">{label}</span>
        </label>
    }
    .erase()
}
