//! API tokens: with one, another program uses Parlor as the person. A new one is shown once.

use std::sync::Arc;

use leptos::{ev, html, prelude::*, task::spawn_local};

use super::{heading, state::Settings};
use crate::{
    api::personal,
    protocol::{ApiToken, TokenId},
    ui::{
        browser,
        clock::Time,
        confirm::{Confirm, Question},
        copy::CopyButton,
        each::Each,
        erase::Erase,
        when::When,
    },
};

/// How long a token may last: what is said of it, and the days; no days are no end.
const SPANS: [(&str, &str); 4] = [
    ("It does not expire", ""),
    ("For 30 days", "30"),
    ("For 90 days", "90"),
    ("For a year", "365"),
];

#[derive(Clone, Copy)]
struct Tokens {
    settings: Settings,
    name: NodeRef<html::Input>,
    span: NodeRef<html::Select>,
    is_making: RwSignal<bool>,
    /// What was just made, and why something was not.
    made: RwSignal<Option<String>>,
    failed: RwSignal<Option<String>>,
}

pub fn section(settings: Settings, confirm: Confirm) -> AnyView {
    let tokens = Tokens {
        settings,
        name: NodeRef::new(),
        span: NodeRef::new(),
        is_making: RwSignal::new(false),
        made: RwSignal::default(),
        failed: RwSignal::default(),
    };
    let spans = SPANS
        .into_iter()
        .map(|(label, days)| view! { <option value=days>{label}</option> })
        .collect_view();
    let make = move |event: ev::SubmitEvent| {
        event.prevent_default();
        tokens.make();
    };
    view! {
        <section class="settings-section" aria-labelledby="settings-tokens">
            {heading(
                "settings-tokens",
                "API tokens",
                "With a token, a program of yours uses Parlor over HTTP as you. Give each program its own, so that you can revoke it.",
            )}
            <When when=move || settings.tokens.with(Vec::is_empty)>
                <p class="settings-empty">
                    "None yet. A program sends its token along with each request: "
                    <code>"Authorization: Bearer parlor_…"</code>
                </p>
            </When>
            <ul class="settings-list">
                <Each of=move || settings.tokens.get() key=|token| token.id let:token>
                    {row(settings, confirm, token)}
                </Each>
            </ul>
            {move || tokens.made.get().map(|token| made(tokens, token))}
            <form class="settings-form needs-script" on:submit=make>
                <label>
                    <span>"Name"</span>
                    <input
                        node_ref=tokens.name
                        class="settings-input"
                        autocomplete="off"
                        required
                        placeholder="What will use it"
                    />
                </label>
                <label>
                    <span>"How long it lasts"</span>
                    <select node_ref=tokens.span class="settings-input">{spans}</select>
                </label>
                <button class="button button-primary" aria-disabled=move || tokens.is_making.get().to_string()>
                    "Make a token"
                </button>
            </form>
            <div role="alert" class="settings-alarm">{move || tokens.failed.get()}</div>
        </section>
    }
    .erase()
}

/// The only time that the token is on the screen.
fn made(tokens: Tokens, token: String) -> AnyView {
    let text = token.clone();
    let done = move |_| {
        tokens.made.set(None);
        browser::focus_selector("#settings-tokens");
    };
    view! {
        <div id="made-token" class="settings-made" role="group" aria-label="Your new token" tabindex="-1">
            <p>"Your new token. Copy it now: it is not shown again."</p>
            <div class="settings-token">
                <code>{token}</code>
                <CopyButton name="Copy the token" text=move || text.clone()/>
            </div>
            <button type="button" class="button" on:click=done>"Done"</button>
        </div>
    }
    .erase()
}

fn row(settings: Settings, confirm: Confirm, token: ApiToken) -> AnyView {
    let id = token.id;
    // The only thing of it that changes.
    let last_used = Memo::new(move |_| {
        settings.tokens.with(|tokens| {
            let token = tokens.iter().find(|token| token.id == id)?;
            token.last_used_at
        })
    });
    let used = move || match last_used.get() {
        Some(at) => view! { "last used " <Time at/> }.erase(),
        None => "not used yet".into_any(),
    };
    let end = match token.expires_at {
        Some(at) if token.has_expired(browser::now()) => view! { "expired " <Time at/> }.erase(),
        Some(at) => view! { "expires " <Time at/> }.erase(),
        None => "does not expire".into_any(),
    };
    let name = ["Revoke “", &token.name, "”"].concat();
    let title = [&name, "?"].concat();
    let revoke = move |_| {
        confirm.ask(Question {
            title: title.clone(),
            text: "Whatever uses this token is shut out at once. That can’t be undone.".into(),
            button: "Revoke",
            act: Arc::new(move || {
                revoke(settings, id);
                browser::focus_selector("#settings-tokens");
            }),
        });
    };
    view! {
        <li class="settings-row">
            <div class="settings-what">
                <p dir="auto">{token.name}</p>
                <p class="settings-facts">
                    <code>{token.beginning} "…"</code>
                    <span>"made " <Time at=token.created_at/></span>
                    <span>{used}</span>
                    <span>{end}</span>
                </p>
            </div>
            <button type="button" class="button button-quiet needs-script" aria-label=name on:click=revoke>
                "Revoke"
            </button>
        </li>
    }
    .erase()
}

fn revoke(settings: Settings, id: TokenId) {
    let before = settings.tokens.get_untracked();
    settings
        .tokens
        .update(|tokens| tokens.retain(|token| token.id != id));
    settings.tell(personal::revoke_token(id), move || settings.tokens.set(before));
}

impl Tokens {
    fn make(self) {
        let (Some(name), Some(span)) = (self.name.get_untracked(), self.span.get_untracked()) else {
            return;
        };
        if self.is_making.get_untracked() {
            return;
        }
        self.is_making.set(true);
        self.failed.set(None);
        let request = personal::make_token(name.value(), span.value().parse().ok());
        spawn_local(async move {
            let answer = self.settings.live.ask(request).await;
            // The person may have left by now: then nobody has seen the token, and it stands in the list to be revoked.
            if self.is_making.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(token) => {
                    name.set_value("");
                    self.made.set(Some(token.0));
                    browser::next_frame(|| browser::focus_selector("#made-token"));
                }
                Err(error) => self.failed.set(Some(error.message)),
            }
        });
    }
}
