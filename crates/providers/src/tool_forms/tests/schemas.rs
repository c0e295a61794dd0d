use super::*;

/// Keywords that model servers refuse at the root.
const REFUSED: [&str; 15] = [
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "enum",
    "const",
    "$ref",
    "items",
    "prefixItems",
    "minItems",
    "pattern",
    "minLength",
];

#[test]
fn unites_alternatives_at_the_root() {
    let alternatives = json!([
        { "properties": { "path": { "type": "string" }, "kind": { "const": "file" } }, "required": ["kind", "path"] },
        { "properties": { "url": { "type": "string" }, "kind": { "const": "url" } }, "required": ["kind", "url"] },
    ]);
    let expected = json!({
        "type": "object",
        "properties": {
            "kind": { "enum": ["file", "url"] },
            "path": { "type": "string" },
            "url": { "type": "string" },
        },
        "required": ["kind"],
    });
    for (keyword, rule) in [
        ("oneOf", "Give exactly one of these sets of arguments"),
        ("anyOf", "Give at least one of these sets of arguments"),
    ] {
        for kind in [OpenAi, OpenAiResponses, Anthropic] {
            let mut schema = json!({ "type": "object" });
            schema[keyword] = alternatives.clone();
            assert_eq!(
                sent(kind, &schema),
                (
                    expected.clone(),
                    format!("{rule}: kind = \"file\" and path; or kind = \"url\" and url.")
                ),
                "{kind:?} {keyword}"
            );
        }
    }
}

#[test]
fn alternatives_that_only_require_become_a_rule() {
    let schema = json!({
        "type": "object",
        "properties": { "id": { "type": "string" }, "name": { "type": "string" }, "depth": { "type": "integer" } },
        "required": ["depth"],
        "anyOf": [{ "required": ["id"] }, { "required": ["name"] }],
    });
    let (folded, rule) = sent(Anthropic, &schema);
    assert_eq!(folded["required"], json!(["depth"]));
    assert_eq!(folded["properties"], schema["properties"]);
    assert_eq!(rule, "Give at least one of these sets of arguments: id; or name.");
}

#[test]
fn the_description_has_the_rule() {
    let schema = json!({ "oneOf": [{ "required": ["a"] }, { "required": ["b"] }] });
    let adapted = forms(OpenAi).adapt("m", &request(vec![spec("look", schema)]));
    assert_eq!(
        adapted.request.tools[0].description,
        "Looks.\n\nGive exactly one of these sets of arguments: a; or b."
    );
}

#[test]
fn no_root_has_what_servers_refuse() {
    for schema in [
        json!({ "anyOf": [{ "type": "object", "properties": { "a": {} } }, { "type": "null" }] }),
        json!({ "oneOf": [] }),
        json!({ "allOf": [{ "properties": { "a": { "type": "string" } }, "required": ["a"] }, { "$ref": "#/$defs/b" }],
                "$defs": { "b": { "properties": { "b": {} }, "required": ["b"] } } }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "oneOf": [{ "required": ["x"] }, { "required": ["y"] }] } } }),
        json!({ "$ref": "#" }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } }),
        json!({ "$ref": "https://example.org/schema.json" }),
        json!({ "type": ["object", "null"], "properties": null }),
        json!({ "properties": [] }),
        json!({ "not": { "required": ["a", "b"] } }),
        json!({ "enum": [{ "a": 1 }, { "a": 2 }] }),
        json!({ "const": {} }),
        json!({ "if": { "properties": { "a": { "const": 1 } } }, "then": { "required": ["b"] }, "else": { "properties": { "c": {} } } }),
        json!({ "allOf": [{ "if": {}, "then": { "anyOf": [{ "properties": { "d": {} } }] } }] }),
        json!({ "type": "string", "pattern": "x", "minLength": 1 }),
        json!({ "type": "array", "prefixItems": [{ "type": "string" }], "minItems": 1 }),
        json!({}),
        json!(true),
        json!(false),
        json!(null),
        json!([]),
        json!("object"),
    ] {
        for kind in EndpointKind::ALL {
            let (folded, _) = sent(kind, &schema);
            assert_eq!(folded["type"], "object", "{kind:?} {schema} {folded}");
            assert!(folded["properties"].is_object(), "{kind:?} {schema} {folded}");
            assert!(!has_any(&folded, &REFUSED), "{kind:?} {schema} {folded}");
        }
    }
}

