//! Texts as documents: saved as files, shown in frames.

use leptos::prelude::document;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, HtmlAnchorElement, HtmlFormElement, HtmlIFrameElement, HtmlTextAreaElement, Url};

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

/// Shows a page in a frame that has a name, by a form: no address contains the page, and the server's response sets its policy.
pub fn show_in_frame(frame: &HtmlIFrameElement, page: &str) {
    let _ = try_show_in_frame(frame, page);
}

fn try_show_in_frame(frame: &HtmlIFrameElement, page: &str) -> Result<(), JsValue> {
    let form: HtmlFormElement = document().create_element("form")?.unchecked_into();
    form.set_method("post");
    form.set_action("/frame");
    form.set_target(&frame.name());
    form.set_hidden(true);
    let field: HtmlTextAreaElement = document().create_element("textarea")?.unchecked_into();
    field.set_name("page");
    field.set_value(page);
    form.append_child(&field)?;
    let body = document().body().ok_or(JsValue::NULL)?;
    body.append_child(&form)?;
    let submitted = form.submit();
    form.remove();
    submitted
}
