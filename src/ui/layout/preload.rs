//! Loading the code of the lazy views that the server has rendered, before hydration.

use crate::ui::{
    browser, components::not_found, composer, layout::shared_page, markdown, pages::PAGES, panel,
    runtime::backoff::backoff_ms, settings, transcript, tray,
};

/// Loads the code of the views that the server has rendered. Without it the page stays as the server rendered it, as it
/// does without the main file.
pub async fn prepare() {
    let mut tries = 0;
    loop {
        // One after the other: most of them are in the same file.
        let is_there = |name: &str| browser::exists(&["[data-lazy=", name, "]"].concat());
        let has_conversation =
            is_there("tray") || is_there("shared") || browser::current_url().starts_with("/c/");
        let mut are_here = (!has_conversation || transcript::load().await.is_ok())
            && (!is_there("not_found") || not_found::load().await.is_ok())
            && (!is_there("settings") || settings::load().await.is_ok())
            && (!is_there("shared") || shared_page::load().await.is_ok())
            && (!is_there("markdown") || markdown::load_markdown().await.is_ok())
            && (!is_there("tool") || transcript::load_tool().await.is_ok())
            && (!is_there("image") || transcript::load_image().await.is_ok())
            && (!is_there("colours") || markdown::load_colours().await.is_ok())
            && (!is_there("payload") || panel::load_card().await.is_ok())
            && (!is_there("suggestions") || transcript::load_suggestions().await.is_ok())
            && (!is_there("queue") || composer::load_queue().await.is_ok())
            && (!is_there("tray") || tray::load().await.is_ok())
            && (!is_there("sources") || transcript::load_sources().await.is_ok());
        for page in PAGES {
            are_here = are_here && (!is_there(page.info.name) || (page.load)().await);
        }
        if are_here {
            return;
        }
        tries += 1;
        browser::sleep(backoff_ms(tries)).await;
    }
}
