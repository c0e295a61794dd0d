//! Updates of signals.

use leptos::prelude::*;

/// Sets a signal if its value differs, to avoid needless effects.
pub fn set_if_changed<T, V>(signal: &ArcRwSignal<T>, value: &V)
where
    T: PartialEq<V> + Send + Sync + 'static,
    V: ?Sized + ToOwned<Owned = T>,
{
    if signal.with_untracked(|old| old != value) {
        signal.set(value.to_owned());
    }
}
