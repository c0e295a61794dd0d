//! Conditional views.

use leptos::{children::TypedChildrenFn, prelude::*};

use crate::runtime::erase::Erase;

/// Shows its children while `when` is true.
///
/// Like Leptos's `Show`, but with the type of the children erased, so that it is compiled once.
#[component]
pub fn When<V: IntoView + 'static>(
    /// The condition. Tracked.
    when: impl Fn() -> bool + Send + Sync + 'static,
    children: TypedChildrenFn<V>,
) -> impl IntoView {
    let children = children.into_inner();
    let view: Box<dyn Fn() -> AnyView + Send> = Box::new(move || children().erase());
    // The children are kept unless the result changes.
    let when = Memo::new(move |_| when());
    move || when.get().then(&view)
}
