//! API tokens: with one, another program uses Parlor as the user. A new one is shown once.

use std::sync::Arc;

use leptos::{ev, html, prelude::*, task::spawn_local};

use super::{heading, state::SettingsState, texts};
use crate::{
    api::personal,
    browser,
    components::{
        confirm::{Confirm, ConfirmRequest},
        copy::CopyButton,
        time::Time,
    },
    runtime::{each::Each, erase::Erase, when::When},
};
use parlor_protocol::{ApiToken, TokenId};

/// The lifetimes of a token: the label, and the days; no days mean no expiry.
const LIFETIMES: [(&str, &str); 4] = [
    (texts::UNLIMITED, ""),
    (texts::FOR_30_DAYS, "30"),
    (texts::FOR_90_DAYS, "90"),
    (texts::FOR_A_YEAR, "365"),
];

#[derive(Clone, Copy)]
struct Tokens {
    settings: SettingsState,
    name: NodeRef<html::Input>,
    lifetime: NodeRef<html::Select>,
    is_creating: RwSignal<bool>,
    /// The new token, and the reason why creating one failed.
    created: RwSignal<Option<String>>,
    error: RwSignal<Option<String>>,
}

pub fn section(settings: SettingsState, confirm: Confirm) -> AnyView {
    let tokens = Tokens {
        settings,
        name: NodeRef::new(),
        lifetime: NodeRef::new(),
        is_creating: RwSignal::new(false),
        created: RwSignal::default(),
        error: RwSignal::default(),
    };
    let spans = LIFETIMES
        .into_iter()
        .map(|(label, days)| view! { <option value=days>{label}</option> })
        .collect_view();
    let make = move |event: ev::SubmitEvent| {
        event.prevent_default();
        tokens.create();
    };
    view! {
        <section class="settings-section" aria-labelledby="settings-tokens">
            {heading(
                "settings-tokens",
                texts::TOKENS,
                texts::TOKENS_ABOUT,
            )}
            <When when=move || settings.tokens.with(Vec::is_empty)>
                <p class="settings-empty">
                    {texts::NO_TOKENS}
                    <code>{texts::TOKEN_HEADER}</code>
                </p>
            </When>
            <ul class="settings-list">
                <Each of=move || settings.tokens.get() key=|token| token.id let:token>
                    {row(settings, confirm, token)}
                </Each>
            </ul>
            {move || tokens.created.get().map(|token| created_token(tokens, token))}
            <form class="settings-form needs-script" class:hidden=move || tokens.created.with(Option::is_some) on:submit=make>
                <label>
                    <span>{texts::NAME}</span>
                    <input
                        node_ref=tokens.name
                        class="settings-input"
                        autocomplete="off"
                        required
                        placeholder=texts::NAME_EXAMPLE
                    />
                </label>
                <label>
                    <span>{texts::LIFETIME}</span>
                    <select node_ref=tokens.lifetime class="settings-input">{spans}</select>
                </label>
                <button class="button button-primary" aria-disabled=move || tokens.is_creating.get().to_string()>
                    {texts::MAKE_TOKEN}
                </button>
            </form>
            <div role="alert" class="settings-alarm">{move || tokens.error.get()}</div>
        </section>
    }
    .erase()
}

/// The only time that the token is on the screen.
fn created_token(tokens: Tokens, token: String) -> AnyView {
    let text = token.clone();
    let done = move |_| {
        tokens.created.set(None);
        browser::focus_selector("#settings-tokens");
    };
    view! {
        <div id="made-token" class="settings-made" role="group" aria-label=texts::NEW_TOKEN tabindex="-1">
            <p>{texts::COPY_NOW}</p>
            <code class="settings-token">{token}</code>
            <div class="settings-bar">
                <CopyButton name=texts::COPY_TOKEN label=texts::COPY_TOKEN text=move || text.clone()/>
                <button type="button" class="button button-primary" on:click=done>{texts::DONE}</button>
            </div>
        </div>
    }
    .erase()
}

fn row(settings: SettingsState, confirm: Confirm, token: ApiToken) -> AnyView {
    let id = token.id;
    // The only field that changes.
    let last_used = Memo::new(move |_| {
        settings.tokens.with(|tokens| {
            let token = tokens.iter().find(|token| token.id == id)?;
            token.last_used_at
        })
    });
    let used = move || match last_used.get() {
        Some(at) => view! { {texts::LAST_USED} <Time at/> }.erase(),
        None => texts::NEVER_USED.into_any(),
    };
    let end = match token.expires_at {
        Some(at) if token.has_expired(browser::now()) => view! { {texts::EXPIRED} <Time at/> }.erase(),
        Some(at) => view! { {texts::EXPIRES} <Time at/> }.erase(),
        None => texts::NEVER_EXPIRES.into_any(),
    };
    let name = texts::revoke(&token.name);
    let title = texts::question(&name);
    let revoke = move |_| {
        confirm.ask(ConfirmRequest {
            title: title.clone(),
            text: texts::REVOKE_WARNING.into(),
            button_label: texts::REVOKE,
            on_confirm: Arc::new(move || {
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
                    <span>{texts::MADE} <Time at=token.created_at/></span>
                    <span>{used}</span>
                    <span>{end}</span>
                </p>
            </div>
            <button type="button" class="button button-quiet needs-script" aria-label=name on:click=revoke>
                {texts::REVOKE}
            </button>
        </li>
    }
    .erase()
}

fn revoke(settings: SettingsState, id: TokenId) {
    let before = settings.tokens.get_untracked();
    settings
        .tokens
        .update(|tokens| tokens.retain(|token| token.id != id));
    settings.send(personal::revoke_token(id), move || settings.tokens.set(before));
}

impl Tokens {
    fn create(self) {
        let (Some(name), Some(span)) = (self.name.get_untracked(), self.lifetime.get_untracked()) else {
            return;
        };
        if self.is_creating.get_untracked() {
            return;
        }
        self.is_creating.set(true);
        self.error.set(None);
        let request = personal::create_token(name.value(), span.value().parse().ok());
        spawn_local(async move {
            let answer = self.settings.connection.call(request).await;
            // If the user has left by now, nobody has seen the token; it is in the list and can be revoked.
            if self.is_creating.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(token) => {
                    name.set_value("");
                    self.created.set(Some(token.0));
                    browser::on_next_frame(|| browser::focus_selector("#made-token"));
                }
                Err(error) => self.error.set(Some(error.message)),
            }
        });
    }
}
