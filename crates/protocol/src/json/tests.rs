use proptest::prelude::*;
use serde::Serialize;

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    yes: bool,
    number: i64,
    size: usize,
    text: String,
    list: Vec<Kind>,
    result: std::result::Result<(), String>,
    nothing: Option<u32>,
    pair: (u32, bool),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Unit,
    New(Option<u64>),
    Tuple(u32, String),
    Struct { inner: Vec<Kind> },
}

#[test]
fn reads_what_serde_json_writes() {
    let everything = Everything {
        yes: true,
        number: -1_790_000_000_123,
        size: 0,
        text: "\"\\ / \u{8}\u{c}\n\r\t \u{1} ä 😀".into(),
        list: vec![
            Kind::Unit,
            Kind::New(Some(7)),
            Kind::New(None),
            Kind::Tuple(1, String::new()),
            Kind::Struct {
                inner: vec![Kind::Unit],
            },
            Kind::Struct { inner: Vec::new() },
        ],
        result: Err("no".into()),
        nothing: None,
        pair: (1, false),
    };
    let written = serde_json::to_vec(&everything).unwrap();
    assert_eq!(parse(&written), Ok(everything));
    let everything: Everything = parse(&written).unwrap();
    let spaced = serde_json::to_vec_pretty(&everything).unwrap();
    assert_eq!(parse(&spaced), Ok(everything));
}

