//! The introduction of a server (its result of `initialize`).

use serde_json::{Map, Value, json};

/// The version of a server that names none: the first one, which every server has.
const UNNAMED_VERSION: &str = "2024-11-05";

/// Returns true for an introduction.
pub fn is_introduction(result: &Map<String, Value>) -> bool {
    result.contains_key("protocolVersion") || result.contains_key("serverInfo")
}

/// Rewrites an introduction with what Parlor uses of it.
pub fn rewrite(result: &mut Map<String, Value>) {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let info = result.get("serverInfo");
    let info = json!({
        "name": text(info.and_then(|info| info.get("name"))),
        "version": text(info.and_then(|info| info.get("version"))),
    });
    let mut capabilities = Map::new();
    for name in ["tools", "resources"] {
        if let Some(Value::Object(offered)) = result.get("capabilities").and_then(|all| all.get(name)) {
            let mut kept = offered.clone();
            kept.retain(|_, value| value.is_boolean());
            capabilities.insert(name.into(), kept.into());
        }
    }
    if !result.get("protocolVersion").is_some_and(Value::is_string) {
        result.insert("protocolVersion".into(), UNNAMED_VERSION.into());
    }
    result.insert("serverInfo".into(), info);
    result.insert("capabilities".into(), capabilities.into());
    if !result.get("instructions").is_some_and(Value::is_string) {
        result.remove("instructions");
    }
    result.retain(|field, _| {
        matches!(
            field.as_str(),
            "protocolVersion" | "serverInfo" | "capabilities" | "instructions"
        )
    });
}
