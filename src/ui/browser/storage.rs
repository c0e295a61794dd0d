//! What this browser keeps between visits. A browser that keeps nothing is fine too.

use std::{cell::RefCell, collections::BTreeMap};

use leptos::prelude::{document, window};
use web_sys::Storage;

thread_local! {
    /// What the browser would not keep lasts as long as the page.
    static MEMORY: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
}

fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// What is kept under a key.
pub fn stored(key: &str) -> Option<String> {
    let kept = storage().and_then(|storage| storage.get_item(key).ok().flatten());
    kept.or_else(|| MEMORY.with_borrow(|memory| memory.get(key).cloned()))
}

/// Keeps a value under a key, or drops it.
pub fn store(key: &str, value: Option<&str>) {
    let kept = storage().is_some_and(|storage| match value {
        Some(value) => storage.set_item(key, value).is_ok(),
        None => storage.remove_item(key).is_ok(),
    });
    MEMORY.with_borrow_mut(|memory| match value {
        Some(value) if !kept => memory.insert(key.into(), value.into()),
        _ => memory.remove(key),
    });
}

/// Shows the page in a theme, or as the system has it.
pub fn set_theme(theme: Option<&str>) {
    let Some(root) = document().document_element() else {
        return;
    };
    let _ = match theme {
        Some(theme) => root.set_attribute("data-theme", theme),
        None => root.remove_attribute("data-theme"),
    };
}
