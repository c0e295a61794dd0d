//! The built-in models, which need no script.

use serde::Deserialize;

use crate::script::{Script, Step};

/// The models in the order of `/v1/models`. The first one is the default.
pub const BUILT_IN_MODELS: [&str; 5] = ["echo", "words", "markdown", "think", "bench"];

const WORDS_TEXT: &str = "A quick paragraph of ordinary words, long enough to be seen arriving one by one, and short \
    enough not to be in anyone's way. It has no other purpose, and is content with that.";

const THINKING_TEXT: &str =
    "Let me think about this for a moment. There is a question, and there may be an answer to it.";

const MARKDOWN_TEXT: &str = "# Heading\n\nA paragraph with **bold**, *italic* and `code`.\n\n- one\n- two\n  - nested\n\n\
    | a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n\n> A quotation.\n\nA [link](https://example.com).\n";

/// The parameters that the `bench` model reads from the user's message.
#[derive(Deserialize)]
struct BenchRequest {
    tokens: u64,
    /// Tokens per second; 0 is as fast as they can be sent.
    #[serde(default)]
    per_second: f64,
}

/// Returns the script of a built-in model, if there is one with that name.
pub fn built_in_script(model: &str, user: &str) -> Option<Script> {
    let script = Script::new();
    Some(match model {
        "echo" => script.text(user),
        "words" => script.stream(WORDS_TEXT, 50.0),
        "markdown" => script.stream(MARKDOWN_TEXT, 100.0),
        "think" => script
            .step(Step::StreamThinking {
                text: THINKING_TEXT.into(),
                per_second: 50.0,
            })
            .stream("Here is the answer.", 50.0),
        "bench" => match serde_json::from_str::<BenchRequest>(user) {
            Ok(bench) => script.tokens(bench.tokens, bench.per_second),
            Err(error) => script.text(format!("Not what I read: {error}")),
        },
        _ => return None,
    })
}
