//! The schemas of the document: what the types derive, put together for requests and responses.

use std::collections::HashSet;

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::simplify::{add_fields, remove_null, remove_nulls, simplify};
use crate::http::tool_markers::InsertedDelta;
use parlor_protocol::{
    ConversationEvent, RunEvent, UserEvent,
    data::DataFields,
    literature::{EditStreamFields, LiteratureFields, StreamsFields},
    report::ReportsFields,
};

/// The beginning of a reference to a schema.
pub const REFERENCE_PREFIX: &str = "#/components/schemas/";

/// The events that can be the last of a run. In the streams of one run they have the answer.
const FINAL_EVENTS: [&str; 4] = ["CompleteEvent", "CancelledEvent", "ErrorEvent", "DamagedEvent"];

/// Combines the schemas of responses and of requests. A type in both has the schema of requests, which allows
/// more.
pub fn combine(mut responses: Map<String, Value>, mut requests: Map<String, Value>) -> Map<String, Value> {
    split_variants(&mut responses, "Event", "type", "Event");
    split_variants(&mut responses, "Message", "role", "Message");
    split_variants(&mut responses, "Part", "type", "Part");
    set_subjects_of_events(&mut responses);
    add_fields_of_run_streams(&mut responses);
    if let Some(notice) = responses.get_mut("Notice") {
        notice["type"] = json!("object");
        notice["properties"] = json!({});
    }
    for schema in responses.values_mut().filter_map(as_schema) {
        simplify(schema);
        remove_nulls(schema);
    }
    add_fields_of_pages(&mut requests);
    requests.values_mut().filter_map(as_schema).for_each(simplify);
    responses.extend(requests);
    responses
}

/// Removes the schemas to which neither the rest of the document nor another schema refers.
pub fn remove_unused(schemas: &mut Map<String, Value>, rest: &str) {
    loop {
        let texts: Vec<String> = schemas.values().map(Value::to_string).collect();
        let used: HashSet<&str> = texts
            .iter()
            .flat_map(|text| references(text))
            .chain(references(rest))
            .collect();
        let before = schemas.len();
        schemas.retain(|name, _| used.contains(&**name));
        if schemas.len() == before {
            return;
        }
    }
}

/// Returns the names of the schemas to which a JSON text refers. (Each text is
/// read once, not once for each name.)
fn references(text: &str) -> impl Iterator<Item = &str> {
    let after_prefix = text.split(REFERENCE_PREFIX).skip(1);
    after_prefix.filter_map(|rest| rest.split_once('"').map(|(name, _)| name))
}

