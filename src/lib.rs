//! Parlor: a self-hosted web chat for LLM agents.
//!
//! An event flows provider → agent → runs → journal → hub → http → reducer → view. An intent flows ui → api or http →
//! app → runs → journal, and from there as an event. `ARCHITECTURE.md` has the picture.
//!
//! Compiled for the server and the browser: [`protocol`] (the types that both exchange), [`api`] (the page's
//! requests), [`markdown`], [`math`], [`highlight`], [`ui`]. Everything else is server code.
#![recursion_limit = "256"]

// `view!` writes paths that begin with `::leptos`. In the browser they name a crate with smaller elements (`elements`).
#[cfg(feature = "hydrate")]
extern crate elements as leptos;

#[cfg(feature = "ssr")]
#[macro_use]
mod crash_point;

pub mod api;
pub mod highlight;
pub mod markdown;
pub mod math;
pub mod protocol;
pub mod ui;

#[cfg(feature = "ssr")]
pub mod agent;
#[cfg(feature = "ssr")]
pub mod app;
#[cfg(feature = "ssr")]
pub mod assets;
#[cfg(feature = "ssr")]
pub mod clock;
#[cfg(feature = "ssr")]
pub mod control;
#[cfg(feature = "ssr")]
pub mod data;
#[cfg(feature = "ssr")]
pub mod databases;
#[cfg(feature = "ssr")]
pub mod diagnostics;
#[cfg(feature = "ssr")]
pub mod files;
#[cfg(feature = "ssr")]
pub mod http;
#[cfg(feature = "ssr")]
pub mod http_client;
#[cfg(feature = "ssr")]
pub mod hub;
#[cfg(feature = "ssr")]
pub mod journal;
#[cfg(feature = "ssr")]
mod lenient_json;
#[cfg(feature = "ssr")]
pub mod literature;
#[cfg(feature = "ssr")]
pub mod model;
#[cfg(feature = "ssr")]
pub mod notices;
#[cfg(feature = "ssr")]
pub mod pages;
#[cfg(feature = "ssr")]
pub mod payloads;
#[cfg(feature = "ssr")]
pub mod providers;
#[cfg(feature = "ssr")]
pub mod python;
#[cfg(feature = "ssr")]
pub mod runs;
#[cfg(feature = "ssr")]
pub mod secrets;
#[cfg(feature = "ssr")]
pub mod server;
#[cfg(feature = "ssr")]
pub mod services;
#[cfg(feature = "ssr")]
pub mod settings;
#[cfg(feature = "ssr")]
pub mod storage;
#[cfg(all(test, feature = "ssr"))]
mod test_log;
#[cfg(feature = "ssr")]
mod text;
#[cfg(feature = "ssr")]
pub mod tools;
#[cfg(feature = "ssr")]
pub mod web;
#[cfg(feature = "ssr")]
mod web_link;

/// The browser's entry point: hydrates the page that the server rendered.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    // In a release, panics have no messages.
    #[cfg(debug_assertions)]
    console_error_panic_hook::set_once();
    // Leptos expects one text node for each text that it rendered. Chromium's parser starts a new node after
    // 65,536 characters, so the nodes are joined first.
    if let Some(body) = leptos::prelude::document().body() {
        body.normalize();
    }
    wasm_bindgen_futures::spawn_local(async {
        ui::prepare().await;
        leptos::mount::hydrate_body(ui::Root);
    });
}
