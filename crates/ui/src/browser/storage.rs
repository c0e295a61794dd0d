//! Local storage. A browser that stores nothing works too.

use std::cell::RefCell;

use super::user::page_user;
use leptos::prelude::{document, window};
use web_sys::Storage;

thread_local! {
    /// The fallback for values that the browser does not store, by their keys: lasts as long as the page.
    static FALLBACK: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

fn local_storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// The keys that all users of a browser share: a script reads them before the first paint.
const SHARED_KEYS: [&str; 2] = ["parlor-theme", "parlor-sidebar"];

/// Returns a key of the page's user: people who share a browser must not see each other's drafts.
fn own_key(key: &str) -> String {
    match page_user().filter(|_| !SHARED_KEYS.contains(&key)) {
        Some(user) => [&user, "/", key].concat(),
        None => key.to_owned(),
    }
}

/// The value of a key.
pub fn storage_get(key: &str) -> Option<String> {
    get(&own_key(key))
}

fn get(key: &str) -> Option<String> {
    let value = local_storage().and_then(|storage| storage.get_item(key).ok().flatten());
    value.or_else(|| {
        FALLBACK.with_borrow(|memory| {
            let found = memory.iter().find(|(known, _)| known == key);
            found.map(|(_, value)| value.clone())
        })
    })
}

/// The values of all keys that begin with `prefix`.
pub fn storage_get_all(prefix: &str) -> Vec<String> {
    let mut keys: Vec<_> = FALLBACK.with_borrow(|memory| memory.iter().map(|(key, _)| key.clone()).collect());
    if let Some(storage) = local_storage() {
        let count = storage.length().unwrap_or_default();
        keys.extend((0..count).filter_map(|index| storage.key(index).ok().flatten()));
    }
    let prefix = own_key(prefix);
    keys.iter()
        .filter(|key| key.starts_with(&prefix))
        .filter_map(|key| get(key))
        .collect()
}

/// Stores a value under a key, or removes it.
pub fn storage_set(key: &str, value: Option<&str>) {
    let key = &*own_key(key);
    let is_stored = local_storage().is_some_and(|storage| match value {
        Some(value) => storage.set_item(key, value).is_ok(),
        None => storage.remove_item(key).is_ok(),
    });
    FALLBACK.with_borrow_mut(|memory| {
        memory.retain(|(known, _)| known != key);
        if let Some(value) = value.filter(|_| !is_stored) {
            memory.push((key.into(), value.into()));
        }
    });
}

/// Sets an attribute of the page's root element, or removes it.
pub fn set_root_attribute(name: &str, value: Option<&str>) {
    let Some(root) = document().document_element() else {
        return;
    };
    let _ = match value {
        Some(value) => root.set_attribute(name, value),
        None => root.remove_attribute(name),
    };
}
