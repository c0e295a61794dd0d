//! The event stream, and the signs by which the page knows whether it is worth holding.

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

use super::{PresenceEvent, StreamEvent};

/// A stream that is being read. It is closed when this is dropped.
pub struct EventStream(SendWrapper<AbortController>);

impl Drop for EventStream {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reads the stream at `url`. After its end nothing more is told.
///
/// `fetch` rather than `EventSource`: that one hides heartbeats and when it tries again.
pub fn open_event_stream(url: &str, call: impl Fn(StreamEvent) + 'static) -> EventStream {
    let controller = AbortController::new().expect("every browser with WASM has AbortController");
    let init = RequestInit::new();
    init.set_signal(Some(&controller.signal()));
    init.set_cache(RequestCache::NoStore);
    if let Ok(headers) = Headers::new() {
        let _ = headers.set("Accept", "text/event-stream");
        init.set_headers(&headers);
    }
    let response = window().fetch_with_str_and_init(url, &init);
    spawn_local(async move {
        // What went wrong makes no difference: the link tries again.
        let _ = read_stream(response, &call).await;
        call(StreamEvent::Ended);
    });
    EventStream(SendWrapper::new(controller))
}

async fn read_stream(response: js_sys::Promise, call: &impl Fn(StreamEvent)) -> Result<(), JsValue> {
    let response: Response = JsFuture::from(response).await?.dyn_into()?;
    let Some(body) = response.body().filter(|_| response.ok()) else {
        return Ok(());
    };
    call(StreamEvent::Opened);
    let reader: ReadableStreamDefaultReader = body.get_reader().dyn_into()?;
    loop {
        let chunk = JsFuture::from(reader.read()).await?;
        let bytes = js_sys::Reflect::get(&chunk, &JsValue::from_str("value"))?;
        let Ok(bytes) = bytes.dyn_into::<js_sys::Uint8Array>() else {
            return Ok(());
        };
        call(StreamEvent::Bytes(bytes.to_vec()));
    }
}

/// Tells when the page comes to be seen or hidden, and when the network goes and comes back.
pub fn on_presence(call: impl Fn(PresenceEvent) + 'static) {
    let call = std::rc::Rc::new(call);
    let (online, offline) = (call.clone(), call.clone());
    // The page's own listeners: they live as long as it does.
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

/// A lock that all tabs share: asked for, then held. Dropping this gives it back, or asks no more.
pub struct Lock(SendWrapper<(AbortController, Function)>);

impl Drop for Lock {
    fn drop(&mut self) {
        let (asking, release) = &*self.0;
        asking.abort();
        let _ = release.call0(&JsValue::UNDEFINED);
    }
}

/// Asks for a lock, and calls when it is granted. `None` where there are no locks.
pub fn wait_for_lock(name: &str, granted: impl FnOnce() + 'static) -> Option<Lock> {
    request_lock(name, true, granted)
}

/// Takes a lock that nobody has, and calls; one that somebody has is not waited for.
pub fn try_lock(name: &str, granted: impl FnOnce() + 'static) -> Option<Lock> {
    request_lock(name, false, granted)
}

fn request_lock(name: &str, waits: bool, granted: impl FnOnce() + 'static) -> Option<Lock> {
    let locks = Reflect::get(&window().navigator(), &JsValue::from_str("locks")).ok()?;
    let request: Function = Reflect::get(&locks, &JsValue::from_str("request"))
        .ok()?
        .dyn_into()
        .ok()?;
    let asking = AbortController::new().ok()?;
    let options = Object::new();
    // The two don't go together.
    let (option, value) = if waits {
        ("signal", asking.signal().into())
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
    // Asking no more is no failure.
    spawn_local(async move {
        let _ = JsFuture::from(Promise::resolve(&asked)).await;
    });
    Some(Lock(SendWrapper::new((asking, release?))))
}

/// Whether nobody can see the page.
pub fn is_page_hidden() -> bool {
    document().hidden()
}
