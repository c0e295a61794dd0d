//! The signed-in user of the page. Without accounts there is none.

use super::{ShareChoices, set_root_attribute};
use js_sys::Reflect;
use leptos::prelude::document;
use wasm_bindgen::JsValue;

/// The attribute of the root element with the user's id.
const USER_ATTRIBUTE: &str = "data-user";

/// The attribute of the root element by which the style sheet shows that the session has ended.
const SIGNED_OUT_ATTRIBUTE: &str = "data-signed-out";

/// The cookie with the id of the user who signed in last in this browser.
const USER_COOKIE: &str = "parlor-user=";

/// Returns the id of the user for whom the server made the page.
pub(super) fn page_user() -> Option<String> {
    document().document_element()?.get_attribute(USER_ATTRIBUTE)
}

/// Returns the people with whom a conversation can be shared here, as the server says in the page.
pub fn share_choices() -> ShareChoices {
    let root = document().document_element();
    let has = |name: &str| root.as_ref().is_some_and(|root| root.has_attribute(name));
    ShareChoices {
        links: has("data-share-links"),
        people: has("data-share-people"),
    }
}

/// Returns true if another user has signed in since, in another tab: this page must not act as that user.
pub fn has_other_user() -> bool {
    let Some(user) = page_user() else { return false };
    let cookies = Reflect::get(&document(), &JsValue::from_str("cookie")).ok();
    let cookies = cookies
        .and_then(|cookies| cookies.as_string())
        .unwrap_or_default();
    let mut cookies = cookies
        .split("; ")
        .filter_map(|cookie| cookie.strip_prefix(USER_COOKIE));
    cookies.any(|signed_in| signed_in != user)
}

/// Shows or hides the notice that the session has ended.
pub fn set_signed_out(is_signed_out: bool) {
    set_root_attribute(SIGNED_OUT_ATTRIBUTE, is_signed_out.then_some(""));
}
