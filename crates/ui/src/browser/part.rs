//! Parts of pages that the server renders: their requests, and what the browser adds to them.

use leptos::{
    prelude::{document, window},
    task::spawn_local,
};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, Event, Headers, RequestCache, RequestInit, Response};

use super::{PART_HEADER, ServerPart, has_other_user, local_time, set_signed_out};
use parlor_protocol::Timestamp;

/// The attribute of a part with the URL at which it can be reloaded: a form's answer is shown at the URL of the form.
const ADDRESS_ATTRIBUTE: &str = "data-address";

/// Requests the part of a page at a URL.
pub fn fetch_part(url: &str, done: impl FnOnce(ServerPart) + 'static) {
    if has_other_user() {
        set_signed_out(true);
        return done(ServerPart::Unreachable);
    }
    let url = url.to_owned();
    spawn_local(async move {
        done(try_fetch(&url).await.unwrap_or(ServerPart::Unreachable));
    });
}

async fn try_fetch(url: &str) -> Result<ServerPart, JsValue> {
    let headers = Headers::new()?;
    headers.set(PART_HEADER, "1")?;
    let init = RequestInit::new();
    init.set_cache(RequestCache::NoStore);
    init.set_headers(&headers);
    let response = JsFuture::from(window().fetch_with_str_and_init(url, &init)).await?;
    let response: Response = response.dyn_into()?;
    if !response.headers().has(PART_HEADER)? {
        return Ok(ServerPart::OtherPage);
    }
    let text = JsFuture::from(response.text()?).await?;
    Ok(text.as_string().map_or(ServerPart::Unreachable, ServerPart::Html))
}

/// Leaves the application for a page of the server.
pub fn load_page(url: &str) {
    let _ = window().location().set_href(url);
}

/// Writes the times of the shown part in the user's format, and shows the URL at which it can be reloaded.
pub fn finish_part(selector: &str) {
    let _ = try_finish(selector);
}

fn try_finish(selector: &str) -> Result<(), JsValue> {
    let Some(part) = document().query_selector(selector)? else {
        return Ok(());
    };
    let times = part.query_selector_all("time[datetime]")?;
    for index in 0..times.length() {
        let time: Option<Element> = times.get(index).and_then(|time| time.dyn_into().ok());
        let Some(time) = time else { continue };
        let at = time.get_attribute("datetime").unwrap_or_default();
        let ms = js_sys::Date::parse(&at);
        if !ms.is_nan() {
            time.set_text_content(Some(&local_time(Timestamp(ms as i64))));
        }
    }
    let address = part.query_selector(&["[", ADDRESS_ATTRIBUTE, "]"].concat())?;
    if let Some(address) = address.and_then(|part| part.get_attribute(ADDRESS_ATTRIBUTE)) {
        super::set_url(&address, true);
    }
    Ok(())
}

/// Returns the text that a pressed button of the part copies.
pub fn text_to_copy(event: &Event) -> Option<String> {
    let pressed: Element = event.target()?.dyn_into().ok()?;
    pressed.closest("[data-copy]").ok()??.get_attribute("data-copy")
}
