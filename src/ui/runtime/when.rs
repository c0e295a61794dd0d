//! Views that are there at times.

use leptos::{children::TypedChildrenFn, prelude::*};

use crate::ui::runtime::erase::Erase;

/// Shows its children while `when` is true.
///
/// As Leptos's `Show`, but it forgets the children's type, so that it is compiled once.
#[component]
pub fn When<V: IntoView + 'static>(
    /// What it reads is followed.
    when: impl Fn() -> bool + Send + Sync + 'static,
    children: TypedChildrenFn<V>,
) -> impl IntoView {
    let children = children.into_inner();
    let view: Box<dyn Fn() -> AnyView + Send> = Box::new(move || children().erase());
    // The children stay as they are unless the answer is another one.
    let when = Memo::new(move |_| when());
    move || when.get().then(&view)
}
