//! The search for model servers on this machine, at the usual ports of the programs that people have.

use futures::future::join_all;
use reqwest::Url;

use super::Endpoints;
use parlor_protocol::{EndpointKind, EndpointTestResult, LocalServer};
use parlor_providers::test_endpoint;

/// The programs that are searched besides those of the settings: their names, labels and addresses.
const USUAL: [(&str, &str, &str); 4] = [
    ("ollama", "Ollama", "http://127.0.0.1:11434/v1"),
    ("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp", "llama.cpp", "http://127.0.0.1:8080/v1"),
    ("vllm", "vLLM", "http://127.0.0.1:8000/v1"),
];

impl Endpoints {
    /// Asks all of them at once.
    pub(super) async fn find_local(&self) -> Vec<LocalServer> {
        let set = &self.settings.models.local;
        let usual = USUAL.iter().map(|(name, label, base_url)| {
            let base_url = set.get(*name).map_or(*base_url, String::as_str);
            ((*name).to_owned(), (*label).to_owned(), base_url.to_owned())
        });
        let is_usual = |name: &str| USUAL.iter().any(|(usual, ..)| *usual == name);
        let others = set.iter().filter(|(name, _)| !is_usual(name));
        let others = others.map(|(name, base_url)| (name.clone(), name.clone(), base_url.clone()));
        let own_port = self.settings.server.addr.port();
        // Parlor may listen at one of these ports itself.
        let is_own = |base_url: &str| Url::parse(base_url).is_ok_and(|url| url.port() == Some(own_port));
        let searched = usual.chain(others).filter(|(_, _, base_url)| !is_own(base_url));
        join_all(searched.map(async |(name, label, base_url)| {
            let tested = test_endpoint(&self.tested_config(EndpointKind::OpenAi, &base_url, None)).await;
            LocalServer {
                finding: describe(&tested),
                models: tested.models.len(),
                name,
                label,
                base_url,
            }
        }))
        .await
    }
}

fn describe(tested: &EndpointTestResult) -> String {
    match (&tested.problem, tested.models.len()) {
        (Some(problem), _) => problem.message.clone(),
        (None, 1) => "It is here, with 1 model.".into(),
        (None, count) => format!("It is here, with {count} models."),
    }
}
