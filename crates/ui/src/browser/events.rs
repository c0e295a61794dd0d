//! The event stream, and the visibility and network events that decide if it is open.

use js_sys::{Function, Object, Promise, Reflect};
use leptos::{
    ev,
    leptos_dom::helpers::window_event_listener,
    prelude::{document, window},
    task::spawn_local,
};
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Headers, ReadableStreamDefaultReader, RequestCache, RequestInit, Response};

use super::{PresenceEvent, ResponseEvent, has_other_user, set_signed_out};

/// An open stream. Closed when dropped.
pub struct EventStream(SendWrapper<AbortController>);

impl Drop for EventStream {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reads the stream at `url`. After its end nothing more is reported.
///
/// Uses `fetch` instead of `EventSource`, which hides heartbeats and its own retries.
pub fn open_event_stream(url: &str, call: impl Fn(ResponseEvent) + 'static) -> EventStream {
    #[expect(clippy::expect_used, reason = "every browser with WASM has it")]
    let controller = AbortController::new().expect("every browser with WASM has AbortController");
    let init = RequestInit::new();
    init.set_signal(Some(&controller.signal()));
    init.set_cache(RequestCache::NoStore);
    if let Ok(headers) = Headers::new() {
        let _ = headers.set("Accept", "text/event-stream");
        init.set_headers(&headers);
    }
    let response = (!has_other_user()).then(|| window().fetch_with_str_and_init(url, &init));
    spawn_local(async move {
        match response {
            // The cause does not matter: the reconnect policy tries again.
            Some(response) => drop(read_stream(response, &call).await),
            None => set_signed_out(true),
        }
        call(ResponseEvent::Ended);
    });
    EventStream(SendWrapper::new(controller))
}

async fn read_stream(response: Promise, call: &impl Fn(ResponseEvent)) -> Result<(), JsValue> {
    let response: Response = JsFuture::from(response).await?.dyn_into()?;
    if response.ok() || response.status() == 401 {
        set_signed_out(!response.ok());
    }
    if response.status() == 429 {
        call(ResponseEvent::TooMany);
    }
    let Some(body) = response.body().filter(|_| response.ok()) else {
        return Ok(());
    };
    call(ResponseEvent::Opened);
    let reader: ReadableStreamDefaultReader = body.get_reader().dyn_into()?;
    loop {
        let chunk = JsFuture::from(reader.read()).await?;
        let bytes = Reflect::get(&chunk, &JsValue::from_str("value"))?;
        let Ok(bytes) = bytes.dyn_into::<js_sys::Uint8Array>() else {
            return Ok(());
        };
        call(ResponseEvent::Bytes(bytes.to_vec()));
    }
}

/// Reports when the page becomes visible or hidden, and when the network is lost or back.
pub fn on_presence(call: impl Fn(PresenceEvent) + 'static) {
    let call = std::rc::Rc::new(call);
    let (online, offline) = (call.clone(), call.clone());
    // The page's own listeners: they live as long as the page.
    let _ = window_event_listener(ev::online, move |_| online(PresenceEvent::Online));
    let _ = window_event_listener(ev::offline, move |_| offline(PresenceEvent::Offline));
    let changed = Closure::<dyn Fn()>::new(move || {
        call(if is_page_hidden() {
            PresenceEvent::Hidden
        } else {
            PresenceEvent::Visible
        });
    });
    let _ = document().add_event_listener_with_callback("visibilitychange", changed.as_ref().unchecked_ref());
    changed.forget();
}

/// A lock shared by all tabs: first requested, then held. Dropping this releases it, or cancels the request.
pub struct TabLock(SendWrapper<(AbortController, Function)>);

impl Drop for TabLock {
    fn drop(&mut self) {
        let (controller, release) = &*self.0;
        controller.abort();
        let _ = release.call0(&JsValue::UNDEFINED);
    }
}

/// Requests a lock, and calls when it is granted. `None` where the browser has no locks.
pub fn wait_for_lock(name: &str, granted: impl FnOnce() + 'static) -> Option<TabLock> {
    request_lock(name, true, granted)
}

/// Takes a lock if it is free, and calls; does not wait for a held one.
pub fn try_lock(name: &str, granted: impl FnOnce() + 'static) -> Option<TabLock> {
    request_lock(name, false, granted)
}

fn request_lock(name: &str, waits: bool, granted: impl FnOnce() + 'static) -> Option<TabLock> {
    let locks = Reflect::get(&window().navigator(), &JsValue::from_str("locks")).ok()?;
    let request: Function = Reflect::get(&locks, &JsValue::from_str("request"))
        .ok()?
        .dyn_into()
        .ok()?;
    let controller = AbortController::new().ok()?;
    let options = Object::new();
    // The two options exclude each other.
    let (option, value) = if waits {
        ("signal", controller.signal().into())
    } else {
        ("ifAvailable", JsValue::TRUE)
    };
    Reflect::set(&options, &JsValue::from_str(option), &value).ok()?;
    // Held until this is resolved.
    let mut release = None;
    let held = Promise::new(&mut |resolve, _| release = Some(resolve));
    let call = Closure::once_into_js(move |lock: JsValue| {
        if !lock.is_null() {
            granted();
        }
        held
    });
    let asked = request
        .call3(&locks, &JsValue::from_str(name), &options, &call)
        .ok()?;
    // A cancelled request is not an error.
    spawn_local(async move {
        let _ = JsFuture::from(Promise::resolve(&asked)).await;
    });
    Some(TabLock(SendWrapper::new((controller, release?))))
}

/// Returns true if the page is hidden.
pub fn is_page_hidden() -> bool {
    document().hidden()
}
