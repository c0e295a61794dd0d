//! The common parts of the views here.

use leptos::prelude::Mountable;

/// Implements Leptos's traits for a view with a method `hydrate_at`, which on a server is [`Html`](crate::to_html::Html). In the
/// browser, the methods that only a server uses do nothing.
macro_rules! render_html {
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

            #[cfg(not(feature = "ssr"))]
            fn dry_resolve(&mut self) {}

            #[cfg(feature = "ssr")]
            fn dry_resolve(&mut self) {
                crate::to_html::dry_resolve(self);
            }

            #[cfg(not(feature = "ssr"))]
            async fn resolve(self) -> Self {
                self
            }

            #[cfg(feature = "ssr")]
            async fn resolve(mut self) -> Self {
                crate::to_html::resolve(&mut self).await;
                self
            }

            #[cfg(not(feature = "ssr"))]
            fn to_html_with_buf(
                self,
                _: &mut String,
                _: &mut leptos::tachys::view::Position,
                _: bool,
                _: bool,
                _: Vec<leptos::tachys::html::attribute::any_attribute::AnyAttribute>,
            ) {
            }

            #[cfg(feature = "ssr")]
            fn to_html_with_buf(
                self,
                buf: &mut String,
                position: &mut leptos::tachys::view::Position,
                escape: bool,
                _: bool,
                _: Vec<leptos::tachys::html::attribute::any_attribute::AnyAttribute>,
            ) {
                crate::to_html::Html::write(self, buf, position, escape);
            }

            #[cfg(feature = "ssr")]
            fn to_html_async_with_buf<const OUT_OF_ORDER: bool>(
                self,
                buf: &mut leptos::tachys::ssr::StreamBuilder,
                position: &mut leptos::tachys::view::Position,
                escape: bool,
                _: bool,
                _: Vec<leptos::tachys::html::attribute::any_attribute::AnyAttribute>,
            ) {
                crate::to_html::Html::write(self, buf, position, escape);
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

pub(crate) use render_html;

#[cfg(feature = "ssr")]
pub(crate) use crate::to_html::DynHtml;

/// Has no methods: only a server renders HTML.
#[cfg(not(feature = "ssr"))]
pub(crate) trait DynHtml {}

#[cfg(not(feature = "ssr"))]
impl<V> DynHtml for V {}

/// Shows a view in the place of another one.
pub(crate) fn replace<S: Mountable>(shown: &mut S, mut new: S) {
    shown.insert_before_this(&mut new);
    shown.unmount();
    *shown = new;
}
