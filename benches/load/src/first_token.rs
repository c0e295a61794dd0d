//! The time to the first token through each adapter, with the scripted server of its protocol.

use std::fs;

use crate::{
    client::Error,
    figures::{AdapterResult, FirstTokenResult, Percentiles},
    load,
    server_process::{Binaries, SETTINGS, ServerProcess},
};

/// The endpoints in addition to that of the environment, `openai`: their names, which are also their kinds, and the
/// ends of their URLs.
const ENDPOINTS: [(&str, &str); 3] = [
    ("openai-responses", "/v1"),
    ("anthropic", ""),
    ("gemini", "/v1beta"),
];

/// The tokens of an answer: more than one, since a token counts when the next one begins.
const TOKENS: usize = 3;

/// Measures new conversations with each adapter in turn, so that other load affects all of them alike.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    runs: usize,
) -> Result<FirstTokenResult, Error> {
    let settings = fs::read_to_string(SETTINGS)? + &endpoints(upstream);
    let parlor = programs
        .start_parlor_with_text("first-token", upstream, &settings)
        .await?;
    let names: Vec<&str> = ["openai"]
        .into_iter()
        .chain(ENDPOINTS.map(|(name, _)| name))
        .collect();
    let mut micros = vec![Vec::with_capacity(runs); names.len()];
    // The first answer of each endpoint asks the server for the context window, too.
    for round in 0..=runs {
        for (name, micros) in names.iter().zip(&mut micros) {
            let model = format!("{name}/bench");
            let run = load::run_with_model(parlor.client(), &model, TOKENS, 0.0, false).await;
            let first = run.first_token().map_err(|error| format!("{name}: {error}"))?;
            if round > 0 {
                micros.push(first);
            }
        }
    }
    parlor.stop().await?;
    let times: Vec<Percentiles> = micros.into_iter().map(Percentiles::from_micros).collect();
    let openai = times.first().copied().unwrap_or_default().p50;
    let adapter = |(name, first_token_ms): (&str, Percentiles)| AdapterResult {
        adapter: name.to_owned(),
        first_token_ms,
        beyond_openai_ms: first_token_ms.p50 - openai,
    };
    Ok(FirstTokenResult {
        runs,
        adapters: names.into_iter().zip(times).map(adapter).collect(),
    })
}

fn endpoints(upstream: &ServerProcess) -> String {
    let endpoint = |(name, path): (&str, &str)| {
        format!(
            "\n[[endpoints]]\nname = '{name}'\nkind = '{name}'\nbase_url = '{}{path}'\n",
            upstream.url
        )
    };
    ENDPOINTS.map(endpoint).concat()
}