/// Gives each variant of a tagged enum a schema of its own, such as `TextDeltaEvent`, by which generated
/// clients name its type. The enum itself refers to them by the value of its tag.
fn split_variants(schemas: &mut Map<String, Value>, name: &str, tag: &str, suffix: &str) {
    let Some(Value::Object(mut whole)) = schemas.remove(name) else {
        return;
    };
    let Some(Value::Array(variants)) = whole.remove("oneOf") else {
        return;
    };
    let description = whole.remove("description");
    let (mut references, mut mapping) = (Vec::new(), Map::new());
    for mut variant in variants {
        let kind = variant["properties"][tag]["const"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let own_name = format!("{}{suffix}", pascal_case(&kind));
        let Some(fields) = variant.as_object_mut() else {
            continue;
        };
        if let Some(Value::String(reference)) = fields.remove("$ref")
            && let Some(Value::Object(inner)) = schemas.get(reference.trim_start_matches(REFERENCE_PREFIX))
        {
            add_fields(fields, inner);
        }
        add_fields(fields, &whole);
        let reference = format!("{REFERENCE_PREFIX}{own_name}");
        mapping.insert(kind, json!(reference));
        references.push(json!({ "$ref": reference }));
        schemas.insert(own_name, variant);
    }
    let discriminator = json!({ "propertyName": tag, "mapping": mapping });
    let mut schema = json!({ "oneOf": references, "discriminator": discriminator });
    if let Some(description) = description {
        schema["description"] = description;
    }
    schemas.insert(name.into(), schema);
}

/// Converts `text_delta` to `TextDelta`.
fn pascal_case(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}

/// Marks the events that have a conversation and a message. `Event` has both as optional fields.
fn set_subjects_of_events(schemas: &mut Map<String, Value>) {
    let of_conversation = schema_names::<ConversationEvent>();
    let of_run = schema_names::<RunEvent>();
    let of_user = schema_names::<UserEvent>();
    for (name, event) in schemas.iter_mut() {
        let (has_conversation, has_message) = match &**name {
            "EmptyEvent" => (None, Some(false)),
            // It names the answer to come.
            "UserMessageSavedEvent" => (Some(true), Some(true)),
            _ if of_conversation.contains(name) => (Some(true), Some(false)),
            _ if of_run.contains(name) => (Some(true), Some(true)),
            _ if of_user.contains(name) => (Some(false), Some(false)),
            _ => continue,
        };
        for (field, is_present) in [("conversation_id", has_conversation), ("message_id", has_message)] {
            match is_present {
                Some(true) => {
                    remove_null(&mut event["properties"][field]);
                    if let Some(required) = event["required"].as_array_mut() {
                        required.push(json!(field));
                    }
                }
                Some(false) => {
                    if let Some(properties) = event["properties"].as_object_mut() {
                        properties.remove(field);
                    }
                }
                None => {}
            }
        }
    }
}

/// Returns the names that [`split_variants`] gives to the schemas of a family of events.
fn schema_names<Family: JsonSchema>() -> Vec<String> {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12().for_serialize());
    let family = Family::json_schema(&mut generator).to_value();
    let kinds = family["oneOf"].as_array().into_iter().flatten();
    let kinds = kinds.filter_map(|kind| kind["properties"]["type"]["const"].as_str());
    kinds.map(|kind| format!("{}Event", pascal_case(kind))).collect()
}

/// Adds the fields that events have in the streams of one run only: see `run_result::FinalEvent` and
/// `tool_markers::InsertedEvent`.
fn add_fields_of_run_streams(schemas: &mut Map<String, Value>) {
    let payload = json!({
        "description": "The whole answer. Only in the last event of the stream of one run.",
        "$ref": format!("{REFERENCE_PREFIX}Answer"),
    });
    for name in FINAL_EVENTS {
        if let Some(event) = schemas.get_mut(name) {
            event["properties"]["payload"] = payload.clone();
        }
    }
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12().for_serialize());
    let inserted = InsertedDelta::json_schema(&mut generator).to_value();
    if let Some(event) = schemas.get_mut("TextDeltaEvent") {
        event["properties"]["marker"] = inserted["properties"]["marker"].clone();
        if let Some(required) = event["required"].as_array_mut() {
            required.retain(|name| name != "offset");
        }
    }
}

/// Adds each page's own fields to the page context. On the wire they are in the same object as the common ones.
fn add_fields_of_pages(schemas: &mut Map<String, Value>) {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.definitions_path = REFERENCE_PREFIX.into();
    let mut generator = SchemaGenerator::new(settings);
    let fields = [
        LiteratureFields::json_schema(&mut generator).to_value(),
        StreamsFields::json_schema(&mut generator).to_value(),
        EditStreamFields::json_schema(&mut generator).to_value(),
        ReportsFields::json_schema(&mut generator).to_value(),
        DataFields::json_schema(&mut generator).to_value(),
    ];
    let context = schemas.get_mut("PageContext");
    if let Some(Value::Object(context)) = context.map(|context| &mut context["properties"]) {
        for page in fields {
            let own = page["properties"].as_object().cloned();
            context.extend(own.unwrap_or_default());
        }
    }
    for (name, schema) in generator.take_definitions(true) {
        schemas.entry(name).or_insert(schema);
    }
}

fn as_schema(value: &mut Value) -> Option<&mut Schema> {
    value.try_into().ok()
}
