//! The list of models, and the URLs of their calls.

use std::cmp::Reverse;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::thinking::{FIRST_WITH_LEVELS, MAX_BUDGET_TOKENS, generation};
use crate::{
    catalog::{ListedModel, read_entries, token_count},
    known_models::known_capabilities,
    model_list::ModelList,
};
use parlor_protocol::{ModelCapabilities, ThinkingSupport};

/// The smallest budget that every model with a budget takes, in tokens.
const MIN_BUDGET_TOKENS: usize = 512;

/// The collection of models in the list's names, which calls name too.
const COLLECTION: &str = "models/";

/// The characters that end a path.
const PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'?').add(b'#').add(b'%').add(b':');

/// The list of models, in the largest pages.
pub const LIST: ModelList = ModelList {
    path: "/models",
    first_query: "pageSize=1000",
    next_query: next_page,
    read: read_list,
};

/// Returns the query of the page after this one.
fn next_page(page: &Value) -> Option<String> {
    let token = page["nextPageToken"].as_str().filter(|token| !token.is_empty())?;
    let token = utf8_percent_encode(token, NON_ALPHANUMERIC);
    Some(format!("{}&pageToken={token}", LIST.first_query))
}

/// Reads the pages of the list: the models that generate content, the newest generation first.
pub fn read_list(pages: Vec<Value>) -> Option<Vec<ListedModel>> {
    let mut models = read_entries(pages, "models", |entry| {
        let text = |field: &str| entry[field].as_str().filter(|text| !text.is_empty());
        let name = text("name")?;
        let methods = entry["supportedGenerationMethods"].as_array();
        let generates =
            methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"));
        generates.then(|| ListedModel {
            id: name.strip_prefix(COLLECTION).unwrap_or(name).to_owned(),
            name: text("displayName").map(str::to_owned),
            capabilities: ModelCapabilities {
                thinking: read_thinking(name, entry),
                context_window: token_count(entry, "inputTokenLimit"),
                max_output_tokens: token_count(entry, "outputTokenLimit"),
                ..ModelCapabilities::default()
            },
        })
    })?;
    // The order of the server begins with old models. Those without a generation come last.
    models.sort_by_key(|model| Reverse(generation(&model.id)));
    Some(models)
}

/// Reads the thinking. The list does not say how it is set: without a level in the table, by a budget.
fn read_thinking(name: &str, entry: &Value) -> Option<ThinkingSupport> {
    let known = || {
        known_capabilities(name)
            .thinking
            .filter(|thinking| thinking.supported)
    };
    match entry["thinking"].as_bool()? {
        // Of a generation with levels, whatever they are.
        true if generation(name).is_some_and(|generation| generation >= FIRST_WITH_LEVELS) => {
            known().or(Some(ThinkingSupport::levels(&[])))
        }
        true => known().or(Some(ThinkingSupport::budget(
            MIN_BUDGET_TOKENS,
            MAX_BUDGET_TOKENS,
            false,
        ))),
        false => Some(ThinkingSupport::NONE),
    }
}

/// Returns the path of a streamed call.
pub fn call_path(model: &str) -> String {
    format!("{}:streamGenerateContent", model_path(model))
}

/// Returns the path of a call for an image.
pub fn image_path(model: &str) -> String {
    format!("{}:generateContent", model_path(model))
}

fn model_path(model: &str) -> String {
    let collection = match model.contains('/') {
        true => "",
        false => COLLECTION,
    };
    let model = utf8_percent_encode(model, PATH);
    format!("/{collection}{model}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_pages_newest_generation_first() {
        let methods = json!(["generateContent", "countTokens"]);
        let model = |name: &str| json!({ "name": name, "displayName": "D", "inputTokenLimit": 1_048_576, "supportedGenerationMethods": methods });
        let first = json!({ "nextPageToken": "a/b", "models": [
            model("models/gemini-2.5-flash"), model("models/gemini-flash-latest"),
            { "name": "models/embedding-001", "supportedGenerationMethods": ["embedContent"] },
        ] });
        assert_eq!(
            next_page(&first).as_deref(),
            Some("pageSize=1000&pageToken=a%2Fb")
        );
        let second = json!({ "models": [model("models/gemini-3-flash-preview")] });
        assert_eq!(next_page(&second), None);
        let listed = read_list(vec![first, second]).unwrap();
        let ids: Vec<&str> = listed.iter().map(|model| model.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "gemini-3-flash-preview",
                "gemini-2.5-flash",
                "gemini-flash-latest"
            ]
        );
        assert_eq!(listed[0].capabilities.context_window, Some(1_048_576));
    }

    #[test]
    fn thinking_before_levels_has_a_budget() {
        let entry = json!({ "thinking": true });
        let budget = ThinkingSupport::budget(MIN_BUDGET_TOKENS, MAX_BUDGET_TOKENS, false);
        for (name, thinking) in [
            ("models/gemini-2.7-flash", budget),
            ("models/gemini-4-flash", ThinkingSupport::levels(&[])),
        ] {
            assert_eq!(read_thinking(name, &entry), Some(thinking), "{name}");
        }
    }

    #[test]
    fn names_the_path_of_a_call() {
        for (model, path) in [
            (
                "gemini-3-pro-preview",
                "/models/gemini-3-pro-preview:streamGenerateContent",
            ),
            ("tunedModels/mine", "/tunedModels/mine:streamGenerateContent"),
            ("a?b", "/models/a%3Fb:streamGenerateContent"),
        ] {
            assert_eq!(call_path(model), path);
        }
    }
}