#[test]
fn decodes_escapes() {
    assert_eq!(parse(br#" "\u00e4\ud83d\ude00\/" "#), Ok(String::from("ä😀/")));
    for json in [r#""\ud83d""#, r#""\ude00""#, r#""\u00g0""#, r#""\u00"#, r#""\x""#] {
        assert_eq!(parse::<String>(json.as_bytes()), Err(JsonError), "{json}");
    }
}

#[test]
fn skips_unknown_fields() {
    let json = br#"{"a":{"b":[1,true,null,"x",{}]},"text":"t","type":"text"}"#;
    let part: crate::Part = parse(json).unwrap();
    assert_eq!(part, crate::Part::Text { text: "t".into() });
}

#[test]
fn rejects_invalid_json() {
    for json in [
        "",
        "[",
        "[1",
        "[1 2]",
        "[1]]",
        "[1.5]",
        "[99999999999999999999]",
        "[-1]",
        "{}",
        "[\"1\"]",
    ] {
        assert_eq!(parse::<Vec<u64>>(json.as_bytes()), Err(JsonError), "{json}");
    }
}

#[test]
fn nested_raw_json_is_unchanged() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct WithRawInput {
        input: RawJson,
        after: u32,
    }
    for value in [
        "null",
        "-0.5e+3",
        "\"a \\\" } ] b\"",
        "[]",
        "{}",
        r#"{"a": [1.5, {"b": "}"}, true], "ü": {}}"#,
        "[[[1], 2], \"]\"]",
    ] {
        let json = format!(r#"{{"input": {value} , "after": 1}}"#);
        let from_serde: WithRawInput = serde_json::from_str(&json).unwrap();
        assert_eq!(from_serde.input.as_str(), value);
        assert_eq!(parse(json.as_bytes()), Ok(from_serde));
        let written = serde_json::to_string(&parse::<WithRawInput>(json.as_bytes()).unwrap()).unwrap();
        assert_eq!(written, format!(r#"{{"input":{value},"after":1}}"#));
        // A value that was parsed and written again is JSON as well.
        let taken_apart = serde_json::from_str::<serde_json::Value>(&json).unwrap();
        let around: WithRawInput = serde_json::from_value(taken_apart).unwrap();
        let same = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(same(around.input.as_str()), same(value));
    }
    for broken in [
        "",
        "]",
        "{\"input\": ",
        "{\"input\": [1, \"after\": 1}",
        "{\"input\": , \"after\": 1}",
    ] {
        assert!(parse::<WithRawInput>(broken.as_bytes()).is_err(), "{broken}");
    }
}

#[test]
fn invalid_json_becomes_a_json_string() {
    for (text, json) in [
        ("{\"a\": 1}", "{\"a\": 1}"),
        (" 1 ", "1"),
        ("{\"a\": ", r#""{\"a\": ""#),
        ("", r#""""#),
    ] {
        assert_eq!(RawJson::parse_or_quote(text).as_str(), json);
    }
}

#[test]
fn raw_value_is_one_line() {
    for (pretty, line) in [
        (
            "{\n  \"a\": 1,\n\t\"b\": [\r\n    2\r\n  ]\n}",
            r#"{"a": 1,"b": [2]}"#,
        ),
        ("{ \"a\" :  \n\n \"x\\n y\" }", r#"{ "a" :"x\n y" }"#),
        ("\n[\r1\r]\n", "[1]"),
    ] {
        let json = RawJson::parse_or_quote(pretty);
        assert_eq!(json.as_str(), line);
        assert_eq!(serde_json::from_str::<RawJson>(pretty).unwrap(), json);
        assert_eq!(parse::<RawJson>(pretty.as_bytes()), Ok(json));
    }
}

/// It is written by a name that only serde_json knows.
#[test]
fn raw_values_are_written_as_they_are() {
    let text = r#"{"a": [1, "b"]}"#;
    let json = RawJson::parse_or_quote(text);
    assert_eq!(serde_json::to_string(&[&json]).unwrap(), format!("[{text}]"));
    let value = serde_json::to_value(&json).unwrap();
    assert_eq!(value, serde_json::json!({ "a": [1, "b"] }));
}

/// A model's arguments are stored in the log from which everything is read: one entry that can't be read
/// would make the log unusable.
#[test]
fn every_raw_value_round_trips() {
    for given in [
        r#"{"q":"\ud83d"}"#,
        r#"{"\udc00":1}"#,
        r#"["\ud83d\ud83d"]"#,
        r#"{"q":"\u12"}"#,
        "[1e999,-0.5E-7]",
        "nul",
        "{\"a\":}",
        "{\"a\" 1}",
        "[1,]",
        "\u{feff}{}",
        "",
        "\0",
        &"[".repeat(200),
        &("[".repeat(1000) + &"]".repeat(1000)),
    ] {
        let json = RawJson::parse_or_quote(given);
        let written = serde_json::to_vec(&json).unwrap();
        assert_eq!(parse::<RawJson>(&written), Ok(json.clone()), "{given}");
        assert_eq!(
            serde_json::from_slice::<RawJson>(&written).unwrap(),
            json,
            "{given}"
        );
    }
}

fuzzing::properties! {
    256;

    #[test]
    fn both_readers_agree_on_any_json(json in any_json()) {
        let kept = RawJson::parse_or_quote(&json);
        prop_assert_eq!(kept.as_str(), json.trim());
        let written = serde_json::to_vec(&kept).unwrap();
        prop_assert_eq!(parse::<RawJson>(&written), Ok(kept.clone()));
        prop_assert_eq!(serde_json::from_slice::<RawJson>(&written).unwrap(), kept);
    }

    #[test]
    fn page_accepts_what_serde_json_accepts(json in "[\\[\\]{},: \\-0-9eE.a-fu\\\\\"ntrl]{0,24}") {
        if let Ok(strict) = serde_json::from_str::<RawJson>(&json) {
            prop_assert_eq!(parse::<RawJson>(json.as_bytes()), Ok(strict));
        }
    }
}

#[test]
fn both_readers_accept_lone_surrogates() {
    for json in [
        r#"{"q":"\ud83d"}"#,
        r#"["\udc00\ud83d\n"]"#,
        r#""\u12""#,
        r#""\x""#,
        "\"\\",
    ] {
        let strict = serde_json::from_str::<RawJson>(json).ok();
        assert_eq!(parse::<RawJson>(json.as_bytes()).ok(), strict, "{json}");
    }
}

/// Other parsers have a limit of depth: a new value beyond it is text. A stored one is still read.
#[test]
fn deep_values_are_read_and_quoted_if_new() {
    for depth in [126, 127, 128, 129, 10_000] {
        for (open, close) in [("[", "]"), ("{\"]\\\"\":", "}")] {
            let json = [&open.repeat(depth), "null", &close.repeat(depth)].concat();
            let kept = RawJson::parse_or_quote(&json);
            match depth {
                ..128 => assert_eq!(kept.as_str(), json),
                _ => assert_eq!(
                    serde_json::from_str::<String>(kept.as_str()).ok(),
                    Some(json.clone())
                ),
            }
            assert_eq!(parse::<RawJson>(&serde_json::to_vec(&kept).unwrap()), Ok(kept));
            assert_eq!(
                parse::<RawJson>(json.as_bytes()).map(|raw| raw.as_str() == json),
                Ok(true)
            );
        }
    }
}
