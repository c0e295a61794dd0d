//! The signs of a run that is active.

use leptos::prelude::*;

use crate::{
    browser,
    runtime::{clock::format_seconds, effect::effect, erase::Erase},
};

/// What goes on, as text. While something works, with moving dots and the seconds of long waits; not while it waits for the user.
pub fn activity(text: String, is_working: bool) -> AnyView {
    let clock = is_working.then(elapsed);
    view! {
        <div class="activity">
            {is_working.then(|| view! { <Dots/> })}
            <span class="activity-text">{text} {clock}</span>
        </div>
    }
    .erase()
}

/// The seconds since the view was made, from the second on.
pub fn elapsed() -> AnyView {
    let seconds = RwSignal::new(0_u64);
    effect(move || count(seconds, browser::monotonic_ms()));
    let text = move || match seconds.get() {
        0 | 1 => String::new(),
        seconds => [" ", &format_seconds(seconds)].concat(),
    };
    // Screen readers are told of the end.
    view! { <span class="elapsed" aria-hidden="true">{text}</span> }.erase()
}

/// Counts until the view is removed.
fn count(seconds: RwSignal<u64>, start_ms: f64) {
    const INTERVAL_MS: f64 = 1000.0;
    browser::set_timeout(INTERVAL_MS, move || {
        let passed = (browser::monotonic_ms() - start_ms) / INTERVAL_MS;
        if seconds.try_set(passed as u64).is_none() {
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
