//! The dialog that starts a job.

use leptos::{ev, prelude::*, task::spawn_local};

use super::{ColumnsState, texts};
use crate::{
    fields::{amount_field, model_field, read_amount},
    runtime::erase::Erase,
};
use parlor_protocol::{JobId, columns::FillEstimate, number_format::group_digits};

pub fn fill_form(state: ColumnsState, close: impl Fn() + Copy + Send + Sync + 'static) -> AnyView {
    let model = RwSignal::new(None::<String>);
    let limit = RwSignal::new(String::new());
    let error = RwSignal::new(None::<String>);
    let is_sending = RwSignal::new(false);
    // One id for the form: a request whose answer was lost starts nothing twice.
    let id = JobId::new();
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        if is_sending.get_untracked() {
            return;
        }
        let Ok(limit) = read_amount(&limit.get_untracked()) else {
            return error.set(Some(texts::NO_AMOUNT.into()));
        };
        is_sending.set(true);
        state.fill(id, model.get_untracked(), limit, move |started| {
            // The dialog may be closed by now.
            let is_here = is_sending.try_set(false).is_none();
            match started {
                Ok(()) if is_here => close(),
                Ok(()) => {}
                Err(message) => drop(error.try_set(Some(message))),
            }
        });
    };
    let chosen = Memo::new(move |_| model.get());
    let estimate = RwSignal::new(None::<FillEstimate>);
    Effect::new(move |_| {
        let model = model.get();
        estimate.set(None);
        spawn_local(async move {
            let counted = state.estimate(model.clone()).await;
            // The dialog may be closed by now, or have another model.
            if chosen.try_get_untracked() == Some(model)
                && let Ok(counted) = counted
            {
                estimate.try_set(Some(counted));
            }
        });
    });
    let questions = move || match estimate.get() {
        None => texts::COUNTING.to_owned(),
        Some(FillEstimate {
            cells,
            questions,
            cost,
        }) => {
            let (questions, cells) = (group_digits(questions as u64), group_digits(cells as u64));
            texts::questions(
                &questions,
                &cells,
                cost.map(|cost| cost.to_short_label()).as_deref(),
            )
        }
    };
    view! {
        <form class="stream-form" on:submit=submit>
            <h2 id="columns-dialog-title">{texts::FILL_TITLE}</h2>
            <p class="stream-help">{texts::FILL_HELP}</p>
            <p role="status">{questions}</p>
            {model_field(("columns-model", texts::MODEL, texts::DEFAULT_MODEL), chosen, move |id| model.set(id))}
            {amount_field(("columns-limit", texts::LIMIT, texts::NO_LIMIT), limit)}
            <p class="stream-help">{texts::LIMIT_HELP}</p>
            <div role="alert" class="project-alarm">{move || error.get()}</div>
            <div class="dialog-actions">
                <button type="button" class="button" on:click=move |_| close()>{texts::CANCEL}</button>
                <button class="button button-primary" aria-disabled=move || is_sending.get().then_some("true")>{texts::START}</button>
            </div>
        </form>
    }
    .erase()
}
