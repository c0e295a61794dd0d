//! Effects.

use leptos::prelude::*;

/// Runs a function after the first rendering, and again when what it reads has changed; not on the server.
///
/// Like Leptos's `Effect::new`, but with the type of the function erased, so that it is compiled once.
pub fn effect(run: impl FnMut() + 'static) {
    run_boxed(Box::new(run));
}

fn run_boxed(mut run: Box<dyn FnMut()>) {
    Effect::new(move |_| run());
}
