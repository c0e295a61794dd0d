//! The functions that the end-to-end test calls.

use std::cell::Cell;

use leptos::{prelude::*, task::tick};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{Step, page};

thread_local! {
    static STEP: Cell<Option<Step>> = const { Cell::new(None) };
}

/// Takes over the page that the server has rendered.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    hydrate_body(start);
}

/// Makes the page in an empty document.
#[wasm_bindgen]
pub fn build() {
    console_error_panic_hook::set_once();
    mount_to_body(start);
}

/// Goes to a step. Resolves when the page shows it.
#[wasm_bindgen]
pub async fn show(step: usize) {
    if let Some(current) = STEP.get() {
        current.set(step);
    }
    tick().await;
}

fn start() -> impl IntoView {
    let step = RwSignal::new(0);
    STEP.set(Some(step));
    page(step)
}
