//! The document: texts saved as files, style sheets that are loaded later.

use leptos::prelude::document;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, HtmlAnchorElement, Url};

use super::set_timeout;

/// The attribute of the root element with the URL of the style sheet for formulas, until that is loaded.
const MATH_FONT: &str = "data-math-font";

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

/// Loads the font of formulas, once. A formula that is shown before has a font of the system.
pub fn load_math_font() {
    // Without it, formulas keep that font.
    let _ = try_load_math_font();
}

fn try_load_math_font() -> Option<()> {
    let root = document().document_element()?;
    let url = root.get_attribute(MATH_FONT)?;
    root.remove_attribute(MATH_FONT).ok()?;
    let link = document().create_element("link").ok()?;
    link.set_attribute("rel", "stylesheet").ok()?;
    link.set_attribute("href", &url).ok()?;
    document().head()?.append_child(&link).ok()?;
    Some(())
}
