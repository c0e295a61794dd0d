//! Loading the code of the lazy views that the server has rendered, before hydration.

use leptos::wasm_split::SplitLoaderError;

use crate::{
    browser,
    components::not_found,
    composer,
    layout::shared_page,
    markdown,
    pages::PAGES,
    panel,
    runtime::{backoff::backoff_ms, lazy::LoadFuture},
    settings, transcript, tray,
};

/// Loads a view's code.
type Load = fn() -> LoadFuture<()>;

/// The lazy views that a page may contain, by their `data-lazy`.
const PARTS: [(&str, Load); 12] = [
    ("not_found", || load(not_found::load())),
    ("settings", || load(settings::load())),
    ("shared", || load(shared_page::load())),
    ("markdown", || load(markdown::load_markdown())),
    ("tool", || load(transcript::load_tool())),
    ("image", || load(transcript::load_image())),
    ("colours", || load(markdown::load_colours())),
    ("payload", || load(panel::load_card())),
    ("suggestions", || load(transcript::load_suggestions())),
    ("queue", || load(composer::load_queue())),
    ("sources", || load(transcript::load_sources())),
    ("tray", || load(tray::load())),
];

fn load(part: impl Future<Output = Result<(), SplitLoaderError>> + 'static) -> LoadFuture<()> {
    Box::pin(async { Ok(part.await?) })
}

/// Loads the code of the views that the server has rendered. Without it the page stays as the server rendered it, as it
/// does without the main file.
pub async fn prepare() {
    let mut tries = 0;
    while !are_parts_loaded().await {
        tries += 1;
        browser::sleep(backoff_ms(tries)).await;
    }
}

/// Loads what the page contains, one after the other: most of it is in the same file. Returns false if something failed.
async fn are_parts_loaded() -> bool {
    let is_there = |name: &str| browser::exists(&["[data-lazy=", name, "]"].concat());
    let has_conversation =
        is_there("tray") || is_there("shared") || browser::current_url().starts_with("/c/");
    if has_conversation && transcript::load().await.is_err() {
        return false;
    }
    for (name, load) in PARTS {
        if is_there(name) && load().await.is_err() {
            return false;
        }
    }
    for page in PAGES {
        if is_there(page.info.name) && !(page.load)().await {
            return false;
        }
    }
    true
}
