//! Type-erased views for the browser.
//!
//! Leptos's `AnyView` supports cases that never happen here, such as waiting for code that is still loading during
//! hydration. Since the type is erased, the compiler cannot remove that code, and all of it is compiled for every view.
//! An `AnyView` here supports only three operations: build, hydrate and rebuild.

use std::any::{Any, TypeId};

use leptos::{
    prelude::*,
    tachys::{
        html::attribute::{Attribute, any_attribute::AnyAttribute},
        hydration::Cursor,
        view::{Mountable, Position, PositionState, add_attr::AddAnyAttr},
    },
    web_sys::{Element, Node},
};

/// The view without its type.
pub fn erase<V: RenderHtml>(view: V) -> AnyView {
    // The server leaves a placeholder for a view without nodes; nothing here would look for it.
    const { assert!(V::EXISTS) };
    Erased(Box::new(view.into_owned())).into_any()
}

struct Erased(Box<dyn DynView>);

/// The state of an erased view in the page.
struct ErasedState {
    /// The type of the view.
    view: TypeId,
    state: Box<dyn DynState>,
}

trait DynView: Send {
    fn view(&self) -> TypeId;
    fn build(self: Box<Self>) -> Box<dyn DynState>;
    fn hydrate(self: Box<Self>, cursor: &Cursor, position: &PositionState) -> Box<dyn DynState>;
    fn rebuild(self: Box<Self>, state: &mut dyn Any);
}

trait DynState: Mountable + Any {}

impl<S: Mountable + Any> DynState for S {}

impl<V: RenderHtml<State: 'static> + 'static> DynView for V {
    fn view(&self) -> TypeId {
        TypeId::of::<V>()
    }

    fn build(self: Box<Self>) -> Box<dyn DynState> {
        Box::new(Render::build(*self))
    }

    fn hydrate(self: Box<Self>, cursor: &Cursor, position: &PositionState) -> Box<dyn DynState> {
        Box::new(RenderHtml::hydrate::<true>(*self, cursor, position))
    }

    fn rebuild(self: Box<Self>, state: &mut dyn Any) {
        if let Some(state) = state.downcast_mut() {
            Render::rebuild(*self, state);
        }
    }
}

impl Render for Erased {
    type State = ErasedState;

    fn build(self) -> ErasedState {
        ErasedState {
            view: self.0.view(),
            state: self.0.build(),
        }
    }

    fn rebuild(self, shown: &mut ErasedState) {
        if self.0.view() == shown.view {
            self.0.rebuild(&mut *shown.state);
        } else {
            let mut new = self.build();
            shown.insert_before_this(&mut new);
            shown.unmount();
            *shown = new;
        }
    }
}

impl Mountable for ErasedState {
    fn unmount(&mut self) {
        self.state.unmount();
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        self.state.mount(parent, marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.state.insert_before_this(child)
    }

    fn elements(&self) -> Vec<Element> {
        self.state.elements()
    }
}

impl RenderHtml for Erased {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> ErasedState {
        ErasedState {
            view: self.0.view(),
            state: self.0.hydrate(cursor, position),
        }
    }

    fn into_owned(self) -> Self {
        self
    }

    // The remaining methods are used on the server only, which keeps the types.

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }

    fn to_html_with_buf(self, _: &mut String, _: &mut Position, _: bool, _: bool, _: Vec<AnyAttribute>) {}
}

impl AddAnyAttr for Erased {
    type Output<A: Attribute> = Self;

    // An `AnyView` keeps such attributes itself.
    fn add_any_attr<A: Attribute>(self, _: A) -> Self {
        self
    }
}
