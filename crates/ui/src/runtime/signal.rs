//! Helpers for signals: after hydration, and without needless effects.

use leptos::prelude::*;

use super::effect::effect;

/// Returns a signal that becomes true after hydration, for what the server does not render.
pub fn after_hydration() -> ReadSignal<bool> {
    let (is_hydrated, set_hydrated) = signal(false);
    effect(move || set_hydrated.set(true));
    is_hydrated
}

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
