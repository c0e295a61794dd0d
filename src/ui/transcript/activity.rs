//! The signs of a run that is active.

use leptos::prelude::*;

use crate::ui::runtime::erase::Erase;

/// An activity indicator, with text for long waits.
pub fn activity(text: String) -> AnyView {
    view! {
        <div class="activity">
            <Dots/>
            <span class="activity-text">{text}</span>
        </div>
    }
    .erase()
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
