//! The full chat: the default page, without fields or tabs.

use serde::{Deserialize, Serialize};

use super::{PageDefinition, Scope};
use parlor_protocol::{PageFields, PageInfo};

static INFO: PageInfo = PageInfo {
    name: NoFields::PAGE,
    path: "/",
    title: "",
    has_tray: false,
};

/// The chat without a page.
pub static CHAT: PageDefinition = PageDefinition {
    info: &INFO,
    brief_identity: "You are a helpful assistant.",
    identity: "You are a helpful assistant. You talk with a person through Parlor, a chat that they run themselves.",
    scope: Scope::EMPTY,
    tabs: &[],
};

/// The chat has no items of its own.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct NoFields {}

impl PageFields for NoFields {
    const PAGE: &'static str = "chat";
}
