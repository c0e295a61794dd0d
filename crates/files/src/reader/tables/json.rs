//! Tables as JSON: an object in each line, or an array of objects. The columns are the keys of all objects; what is nested
//! stays JSON.

use std::{collections::HashMap, fmt, io};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::super::{
    table::{CellKind, TableSink},
    text,
};

/// An object: its keys in their order, and its values as they are written.
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Object(entries))
    }
}

/// Passes on the objects of an array, one at a time.
struct ArrayVisitor<F>(F);

impl<'de, F: FnMut(Object<'de>)> Visitor<'de> for ArrayVisitor<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        while let Some(object) = elements.next_element()? {
            (self.0)(object);
        }
        Ok(())
    }
}

/// Reads the rows of such a file.
///
/// # Errors
///
/// If anything in it is not an object.
pub fn read_rows(data: &[u8], sink: &mut dyn TableSink) -> io::Result<()> {
    let text = text::decode(data).ok_or_else(|| io::Error::other("it is not a text"))?;
    let mut keys = Keys::default();
    for_each_object(&text, |object| keys.add(&object))?;
    sink.start_table("");
    if !keys.names.is_empty() {
        let heading: Vec<(CellKind, &str)> = keys
            .names
            .iter()
            .map(|name| (CellKind::Text, name.as_str()))
            .collect();
        sink.push_row(&heading);
        for_each_object(&text, |object| push_object(&keys, &object, sink))?;
    }
    sink.end_table(None);
    Ok(())
}

/// The keys of all objects, in the order in which they first come.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Keys {
    fn add(&mut self, object: &Object<'_>) {
        for (key, _) in &object.0 {
            if !self.places.contains_key(key) {
                self.places.insert(key.clone(), self.names.len());
                self.names.push(key.clone());
            }
        }
    }
}

fn push_object(keys: &Keys, object: &Object<'_>, sink: &mut dyn TableSink) {
    let mut row = vec![(CellKind::Empty, String::new()); keys.names.len()];
    for (key, value) in &object.0 {
        if let Some(cell) = keys.places.get(key).and_then(|place| row.get_mut(*place)) {
            *cell = read_value(value);
        }
    }
    let cells: Vec<(CellKind, &str)> = row.iter().map(|(kind, text)| (*kind, &**text)).collect();
    sink.push_row(&cells);
}

fn read_value(value: &RawValue) -> (CellKind, String) {
    let text = value.get();
    let kind = match text.as_bytes().first() {
        Some(b'n') => return (CellKind::Empty, String::new()),
        Some(b'"') => {
            // One with half of a surrogate pair stays as it is written.
            let decoded = serde_json::from_str(text);
            return (CellKind::Text, decoded.unwrap_or_else(|_| text.to_owned()));
        }
        Some(b't' | b'f') => CellKind::Boolean,
        Some(b'{' | b'[') => CellKind::Text,
        _ => CellKind::Number,
    };
    (kind, text.to_owned())
}

/// Passes on the objects of an array, or those that follow each other.
fn for_each_object(text: &str, mut push: impl FnMut(Object<'_>)) -> io::Result<()> {
    // The library's own text may have parts of the file.
    let describe =
        |error: serde_json::Error| io::Error::other(format!("line {} is no JSON object", error.line()));
    let mut reader = serde_json::Deserializer::from_str(text);
    if text.trim_start().starts_with('[') {
        reader.deserialize_seq(ArrayVisitor(push)).map_err(describe)?;
        return reader.end().map_err(describe);
    }
    for object in reader.into_iter() {
        push(object.map_err(describe)?);
    }
    Ok(())
}
