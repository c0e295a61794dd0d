//! Observers of elements: their size, and whether they are visible.

use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Element, IntersectionObserver, IntersectionObserverEntry, ResizeObserver};

/// An observer; disconnected when dropped.
pub struct ElementObserver(SendWrapper<Observer>);

/// The observer with its callback, which must live as long.
enum Observer {
    Size {
        observer: ResizeObserver,
        _call: Closure<dyn Fn()>,
    },
    Intersection {
        observer: IntersectionObserver,
        _call: Closure<dyn Fn(js_sys::Array)>,
    },
}

impl Drop for ElementObserver {
    fn drop(&mut self) {
        match &*self.0 {
            Observer::Size { observer, .. } => observer.disconnect(),
            Observer::Intersection { observer, .. } => observer.disconnect(),
        }
    }
}

/// Calls when an element's size changes, before the next paint.
pub fn on_resize(element: &Element, call: impl Fn() + 'static) -> ElementObserver {
    let call = Closure::<dyn Fn()>::new(call);
    #[expect(clippy::expect_used, reason = "every browser with WASM has it")]
    let observer =
        ResizeObserver::new(call.as_ref().unchecked_ref()).expect("every browser with WASM has it");
    observer.observe(element);
    ElementObserver(SendWrapper::new(Observer::Size {
        observer,
        _call: call,
    }))
}

/// Calls when an element becomes visible.
pub fn on_visible(element: &Element, call: impl Fn() + 'static) -> ElementObserver {
    let call = Closure::<dyn Fn(js_sys::Array)>::new(move |entries: js_sys::Array| {
        let seen = |entry: IntersectionObserverEntry| entry.is_intersecting();
        if entries.iter().any(|entry| seen(entry.unchecked_into())) {
            call();
        }
    });
    #[expect(clippy::expect_used, reason = "every browser with WASM has it")]
    let observer =
        IntersectionObserver::new(call.as_ref().unchecked_ref()).expect("every browser with WASM has it");
    observer.observe(element);
    ElementObserver(SendWrapper::new(Observer::Intersection {
        observer,
        _call: call,
    }))
}
