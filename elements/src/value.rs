//! The values of attributes, classes and properties, and the types that become them.

use std::borrow::Cow;

use leptos::prelude::{Get, Memo, RwSignal};
use wasm_bindgen::JsValue;

/// The value of an attribute.
pub enum Value {
    /// The element does not have the attribute.
    Absent,
    /// The element has the attribute, without a text.
    Present,
    Static(&'static str),
    Owned(String),
    /// Changes with what the function reads.
    Dynamic(Box<dyn FnMut() -> Value + Send>),
}

impl Value {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Value::Present => Some(""),
            Value::Static(text) => Some(text),
            Value::Owned(text) => Some(text),
            Value::Absent | Value::Dynamic(_) => None,
        }
    }

    /// Returns the value that the functions return now. Tracked.
    pub(crate) fn read(mut self) -> Self {
        while let Value::Dynamic(mut read) = self {
            self = read();
        }
        self
    }
}

/// The value of a property.
pub enum Property {
    Text(Cow<'static, str>),
    Flag(bool),
    Dynamic(Box<dyn FnMut() -> JsValue + Send>),
}

/// A type whose values attributes can have.
pub trait AttributeValue {
    fn into_value(self) -> Value;
}

impl AttributeValue for &'static str {
    fn into_value(self) -> Value {
        Value::Static(self)
    }
}

impl AttributeValue for String {
    fn into_value(self) -> Value {
        Value::Owned(self)
    }
}

impl AttributeValue for bool {
    fn into_value(self) -> Value {
        match self {
            true => Value::Present,
            false => Value::Absent,
        }
    }
}

impl<V: AttributeValue> AttributeValue for Option<V> {
    fn into_value(self) -> Value {
        self.map_or(Value::Absent, V::into_value)
    }
}

impl<V: AttributeValue, F: FnMut() -> V + Send + 'static> AttributeValue for F {
    fn into_value(mut self) -> Value {
        Value::Dynamic(Box::new(move || self().into_value()))
    }
}

macro_rules! numbers {
    ($($number:ty)+) => {
        $(impl AttributeValue for $number {
            fn into_value(self) -> Value {
                Value::Owned(self.to_string())
            }
        })+
    };
}

numbers!(u16 u32 usize);

macro_rules! signals {
    ($($signal:ident)+) => {
        $(
            impl<V: AttributeValue + Clone + Send + Sync + 'static> AttributeValue for $signal<V> {
                fn into_value(self) -> Value {
                    (move || self.get()).into_value()
                }
            }
        )+
    };
}

signals!(Memo RwSignal);

/// A type whose values `class` can have: all classes, or one and whether it is there.
pub trait ClassValue {
    /// The name of one class, unless it is the value of all.
    fn into_class(self) -> (Option<&'static str>, Value);
}

impl<V: AttributeValue> ClassValue for (&'static str, V) {
    fn into_class(self) -> (Option<&'static str>, Value) {
        (Some(self.0), self.1.into_value())
    }
}

macro_rules! class_values {
    ($($value:ty)+) => {
        $(impl ClassValue for $value {
            fn into_class(self) -> (Option<&'static str>, Value) {
                (None, self.into_value())
            }
        })+
    };
}

class_values!(&'static str String Option<&'static str> Option<String>);

impl<V: AttributeValue, F: FnMut() -> V + Send + 'static> ClassValue for F {
    fn into_class(self) -> (Option<&'static str>, Value) {
        (None, self.into_value())
    }
}

/// A type whose values properties can have.
pub trait PropertyValue {
    fn into_property(self) -> Property;
}

impl PropertyValue for &'static str {
    fn into_property(self) -> Property {
        Property::Text(self.into())
    }
}

impl PropertyValue for String {
    fn into_property(self) -> Property {
        Property::Text(self.into())
    }
}

impl PropertyValue for bool {
    fn into_property(self) -> Property {
        Property::Flag(self)
    }
}

impl<V: Into<JsValue>, F: FnMut() -> V + Send + 'static> PropertyValue for F {
    fn into_property(mut self) -> Property {
        Property::Dynamic(Box::new(move || self().into()))
    }
}
