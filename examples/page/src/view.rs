//! The view of the page: a form with the open item, into which proposals are accepted.

use leptos::prelude::*;
use parlor_protocol::{PageContext, draft::Draft};
use parlor_ui::extension::{
    AcceptedChanges, DraftOnScreen, PageEntry, PayloadHandler, TrayPage, icons, use_page_registry, use_tray,
};

use crate::{Drafts, INFO, InventoryFields, Item, ItemProposal};

/// The page's entry in the browser.
pub const PAGE: PageEntry = PageEntry {
    info: &INFO,
    icon: icons::database,
    is_listed: true,
    view,
    load: || Box::pin(async { true }),
    handlers: &[PayloadHandler::proposal::<ItemProposal>(420)],
};

fn view() -> AnyView {
    let item = RwSignal::new(Item::default());
    use_page_registry().drafts.register(DraftOnScreen {
        name: Item::NAME,
        text: Callback::new(move |field: String| item.with(|item| item.text(&field))),
        accept: Callback::new(move |accepted: AcceptedChanges| {
            item.update(|item| {
                for change in &accepted.changes {
                    item.apply(change);
                }
            });
        }),
        reject: None,
    });
    use_tray().set_tray_page(TrayPage {
        context: Callback::new(move |()| {
            let drafts = Drafts {
                item: item.get_untracked(),
            };
            PageContext::with_fields(None, &InventoryFields { draft: Some(drafts) })
        }),
        about: "The assistant sees the item as it stands here.",
        suggested_questions: Callback::new(|()| vec!["Where is the lamp?".to_owned()]),
        placeholder: Callback::new(|()| None),
    });
    view! {
        <div data-lazy=INFO.name>
            <div id=INFO.name tabindex="-1">
                <h1>{INFO.title}</h1>
                {field("Name", item, |item| &mut item.name)}
                {field("Place", item, |item| &mut item.place)}
            </div>
        </div>
    }
    .into_any()
}

fn field(label: &'static str, item: RwSignal<Item>, part: fn(&mut Item) -> &mut String) -> AnyView {
    let value = move || part(&mut item.get()).clone();
    view! {
        <label>
            {label}
            <input
                value=untrack(value)
                prop:value=value
                on:input=move |event| item.update(|item| *part(item) = event_target_value(&event))
            />
        </label>
    }
    .into_any()
}
