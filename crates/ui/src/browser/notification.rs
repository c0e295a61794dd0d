//! System notifications, where the browser has them and the user allows them.

use js_sys::{Array, Function, Object, Promise, Reflect};
use leptos::{
    prelude::{document, window},
    task::spawn_local,
};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;

use super::NotificationPermission;

fn notification_constructor() -> Option<Function> {
    get_property(&window(), "Notification")?.dyn_into().ok()
}

fn get_property(object: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(object, &JsValue::from_str(name)).ok()
}

/// The permission to show notifications.
pub fn notification_permission() -> NotificationPermission {
    let permission =
        notification_constructor().and_then(|class| get_property(&class, "permission")?.as_string());
    match permission.as_deref() {
        None => NotificationPermission::Unsupported,
        Some("granted") => NotificationPermission::Granted,
        Some("denied") => NotificationPermission::Denied,
        Some(_) => NotificationPermission::Undecided,
    }
}

/// Asks for the permission. Must be called from a user gesture.
pub fn request_notification_permission(answered: impl FnOnce(NotificationPermission) + 'static) {
    spawn_local(async move {
        let possible = async {
            let class = notification_constructor()?;
            // Some browsers have the class but cannot construct it. Without permission the test shows nothing.
            Reflect::construct(&class, &Array::of1(&JsValue::from_str(""))).ok()?;
            let ask: Function = get_property(&class, "requestPermission")?.dyn_into().ok()?;
            let asked = ask.call0(&class).ok()?;
            JsFuture::from(Promise::resolve(&asked)).await.ok()
        };
        answered(match possible.await {
            Some(_) => notification_permission(),
            None => NotificationPermission::Unsupported,
        });
    });
}

/// Shows a notification. A click on it brings the page to the front. A notification replaces another with the same
/// `tag`.
pub fn notify(title: &str, body: &str, tag: &str, pressed: impl FnOnce() + 'static) {
    let Some(class) = notification_constructor() else {
        return;
    };
    let options = Object::new();
    for (field, value) in [("body", body), ("tag", tag), ("icon", "/favicon.svg")] {
        let _ = Reflect::set(&options, &JsValue::from_str(field), &JsValue::from_str(value));
    }
    let Ok(notification) = Reflect::construct(&class, &Array::of2(&JsValue::from_str(title), &options))
    else {
        return;
    };
    let shown = notification.clone();
    let call = Closure::once_into_js(move || {
        let _ = window().focus();
        if let Some(close) = get_property(&shown, "close").and_then(|close| close.dyn_into::<Function>().ok())
        {
            let _ = close.call0(&shown);
        }
        pressed();
    });
    let _ = Reflect::set(&notification, &JsValue::from_str("onclick"), &call);
}

/// The duration of an answer, in milliseconds, from which a notification is shown. Set by the server in the page.
pub fn long_answer_threshold_ms() -> f64 {
    let root = document().document_element();
    let ms = root.and_then(|root| root.get_attribute("data-long-answer-ms"));
    // An integer: parsing floats takes 15 KB of WASM.
    let ms: Option<u32> = ms.and_then(|ms| ms.parse().ok());
    ms.map_or(f64::INFINITY, f64::from)
}
