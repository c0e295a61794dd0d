//! Clocks, timers, frames and random numbers.

use std::cell::Cell;

use js_sys::{Date, Function, Math, Object, Promise, Reflect};
use leptos::prelude::window;
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;

use parlor_protocol::Timestamp;

const MS_PER_DAY: i64 = 86_400_000;

/// A hidden page gets no frames.
const HIDDEN_FRAME_INTERVAL_MS: f64 = 250.0;

/// The wall-clock time.
pub fn now() -> Timestamp {
    Timestamp(Date::now() as i64)
}

/// The day in the browser's own zone, counted from 1970-01-01.
pub fn local_day(at: Timestamp) -> i64 {
    let date = Date::new(&JsValue::from_f64(at.0 as f64));
    let offset_ms = date.get_timezone_offset() * 60_000.0;
    Timestamp(at.0 - offset_ms as i64).days_since_epoch()
}

/// The IANA name of the browser's own zone.
pub fn time_zone() -> String {
    let format = js_sys::Intl::DateTimeFormat::new(&js_sys::Array::new(), &Object::new());
    let zone = Reflect::get(&format.resolved_options(), &JsValue::from_str("timeZone"));
    zone.ok()
        .and_then(|zone| zone.as_string())
        .unwrap_or_else(|| "UTC".into())
}

/// A time in the user's format: the hour, and the date if it is not today's, with the year if it is not this one.
pub fn local_time(at: Timestamp) -> String {
    let options = Object::new();
    let mut fields = vec![("hour", "numeric"), ("minute", "2-digit")];
    let (day, today) = (local_day(at), local_day(now()));
    if day != today {
        fields.extend([("day", "numeric"), ("month", "short")]);
    }
    if year_of(day) != year_of(today) {
        fields.push(("year", "numeric"));
    }
    for (field, form) in fields {
        let _ = Reflect::set(&options, &JsValue::from_str(field), &JsValue::from_str(form));
    }
    // No locale: the browser's.
    let date = Date::new(&JsValue::from_f64(at.0 as f64));
    let format: Option<Function> = Reflect::get(&date, &JsValue::from_str("toLocaleString"))
        .ok()
        .and_then(|format| format.dyn_into().ok());
    let text = format.and_then(|format| format.call2(&date, &JsValue::UNDEFINED, &options).ok());
    text.and_then(|text| text.as_string()).unwrap_or_default()
}

fn year_of(day: i64) -> i64 {
    Timestamp(day * MS_PER_DAY).utc_date().0
}

thread_local! {
    /// The last reading of the wall clock, and the monotonic time by then.
    static LAST_READING: Cell<(f64, f64)> = const { Cell::new((0.0, 0.0)) };
}

/// Milliseconds on a clock that never goes back, and that keeps running while the machine sleeps. On some systems the
/// browser's own (`performance.now()`) stops then.
pub fn monotonic_ms() -> f64 {
    let now = Date::now();
    let (before, passed) = LAST_READING.get();
    let passed = passed + (now - before).max(0.0);
    LAST_READING.set((now, passed));
    passed
}

/// A random number in 0..1.
pub fn random() -> f64 {
    Math::random()
}

/// Waits for `ms` milliseconds.
pub async fn sleep(ms: f64) {
    let promise = Promise::new(&mut |done, _| {
        let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&done, ms as i32);
    });
    let _ = JsFuture::from(promise).await;
}

/// The timer's callback, which must live until it is called.
type TimerCallback = SendWrapper<Closure<dyn FnMut()>>;

/// A pending call. Cancelled when dropped.
pub struct Timer(Option<(i32, TimerCallback)>);

impl Timer {
    /// Lets the call happen even if this is dropped.
    pub fn detach(mut self) {
        if let Some((_, call)) = self.0.take() {
            // Its memory is freed after the call.
            call.take().forget();
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some((id, _)) = &self.0 {
            window().clear_timeout_with_handle(*id);
        }
    }
}

/// Calls after `ms` milliseconds.
pub fn set_timeout(ms: f64, call: impl FnOnce() + 'static) -> Timer {
    let call = Closure::once(call);
    let id = window()
        .set_timeout_with_callback_and_timeout_and_arguments_0(call.as_ref().unchecked_ref(), ms as i32);
    Timer(id.ok().map(|id| (id, SendWrapper::new(call))))
}

/// Runs a callback before the next paint.
pub fn on_next_frame(call: impl FnOnce() + 'static) {
    if super::is_page_hidden() {
        set_timeout(HIDDEN_FRAME_INTERVAL_MS, call).detach();
    } else {
        let _ = window().request_animation_frame(Closure::once_into_js(call).unchecked_ref());
    }
}

/// The time after which the page has loaded what it needs at once, in milliseconds.
const IDLE_AFTER_MS: f64 = 2000.0;

/// Runs a callback once the page has nothing else to do.
pub fn on_idle(call: impl FnOnce() + 'static) {
    set_timeout(IDLE_AFTER_MS, || {
        let call = Closure::once_into_js(call);
        // Safari has no such function.
        if window().request_idle_callback(call.unchecked_ref()).is_err() {
            let _ = call.unchecked_ref::<Function>().call0(&JsValue::NULL);
        }
    })
    .detach();
}
