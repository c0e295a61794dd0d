//! Stand-in.
use leptos::prelude::*;
#[component]
pub fn Root() -> impl IntoView { view! { <p>"soon"</p> } }
