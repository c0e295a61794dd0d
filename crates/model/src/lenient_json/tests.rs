use fuzzing::properties;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use parlor_protocol::json::any_json;

fn mended(text: &str) -> Option<Value> {
    let mended = mend(text, Halves::Replace)?;
    Some(serde_json::from_str(&mended.text).expect("valid JSON"))
}

#[test]
fn mends_what_models_write() {
    for (text, value) in [
        (r#"{"a":"\ud83d"}"#, json!({ "a": "\u{fffd}" })),
        (
            r#"{"a":"\ude00\ud83dx\ud83d\ud83d\ude00"}"#,
            json!({ "a": "\u{fffd}\u{fffd}x\u{fffd}😀" }),
        ),
        (r#"{"\udc00":1}"#, json!({ "\u{fffd}": 1 })),
        (
            "[NaN, Infinity, -Infinity, +Infinity, nan, -NaN, -inf]",
            json!([null, null, null, null, null, null, null]),
        ),
        (
            "[None, True, False, undefined, true]",
            json!([null, true, false, null, true]),
        ),
        (
            "{\"sql\":\"SELECT 1\n\tFROM t\r\n\u{1}\"}",
            json!({ "sql": "SELECT 1\n\tFROM t\r\n\u{1}" }),
        ),
        (r#"{"a":1,"a":2}"#, json!({ "a": 2 })),
        (
            r#"{"a":"x","b":{"c":1,"c":2},"a":null}"#,
            json!({ "a": "x", "b": { "c": 2 } }),
        ),
        (r#"{"a":1,"b":2,"a":3,"b":4,"a":5}"#, json!({ "a": 5, "b": 4 })),
        (r#"{"a":null,"a":1}"#, json!({ "a": 1 })),
        (r#"{"a":[1,2,],}"#, json!({ "a": [1, 2] })),
        (r#"{"re":"\d+\.\w'\'"}"#, json!({ "re": "\\d+\\.\\w''" })),
        (
            r#"{"tex":"\alpha \u12 \x41"}"#,
            json!({ "tex": "\\alpha \\u12 \\x41" }),
        ),
        ("{\"sh\":\"a \\\nb\"}", json!({ "sh": "a \\\nb" })),
        ("[+1, .5, 1., 01, -0]", json!([1, 0.5, 1.0, 1, -0.0])),
        ("[1e999, -1e999]", json!([null, null])),
        ("\u{feff}{\u{a0}\"a\": 1}", json!({ "a": 1 })),
    ] {
        let is_float_zero = text.contains("-0");
        let found = mended(text).unwrap_or_else(|| panic!("{text}"));
        match is_float_zero {
            true => assert_eq!(found.to_string(), "[1,0.5,1.0,1,-0.0]"),
            false => assert_eq!(found, value, "{text}"),
        }
        // Repeated keys are an error only of types with fields.
        if serde_json::from_str::<Value>(text).is_err() {
            assert_eq!(
                parse::<Value>(text).unwrap().to_string(),
                found.to_string(),
                "{text}"
            );
        }
    }
}

#[test]
fn many_repeated_keys_keep_their_last_values() {
    const KEYS: usize = 20_000;
    let fields: Vec<String> = (0..2 * KEYS)
        .map(|at| format!(r#""k{}":{at}"#, at % KEYS))
        .collect();
    let last_values: serde_json::Map<String, Value> =
        (0..KEYS).map(|at| (format!("k{at}"), json!(at + KEYS))).collect();
    let text = format!("{{{}}}", fields.join(","));
    assert_eq!(mended(&text), Some(Value::Object(last_values)));
    let nested = r#"{"a":{"b":1,"b":2,"c":3},"d":4,"a":{"b":5,"b":6},"d":null,"a":7,"a":null,}"#;
    let found = mend(nested, Halves::Replace).map(|mended| mended.text);
    assert_eq!(found.as_deref(), Some(r#"{"d":4,"a":7}"#));
}

#[test]
fn incomplete_json_stays_invalid() {
    for text in [
        "",
        " ",
        "{",
        "[1",
        r#"{"a":"#,
        r#"{"a":"x"#,
        r#"{"a":"x\"#,
        r#"{"a" 1}"#,
        "{a:1}",
        "[1 2]",
        "[,]",
        "{,}",
        r#"{"a":1,,"b":2}"#,
        "hello",
        "[tru]",
        "-",
        "1-2",
        "{} {}",
        "]",
        r#"{"a":1]"#,
        "'a'",
    ] {
        assert_eq!(mend(text, Halves::Replace), None, "{text}");
        assert!(parse::<Value>(text).is_err(), "{text}");
    }
}

#[test]
fn replaces_only_what_is_nested_too_deeply() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let text = format!(r#"{{"data":[{{"id":"a","x":{deep}}},{{"id":"b"}}]}}"#);
    let read: Value = parse(&text).unwrap();
    assert_eq!(read["data"][1], json!({ "id": "b" }));
    assert_eq!(read["data"][0]["id"], "a");
}

#[test]
fn finds_the_object_of_a_call() {
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(1000), "]".repeat(1000));
    assert_eq!(tool_arguments(&deep), deep);
    let quoted = json!(deep).to_string();
    assert_eq!(tool_arguments(&quoted), quoted);
    for (text, arguments) in [
        (r#"{}{"expression":"1"}"#, r#"{"expression":"1"}"#),
        (r#"{ } {"a":1}{}"#, r#"{"a":1}"#),
        (r#"{"a":1}{"a":1}"#, r#"{"a":1}"#),
        ("{}{}", "{}"),
        (r#""{\"a\":1}""#, r#"{"a":1}"#),
        (r#"" {\"a\":1,} ""#, r#"{"a":1}"#),
        (r#""{}{\"a\":1}""#, r#"{"a":1}"#),
        ("```json\n{\"a\":1}\n```", r#"{"a":1}"#),
        (
            "{\"code\":\"x = 1\nprint(x)\"}",
            r#"{"code":"x = 1\u000aprint(x)"}"#,
        ),
        (r#"{"b": 1.0, "a":NaN}"#, r#"{"b":1.0,"a":null}"#),
        // Around the object: empty values, marks of templates, brackets without a partner, invisible characters.
        (r#"null{"a":1}"#, r#"{"a":1}"#),
        (r#"""{"a":1}"#, r#"{"a":1}"#),
        (r#"{"a":1}null"#, r#"{"a":1}"#),
        (r#"{"a": 1}<|im_end|>"#, r#"{"a": 1}"#),
        ("<tool_call>\n{\"a\": 1}\n</tool_call>", r#"{"a": 1}"#),
        (r#"{"a":"</b>"}}"#, r#"{"a":"</b>"}"#),
        (r#"{"a":[1]}]} "#, r#"{"a":[1]}"#),
        ("\u{200b}{\"a\":1}\0", r#"{"a":1}"#),
        // What nobody can tell apart, or has no end, stays as it is.
        (r#"{"a":1}{"b":1}"#, r#"{"a":1}{"b":1}"#),
        (r#"{"a":"#, r#"{"a":"#),
        (r#"{}{"a":"#, r#"{}{"a":"#),
        ("", ""),
        ("[1]", "[1]"),
        ("null", "null"),
        ("\"\"null", "\"\"null"),
        (r#"{"a":1} <b>x</b>"#, r#"{"a":1} <b>x</b>"#),
        (r#"{"a":"x"}}{"#, r#"{"a":"x"}}{"#),
        (r#"<p>{"a":1"#, r#"<p>{"a":1"#),
        ("\"text\"", "\"text\""),
        (r#""\"{}\"""#, r#""\"{}\"""#),
        ("look it up", "look it up"),
        (" {\"a\": 1} ", "{\"a\": 1}"),
    ] {
        assert_eq!(tool_arguments(text), arguments, "{text}");
    }
}

#[test]
fn marked_halves_become_their_character() {
    fn half(text: &str) -> Mended<'_> {
        mend(text, Halves::Mark).unwrap()
    }
    let (first, second) = (half(r#""a\ud83d""#), half(r#""\ude00b""#));
    assert!(first.has_marks && second.has_marks);
    let texts = [&first, &second].map(|part| serde_json::from_str::<String>(&part.text).unwrap());
    let mut open = None;
    let joined = texts.map(|text| join_marks(&text, &mut open));
    assert_eq!((joined, open), (["a".into(), "😀b".into()], None));
    let text: String = serde_json::from_str(&half(r#""\ude00a\ud83db\ud83d""#).text).unwrap();
    assert_eq!(without_marks(&text), "\u{fffd}a\u{fffd}b\u{fffd}");
}

#[test]
fn finds_lone_halves_only() {
    for (json, is_lone) in [
        (r#""\ud83d""#, true),
        (r#""\uDE00""#, true),
        (r#""\ud83d\ud83d\ude00""#, true),
        (r#""\\\ud83d""#, true),
        (r#""\ud83d\ude00 \u00e9 \n""#, false),
        (r#""\\ud83d""#, false),
        ("\"\\", false),
        ("{}", false),
    ] {
        assert_eq!(has_lone_half(json), is_lone, "{json}");
    }
}

properties! {
    256;

    #[test]
    fn valid_json_is_borrowed(json in any_json()) {
        // Without repeated keys and numbers out of range.
        if let Ok(value) = serde_json::from_str::<Value>(&json) {
            let json = value.to_string();
            let mended = mend(&json, Halves::Mark).expect("it is valid");
            prop_assert!(matches!(mended.text, Cow::Borrowed(text) if text == json));
        }
    }

    #[test]
    fn mended_text_is_valid(text in r#"([\[\]{},:" \n\\0-9eE.+-]|null|NaN|"a"|\\ud83d|\\ude00|\\u|'){0,24}"#) {
        for halves in [Halves::Replace, Halves::Mark] {
            if let Some(mended) = mend(&text, halves) {
                prop_assert!(serde_json::from_str::<Value>(&mended.text).is_ok(), "{} {}", text, mended.text);
            }
        }
        let _ = tool_arguments(&text);
    }
}
