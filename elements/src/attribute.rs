//! Attributes, classes, styles, properties and event handlers of an element.

use std::borrow::Cow;

use leptos::{
    prelude::{NodeRef, Owner, RenderEffect},
    tachys::{
        html::{element::ElementType, event::EventDescriptor, node_ref::NodeRefContainer},
        renderer::{RemoveEventHandler, Rndr, types},
    },
};
use send_wrapper::SendWrapper;
use wasm_bindgen::JsValue;

use crate::{
    element::Element,
    value::{AttributeValue, ClassValue, Property, PropertyValue, Value},
};

/// The description of an attribute.
pub(crate) enum Attribute {
    Value(&'static str, Value),
    /// A class that is there or not.
    Class(&'static str, Value),
    Style(&'static str, Value),
    /// HTML in place of children.
    InnerHtml(Value),
    Property(&'static str, Property),
    Event(EventHandler),
    /// Takes the element.
    NodeRef(Box<dyn FnOnce(&types::Element) + Send>),
}

/// An attribute in the page.
pub(crate) enum AttributeState {
    Value(&'static str, Value),
    Dynamic(&'static str, RenderEffect<Value>),
    Property(
        &'static str,
        #[expect(dead_code, reason = "it runs until it is dropped")] Option<RenderEffect<()>>,
    ),
    Event(
        Cow<'static, str>,
        #[expect(dead_code, reason = "the handler is removed when this is dropped")]
        RemoveEventHandler<types::Element>,
    ),
    NodeRef,
}

/// A handler, with the owner of what it creates.
pub(crate) struct EventHandler {
    name: Cow<'static, str>,
    is_capturing: bool,
    owner: Owner,
    handler: SendWrapper<Box<dyn FnMut(types::Event)>>,
}

/// The element to which an attribute is applied.
pub(crate) enum Before {
    /// A new one, without attributes.
    New,
    /// The server has rendered it, with the same value.
    Rendered,
    /// It has this value, of an earlier view.
    Shown(Value),
}

/// A server has no events, properties and references. It drops a view on any thread, and what they hold may belong to one.
const IS_SERVER: bool = cfg!(feature = "ssr");

/// The name of the HTML of an element among its attributes.
const INNER_HTML: &str = "inner_html";

/// A place of values: an attribute, a class, a property of style, or the content as HTML.
#[derive(Clone, Copy)]
enum Target {
    Attribute,
    Class,
    Style,
    InnerHtml,
}

impl Target {
    /// Sets a value, in place of the last one if the element has one of this view.
    fn set(self, element: &types::Element, name: &str, last: Option<&Value>, value: Option<&str>) {
        match (self, last, value) {
            // The element may have single classes besides.
            (Target::Attribute, Some(last), _) if name == "class" => {
                let list = Rndr::class_list(element);
                let (last, value) = (last.text().unwrap_or_default(), value.unwrap_or_default());
                last.split_whitespace()
                    .for_each(|class| Rndr::remove_class(&list, class));
                value
                    .split_whitespace()
                    .for_each(|class| Rndr::add_class(&list, class));
            }
            (Target::Attribute, _, Some(value)) => Rndr::set_attribute(element, name, value),
            (Target::Attribute, _, None) => Rndr::remove_attribute(element, name),
            (Target::Class, _, Some(_)) => Rndr::add_class(&Rndr::class_list(element), name),
            (Target::Class, _, None) => Rndr::remove_class(&Rndr::class_list(element), name),
            (Target::Style, _, Some(value)) => Rndr::set_css_property(&Rndr::style(element), name, value),
            (Target::InnerHtml, _, html) => Rndr::set_inner_html(element, html.unwrap_or_default()),
            (Target::Style, _, None) => Rndr::remove_css_property(&Rndr::style(element), name),
        }
    }

    /// Sets the value, now and whenever it changes.
    fn apply(
        self,
        element: &types::Element,
        name: &'static str,
        value: Value,
        before: Before,
    ) -> AttributeState {
        let is_rendered = matches!(before, Before::Rendered);
        let shown = match before {
            Before::Shown(value) => Some(value),
            Before::New | Before::Rendered => None,
        };
        let show = move |element: &types::Element, last: Option<&Value>, value: &Value| {
            let is_there = match last {
                Some(last) => last.text() == value.text(),
                None => is_rendered || value.text().is_none(),
            };
            if !is_there {
                self.set(element, name, last, value.text());
            }
        };
        let Value::Dynamic(mut read) = value else {
            show(element, shown.as_ref(), &value);
            return AttributeState::Value(name, value);
        };
        let element = element.clone();
        let run = move |last: Option<Value>| {
            let value = read().read();
            show(&element, last.as_ref(), &value);
            value
        };
        let effect = RenderEffect::new_with_value(run, shown);
        AttributeState::Dynamic(name, effect)
    }
}

impl Attribute {
    fn name(&self) -> &str {
        match self {
            Attribute::Value(name, _)
            | Attribute::Class(name, _)
            | Attribute::Style(name, _)
            | Attribute::Property(name, _) => name,
            Attribute::Event(event) => &event.name,
            Attribute::InnerHtml(_) => INNER_HTML,
            Attribute::NodeRef(_) => "",
        }
    }

    /// True if the attribute can take the place of that which is there. Another id or name belongs to another element, whose input
    /// must not be taken over.
    pub(crate) fn fits(&self, shown: &AttributeState) -> bool {
        if let (Attribute::Value("id" | "name", new), AttributeState::Value(_, old)) = (self, shown)
            && new.text() != old.text()
        {
            return false;
        }
        let name = match shown {
            AttributeState::Value(name, _)
            | AttributeState::Dynamic(name, _)
            | AttributeState::Property(name, _) => name,
            AttributeState::Event(name, _) => &**name,
            AttributeState::NodeRef => "",
        };
        self.name() == name
    }

    /// Applies the attribute to an element.
    pub(crate) fn apply(self, element: &types::Element, before: Before) -> AttributeState {
        match self {
            Attribute::Value(name, value) => Target::Attribute.apply(element, name, value, before),
            Attribute::Class(name, value) => Target::Class.apply(element, name, value, before),
            Attribute::Style(name, value) => Target::Style.apply(element, name, value, before),
            Attribute::InnerHtml(html) => Target::InnerHtml.apply(element, INNER_HTML, html, before),
            Attribute::Property(name, property) => property.apply(element, name),
            Attribute::Event(event) => {
                let name = event.name.clone();
                AttributeState::Event(name, event.listen(element))
            }
            Attribute::NodeRef(fill) => {
                fill(element);
                AttributeState::NodeRef
            }
        }
    }

    /// Takes the place of an attribute that fits.
    pub(crate) fn update(self, shown: &mut AttributeState, element: &types::Element) {
        // The former effect or handler ends first.
        let value = match std::mem::replace(shown, AttributeState::NodeRef) {
            AttributeState::Value(_, value) => value,
            AttributeState::Dynamic(_, effect) => effect.take_value().unwrap_or(Value::Absent),
            AttributeState::Property(..) | AttributeState::Event(..) | AttributeState::NodeRef => {
                Value::Absent
            }
        };
        *shown = self.apply(element, Before::Shown(value));
    }
}

impl Property {
    fn apply(self, element: &types::Element, name: &'static str) -> AttributeState {
        let effect = match self {
            Property::Text(text) => {
                Rndr::set_property_or_value(element, name, &JsValue::from(&*text));
                None
            }
            Property::Flag(flag) => {
                Rndr::set_property_or_value(element, name, &JsValue::from(flag));
                None
            }
            Property::Dynamic(mut read) => {
                let element = element.clone();
                // Also if it is the same: the user may have changed it.
                Some(RenderEffect::new(move |_| {
                    Rndr::set_property_or_value(&element, name, &read())
                }))
            }
        };
        AttributeState::Property(name, effect)
    }
}

impl EventHandler {
    fn listen(self, element: &types::Element) -> RemoveEventHandler<types::Element> {
        let (owner, mut handler) = (self.owner, self.handler.take());
        let call = Box::new(move |event| {
            // What a handler reads is not tracked, and Leptos need not warn of it.
            #[cfg(debug_assertions)]
            let _zone = leptos::reactive::diagnostics::SpecialNonReactiveZone::enter();
            owner.with(|| handler(event));
        });
        match self.is_capturing {
            true => Rndr::add_event_listener_use_capture(element, &self.name, call),
            false => Rndr::add_event_listener(element, &self.name, call),
        }
    }
}

impl Element {
    fn with(mut self, attribute: Attribute) -> Self {
        self.attributes.push(attribute);
        self
    }

    /// Sets an attribute.
    pub fn attr(self, name: &'static str, value: impl AttributeValue) -> Self {
        self.with(Attribute::Value(name, value.into_value()))
    }

    /// Sets all classes, or whether one of them is there.
    pub fn class(self, class: impl ClassValue) -> Self {
        match class.into_class() {
            (Some(name), value) => self.with(Attribute::Class(name, value)),
            (None, value) => self.with(Attribute::Value("class", value)),
        }
    }

    /// Sets a property of style.
    pub fn style(self, (name, value): (&'static str, impl AttributeValue)) -> Self {
        self.with(Attribute::Style(name, value.into_value()))
    }

    /// Sets the HTML in place of children. What the server has rendered stays until it changes.
    pub fn inner_html(self, html: impl AttributeValue) -> Self {
        self.with(Attribute::InnerHtml(html.into_value()))
    }

    /// Sets a property of the element in the page.
    pub fn prop(self, name: &'static str, value: impl PropertyValue) -> Self {
        if IS_SERVER {
            return self;
        }
        self.with(Attribute::Property(name, value.into_property()))
    }

    /// Handles an event.
    pub fn on<E>(self, event: E, mut handler: impl FnMut(E::EventType) + 'static) -> Self
    where
        E: EventDescriptor,
        E::EventType: From<types::Event>,
    {
        if IS_SERVER {
            return self;
        }
        self.with(Attribute::Event(EventHandler {
            name: event.name(),
            is_capturing: E::CAPTURE,
            owner: Owner::current().unwrap_or_default(),
            handler: SendWrapper::new(Box::new(move |event| handler(event.into()))),
        }))
    }

    /// Fills a reference with the element in the page.
    pub fn node_ref<E: ElementType>(self, reference: NodeRef<E>) -> Self
    where
        NodeRef<E>: NodeRefContainer<E>,
        E::Output: 'static,
    {
        if IS_SERVER {
            return self;
        }
        self.with(Attribute::NodeRef(Box::new(move |element| {
            reference.load(element)
        })))
    }
}
