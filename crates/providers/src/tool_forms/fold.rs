//! The root of a tool's schema as a plain object. Most model servers refuse a root with alternatives or conditions: its
//! properties are united, and the rule is put into words.

use serde_json::{Map, Value, json};

use super::{normalize::has_type, refs};
use parlor_base::text::single_line;

/// The maximum number of schemas that are joined into one root.
const MAX_JOINED: usize = 200;

/// Keywords that say nothing of an object. Some servers refuse them in one.
const OF_OTHER_TYPES: [&str; 16] = [
    "items",
    "prefixItems",
    "contains",
    "minItems",
    "maxItems",
    "minContains",
    "maxContains",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
];

/// The maximum length of a schema in a rule, in characters.
const MAX_RULE_CHARS: usize = 300;

/// Returns the root of a normalized schema as an object without alternatives and conditions, and the rules that were taken out of
/// it.
pub fn fold_root(document: &Map<String, Value>) -> (Map<String, Value>, Vec<String>) {
    let mut folder = Folder {
        document,
        joined: 0,
        rules: Vec::new(),
    };
    let root = folder.fold(document);
    let mut schema = root.others;
    schema.retain(|keyword, _| !OF_OTHER_TYPES.contains(&keyword.as_str()));
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(root.properties));
    if !root.required.is_empty() || document.contains_key("required") {
        schema.insert("required".into(), json!(root.required));
    }
    // A definition may be joined twice.
    let mut rules: Vec<String> = Vec::new();
    for rule in folder.rules {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    (schema, rules)
}

/// A folded schema.
#[derive(Clone, Debug, Default, PartialEq)]
struct Form {
    properties: Map<String, Value>,
    required: Vec<String>,
    others: Map<String, Value>,
}

struct Folder<'a> {
    document: &'a Map<String, Value>,
    joined: usize,
    rules: Vec<String>,
}

impl Folder<'_> {
    fn fold(&mut self, schema: &Map<String, Value>) -> Form {
        self.joined += 1;
        let mut others = schema.clone();
        let mut take = |name: &str| others.remove(name);
        let (one_of, any_of, all_of) = (take("oneOf"), take("anyOf"), take("allOf"));
        let (condition, then, otherwise) = (take("if"), take("then"), take("else"));
        let (not, values, constant) = (take("not"), take("enum"), take("const"));
        let reference = take("$ref");
        let required = take("required").iter().flat_map(texts).collect();
        let properties = match take("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        let mut form = Form {
            properties,
            required,
            others,
        };
        if self.joined > MAX_JOINED {
            return form;
        }
        let target = reference.as_ref().and_then(Value::as_str);
        if let Some(target) = target.and_then(|target| refs::resolve(self.document, target)) {
            let target = self.fold(target);
            form.add(target);
        }
        for part in objects(all_of.as_ref()) {
            let part = self.fold(part);
            form.add(part);
        }
        self.add_alternatives(
            &mut form,
            one_of.as_ref(),
            "Give exactly one of these sets of arguments",
        );
        self.add_alternatives(
            &mut form,
            any_of.as_ref(),
            "Give at least one of these sets of arguments",
        );
        self.add_condition(&mut form, condition, then, otherwise);
        if let Some(not) = not {
            self.rules.push(not_rule(&not));
        }
        if let Some(Value::Array(values)) = values.or_else(|| Some(json!([constant?]))) {
            form.add_values(&values);
            let values = Value::Array(values);
            self.rules
                .push(format!("The arguments are one of these: {}.", excerpt(&values)));
        }
        form
    }

    /// Adds the properties of alternatives. Only what all of them require is required.
    fn add_alternatives(&mut self, form: &mut Form, list: Option<&Value>, rule: &str) {
        let mut alternatives: Vec<Form> = Vec::new();
        for alternative in objects(list) {
            let folded = self.fold(alternative);
            // Arguments are an object.
            let is_object = !folded.others.contains_key("type") || has_type(&folded.others, "object");
            if is_object && !alternatives.contains(&folded) {
                alternatives.push(folded);
            }
        }
        if alternatives.len() < 2 {
            alternatives.into_iter().for_each(|only| form.add(only));
            return;
        }
        let described: Vec<String> = alternatives.iter().map(Form::describe).collect();
        self.rules.push(format!("{rule}: {}.", described.join("; or ")));
        let in_all = |name: &String| alternatives.iter().all(|other| other.required.contains(name));
        let common = alternatives[0].required.iter().filter(|name| in_all(name));
        let mut united = Form {
            required: common.cloned().collect(),
            ..Form::default()
        };
        for alternative in &alternatives {
            for (name, schema) in &alternative.properties {
                match united.properties.get_mut(name) {
                    Some(known) => unite(known, schema),
                    None => drop(united.properties.insert(name.clone(), schema.clone())),
                }
            }
        }
        // Alternatives only narrow what the root itself describes.
        let is_described = |name: &String| {
            let known = form.properties.get(name);
            known.is_some_and(|known| known != &json!({}))
        };
        united.properties.retain(|name, _| !is_described(name));
        form.add(united);
    }

    /// Adds the properties of a condition and of its consequences, none of which is required.
    fn add_condition(
        &mut self,
        form: &mut Form,
        condition: Option<Value>,
        then: Option<Value>,
        otherwise: Option<Value>,
    ) {
        let Some(condition) = condition.filter(|_| then.is_some() || otherwise.is_some()) else {
            return;
        };
        let mut rule = format!("If the arguments match {}", excerpt(&condition));
        for (consequence, words) in [(&then, "they match"), (&otherwise, "otherwise they match")] {
            if let Some(consequence) = consequence {
                rule.push_str(&format!(", {words} {}", excerpt(consequence)));
            }
        }
        self.rules.push(format!("{rule}."));
        for schema in [then, otherwise, Some(condition)].into_iter().flatten() {
            if let Value::Object(schema) = schema {
                let folded = self.fold(&schema);
                for (name, schema) in folded.properties {
                    form.properties.entry(name).or_insert(schema);
                }
            }
        }
    }
}

