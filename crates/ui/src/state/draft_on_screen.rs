//! Drafts in a signal: what is accepted goes into it, can be undone, and is not saved.

use leptos::prelude::*;

use super::{
    page_registry::{AcceptedChanges, DraftOnScreen},
    texts,
    tray::{TrayPage, use_tray},
};
use crate::{components::toast::use_toasts, runtime::erase::Erase};
use parlor_protocol::{
    PageContext, PageFields,
    draft::{Draft, FieldChange},
};

impl DraftOnScreen {
    /// A draft that a view has in a signal.
    pub fn of_signal<D: Draft>(draft: RwSignal<D>) -> Self {
        Self::of_part(
            draft,
            |draft| draft,
            |draft| draft,
            move |changed| draft.set(changed),
        )
    }

    /// A part of a form. `set` changes the form, and is not called any more when the form's signal has ended.
    pub fn of_part<F, D>(
        form: RwSignal<F>,
        part: fn(&F) -> &D,
        part_mut: fn(&mut F) -> &mut D,
        set: impl Fn(F) + Copy + Send + Sync + 'static,
    ) -> Self
    where
        F: Clone + Send + Sync + 'static,
        D: Draft,
    {
        let (tray, toasts) = (use_tray(), use_toasts());
        Self {
            name: D::NAME,
            text: Callback::new(move |field: String| form.with(|form| part(form).text(&field))),
            accept: Callback::new(move |accepted: AcceptedChanges| {
                let before = form.get_untracked();
                let mut changed = before.clone();
                for change in &accepted.changes {
                    part_mut(&mut changed).apply(change);
                }
                set(changed);
                tray.close_if_covering();
                toasts.show_with_undo(texts::accepted_into_form(accepted.changes.len()), move || {
                    // The page may be left by now.
                    if !form.is_disposed() {
                        set(before.clone());
                    }
                });
            }),
            reject: Some(Callback::new(move |()| toasts.show(texts::REJECTED_FOR_FORM))),
        }
    }
}

impl TrayPage {
    /// A page without questions of its own, and these fields in its context.
    pub fn with_fields<F: PageFields>(
        about: &'static str,
        fields: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        Self {
            context: Callback::new(move |()| PageContext::with_fields(None, &fields())),
            about,
            suggested_questions: Callback::new(|()| Vec::new()),
            placeholder: Callback::new(|()| None),
        }
    }
}

/// The field of a form for one text of a draft, with its name for the user.
pub fn draft_field<D: Draft>(draft: RwSignal<D>, name: &'static str, label: &'static str) -> AnyView {
    let value = move || draft.with(|draft| draft.text(name).unwrap_or_default());
    let change = move |text: String| {
        let change = FieldChange::new(name, label, text.clone(), &text);
        draft.update(|draft| {
            draft.apply(&change);
        });
    };
    view! {
        <label class="field">
            <span>{label}</span>
            <input value=untrack(value) prop:value=value on:input=move |event| change(event_target_value(&event))/>
        </label>
    }
    .erase()
}
