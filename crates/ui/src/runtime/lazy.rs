//! Views with a code file of their own, loaded when they are first shown. Code that few people need, and not at once,
//! does not delay the page for everybody.
//!
//! The module of such a view has a function that the build splits from the main WASM, with all code that only it needs:
//!
//! ```text
//! /// Shows the settings.
//! pub fn settings() -> AnyView {
//!     lazy_view(load_view)
//! }
//!
//! #[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
//! pub fn load_view() -> Result<LazyView, LoadError> {
//!     Ok(Arc::new(|| view! { <section data-lazy=LazyPart::Settings.name()><Settings/></section> }.erase()))
//! }
//! ```
//!
//! A call of the split function is asynchronous. It fails without network, or when the server has been updated and no
//! longer has the file. [`lazy_view`] shows the view, or the failure. Without `fallible`, as with Leptos's own `#[lazy]`,
//! a failure would be a panic and stop the page.
//!
//! The server has all code and renders the view at once. [`prepare`](crate::prepare) makes the browser load that code
//! before hydration, of the views that are marked with a [`LazyPart`](super::lazy_part::LazyPart).

use std::{
    pin::Pin,
    sync::{Arc, OnceLock},
};

use futures::FutureExt;
use leptos::{prelude::*, task::spawn_local, wasm_split::SplitLoaderError};

use super::texts;
use crate::{
    browser,
    runtime::{backoff::backoff_ms, erase::Erase},
};

/// Makes a loaded view.
pub type LazyView = Arc<dyn Fn() -> AnyView + Send + Sync>;

/// The file could not be loaded. The browser's console has the cause.
#[derive(Debug)]
pub struct LoadError;

impl From<SplitLoaderError> for LoadError {
    fn from(_: SplitLoaderError) -> Self {
        Self
    }
}

/// The future of a load.
pub type LoadFuture<T> = Pin<Box<dyn Future<Output = Result<T, LoadError>>>>;

/// Shows a view once its code is loaded; until then a notice that it is loading or has failed. A failed load is retried
/// by itself.
pub fn lazy_view<F: Future<Output = Result<LazyView, LoadError>> + 'static>(
    load: impl Fn() -> F + Send + Sync + 'static,
) -> AnyView {
    Lazy::new(load)
        .show(|| view! { <div class="notice notice-waiting" role="status">{texts::LOADING}</div> }.erase())
}

/// Shows a part of a larger view once its code is loaded; no notice while it is loading.
pub fn lazy_part<F: Future<Output = Result<LazyView, LoadError>> + 'static>(
    load: impl Fn() -> F + Send + Sync + 'static,
) -> AnyView {
    Lazy::new(load).show(|| ().into_any())
}

/// The same with a placeholder of the view's size, so that nothing moves when the view takes its place.
pub fn lazy_part_after<F: Future<Output = Result<LazyView, LoadError>> + 'static>(
    placeholder: impl Fn() -> AnyView + Send + 'static,
    load: impl Fn() -> F + Send + Sync + 'static,
) -> AnyView {
    Lazy::new(load).show(placeholder)
}

/// Shows an optional view once its code is loaded, without any notice, also of failures.
pub fn lazy_optional<F: Future<Output = Result<LazyView, LoadError>> + 'static>(
    load: impl Fn() -> F + 'static,
) -> AnyView {
    let slot = LazySlot::new();
    slot.load(load);
    slot.view(|| ().into_any())
}

/// The place of a view whose code is loaded later, without any notice, also of failures.
#[derive(Clone, Copy)]
pub struct LazySlot {
    code: RwSignal<Option<LazyView>>,
    is_requested: StoredValue<bool>,
}

impl LazySlot {
    pub fn new() -> Self {
        Self {
            code: RwSignal::new(None),
            is_requested: StoredValue::new(false),
        }
    }

