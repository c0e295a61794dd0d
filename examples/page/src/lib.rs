//! A page that Parlor does not have: an inventory, with a draft that the assistant may propose changes of, and a tool.
//!
//! Here is what both sides know of the page. The server's half is in `server`, the view in [`view`]. `docs/pages.md` explains it.

// Elements that are compiled once.
extern crate elements as leptos;

#[cfg(feature = "ssr")]
pub mod server;
mod view;

use parlor_protocol::{PageFields, PageInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use view::PAGE;

/// The page.
pub static INFO: PageInfo = PageInfo {
    name: "inventory",
    path: "/inventory",
    title: "Inventory",
    has_tray: true,
};

parlor_protocol::draft! {
    /// A thing in the house.
    pub struct Item = "item" {
        /// In one or two words.
        name: "Name",
        /// The room and the shelf.
        place: "Place",
    }
    /// Changes of the open item.
    pub struct ItemProposal {
        payload_type: "item_proposal",
        marker: "ITEM_PROPOSAL:",
        title: "Proposed item",
        about: "Changes of the item that is open",
        example: r#"{"name": "Lamp", "place": "Attic, shelf 2"}"#,
        progress_text: "Writing an item...",
    }
}

/// The drafts on the screen, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Drafts {
    pub item: Item,
}

/// The context of a message that is written on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InventoryFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<Drafts>,
}

impl PageFields for InventoryFields {
    const PAGE: &'static str = INFO.name;
}

/// The browser's entry: adds the page before Parlor's own entry shows anything.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen(start)]
pub fn start() {
    parlor_ui::extension::add_pages([PAGE]);
}
