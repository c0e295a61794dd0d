//! Loading the code of the lazy views that the server has rendered, before hydration.

use leptos::wasm_split::SplitLoaderError;

use crate::{
    browser,
    components::not_found,
    composer,
    layout::shared_page,
    markdown,
    pages::pages,
    panel, projects,
    runtime::{backoff::backoff_ms, lazy::LoadFuture, lazy_part::LazyPart},
    settings, transcript, tray,
};
use parlor_protocol::{project::PROJECT_PATH, shared_project::SHARED_PROJECT_PATH};

/// Loads a view's code.
fn load_part(part: LazyPart) -> LoadFuture<()> {
    match part {
        LazyPart::NotFound => load(not_found::load()),
        LazyPart::Settings => load(settings::load()),
        LazyPart::Shared => load(shared_page::load()),
        LazyPart::Markdown => load(markdown::load_markdown()),
        LazyPart::Tool => load(transcript::load_tool()),
        LazyPart::Image => load(transcript::load_image()),
        LazyPart::Colours => load(markdown::load_colours()),
        LazyPart::Payload => load(panel::load_card()),
        LazyPart::Suggestions => load(transcript::load_suggestions()),
        LazyPart::Queue => load(composer::load_queue()),
        LazyPart::Sources => load(transcript::load_sources()),
        LazyPart::Tray => load(tray::load()),
    }
}

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
    let has = |part: LazyPart| is_there(part.name());
    let url = browser::current_url();
    let has_conversation = has(LazyPart::Tray) || has(LazyPart::Shared) || url.starts_with("/c/");
    if has_conversation && transcript::load().await.is_err() {
        return false;
    }
    if url.starts_with(PROJECT_PATH) && projects::load_page().await.is_err() {
        return false;
    }
    if url.starts_with(SHARED_PROJECT_PATH) && projects::load_shared_page().await.is_err() {
        return false;
    }
    for part in LazyPart::ALL {
        if has(*part) && load_part(*part).await.is_err() {
            return false;
        }
    }
    for page in pages() {
        if is_there(page.info.name) && !(page.load)().await {
            return false;
        }
    }
    true
}
