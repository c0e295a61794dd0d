//! The view of the page: a form with the open item, into which proposals are accepted.

use leptos::prelude::*;
use parlor_ui::extension::{
    DraftOnScreen, PageEntry, PayloadHandler, TrayPage, draft_field, icons, use_page_registry, use_tray,
};

use crate::{Drafts, INFO, InventoryFields, Item, ItemProposal};

/// The page's entry in the browser.
pub const PAGE: PageEntry = PageEntry {
    info: &INFO,
    icon: icons::database,
    parent: None,
    view,
    load: || Box::pin(async { true }),
    handlers: &[PayloadHandler::proposal::<ItemProposal>(420)],
};

fn view() -> AnyView {
    let item = RwSignal::new(Item::default());
    use_page_registry()
        .drafts
        .register(DraftOnScreen::of_signal(item));
    let on_screen = move || InventoryFields {
        draft: Some(Drafts {
            item: item.get_untracked(),
        }),
    };
    let about = "The assistant sees the item as it stands here.";
    use_tray().set_tray_page(TrayPage::with_fields(about, on_screen));
    view! {
        <div data-lazy=INFO.name>
            <div id=INFO.name tabindex="-1">
                {draft_field(item, "name", "Name")}
                {draft_field(item, "place", "Place")}
            </div>
        </div>
    }
    .into_any()
}
