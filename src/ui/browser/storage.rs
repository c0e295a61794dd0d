//! Local storage. A browser that stores nothing works too.

use std::{cell::RefCell, collections::BTreeMap};

use leptos::prelude::{document, window};
use web_sys::Storage;

thread_local! {
    /// The fallback for values that the browser does not store: lasts as long as the page.
    static FALLBACK: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
}

fn local_storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// The value of a key.
pub fn storage_get(key: &str) -> Option<String> {
    let value = local_storage().and_then(|storage| storage.get_item(key).ok().flatten());
    value.or_else(|| FALLBACK.with_borrow(|memory| memory.get(key).cloned()))
}

/// The values of all keys that begin with `prefix`.
pub fn storage_get_all(prefix: &str) -> Vec<String> {
    let mut keys = FALLBACK.with_borrow(|memory| memory.keys().cloned().collect::<Vec<_>>());
    if let Some(storage) = local_storage() {
        let count = storage.length().unwrap_or_default();
        keys.extend((0..count).filter_map(|index| storage.key(index).ok().flatten()));
    }
    keys.iter()
        .filter(|key| key.starts_with(prefix))
        .filter_map(|key| storage_get(key))
        .collect()
}

/// Stores a value under a key, or removes it.
pub fn storage_set(key: &str, value: Option<&str>) {
    let is_stored = local_storage().is_some_and(|storage| match value {
        Some(value) => storage.set_item(key, value).is_ok(),
        None => storage.remove_item(key).is_ok(),
    });
    FALLBACK.with_borrow_mut(|memory| match value {
        Some(value) if !is_stored => memory.insert(key.into(), value.into()),
        _ => memory.remove(key),
    });
}

/// Sets the page's theme; `None` follows the system.
pub fn set_theme(theme: Option<&str>) {
    let Some(root) = document().document_element() else {
        return;
    };
    let _ = match theme {
        Some(theme) => root.set_attribute("data-theme", theme),
        None => root.remove_attribute("data-theme"),
    };
}
