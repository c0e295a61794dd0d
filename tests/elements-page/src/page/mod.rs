//! The page. It depends on [`Step`] alone.

mod attributes;
mod children;
mod events;
mod places;
mod properties;

use leptos::prelude::*;

/// The state of the page: a number from 0 to [`LAST_STEP`].
pub type Step = RwSignal<usize>;

/// The last step, which differs from the one before like every other.
const LAST_STEP: usize = 3;

/// The whole page, at a step.
pub fn page(step: Step) -> impl IntoView {
    view! {
        <main>
            {attributes::view(step)}
            {properties::view(step)}
            {children::view(step)}
            {events::view(step)}
            {places::view(step)}
        </main>
    }
}

/// Renders the page for each step, as the server does.
#[cfg(feature = "ssr")]
pub fn render() -> Vec<String> {
    let render = |step| Owner::new().with(|| page(RwSignal::new(step)).to_html());
    (0..=LAST_STEP).map(render).collect()
}

/// Returns one of four values.
fn pick<T: Copy>(step: usize, values: [T; LAST_STEP + 1]) -> T {
    values[step % values.len()]
}
