//! The fields of a form, with the values that were filled in. A program need not draw them.

use hayro_interpret::hayro_syntax::{
    Pdf,
    object::{Array, Dict, Name, Object},
};

use super::text_string;
use parlor_base::text::single_line;

/// The maximum number of fields that are shown, and of the objects that are read for them.
const MAX_FIELDS: usize = 500;
const MAX_OBJECTS: usize = 10_000;

/// The maximum depth of fields in fields.
const MAX_DEPTH: usize = 16;

/// The maximum length of a name or a value, in characters.
const MAX_CHARS: usize = 2000;

/// The bits of a field's flags.
const PASSWORD: u32 = 1 << 13;
const RADIO: u32 = 1 << 15;
const PUSH_BUTTON: u32 = 1 << 16;

/// Returns the fields of a file with their values, one in each line; nothing if it has no form.
pub fn fields(pdf: &Pdf) -> String {
    let mut form = Form::default();
    let root = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
    let listed = root
        .and_then(|root| root.get::<Dict<'_>>("AcroForm"))
        .and_then(|form| form.get::<Array<'_>>("Fields"));
    for field in listed.iter().flat_map(Array::iter::<Dict<'_>>) {
        form.add(&field, &Inherited::default(), 0);
    }
    // A form that lists none of its fields still shows them.
    if form.lines.is_empty() {
        for page in pdf.pages().iter() {
            let widgets = page.raw().get::<Array<'_>>("Annots");
            for widget in widgets.iter().flat_map(Array::iter::<Dict<'_>>) {
                if name(&widget, "Subtype").as_deref() == Some("Widget") && widget.contains_key("T") {
                    form.add(&widget, &Inherited::default(), 0);
                }
            }
        }
    }
    form.lines.join("\n")
}

#[derive(Default)]
struct Form {
    lines: Vec<String>,
    /// The number of objects so far.
    objects: usize,
}

/// The properties that a field takes from the one around it.
#[derive(Clone, Default)]
struct Inherited<'a> {
    name: String,
    kind: Option<String>,
    flags: u32,
    value: Option<Object<'a>>,
    options: Option<Array<'a>>,
}

impl Form {
    /// Adds a field and those in it.
    fn add(&mut self, field: &Dict<'_>, around: &Inherited<'_>, depth: usize) {
        self.objects += 1;
        if self.objects > MAX_OBJECTS || self.lines.len() >= MAX_FIELDS || depth > MAX_DEPTH {
            return;
        }
        let own_name = text(field, "T").unwrap_or_default();
        let name_here = match (&*around.name, &*own_name) {
            ("", name) | (name, "") => name.to_owned(),
            (around, name) => format!("{around}.{name}"),
        };
        let here = Inherited {
            name: name_here,
            kind: name(field, "FT").or_else(|| around.kind.clone()),
            flags: field.get::<u32>("Ff").unwrap_or(around.flags),
            value: field.get::<Object<'_>>("V").or_else(|| around.value.clone()),
            options: field.get::<Array<'_>>("Opt").or_else(|| around.options.clone()),
        };
        let kids: Vec<Dict<'_>> = field
            .get::<Array<'_>>("Kids")
            .iter()
            .flat_map(Array::iter::<Dict<'_>>)
            .collect();
        if kids.iter().any(|kid| kid.contains_key("T")) {
            for kid in &kids {
                self.add(kid, &here, depth + 1);
            }
            return;
        }
        let Some(value) = value(field, &kids, &here) else {
            return;
        };
        let label = text(field, "TU")
            .filter(|label| !label.is_empty())
            .unwrap_or(here.name);
        let value = if value.is_empty() { "(empty)".into() } else { value };
        self.lines.push(format!("{label}: {value}"));
    }
}

/// Returns the value of a field; `None` for a button.
fn value(field: &Dict<'_>, kids: &[Dict<'_>], here: &Inherited<'_>) -> Option<String> {
    let chosen = || match &here.value {
        Some(value) => words(value),
        // The state of its box.
        None => name(field, "AS").or_else(|| {
            kids.iter()
                .find_map(|kid| name(kid, "AS").filter(|state| state != "Off"))
        }),
    };
    Some(match here.kind.as_deref()? {
        "Btn" if here.flags & PUSH_BUTTON != 0 => return None,
        "Btn" => {
            let chosen = chosen().filter(|state| state != "Off" && !state.is_empty());
            match (chosen, here.flags & RADIO != 0) {
                (None, true) => "(nothing chosen)".into(),
                (None, false) => "not checked".into(),
                (Some(state), true) => option_text(&state, here, true),
                (Some(state), false) => match &*option_text(&state, here, true) {
                    "Yes" | "On" | "1" => "checked".into(),
                    state => format!("checked ({state})"),
                },
            }
        }
        "Tx" if here.flags & PASSWORD != 0 => "(a password, not shown)".into(),
        "Ch" => match here.value.clone().and_then(Object::into_array) {
            Some(values) => {
                let values = values
                    .iter::<Object<'_>>()
                    .take(MAX_FIELDS)
                    .filter_map(|value| words(&value));
                values
                    .map(|value| option_text(&value, here, false))
                    .collect::<Vec<_>>()
                    .join(", ")
            }
            None => option_text(&chosen().unwrap_or_default(), here, false),
        },
        "Sig" => if here.value.is_some() {
            "signed"
        } else {
            "not signed"
        }
        .into(),
        _ => chosen().unwrap_or_default(),
    })
}

/// Returns the text that is shown for a choice. That of a button may be the number of its option.
fn option_text(state: &str, here: &Inherited<'_>, is_number: bool) -> String {
    let Some(options) = &here.options else {
        return state.to_owned();
    };
    let mut options = options.iter::<Object<'_>>().take(MAX_OBJECTS);
    let shown = match state.parse().ok().filter(|_| is_number) {
        Some(number) => options.nth(number).and_then(|option| words(&option)),
        None => options.find_map(|option| {
            let pair: Vec<String> = option
                .into_array()?
                .iter::<Object<'_>>()
                .take(2)
                .filter_map(|part| words(&part))
                .collect();
            let [value, shown] = &*pair else { return None };
            (value == state).then(|| shown.clone())
        }),
    };
    shown.unwrap_or_else(|| state.to_owned())
}

/// Returns the words of a text or a name in one line.
fn words(object: &Object<'_>) -> Option<String> {
    match object {
        Object::String(text) => Some(single_line(&text_string::decode(text.as_bytes()), MAX_CHARS)),
        Object::Name(name) => Some(single_line(name.as_str(), MAX_CHARS)),
        Object::Stream(text) => {
            let decoded = text.decoded_data().ok()?;
            Some(single_line(&text_string::decode(&decoded), MAX_CHARS))
        }
        _ => None,
    }
}

fn text(dict: &Dict<'_>, key: &str) -> Option<String> {
    words(&dict.get::<Object<'_>>(key)?)
}

fn name(dict: &Dict<'_>, key: &str) -> Option<String> {
    Some(dict.get::<Name<'_>>(key)?.as_str().to_owned())
}
