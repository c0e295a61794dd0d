//! The meaning of a model's name. A name is `endpoint/model`, or the model's id alone where exactly one endpoint lists it.
//!
//! Ids may contain slashes themselves, so `meta-llama/Llama-3` is either the model `Llama-3` of the endpoint `meta-llama` or the id
//! of a model: the first counts where it can be.

/// What an endpoint is known to have.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue<'a> {
    pub endpoint: &'a str,
    /// The ids that it has listed, without its name; nothing while it has not listed any.
    pub listed: Option<&'a [String]>,
    /// Whether it answers for no other models than it lists.
    pub is_whole: bool,
}

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A model that its endpoint lists, or a variant of one.
    Listed(String),
    /// A model that its endpoint may have, listed or not.
    Possible(String),
    /// Several models, by their whole names.
    Ambiguous(Vec<String>),
    /// A model that the endpoint of this name does not list.
    NotListed { endpoint: String },
    /// No model of any endpoint.
    Unknown,
}

/// Added by Ollama to a name that has no tag.
const LATEST: &str = ":latest";

/// Written before each id in the list of Gemini's OpenAI-compatible endpoint, which takes ids with and without it.
const MODELS: &str = "models/";

impl Catalogue<'_> {
    /// The whole name of a model, with its id as it is listed.
    fn find(&self, id: &str) -> Option<String> {
        let is_it = |listed: &&String| {
            listed.strip_suffix(LATEST) == Some(id) || listed.strip_prefix(MODELS) == Some(id)
        };
        let listed = self.listed?;
        let exact = listed.iter().find(|listed| *listed == id);
        let found = exact.or_else(|| listed.iter().find(is_it))?;
        Some(format!("{}/{found}", self.endpoint))
    }

    /// The whole name of `id:variant` if the id alone is listed: OpenRouter takes its variants (`:nitro`, `:online`) with every model
    /// and lists few of them.
    fn find_variant(&self, id: &str) -> Option<String> {
        let (model, variant) = id.rsplit_once(':')?;
        let is_variant = !variant.is_empty() && !variant.contains('/');
        let is_listed = self.listed?.iter().any(|listed| listed == model);
        (is_variant && is_listed).then(|| format!("{}/{id}", self.endpoint))
    }

    /// Whether it may have a model that it does not list. One that lists none refuses none.
    fn may_have_others(&self) -> bool {
        !self.is_whole || self.listed.is_none_or(<[String]>::is_empty)
    }
}

/// Finds the meaning of a name among all endpoints.
pub fn meaning(name: &str, catalogues: &[Catalogue]) -> Meaning {
    let endpoint = name.split_once('/').and_then(|(endpoint, id)| {
        let catalogue = catalogues.iter().find(|other| other.endpoint == endpoint)?;
        (!id.is_empty()).then_some((catalogue, id))
    });
    if let Some((catalogue, id)) = endpoint {
        if let Some(listed) = catalogue.find(id).or_else(|| catalogue.find_variant(id)) {
            return Meaning::Listed(listed);
        }
        if catalogue.may_have_others() {
            return Meaning::Possible(name.to_owned());
        }
    }
    let mut named: Vec<String> = catalogues
        .iter()
        .filter_map(|catalogue| catalogue.find(name))
        .collect();
    if named.is_empty() {
        named = catalogues
            .iter()
            .filter_map(|catalogue| catalogue.find_variant(name))
            .collect();
    }
    match (named.len(), endpoint) {
        (1, _) => Meaning::Listed(named.remove(0)),
        (2.., _) => Meaning::Ambiguous(named),
        (_, Some((catalogue, _))) => Meaning::NotListed {
            endpoint: catalogue.endpoint.to_owned(),
        },
        _ => Meaning::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::{Meaning::*, *};

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    /// Two endpoints with lists, one with a list that is not all, and one without.
    fn found(name: &str) -> Meaning {
        let a = ids(&["one", "both", "meta-llama/Llama-3", "b/three", "smol:latest"]);
        let b = ids(&["two", "both", "qwen:7b"]);
        let gemini = ids(&["models/gemini-2.5-flash"]);
        let router = ids(&["deepseek/deepseek-r1", "x-ai/grok:free", "qwen"]);
        let open = ids(&["open"]);
        let catalogue = |endpoint, listed, is_whole| Catalogue {
            endpoint,
            listed,
            is_whole,
        };
        meaning(
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
    fn a_whole_name_is_its_endpoints_model() {
        assert_eq!(found("a/both"), Listed("a/both".into()));
        assert_eq!(
            found("a/meta-llama/Llama-3"),
            Listed("a/meta-llama/Llama-3".into())
        );
        assert_eq!(found("b/one"), NotListed { endpoint: "b".into() });
        assert_eq!(found("nowhere/one"), Unknown);
    }

    #[test]
    fn a_bare_id_is_the_one_model_listed() {
        assert_eq!(found("one"), Listed("a/one".into()));
        assert_eq!(found("open"), Listed("open/open".into()));
        assert_eq!(found("meta-llama/Llama-3"), Listed("a/meta-llama/Llama-3".into()));
        assert_eq!(found("nosuch"), Unknown);
        for none in ["a", "a/", "/one", "/"] {
            assert!(
                matches!(found(none), Unknown | NotListed { .. }),
                "{none}: {:?}",
                found(none)
            );
        }
    }

    #[test]
    fn an_id_of_several_endpoints_is_ambiguous() {
        assert_eq!(found("both"), Ambiguous(ids(&["a/both", "b/both"])));
    }

    #[test]
    fn unlisted_models_pass_where_lists_are_not_whole() {
        for name in ["open/alias", "silent/any", "empty/any"] {
            assert_eq!(found(name), Possible(name.into()));
        }
    }

    #[test]
    fn an_endpoints_name_wins_over_an_ids_beginning() {
        // Only where that endpoint can have it: “three” is none of b's.
        assert_eq!(found("b/three"), Listed("a/b/three".into()));
        assert_eq!(found("b/two"), Listed("b/two".into()));
    }

    #[test]
    fn ollamas_tag_may_be_left_out() {
        assert_eq!(found("a/smol"), Listed("a/smol:latest".into()));
        assert_eq!(found("smol"), Listed("a/smol:latest".into()));
    }

    #[test]
    fn a_lists_prefix_may_be_left_out() {
        for name in [
            "gemini-2.5-flash",
            "gemini/gemini-2.5-flash",
            "models/gemini-2.5-flash",
            "gemini/models/gemini-2.5-flash",
        ] {
            assert_eq!(
                found(name),
                Listed("gemini/models/gemini-2.5-flash".into()),
                "{name}"
            );
        }
        assert_eq!(found("gemini-2.5"), Unknown);
    }

    #[test]
    fn a_variant_of_a_listed_model_is_one() {
        for variant in ["free", "nitro", "online", "floor"] {
            let name = format!("deepseek/deepseek-r1:{variant}");
            let whole = format!("router/{name}");
            assert_eq!(found(&name), Listed(whole.clone()));
            assert_eq!(found(&whole), Listed(whole.clone()));
        }
        assert_eq!(found("x-ai/grok:free"), Listed("router/x-ai/grok:free".into()));
        for none in [
            "x-ai/grok:nitro",
            "deepseek/deepseek-r1:",
            "deepseek/other:nitro",
            "smol:135m",
        ] {
            assert_eq!(found(none), Unknown, "{none}");
        }
        // A model that is listed as such comes first.
        assert_eq!(found("qwen:7b"), Listed("b/qwen:7b".into()));
    }
}
