//! A time on the page.

use leptos::prelude::*;

use crate::{protocol::Timestamp, ui::runtime::clock::use_clock};

/// A time: first in the server's format, then in the browser's.
#[component]
pub fn Time(at: Timestamp) -> impl IntoView {
    let clock = use_clock();
    view! { <time datetime=at.to_rfc3339()>{move || clock.get().format_time(at)}</time> }
}
