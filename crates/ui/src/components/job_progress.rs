//! The progress of a running job, with a button that stops it.

use leptos::prelude::*;

use super::texts;
use crate::runtime::{clock::format_seconds, erase::Erase};
use parlor_protocol::{job::JobProgress, number_format::group_digits};

/// The progress below a text that says what is being done.
pub fn job_progress(
    doing: &'static str,
    progress: Memo<Option<JobProgress>>,
    stop: impl Fn() + 'static,
) -> AnyView {
    let done = move || progress.get().map_or(0, |progress| progress.done).to_string();
    let total = move || {
        let total = progress.get().map_or(1, |progress| progress.total.max(1));
        total.to_string()
    };
    let said = move || {
        let progress = progress.get()?;
        let left = progress.left_ms.map(|left| format_seconds(left.div_ceil(1000)));
        let (done, total) = (
            group_digits(progress.done as u64),
            group_digits(progress.total as u64),
        );
        Some(texts::job_steps(&done, &total, left.as_deref()))
    };
    view! {
        <section class="report-progress">
            <p role="status">{doing}</p>
            <progress aria-label=texts::JOB_PROGRESS value=done max=total></progress>
            <p class="entry-meta">{said}</p>
            <button type="button" class="button needs-script" on:click=move |_| stop()>{texts::JOB_STOP}</button>
        </section>
    }
    .erase()
}
