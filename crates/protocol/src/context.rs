//! The page context of a message: the page that the user looks at, and what is open there.
//!
//! It has the page's place (its tab) and the page's own fields: ids of open items, and no data of them. Only the page's own
//! code knows these fields, as a type ([`PageFields`]). The server loads the items itself and checks to whom they belong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer, de::DeserializeOwned, ser::SerializeMap};

use super::{RawJson, flat_json::Fields, json};

/// The field of a page's context with its drafts as they stand on the screen, by their names.
pub const DRAFTS_FIELD: &str = "draft";

/// The own fields of a page in its context. All of them are optional, and unknown ones are ignored.
pub trait PageFields: Serialize + DeserializeOwned + Default {
    /// The page's name.
    const PAGE: &'static str;
}

/// The page that the user has open and the items on it, by id. The server loads their content itself. Unknown fields are
/// ignored.
// On the wire, the page's own fields are in the same object as the common ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct PageContext {
    /// The page: `chat`, `literature`, `streams`, `edit_stream`, `reports`, `data` or `schedules`. Unknown pages are rejected (422, `invalid_context`).
    pub current_page: String,
    pub active_tab: Option<String>,
    pub active_subtab: Option<String>,
    /// The page's own fields as they came.
    #[schemars(skip)]
    pub own_fields: Vec<(String, RawJson)>,
}

/// A field of the page's own that does not have the expected type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the field `{0}` can't be read")]
pub struct UnreadableField(pub String);

impl PageContext {
    /// Creates the context of a page with nothing open.
    pub fn for_page(page: &str) -> Self {
        Self {
            current_page: page.into(),
            ..Self::default()
        }
    }

    /// Creates a page's context in a tab, with the page's own fields.
    pub fn with_fields<F: PageFields>(tab: Option<&str>, fields: &F) -> Self {
        Self {
            active_tab: tab.map(str::to_owned),
            own_fields: to_entries(fields),
            ..Self::for_page(F::PAGE)
        }
    }

    /// Parses the page's own fields. Those of another page are empty.
    ///
    /// # Errors
    ///
    /// The first field that does not have the expected type.
    pub fn fields<F: PageFields>(&self) -> Result<F, UnreadableField> {
        if self.current_page != F::PAGE {
            return Ok(F::default());
        }
        let mut known: Vec<&(String, RawJson)> = Vec::new();
        for field in &self.own_fields {
            // `null` is the same as absent. Of several fields with the same name, the first counts.
            if field.1.as_str() != "null" && !known.iter().any(|other| other.0 == field.0) {
                known.push(field);
            }
        }
        let parse = |fields: &[&(String, RawJson)]| {
            let json = serde_json::to_string(&FieldsObject(fields))?;
            serde_json::from_str::<F>(&json)
        };
        parse(&known).map_err(|_| {
            let unreadable = known.iter().find(|field| parse(&[field]).is_err());
            UnreadableField(unreadable.map_or(String::new(), |field| field.0.clone()))
        })
    }

    /// Returns the context with other fields of the page's own.
    #[must_use]
    pub fn with_own_fields(self, fields: &impl PageFields) -> Self {
        Self {
            own_fields: to_entries(fields),
            ..self
        }
    }

    /// Returns the context with only those of its own fields that the page knows.
    ///
    /// # Errors
    ///
    /// As [`fields`](Self::fields).
    pub fn normalized<F: PageFields>(self) -> Result<Self, UnreadableField> {
        let own_fields = to_entries(&self.fields::<F>()?);
        Ok(Self { own_fields, ..self })
    }
}

/// Returns the fields of an object. A type that is not serialized as an object has none.
fn to_entries(fields: &impl Serialize) -> Vec<(String, RawJson)> {
    let json = serde_json::to_string(fields).unwrap_or_default();
    json::parse::<Fields>(json.as_bytes()).map_or(Vec::new(), Fields::into_entries)
}

impl Serialize for PageContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("current_page", &self.current_page)?;
        for (name, value) in [
            ("active_tab", &self.active_tab),
            ("active_subtab", &self.active_subtab),
        ] {
            if let Some(value) = value {
                object.serialize_entry(name, value)?;
            }
        }
        for (name, value) in &self.own_fields {
            object.serialize_entry(name, value)?;
        }
        object.end()
    }
}

/// Fields as an object.
struct FieldsObject<'a>(&'a [&'a (String, RawJson)]);

impl Serialize for FieldsObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|field| (&field.0, &field.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a page with a drawer.
    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct DeskFields {
        #[serde(skip_serializing_if = "Option::is_none")]
        drawer: Option<u32>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        papers: Vec<String>,
    }

    impl PageFields for DeskFields {
        const PAGE: &'static str = "desk";
    }

    fn parse(json: &str) -> PageContext {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn page_fields_round_trip_with_common_ones() {
        let fields = DeskFields {
            drawer: Some(2),
            papers: vec!["<a>".into()],
        };
        let context = PageContext::with_fields(Some("top"), &fields);
        let json = r#"{"current_page":"desk","active_tab":"top","drawer":2,"papers":["<a>"]}"#;
        assert_eq!(serde_json::to_string(&context).unwrap(), json);
        assert_eq!(parse(json), context);
        assert_eq!(json::parse(json.as_bytes()), Ok(context.clone()));
        assert_eq!(context.fields(), Ok(fields));
    }

    #[test]
    fn normalized_context_has_known_fields_only() {
        let sent = parse(
            r#"{"report_id":7,"drawer":1,"current_page":"desk","papers":null,"drawer":9,"active_subtab":"left"}"#,
        );
        assert_eq!(
            sent.fields(),
            Ok(DeskFields {
                drawer: Some(1),
                papers: Vec::new()
            })
        );
        let known = sent.normalized::<DeskFields>().unwrap();
        let json = r#"{"current_page":"desk","active_subtab":"left","drawer":1}"#;
        assert_eq!(serde_json::to_string(&known).unwrap(), json);
    }

    #[test]
    fn unreadable_field_is_named() {
        let sent = parse(r#"{"current_page":"desk","report_id":7,"papers":[],"drawer":"top"}"#);
        assert_eq!(sent.fields::<DeskFields>(), Err(UnreadableField("drawer".into())));
        assert_eq!(
            sent.normalized::<DeskFields>().unwrap_err().to_string(),
            "the field `drawer` can't be read"
        );
    }

    #[test]
    fn other_pages_fields_are_empty() {
        let sent = parse(r#"{"current_page":"bench","drawer":1}"#);
        assert_eq!(sent.fields(), Ok(DeskFields::default()));
        assert!(serde_json::from_str::<PageContext>(r#"{"active_tab":"search"}"#).is_err());
    }
}
