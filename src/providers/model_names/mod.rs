//! The resolution of model names. A name is `endpoint/model`, or the model's id alone if exactly one endpoint
//! lists it.
//!
//! Ids may contain slashes, so `meta-llama/Llama-3` is either the model `Llama-3` of the endpoint
//! `meta-llama` or the id of a model. The first meaning is preferred where it is possible.

/// The known models of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct EndpointCatalogue<'a> {
    pub endpoint: &'a str,
    /// The listed ids without the endpoint's name; `None` before the first list.
    pub listed: Option<&'a [String]>,
    /// The endpoint serves no other models than the listed ones.
    pub is_complete: bool,
}

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelMatch {
    /// A listed model.
    Listed(String),
    /// A model that its endpoint may serve, listed or not.
    Unlisted(String),
    /// Several models, by their full names.
    Ambiguous(Vec<String>),
    /// A model that this endpoint does not list.
    NotListed { endpoint: String },
    /// No model of any endpoint.
    Unknown,
}

/// The tag that Ollama adds to a name without one.
const OLLAMA_LATEST_TAG: &str = ":latest";

/// The prefix of each id in the list of Gemini's OpenAI-compatible endpoint, which accepts ids with and
/// without it.
const MODELS: &str = "models/";

impl EndpointCatalogue<'_> {
    /// Returns the full name of a model, with its listed id.
    fn find(&self, id: &str) -> Option<String> {
        let is_it = |listed: &&String| {
            listed.strip_suffix(OLLAMA_LATEST_TAG) == Some(id) || listed.strip_prefix(MODELS) == Some(id)
        };
        let listed = self.listed?;
        let exact = listed.iter().find(|listed| *listed == id);
        let found = exact.or_else(|| listed.iter().find(is_it))?;
        Some(format!("{}/{found}", self.endpoint))
    }

    /// Returns the full name of `id:variant` if the id alone is listed. OpenRouter accepts its variants
    /// (`:nitro`, `:online`) with every model and lists few of them.
    fn find_variant(&self, id: &str) -> Option<String> {
        let (model, variant) = id.rsplit_once(':')?;
        let is_variant = !variant.is_empty() && !variant.contains('/');
        let is_listed = self.listed?.iter().any(|listed| listed == model);
        (is_variant && is_listed).then(|| format!("{}/{id}", self.endpoint))
    }

    /// Returns true if the endpoint may serve models that it does not list. An endpoint without a list may
    /// serve any.
    fn may_serve_unlisted(&self) -> bool {
        !self.is_complete || self.listed.is_none_or(<[String]>::is_empty)
    }
}