impl Form {
    /// Adds what another schema demands besides.
    fn add(&mut self, other: Self) {
        for (name, schema) in other.properties {
            match (self.properties.get_mut(&name), schema) {
                (Some(Value::Object(known)), Value::Object(schema)) => {
                    for (keyword, value) in schema {
                        known.entry(keyword).or_insert(value);
                    }
                }
                (_, schema) => drop(self.properties.insert(name, schema)),
            }
        }
        for name in other.required {
            if !self.required.contains(&name) {
                self.required.push(name);
            }
        }
        for (keyword, value) in other.others {
            // It closes its own properties only.
            let is_closed = value == Value::Bool(false) && keyword.ends_with("Properties");
            if !is_closed {
                self.others.entry(keyword).or_insert(value);
            }
        }
    }

    /// Adds the properties of the only possible arguments.
    fn add_values(&mut self, values: &[Value]) {
        for (name, value) in values.iter().filter_map(Value::as_object).flatten() {
            let known = self.properties.entry(name.clone()).or_insert_with(|| json!({}));
            add_to_enum(known, std::slice::from_ref(value));
        }
    }

    /// Describes an alternative by what it requires.
    fn describe(&self) -> String {
        let fixed = |name: &String| {
            let values = self.properties.get(name).and_then(possible_values)?;
            (values.len() == 1).then(|| format!("{name} = {}", excerpt(&values[0])))
        };
        let is_other = |name: &&String| !self.required.contains(name);
        let others = self.properties.keys().filter(is_other);
        let mut parts: Vec<String> = self
            .required
            .iter()
            .map(|name| fixed(name).unwrap_or_else(|| name.clone()))
            .collect();
        match parts.is_empty() {
            true => {
                parts.extend(others.map(|name| fixed(name).unwrap_or_else(|| format!("{name} (optional)"))))
            }
            false => parts.extend(others.filter_map(fixed)),
        }
        match parts.is_empty() {
            true => "none of them".to_owned(),
            false => parts.join(" and "),
        }
    }
}

/// Unites the schemas of a property in two alternatives.
fn unite(known: &mut Value, other: &Value) {
    if known == other {
        return;
    }
    if possible_values(known).is_some()
        && let Some(more) = possible_values(other)
    {
        add_to_enum(known, &more);
        return;
    }
    // One of them accepts anything.
    if *known == json!({}) || *other == json!({}) {
        *known = json!({});
        return;
    }
    let is_union = known
        .as_object()
        .is_some_and(|schema| schema.len() == 1 && schema.contains_key("anyOf"));
    if !is_union {
        *known = json!({ "anyOf": [known.clone()] });
    }
    if let Some(Value::Array(forms)) = known.get_mut("anyOf")
        && !forms.contains(other)
    {
        forms.push(other.clone());
    }
}

/// Returns the only values that fit a schema, if it lists them.
fn possible_values(schema: &Value) -> Option<Vec<Value>> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => Some(values.clone()),
        (_, value) => value.map(|value| vec![value.clone()]),
    }
}

/// Adds values to the possible ones of a property.
fn add_to_enum(schema: &mut Value, values: &[Value]) {
    let mut known = possible_values(schema).unwrap_or_default();
    for value in values {
        if !known.contains(value) {
            known.push(value.clone());
        }
    }
    if let Value::Object(fields) = schema {
        fields.remove("const");
        fields.insert("enum".into(), Value::Array(known));
    }
}

fn not_rule(not: &Value) -> String {
    let names: Vec<String> = not.get("required").map(texts).unwrap_or_default();
    let is_alone = not.as_object().is_some_and(|not| not.len() == 1);
    match names.as_slice() {
        [one] if is_alone => format!("Do not give {one}."),
        [_, ..] if is_alone => format!("Do not give these together: {}.", names.join(", ")),
        _ => format!("The arguments must not match {}.", excerpt(not)),
    }
}

fn excerpt(value: &Value) -> String {
    single_line(&value.to_string(), MAX_RULE_CHARS)
}

fn objects(list: Option<&Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let list = list.and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_object)
}

fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}
