//! The children of elements: views without their types.

use std::{
    any::{Any, TypeId},
    sync::Arc,
};

use leptos::{
    component::ComponentConstructor,
    prelude::{AnyView, IntoView, Mountable, Render, RenderHtml, Suspend},
    tachys::{html::InertElement, hydration::Cursor, renderer::types, view::PositionState},
};

use crate::{
    element::Element,
    node::Node,
    render::{DynHtml, render_html, replace},
    view::View,
};

/// A view without its type.
pub struct Child(pub(crate) Box<dyn DynView>);

/// The state of a child in the page.
pub struct ChildState {
    /// The type of the view.
    view: TypeId,
    state: Box<dyn DynState>,
}

pub(crate) trait DynView: DynHtml + Send {
    fn view(&self) -> TypeId;
    fn build(self: Box<Self>) -> Box<dyn DynState>;
    fn hydrate(self: Box<Self>, cursor: &Cursor, position: &PositionState) -> Box<dyn DynState>;
    fn rebuild(self: Box<Self>, state: &mut dyn Any);
}

pub(crate) trait DynState: Mountable + Any {}

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

impl Child {
    /// Erases the type of a view.
    pub fn new<V: RenderHtml>(view: V) -> Self {
        Self(Box::new(view.into_owned()))
    }

    pub(crate) fn hydrate_at(self, cursor: &Cursor, position: &PositionState) -> ChildState {
        ChildState {
            view: self.0.view(),
            state: self.0.hydrate(cursor, position),
        }
    }
}

impl Render for Child {
    type State = ChildState;

    fn build(self) -> ChildState {
        ChildState {
            view: self.0.view(),
            state: self.0.build(),
        }
    }

    fn rebuild(self, shown: &mut ChildState) {
        if self.0.view() == shown.view {
            self.0.rebuild(&mut *shown.state);
        } else {
            let new = self.build();
            replace(shown, new);
        }
    }
}

impl Mountable for ChildState {
    fn unmount(&mut self) {
        self.state.unmount();
    }

    fn mount(&mut self, parent: &types::Element, marker: Option<&types::Node>) {
        self.state.mount(parent, marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.state.insert_before_this(child)
    }

    fn elements(&self) -> Vec<types::Element> {
        self.state.elements()
    }
}

render_html!(Child);

/// Leptos's trait of that name, which compiles its cases for one type instead of for each.
pub trait IntoAny {
    /// The view without its type.
    fn into_any(self) -> AnyView;
}

impl<V: RenderHtml> IntoAny for V {
    fn into_any(self) -> AnyView {
        // The server leaves a placeholder for a view without nodes, which Leptos looks for.
        match V::EXISTS {
            true => leptos::prelude::IntoAny::into_any(Child::new(self)),
            false => leptos::prelude::IntoAny::into_any(self),
        }
    }
}

/// The conversion of a block in `view!`.
pub trait IntoRender {
    fn into_render(self) -> Child;
}

impl<V: IntoRender + 'static, F: FnMut() -> V + Send + 'static> IntoRender for F {
    fn into_render(mut self) -> Child {
        // One type for all functions, so that they share the code around them.
        let view: Box<dyn FnMut() -> Child + Send> = Box::new(move || self().into_render());
        Child::new(view)
    }
}

macro_rules! into_render {
    ({ $($generics:tt)* } $view:ty) => {
        impl $($generics)* IntoRender for $view {
            fn into_render(self) -> Child {
                Child::new(self)
            }
        }
    };
}

into_render!({} &'static str);
into_render!({} String);
into_render!({} Arc<str>);
into_render!({} usize);
into_render!({} AnyView);
into_render!({} View);
into_render!({ <V: RenderHtml> } Option<V>);
into_render!({ <V: RenderHtml> } Vec<V>);
into_render!({ <V: RenderHtml + 'static> } Suspend<V>);

impl IntoRender for Child {
    fn into_render(self) -> Self {
        self
    }
}

/// Calls a component.
pub fn component_view<P, V: IntoView>(component: impl ComponentConstructor<P, V>, props: P) -> Child {
    // A component without nodes would need a placeholder.
    const { assert!(V::EXISTS) };
    Child::new(component.construct(props))
}

/// The children of an element: one, or a tuple.
pub trait Children {
    /// Adds them to a list.
    fn push_to(self, nodes: &mut Vec<Node>);
}

impl Children for &'static str {
    fn push_to(self, nodes: &mut Vec<Node>) {
        nodes.push(Node::Text(self));
    }
}

impl Children for Child {
    fn push_to(self, nodes: &mut Vec<Node>) {
        nodes.push(Node::Child(self));
    }
}

impl Children for Element {
    fn push_to(self, nodes: &mut Vec<Node>) {
        nodes.push(Node::Element(self));
    }
}

impl Children for InertElement {
    fn push_to(self, nodes: &mut Vec<Node>) {
        nodes.push(Node::Child(Child::new(self)));
    }
}

impl Children for leptos::tachys::svg::InertElement {
    fn push_to(self, nodes: &mut Vec<Node>) {
        nodes.push(Node::Child(Child::new(self)));
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<$($name: Children),+> Children for ($($name,)+) {
            #[expect(non_snake_case, reason = "the names of the types")]
            fn push_to(self, nodes: &mut Vec<Node>) {
                let ($($name,)+) = self;
                $($name.push_to(nodes);)+
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
tuples!(A B C D E F G H I J K L M);
tuples!(A B C D E F G H I J K L M N);
tuples!(A B C D E F G H I J K L M N O);
tuples!(A B C D E F G H I J K L M N O P);