/// Resolves a name among all endpoints.
pub fn resolve_name(name: &str, catalogues: &[EndpointCatalogue]) -> ModelMatch {
    let endpoint = name.split_once('/').and_then(|(endpoint, id)| {
        let catalogue = catalogues.iter().find(|other| other.endpoint == endpoint)?;
        (!id.is_empty()).then_some((catalogue, id))
    });
    if let Some((catalogue, id)) = endpoint {
        if let Some(listed) = catalogue.find(id).or_else(|| catalogue.find_variant(id)) {
            return ModelMatch::Listed(listed);
        }
        if catalogue.may_serve_unlisted() {
            return ModelMatch::Unlisted(name.to_owned());
        }
    }
    let mut matches: Vec<String> = catalogues
        .iter()
        .filter_map(|catalogue| catalogue.find(name))
        .collect();
    if matches.is_empty() {
        matches = catalogues
            .iter()
            .filter_map(|catalogue| catalogue.find_variant(name))
            .collect();
    }
    match (matches.len(), endpoint) {
        (1, _) => ModelMatch::Listed(matches.remove(0)),
        (2.., _) => ModelMatch::Ambiguous(matches),
        (_, Some((catalogue, _))) => ModelMatch::NotListed {
            endpoint: catalogue.endpoint.to_owned(),
        },
        _ => ModelMatch::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::{ModelMatch::*, *};

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    /// Resolves a name among two endpoints with complete lists, one with an incomplete list, and one without.
    fn resolved(name: &str) -> ModelMatch {
        let a = ids(&["one", "both", "meta-llama/Llama-3", "b/three", "smol:latest"]);
        let b = ids(&["two", "both", "qwen:7b"]);
        let gemini = ids(&["models/gemini-2.5-flash"]);
        let router = ids(&["deepseek/deepseek-r1", "x-ai/grok:free", "qwen"]);
        let open = ids(&["open"]);
        let catalogue = |endpoint, listed, is_whole| EndpointCatalogue {
            endpoint,
            listed,
            is_complete: is_whole,
        };
        resolve_name(
            name,
            &[
                catalogue("a", Some(&a), true),
                catalogue("b", Some(&b), true),
                catalogue("gemini", Some(&gemini), true),
                catalogue("router", Some(&router), true),
                catalogue("open", Some(&open), false),
                catalogue("silent", None, true),
                catalogue("empty", Some(&[]), true),
            ],
        )
    }

    #[test]
    fn resolves_full_names() {
        assert_eq!(resolved("a/both"), Listed("a/both".into()));
        assert_eq!(
            resolved("a/meta-llama/Llama-3"),
            Listed("a/meta-llama/Llama-3".into())
        );
        assert_eq!(resolved("b/one"), NotListed { endpoint: "b".into() });
        assert_eq!(resolved("nowhere/one"), Unknown);
    }

    #[test]
    fn resolves_a_unique_bare_id() {
        assert_eq!(resolved("one"), Listed("a/one".into()));
        assert_eq!(resolved("open"), Listed("open/open".into()));
        assert_eq!(
            resolved("meta-llama/Llama-3"),
            Listed("a/meta-llama/Llama-3".into())
        );
        assert_eq!(resolved("nosuch"), Unknown);
        for none in ["a", "a/", "/one", "/"] {
            assert!(
                matches!(resolved(none), Unknown | NotListed { .. }),
                "{none}: {:?}",
                resolved(none)
            );
        }
    }

    #[test]
    fn rejects_ids_of_several_endpoints() {
        assert_eq!(resolved("both"), Ambiguous(ids(&["a/both", "b/both"])));
    }

    #[test]
    fn accepts_unlisted_models_with_incomplete_lists() {
        for name in ["open/alias", "silent/any", "empty/any"] {
            assert_eq!(resolved(name), Unlisted(name.into()));
        }
    }

    #[test]
    fn endpoint_name_wins_over_id_prefix() {
        // Only if that endpoint can have it: “three” is not one of b's models.
        assert_eq!(resolved("b/three"), Listed("a/b/three".into()));
        assert_eq!(resolved("b/two"), Listed("b/two".into()));
    }

    #[test]
    fn accepts_names_without_ollama_tag() {
        assert_eq!(resolved("a/smol"), Listed("a/smol:latest".into()));
        assert_eq!(resolved("smol"), Listed("a/smol:latest".into()));
    }

    #[test]
    fn accepts_ids_without_the_list_prefix() {
        for name in [
            "gemini-2.5-flash",
            "gemini/gemini-2.5-flash",
            "models/gemini-2.5-flash",
            "gemini/models/gemini-2.5-flash",
        ] {
            assert_eq!(
                resolved(name),
                Listed("gemini/models/gemini-2.5-flash".into()),
                "{name}"
            );
        }
        assert_eq!(resolved("gemini-2.5"), Unknown);
    }

    #[test]
    fn accepts_variants_of_listed_models() {
        for variant in ["free", "nitro", "online", "floor"] {
            let name = format!("deepseek/deepseek-r1:{variant}");
            let whole = format!("router/{name}");
            assert_eq!(resolved(&name), Listed(whole.clone()));
            assert_eq!(resolved(&whole), Listed(whole.clone()));
        }
        assert_eq!(resolved("x-ai/grok:free"), Listed("router/x-ai/grok:free".into()));
        for none in [
            "x-ai/grok:nitro",
            "deepseek/deepseek-r1:",
            "deepseek/other:nitro",
            "smol:135m",
        ] {
            assert_eq!(resolved(none), Unknown, "{none}");
        }
        // An exactly listed model takes precedence.
        assert_eq!(resolved("qwen:7b"), Listed("b/qwen:7b".into()));
    }
}
