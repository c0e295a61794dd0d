//! Texts saved as files.

use leptos::prelude::document;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, HtmlAnchorElement, Url};

use super::set_timeout;

/// The time after which a saved text is released, in milliseconds.
const RELEASE_AFTER_MS: f64 = 60_000.0;

/// Saves a text as a file of this name.
pub fn save_file(name: &str, text: &str) {
    // It fails only without memory.
    let _ = try_save_file(name, text);
}

fn try_save_file(name: &str, text: &str) -> Result<(), JsValue> {
    let parts = js_sys::Array::new();
    parts.push(&JsValue::from_str(text));
    let url = Url::create_object_url_with_blob(&Blob::new_with_str_sequence(&parts)?)?;
    let link: HtmlAnchorElement = document().create_element("a")?.unchecked_into();
    link.set_href(&url);
    link.set_download(name);
    link.click();
    set_timeout(RELEASE_AFTER_MS, move || {
        let _ = Url::revoke_object_url(&url);
    })
    .detach();
    Ok(())
}
