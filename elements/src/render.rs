//! The common parts of the views here: only the browser renders them.

use leptos::prelude::Mountable;

/// Implements Leptos's traits for a view with a method `hydrate_at`. The methods that only the server uses do nothing: it keeps
/// Leptos's own views.
macro_rules! browser_view {
    ($view:ty) => {
        impl leptos::prelude::RenderHtml for $view {
            type AsyncOutput = Self;
            type Owned = Self;

            const MIN_LENGTH: usize = 0;

            fn hydrate<const FROM_SERVER: bool>(
                self,
                cursor: &leptos::tachys::hydration::Cursor,
                position: &leptos::tachys::view::PositionState,
            ) -> Self::State {
                self.hydrate_at(cursor, position)
            }

            fn into_owned(self) -> Self {
                self
            }

            fn dry_resolve(&mut self) {}

            async fn resolve(self) -> Self {
                self
            }

            fn to_html_with_buf(
                self,
                _: &mut String,
                _: &mut leptos::tachys::view::Position,
                _: bool,
                _: bool,
                _: Vec<leptos::tachys::html::attribute::any_attribute::AnyAttribute>,
            ) {
            }
        }

        /// Attributes of components are not supported: none are used.
        impl leptos::prelude::AddAnyAttr for $view {
            type Output<A: leptos::tachys::html::attribute::Attribute> = Self;

            fn add_any_attr<A: leptos::tachys::html::attribute::Attribute>(self, _: A) -> Self {
                self
            }
        }
    };
}

pub(crate) use browser_view;

/// Shows a view in the place of another one.
pub(crate) fn replace<S: Mountable>(shown: &mut S, mut new: S) {
    shown.insert_before_this(&mut new);
    shown.unmount();
    *shown = new;
}
