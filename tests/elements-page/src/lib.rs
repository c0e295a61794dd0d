//! A page with every kind of attribute, child and event that `elements` has. The program of this crate prints it as Leptos renders
//! it on a server, a browser hydrates that or builds it anew with `elements`, and `end2end/tests/elements.spec.ts` compares the two.
//!
//! A view depends on [`Step`] alone. After each step the browser must show what the server renders for it.

#[cfg(feature = "hydrate")]
extern crate elements as leptos;

mod attributes;
#[cfg(feature = "hydrate")]
mod browser;
mod children;
mod events;
mod places;
mod properties;

use leptos::prelude::*;

/// The state of the page: a number from 0 to [`LAST_STEP`].
type Step = RwSignal<usize>;

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
