//! Tables as JSON: an object in each line, or an array of objects. The columns are the keys of all objects; what is nested
//! stays JSON.

use std::{collections::HashMap, io};

use serde_json::{Deserializer, Map, Value};

use super::super::{
    table::{CellKind, TableSink},
    text,
};

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
    sink.end_table(false);
    Ok(())
}

/// The keys of all objects, in the order in which they first come.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Keys {
    fn add(&mut self, object: &Map<String, Value>) {
        for key in object.keys() {
            if !self.places.contains_key(key) {
                self.places.insert(key.clone(), self.names.len());
                self.names.push(key.clone());
            }
        }
    }
}

fn push_object(keys: &Keys, object: &Map<String, Value>, sink: &mut dyn TableSink) {
    let mut row = vec![(CellKind::Empty, String::new()); keys.names.len()];
    for (key, value) in object {
        if let Some(cell) = keys.places.get(key).and_then(|place| row.get_mut(*place)) {
            *cell = read_value(value);
        }
    }
    let cells: Vec<(CellKind, &str)> = row.iter().map(|(kind, text)| (*kind, &**text)).collect();
    sink.push_row(&cells);
}

fn read_value(value: &Value) -> (CellKind, String) {
    match value {
        Value::Null => (CellKind::Empty, String::new()),
        Value::String(text) => (CellKind::Text, text.clone()),
        Value::Number(number) => (CellKind::Number, number.to_string()),
        Value::Bool(value) => (CellKind::Boolean, value.to_string()),
        nested => (CellKind::Text, nested.to_string()),
    }
}

/// Passes on the objects of an array, or those that follow each other.
fn for_each_object(text: &str, mut push: impl FnMut(Map<String, Value>)) -> io::Result<()> {
    if text.trim_start().starts_with('[') {
        let objects: Vec<Map<String, Value>> = serde_json::from_str(text)?;
        objects.into_iter().for_each(push);
        return Ok(());
    }
    for object in Deserializer::from_str(text).into_iter() {
        push(object?);
    }
    Ok(())
}
