//! The welcome of a new chat.

use leptos::prelude::*;

use crate::{
    runtime::{erase::Erase, when::When},
    state::{route::Route, use_models, use_run_intents},
};
use parlor_protocol::RunError;

const MODEL_SUGGESTIONS: [&str; 4] = [
    "Explain how a suspension bridge carries its load",
    "Compare three ways to learn a language, in a table",
    "Write a short story that ends where it began",
    "Help me plan a quiet weekend without screens",
];

const TOUR_SUGGESTIONS: [&str; 3] = [
    "Show me what Parlor can do",
    "Show me every kind of Markdown",
    "How do I connect a real model?",
];

/// The greeting, above the composer.
#[component]
pub fn Welcome() -> impl IntoView {
    view! {
        <section class="welcome">
            <h2>"What’s on your mind?"</h2>
        </section>
    }
}

/// Below the composer: example prompts, and how to set up a model.
pub fn welcome_cards() -> AnyView {
    let (models, run_intents) = (use_models(), use_run_intents());
    let has_only_tour = Memo::new(move |_| models.has_only_tour());
    let problems = Memo::new(move |_| models.endpoint_problems());
    let suggestion = move |text: &'static str| {
        let send = move |_| run_intents.send(Route::New, text.into(), models.requested());
        view! {
            <li>
                <button type="button" class="suggestion" on:click=send>{text}</button>
            </li>
        }
    };
    let suggestions = move || {
        let texts: &[&str] = if has_only_tour.get() {
            &TOUR_SUGGESTIONS
        } else {
            &MODEL_SUGGESTIONS
        };
        texts.iter().map(|text| suggestion(text)).collect_view()
    };
    view! {
        <section class="welcome-cards" aria-label="To begin with">
            {move || has_only_tour.get().then(connection_help)}
            {move || problems.get().into_iter().map(endpoint_problem).collect_view()}
            <When when=move || problems.with(Vec::is_empty)>
                <ul class="suggestions needs-script">{suggestions}</ul>
            </When>
        </section>
    }
    .erase()
}

/// A notice for a configured endpoint that does not work, shown before the user writes a message to it.
fn endpoint_problem(problem: RunError) -> AnyView {
    view! {
        <div class="hint">
            <h3>"No model can answer yet"</h3>
            <p>{problem.message}</p>
            <p>{problem.hint}</p>
        </div>
    }
    .erase()
}

fn connection_help() -> AnyView {
    view! {
        <div class="hint">
            <h3>"You are talking to the tour"</h3>
            <p>
                "It is a script, not a model. Connect a model in one of these ways, then come back:"
            </p>
            <ul>
                <li>
                    "Start "
                    <a href="https://ollama.com" rel="noreferrer" target="_blank">"Ollama"</a>
                    ", llama.cpp’s server or LM Studio on this machine. Parlor finds it at its usual port."
                </li>
                <li>
                    "Start Parlor with "<code>"ANTHROPIC_API_KEY"</code>", "<code>"GEMINI_API_KEY"</code>" or "
                    <code>"OPENAI_API_KEY"</code>" set (and "<code>"OPENAI_BASE_URL"</code>
                    ", for any service that speaks OpenAI’s protocol)."
                </li>
                <li>"Name endpoints in "<code>"Leptos.toml"</code>"."</li>
            </ul>
        </div>
    }
    .erase()
}
