//! Forgetting a view's type, where different views stand in one place.
//!
//! Leptos's own `into_any` keeps a second way to take over what the server rendered: one that can wait in the middle
//! for code that is still to be loaded. There is no such code here, but as the type is forgotten the compiler can't
//! know it, and that way was a fifth of the WASM.

use leptos::{
    prelude::*,
    tachys::{
        html::attribute::{Attribute, any_attribute::AnyAttribute},
        hydration::Cursor,
        ssr::StreamBuilder,
        view::{Position, PositionState, add_attr::AddAnyAttr},
    },
};

/// [`IntoAny`] for views that never wait for code.
pub trait Erase {
    /// The view without its type.
    fn erase(self) -> AnyView;
}

impl<V: RenderHtml> Erase for V {
    fn erase(self) -> AnyView {
        AtOnce(self).into_any()
    }
}

/// A view that takes over at once: `hydrate_async` stays what it is by default, a call of `hydrate`.
struct AtOnce<V>(V);

impl<V: Render> Render for AtOnce<V> {
    type State = V::State;

    fn build(self) -> Self::State {
        self.0.build()
    }

    fn rebuild(self, state: &mut Self::State) {
        self.0.rebuild(state);
    }
}

impl<V: AddAnyAttr> AddAnyAttr for AtOnce<V> {
    type Output<A: Attribute> = V::Output<A>;

    fn add_any_attr<A: Attribute>(self, attribute: A) -> Self::Output<A>
    where
        Self::Output<A>: RenderHtml,
    {
        self.0.add_any_attr(attribute)
    }
}

impl<V: RenderHtml> RenderHtml for AtOnce<V> {
    type AsyncOutput = V::AsyncOutput;
    type Owned = AtOnce<V::Owned>;

    const MIN_LENGTH: usize = V::MIN_LENGTH;
    const EXISTS: bool = V::EXISTS;

    fn dry_resolve(&mut self) {
        self.0.dry_resolve();
    }

    fn resolve(self) -> impl Future<Output = Self::AsyncOutput> + Send {
        self.0.resolve()
    }

    fn html_len(&self) -> usize {
        self.0.html_len()
    }

    fn to_html_with_buf(
        self,
        buf: &mut String,
        position: &mut Position,
        escape: bool,
        mark_branches: bool,
        extra_attrs: Vec<AnyAttribute>,
    ) {
        self.0
            .to_html_with_buf(buf, position, escape, mark_branches, extra_attrs);
    }

    fn to_html_async_with_buf<const OUT_OF_ORDER: bool>(
        self,
        buf: &mut StreamBuilder,
        position: &mut Position,
        escape: bool,
        mark_branches: bool,
        extra_attrs: Vec<AnyAttribute>,
    ) {
        self.0
            .to_html_async_with_buf::<OUT_OF_ORDER>(buf, position, escape, mark_branches, extra_attrs);
    }

    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> Self::State {
        self.0.hydrate::<FROM_SERVER>(cursor, position)
    }

    fn into_owned(self) -> Self::Owned {
        AtOnce(self.0.into_owned())
    }
}