    /// Loads the code, once.
    pub fn load<F: Future<Output = Result<LazyView, LoadError>> + 'static>(
        self,
        load: impl Fn() -> F + 'static,
    ) {
        // The place may be removed by now.
        if self.is_requested.try_get_value() != Some(false) {
            return;
        }
        self.is_requested.set_value(true);
        retry_until_loaded(
            move || Box::pin(load()),
            move || !self.code.is_disposed(),
            || {},
            move |loaded| {
                self.code.try_set(Some(loaded));
            },
        );
    }

    /// Tracks whether the code is loaded.
    pub fn track(self) {
        self.code.track();
    }

    /// The view, and its placeholder until then.
    pub fn view(self, placeholder: impl Fn() -> AnyView + Send + 'static) -> AnyView {
        let view = move || match self.code.get() {
            Some(code) => code(),
            None => placeholder(),
        };
        view.erase()
    }
}

/// Loads something lazy, retries as long as it is wanted, and calls `on_loaded` with it. The first failure is reported
/// to `on_failed`.
pub fn retry_until_loaded<T: 'static>(
    load: impl Fn() -> LoadFuture<T> + 'static,
    is_wanted: impl Fn() -> bool + 'static,
    on_failed: impl FnOnce() + 'static,
    on_loaded: impl FnOnce(T) + 'static,
) {
    when_loaded(load(), move |first| match first {
        Ok(here) => on_loaded(here),
        Err(LoadError) => {
            on_failed();
            spawn_local(async move {
                let mut tries = 1;
                browser::sleep(backoff_ms(tries)).await;
                while is_wanted() {
                    if let Ok(here) = load().await {
                        return on_loaded(here);
                    }
                    tries += 1;
                    browser::sleep(backoff_ms(tries)).await;
                }
            });
        }
    });
}

/// Calls `on_loaded` once something lazy is loaded or has failed: at once, if it is loaded already.
pub fn when_loaded<T: 'static>(
    mut loading: LoadFuture<T>,
    on_loaded: impl FnOnce(Result<T, LoadError>) + 'static,
) {
    // On the server it is always loaded, in a browser from the second time on.
    match (&mut loading).now_or_never() {
        Some(result) => on_loaded(result),
        None => spawn_local(async move { on_loaded(loading.await) }),
    }
}

#[derive(Clone)]
struct Lazy {
    load: Arc<dyn Fn() -> LoadFuture<LazyView> + Send + Sync>,
    code: Arc<OnceLock<LazyView>>,
    /// True if the last load failed.
    has_failed: RwSignal<bool>,
}

impl Lazy {
    fn new<F: Future<Output = Result<LazyView, LoadError>> + 'static>(
        load: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        Self {
            load: Arc::new(move || Box::pin(load())),
            code: Arc::default(),
            has_failed: RwSignal::new(false),
        }
    }

    fn show(self, placeholder: impl Fn() -> AnyView + Send + 'static) -> AnyView {
        self.load_and_retry();
        let view = move || match (self.has_failed.get(), self.code.get()) {
            (_, Some(code)) => code(),
            (false, None) => placeholder(),
            (true, None) => self.clone().failure(),
        };
        view.erase()
    }

    fn load_and_retry(&self) {
        let (load, has_failed) = (self.load.clone(), self.has_failed);
        let (wanted, loaded) = (self.clone(), self.clone());
        let is_wanted = move || wanted.code.get().is_none() && !wanted.has_failed.is_disposed();
        let on_failed = move || {
            has_failed.try_set(true);
        };
        let on_loaded = move |code| loaded.on_loaded(Ok(code));
        retry_until_loaded(move || load(), is_wanted, on_failed, on_loaded);
    }

    /// Tries once, in addition to the retries.
    fn load_now(&self) {
        let lazy = self.clone();
        when_loaded((self.load)(), move |result| lazy.on_loaded(result));
    }

    fn on_loaded(&self, result: Result<LazyView, LoadError>) {
        let failed = result.map(|code| self.code.set(code)).is_err();
        // The view may be removed meanwhile.
        self.has_failed.try_set(failed);
    }

    fn failure(self) -> AnyView {
        let again = move |_| {
            self.has_failed.set(false);
            self.load_now();
        };
        view! {
            <div class="notice" role="alert">
                <p>{texts::PART_FAILED}</p>
                <button type="button" class="button" on:click=again>
                    {texts::TRY_AGAIN}
                </button>
            </div>
        }
        .erase()
    }
}