#[test]
fn parts_and_conditions_keep_their_properties() {
    let all = json!({
        "allOf": [{ "properties": { "a": { "type": "string" } }, "required": ["a"] }, { "$ref": "#/$defs/b" }],
        "$defs": { "b": { "properties": { "b": { "type": "integer" } }, "required": ["b"] } },
    });
    let folded = schema_of(OpenAi, all);
    assert_eq!(folded["required"], json!(["a", "b"]));
    assert_eq!(
        folded["properties"],
        json!({ "a": { "type": "string" }, "b": { "type": "integer" } })
    );
    let condition = json!({
        "properties": { "mode": { "type": "string" } },
        "if": { "properties": { "mode": { "const": "fast" } } },
        "then": { "properties": { "speed": { "type": "number" } }, "required": ["speed"] },
    });
    let (folded, rule) = sent(OpenAi, &condition);
    assert_eq!(
        folded["properties"],
        json!({ "mode": { "type": "string" }, "speed": { "type": "number" } })
    );
    assert!(!has_any(&folded, &["required"]), "{folded}");
    assert!(
        rule.starts_with("If the arguments match {\"properties\":{\"mode\":"),
        "{rule}"
    );
    assert_eq!(
        sent(OpenAi, &json!({ "not": { "required": ["a", "b"] } })).1,
        "Do not give these together: a, b."
    );
}

#[test]
fn repairs_what_json_schema_does_not_allow() {
    for (property, expected) in [
        (
            json!({ "type": "array" }),
            json!({ "type": "array", "items": {} }),
        ),
        (
            json!({ "type": "array", "items": [{ "type": "string" }] }),
            json!({ "type": "array", "items": { "type": "string" } }),
        ),
        (
            json!({ "type": "array", "items": [{ "type": "string" }, { "type": "number" }], "additionalItems": false }),
            json!({ "type": "array", "items": { "anyOf": [{ "type": "string" }, { "type": "number" }] } }),
        ),
        (json!({ "type": "int" }), json!({ "type": "integer" })),
        (json!({ "type": "STRING" }), json!({ "type": "string" })),
        (json!({ "type": "any" }), json!({})),
        (
            json!({ "type": ["str", "None"] }),
            json!({ "type": ["string", "null"] }),
        ),
        (json!({ "type": null, "description": null }), json!({})),
        (
            json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true }),
            json!({ "type": "number", "exclusiveMinimum": 0 }),
        ),
        (
            json!({ "type": "number", "maximum": 9, "exclusiveMaximum": false }),
            json!({ "type": "number", "maximum": 9 }),
        ),
        (
            json!({ "type": "string", "nullable": true }),
            json!({ "type": ["string", "null"] }),
        ),
        (
            json!({ "type": "string", "minLength": "1", "pattern": null }),
            json!({ "type": "string" }),
        ),
        (
            json!({ "type": "string", "maxLength": 3.0 }),
            json!({ "type": "string", "maxLength": 3 }),
        ),
        (json!({ "enum": [] }), json!({})),
        (json!({ "enum": ["a", "a", "b"] }), json!({ "enum": ["a", "b"] })),
        (json!({ "anyOf": [] }), json!({})),
        (json!({ "anyOf": [true, false] }), json!({ "anyOf": [{}] })),
        (
            json!({ "$schema": "x", "$id": "y", "type": "string" }),
            json!({ "type": "string" }),
        ),
        (
            json!({ "$ref": "#/$defs/missing", "title": "A" }),
            json!({ "title": "A" }),
        ),
        (
            json!({ "$ref": "#anchor", "type": "boolean" }),
            json!({ "type": "boolean" }),
        ),
        // One of JavaScript alone.
        (
            json!({ "type": "string", "pattern": r"^\p{L}+$", "description": "A name." }),
            json!({ "type": "string", "description": r"A name. (pattern: ^\p{L}+$)" }),
        ),
        (
            json!({ "type": "string", "pattern": "[" }),
            json!({ "type": "string", "description": "(pattern: [)" }),
        ),
        (
            json!({ "required": false, "type": "object", "properties": { "b": "string" } }),
            json!({ "type": "object", "properties": { "b": { "type": "string" } } }),
        ),
        (json!(true), json!({})),
        (json!("string"), json!({ "type": "string" })),
        (json!(null), json!({})),
    ] {
        let schema = json!({ "type": "object", "properties": { "a": property } });
        for kind in [OpenAi, Anthropic] {
            assert_eq!(
                schema_of(kind, schema.clone())["properties"]["a"],
                expected,
                "{property}"
            );
        }
    }
    let needed = json!({ "properties": { "a": { "type": "string", "required": true }, "b": false } });
    assert_eq!(
        schema_of(OpenAi, needed),
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] })
    );
}

