//! A time on the page.

use leptos::prelude::*;

use crate::runtime::clock::use_clock;
use parlor_protocol::Timestamp;

/// A time: first in the server's format, then in the browser's.
#[component]
pub fn Time(at: Timestamp) -> impl IntoView {
    let clock = use_clock();
    view! { <time datetime=at.to_rfc3339()>{move || clock.get().format_time(at)}</time> }
}
