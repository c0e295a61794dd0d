//! The signs of a run that is active.

use leptos::prelude::*;

use crate::ui::{browser, runtime::erase::Erase};

/// The activity of a run that waits for the user, who needs no clock.
pub const WAITING_FOR_USER: &str = "Waiting for you…";

/// An activity indicator, with text and the seconds for long waits.
pub fn activity(text: String) -> AnyView {
    let clock = (text != WAITING_FOR_USER).then(elapsed);
    view! {
        <div class="activity">
            <Dots/>
            <span class="activity-text">{text} {clock}</span>
        </div>
    }
    .erase()
}

/// The seconds since the view was made, from the second on.
pub fn elapsed() -> AnyView {
    let seconds = RwSignal::new(0_u32);
    Effect::new(move |_| count(seconds, browser::monotonic_ms()));
    let text = move || match seconds.get() {
        0 | 1 => String::new(),
        seconds @ 2..60 => [" ", &seconds.to_string(), " s"].concat(),
        seconds => [
            " ",
            &(seconds / 60).to_string(),
            " min ",
            &(seconds % 60).to_string(),
            " s",
        ]
        .concat(),
    };
    // Screen readers are told of the end.
    view! { <span class="elapsed" aria-hidden="true">{text}</span> }.erase()
}

/// Counts until the view is removed.
fn count(seconds: RwSignal<u32>, start_ms: f64) {
    const INTERVAL_MS: f64 = 1000.0;
    browser::set_timeout(INTERVAL_MS, move || {
        let passed = (browser::monotonic_ms() - start_ms) / INTERVAL_MS;
        if seconds.try_set(passed as u32).is_none() {
            count(seconds, start_ms);
        }
    })
    .detach();
}

/// Three moving dots.
#[component]
pub fn Dots() -> impl IntoView {
    view! {
        <span class="dots" aria-hidden="true">
            <i></i>
            <i></i>
            <i></i>
        </span>
    }
}