#[test]
fn leaves_valid_schemas_as_they_are() {
    let schema = json!({
        "type": "object",
        "description": "All of it.",
        "properties": {
            "sort": { "type": ["string", "null"], "enum": ["date", null], "default": null },
            "tree": { "$ref": "#/$defs/tree" },
            "or": { "oneOf": [{ "type": "string", "format": "uri" }, { "type": "integer", "minimum": 1 }] },
            "map": { "type": "object", "additionalProperties": { "type": "string" } },
        },
        "required": ["sort"],
        "additionalProperties": false,
        "$defs": { "tree": { "type": "array", "items": { "$ref": "#/$defs/tree" } } },
    });
    for kind in [OpenAi, OpenAiResponses, Anthropic] {
        assert_eq!(sent(kind, &schema), (schema.clone(), String::new()), "{kind:?}");
    }
}

#[test]
fn google_gets_its_subset() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "kind": { "const": "a" },
            "level": { "enum": [1, 2] },
            "sort": { "type": ["string", "null"], "enum": ["date", "", null] },
            "url": { "type": "string", "format": "uri", "description": "Where." },
            "at": { "type": "string", "format": "date-time" },
            "count": { "type": "integer", "exclusiveMinimum": 0, "format": "uint32" },
            "id": { "type": ["string", "integer"] },
            "or": { "oneOf": [{ "type": "string" }, { "type": "null" }] },
            "tree": { "$ref": "#/$defs/tree" },
            "map": { "type": "object", "additionalProperties": { "type": "string" } },
            "both": { "allOf": [{ "$ref": "#/$defs/name" }, { "description": "B" }] },
        },
        "required": ["kind", "missing"],
        "additionalProperties": false,
        "$defs": {
            "name": { "type": "string", "maxLength": 9 },
            "tree": { "type": "object", "properties": { "next": { "$ref": "#/$defs/tree" } }, "additionalProperties": false },
        },
    });
    assert_eq!(
        sent(Gemini, &schema),
        (
            json!({
                "type": "object",
                "properties": {
                    "kind": { "type": "string", "enum": ["a"] },
                    "level": { "description": "(one of: [1,2])" },
                    "sort": { "type": "string", "nullable": true, "description": "(one of: [\"date\",\"\"])" },
                    "url": { "type": "string", "description": "Where. (format: uri)" },
                    "at": { "type": "string", "format": "date-time" },
                    "count": { "type": "integer", "minimum": 1, "description": "(format: uint32)" },
                    "id": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
                    "or": { "type": "string", "nullable": true },
                    "tree": { "type": "object", "properties": { "next": { "type": "object" } } },
                    "map": { "type": "object", "description": "(an object with any keys, each value: {\"type\":\"string\"})" },
                    "both": { "type": "string", "maxLength": 9, "description": "B" },
                },
                "required": ["kind"],
            }),
            String::new()
        )
    );
}

#[test]
fn large_definitions_are_inlined_a_few_times() {
    let large = json!({ "type": "string", "description": "x".repeat(30_000) });
    let properties: Map<String, Value> = (0..100)
        .map(|at| (format!("p{at:02}"), json!({ "$ref": "#/$defs/large" })))
        .collect();
    let schema = json!({ "type": "object", "properties": properties, "$defs": { "large": large } });
    let (sent, _) = sent(Gemini, &schema);
    let sent: Vec<&Value> = sent["properties"].as_object().unwrap().values().collect();
    let mut expected = vec![&large; 4];
    let anything = json!({});
    expected.resize(100, &anything);
    assert_eq!(sent, expected);
}

#[test]
fn hostile_schemas_end() {
    // Each definition refers twice to the next one: inlined, it would have 2^40 parts.
    let mut definitions = Map::new();
    for at in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
        definitions.insert(
            format!("d{at}"),
            json!({ "type": "object", "properties": { "a": next, "b": next }, "anyOf": [next, next, { "required": ["a"] }] }),
        );
    }
    let schema = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    let mut deep = json!({ "type": "string" });
    for _ in 0..100 {
        deep = json!({ "type": "array", "items": deep });
    }
    let deep = json!({ "properties": { "a": deep } });
    for kind in EndpointKind::ALL {
        for schema in [&schema, &deep] {
            let (sent, _) = sent(kind, schema);
            assert!(sent.to_string().len() < 2 << 20, "{kind:?}");
        }
    }
}
