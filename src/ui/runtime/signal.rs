//! Updates of signals.

use leptos::prelude::*;

/// Sets a signal if its value differs, to avoid needless effects.
pub fn set_if_changed<S, V>(signal: &S, value: &V)
where
    S: Set<Value = V::Owned> + WithUntracked<Value = V::Owned>,
    V: ?Sized + ToOwned,
    V::Owned: PartialEq<V>,
{
    if signal.with_untracked(|old| old != value) {
        signal.set(value.to_owned());
    }
}
