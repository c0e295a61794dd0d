//! The resolution of model names. A name is `endpoint/model`, or the model's id alone if exactly one endpoint
//! lists it.
//!
//! Ids may contain slashes, so `meta-llama/Llama-3` is either the model `Llama-3` of the endpoint
//! `meta-llama` or the id of a model. The first meaning is preferred where it is possible.

/// The known models of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct KnownModels<'a> {
    pub endpoint: &'a str,
    /// The listed ids without the endpoint's name; `None` before the first list.
    pub listed: Option<&'a [String]>,
    /// True if the endpoint serves no other models than the listed ones.
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

/// The prefix of each id in the lists of Gemini's endpoints, which accept ids with and without it. The native
/// adapter lists them without.
const MODELS: &str = "models/";

impl KnownModels<'_> {
    /// Returns the full name of a model, with its listed id.
    fn find(&self, id: &str) -> Option<String> {
        let is_it = |listed: &&String| {
            listed.strip_suffix(OLLAMA_LATEST_TAG) == Some(id) || without_prefix(listed) == without_prefix(id)
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

fn without_prefix(id: &str) -> &str {
    id.strip_prefix(MODELS).unwrap_or(id)
}

/// Resolves a name among all endpoints.
pub fn resolve_name(name: &str, catalogues: &[KnownModels]) -> ModelMatch {
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
mod tests;
