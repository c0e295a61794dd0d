//! Views whose code comes in a file of its own, when they are first shown: what few people need, and not at once, is
//! no part of what everybody waits for.
//!
//! Such a view's module has a function that the build takes out of the WASM, with all that only it needs:
//!
//! ```text
//! /// Shows the settings.
//! pub fn settings(live: Live) -> AnyView {
//!     lazy(move || code(live))
//! }
//!
//! #[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
//! pub fn code(live: Live) -> Result<Code, NotLoaded> {
//!     Ok(Arc::new(move || view! { <section data-lazy="settings"><Settings live/></section> }.erase()))
//! }
//! ```
//!
//! Calling it has become asynchronous, and fails if there is no network, or the server has become a newer one that doesn't
//! have the file. [`lazy`] shows the view, or says so. Without `fallible` such a call would be a panic and the page dead,
//! and so it is with Leptos's own `#[lazy]`.
//!
//! The server has all code and renders the view at once. [`prepare`](crate::ui::prepare) has the browser load that code before it takes the
//! page over; it must know each view here that a page may begin with.

use std::{
    pin::Pin,
    sync::{Arc, OnceLock},
};

use futures::FutureExt;
use leptos::{prelude::*, task::spawn_local, wasm_split::SplitLoaderError};

use crate::ui::{
    browser,
    runtime::{backoff::backoff_ms, erase::Erase},
};

/// Makes a view, once it is here.
pub type LazyView = Arc<dyn Fn() -> AnyView + Send + Sync>;

/// The file could not be loaded. The browser's console knows why.
#[derive(Debug)]
pub struct LoadError;

impl From<SplitLoaderError> for LoadError {
    fn from(_: SplitLoaderError) -> Self {
        Self
    }
}

/// Something on its way.
pub type LoadFuture<T> = Pin<Box<dyn Future<Output = Result<T, LoadError>>>>;

/// Shows a view once its code is here, and until then that it is being waited for or could not be had.
pub fn lazy_view<F: Future<Output = Result<LazyView, LoadError>> + 'static>(
    load: impl Fn() -> F + Send + Sync + 'static,
) -> AnyView {
    Lazy::new(load).show(true)
}

/// The same for a part of something that is shown already: while it is loaded, nothing is said.
pub fn lazy_part<F: Future<Output = Result<LazyView, LoadError>> + 'static>(
    load: impl Fn() -> F + Send + Sync + 'static,
) -> AnyView {
    Lazy::new(load).show(false)
}

/// The same for what nobody waits for: it is shown once it is here, and as long as it can't be had, nothing is.
pub fn lazy_optional<F: Future<Output = Result<LazyView, LoadError>> + 'static>(
    load: impl Fn() -> F + 'static,
) -> AnyView {
    let code = RwSignal::new(None::<LazyView>);
    let is_wanted = move || !code.is_disposed();
    retry_until_loaded(
        move || Box::pin(load()),
        is_wanted,
        move |here| {
            code.try_set(Some(here));
        },
    );
    let view = move || code.get().map(|code| code());
    view.erase()
}

/// Goes on once something lazy is here, for which it is asked again and again as long as it is wanted.
pub fn retry_until_loaded<T: 'static>(
    load: impl Fn() -> LoadFuture<T> + 'static,
    is_wanted: impl Fn() -> bool + 'static,
    go_on: impl FnOnce(T) + 'static,
) {
    when_loaded(load(), move |first| match first {
        Ok(here) => go_on(here),
        Err(LoadError) => spawn_local(async move {
            let mut tries = 1;
            browser::sleep(backoff_ms(tries)).await;
            while is_wanted() {
                if let Ok(here) = load().await {
                    return go_on(here);
                }
                tries += 1;
                browser::sleep(backoff_ms(tries)).await;
            }
        }),
    });
}

/// Goes on once something lazy is here, or could not be had: at once, if it is here already.
pub fn when_loaded<T: 'static>(
    mut loading: LoadFuture<T>,
    go_on: impl FnOnce(Result<T, LoadError>) + 'static,
) {
    // On the server it always is, in a browser from the second time on.
    match (&mut loading).now_or_never() {
        Some(result) => go_on(result),
        None => spawn_local(async move { go_on(loading.await) }),
    }
}

#[derive(Clone)]
struct Lazy {
    load: Arc<dyn Fn() -> LoadFuture<LazyView> + Send + Sync>,
    code: Arc<OnceLock<LazyView>>,
    /// Set whenever it is known how the loading went.
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

    fn show(self, says_so: bool) -> AnyView {
        self.load();
        let view = move || match (self.has_failed.get(), self.code.get()) {
            (_, Some(code)) => code(),
            (false, None) if !says_so => ().into_any(),
            (false, None) => {
                view! { <div class="notice notice-waiting" role="status">"Loading…"</div> }.erase()
            }
            (true, None) => self.clone().failure(),
        };
        view.erase()
    }

    fn load(&self) {
        let lazy = self.clone();
        when_loaded((self.load)(), move |result| lazy.on_loaded(result));
    }

    fn on_loaded(&self, result: Result<LazyView, LoadError>) {
        let failed = result.map(|code| self.code.set(code)).is_err();
        // What is shown may be gone meanwhile.
        self.has_failed.try_set(failed);
    }

    fn failure(self) -> AnyView {
        let again = move |_| {
            self.has_failed.set(false);
            self.load();
        };
        view! {
            <div class="notice" role="alert">
                <p>"This part of the page could not be loaded. If it stays so, reload the page."</p>
                <button type="button" class="button" on:click=again>
                    "Try again"
                </button>
            </div>
        }
        .erase()
    }
}
