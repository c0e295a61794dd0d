//! Rules about the models and tools that each role may use.

use serde::Deserialize;

use super::SettingsError;
use parlor_protocol::Role;

/// A rule about some models and tools. The first rule that names a model or a tool decides; without one, everybody may use it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessRule {
    /// The models, as `endpoint/model`. A `*` stands for any text: "openai/*" names all models of an endpoint.
    #[serde(default)]
    pub models: Vec<String>,
    /// The tools, by the names that models get: "sql_query", or "files_*" for all tools of the MCP server "files".
    #[serde(default)]
    pub tools: Vec<String>,
    /// The roles that may use them: "administrator", "member". Empty for nobody.
    pub roles: Vec<Role>,
}

impl AccessRule {
    /// Returns true if the rule names a model.
    pub fn names_model(&self, id: &str) -> bool {
        self.models.iter().any(|pattern| matches(pattern, id))
    }

    /// Returns true if the rule names a tool.
    pub fn names_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|pattern| matches(pattern, name))
    }

    /// Returns the tools that the rule names without a `*`.
    pub fn plain_tools(&self) -> impl Iterator<Item = &str> {
        let names = self.tools.iter().map(String::as_str);
        names.filter(|name| !name.contains('*'))
    }

    /// Returns true if the rule names a model of an endpoint, or may name one.
    pub fn may_name_endpoint(&self, endpoint: &str) -> bool {
        let endpoint = format!("{endpoint}/").to_lowercase();
        self.models.iter().any(|pattern| {
            let pattern = pattern.to_lowercase();
            // The text before the first `*` is that of all its models.
            let (fixed, has_star) = match pattern.split_once('*') {
                Some((fixed, _)) => (fixed, true),
                None => (pattern.as_str(), false),
            };
            fixed.starts_with(&endpoint) || (has_star && endpoint.starts_with(fixed))
        })
    }
}

/// Checks that each rule names something, and that its models can match: a name without an endpoint matches none, so that
/// a rule against it would have no effect.
pub(super) fn check(rules: &[AccessRule]) -> Result<(), SettingsError> {
    for (rule, number) in rules.iter().zip(1..) {
        if rule.models.is_empty() && rule.tools.is_empty() {
            return Err(SettingsError::EmptyAccessRule(number));
        }
        if let Some(model) = rule.models.iter().find(|model| !model.contains(['/', '*'])) {
            return Err(SettingsError::AccessRuleWithoutEndpoint(number, model.clone()));
        }
    }
    Ok(())
}

/// Returns true if a name has the form of a pattern, in which `*` stands for any text. Case does not count: some servers take
/// the name of a model in any.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_endpoints_and_tools() {
        let rule = |models: &[&str]| AccessRule {
            models: models.iter().map(ToString::to_string).collect(),
            tools: vec!["sql_query".into(), "files_*".into()],
            roles: Vec::new(),
        };
        for models in ["openai/gpt-4o", "OpenAI/*", "*", "o*-mini", "openai/gpt*"] {
            assert!(rule(&["x/y", models]).may_name_endpoint("openai"), "{models}");
        }
        for models in ["openai", "openai2/gpt", "x/*"] {
            assert!(!rule(&[models]).may_name_endpoint("openai"), "{models}");
        }
        assert!(rule(&[]).plain_tools().eq(["sql_query"]));
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name) in [
            ("*", "openai/gpt-4o"),
            ("openai/*", "openai/gpt-4o"),
            ("openai/*", "openai/"),
            ("*mini", "openai/gpt-4o-mini"),
            ("o*/*o-*i", "openai/gpt-4o-mini"),
            ("OpenAI/gpt-*", "openai/GPT-4o"),
            ("sql_query", "sql_query"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("openai", "openai/gpt-4o"),
            ("openai/*", "openai2/gpt-4o"),
            ("*/gpt", "openai/gpt-4o"),
            ("a*a", "a"),
            ("", "x"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
