//! The dialog of a conversation's shares. Its code is loaded when it is first opened.

use std::sync::Arc;

use leptos::{ev, html, prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::{ShareDialog, texts};
use crate::{
    browser::{self, ShareChoices},
    components::{
        confirm::{Confirm, ConfirmRequest, use_modal},
        copy::CopyButton,
        icons,
        time::Time,
    },
    runtime::{
        each::Each,
        erase::Erase,
        lazy::{LazyView, LoadError},
        when::When,
    },
    state::{Shares, use_shares},
};
use parlor_protocol::{ConversationId, NewShare, Share, sharing::shared_path};

/// The id of the dialog's heading, which takes the focus when the pressed button is gone.
const HEADING: &str = "#sharing-title";

/// Loads the code of the dialog for one conversation on first use. `button` opened it.
#[wasm_split(overlays, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(dialog: ShareDialog, id: ConversationId, button: String) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || frame(dialog, id, button.clone())))
}

fn frame(ShareDialog { open_for }: ShareDialog, id: ConversationId, button: String) -> AnyView {
    let dialog = use_modal(|| true);
    let confirm = Confirm::new();
    let closed = move |event: ev::Event| {
        // The confirmation is within this dialog.
        if event.target() == event.current_target() {
            open_for.set(None);
            browser::focus_selector(&button);
            // On a phone the button is in the list, which the dialog has closed.
            if !browser::has_focus_in(&button) {
                browser::focus_selector("#menu");
            }
        }
    };
    let choices = browser::share_choices();
    let state = ShareForm {
        shares: use_shares(),
        id,
        is_by_name: RwSignal::new(!choices.links),
        is_live: RwSignal::new(false),
        names: NodeRef::new(),
        is_busy: RwSignal::new(false),
        created: RwSignal::new(None),
        error: RwSignal::new(None),
    };
    state.shares.load_if_unread();
    view! {
        <dialog node_ref=dialog class="dialog sharing" aria-labelledby="sharing-title" on:close=closed>
            <form method="dialog" class="sharing-head">
                <h2 id="sharing-title" tabindex="-1">{texts::TITLE}</h2>
                <button class="icon-button" aria-label=texts::CLOSE title=texts::CLOSE>
                    {icons::close()}
                </button>
            </form>
            {form(state, choices)}
            {created_share(state)}
            <div role="alert" class="sharing-alarm">{move || state.error.get()}</div>
            {list(state, confirm)}
            {confirm.dialog()}
        </dialog>
    }
    .erase()
}

/// The state of the dialog.
#[derive(Clone, Copy)]
struct ShareForm {
    shares: Shares,
    id: ConversationId,
    is_by_name: RwSignal<bool>,
    is_live: RwSignal<bool>,
    names: NodeRef<html::Input>,
    is_busy: RwSignal<bool>,
    /// The share that was just made: the link is shown only now.
    created: RwSignal<Option<NewShare>>,
    error: RwSignal<Option<String>>,
}

impl ShareForm {
    fn create(self) {
        if self.is_busy.get_untracked() {
            return;
        }
        let names = self.is_by_name.get_untracked().then(|| {
            let written = self.names.get_untracked().map(|field| field.value());
            let written = written.unwrap_or_default();
            let names = written.split([',', ' ', '\n']).filter(|name| !name.is_empty());
            names.map(str::to_owned).collect::<Vec<_>>()
        });
        self.is_busy.set(true);
        self.error.set(None);
        self.created.set(None);
        spawn_local(async move {
            let created = self
                .shares
                .create(self.id, names, self.is_live.get_untracked())
                .await;
            // The dialog may be closed by now. The share is in the list.
            if self.is_busy.try_set(false).is_some() {
                return;
            }
            match created {
                Ok(created) => {
                    self.created.set(Some(created));
                    browser::on_next_frame(|| browser::focus_selector("#made-share"));
                }
                Err(error) => self.error.set(Some(error.message)),
            }
        });
    }

    fn end(self, share: Share) {
        spawn_local(async move {
            let ended = self.shares.end(share.id).await;
            if let Err(error) = ended {
                self.error.try_set(Some(error.message));
                return;
            }
            // Its link leads nowhere now.
            self.created
                .try_update(|created| created.take_if(|created| created.share.id == share.id));
        });
    }
}

fn form(state: ShareForm, choices: ShareChoices) -> AnyView {
    let ShareForm {
        is_by_name, is_live, ..
    } = state;
    if !choices.links && !choices.people {
        return view! {
            <p class="sharing-note">
                {texts::IMPOSSIBLE}
            </p>
        }
        .erase();
    }
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        state.create();
    };
    view! {
        <form class="sharing-form" on:submit=submit>
            <fieldset>
                <legend>{texts::READERS}</legend>
                {choices.links.then(|| choice("sharing-audience", texts::READERS_BY_LINK, is_by_name, false))}
                {choices.people.then(|| choice("sharing-audience", texts::READERS_BY_NAME, is_by_name, true))}
            </fieldset>
            <When when=move || is_by_name.get()>
                <label class="field">
                    {texts::NAMES}
                    <input
                        node_ref=state.names
                        class="settings-input"
                        required
                        autocomplete="off"
                        autocapitalize="none"
                        spellcheck="false"
                        placeholder=texts::NAMES_EXAMPLE
                    />
                </label>
            </When>
            <fieldset>
                <legend>{texts::EXTENT}</legend>
                {choice("sharing-extent", texts::EXTENT_NOW, is_live, false)}
                {choice("sharing-extent", texts::EXTENT_LIVE, is_live, true)}
            </fieldset>
            <p class="sharing-note">
                {texts::WHAT_READERS_SEE}
            </p>
            <button class="button button-primary" aria-disabled=move || state.is_busy.get().to_string()>
                {move || if is_by_name.get() { texts::SHARE } else { texts::MAKE_LINK }}
            </button>
        </form>
    }
    .erase()
}

/// A radio button for a value of a choice.
fn choice(group: &'static str, label: &'static str, chosen: RwSignal<bool>, value: bool) -> AnyView {
    view! {
        <label class="sharing-choice">
            <input
                type="radio"
                name=group
                prop:checked=move || chosen.get() == value
                on:change=move |_| chosen.set(value)
            />
            {label}
        </label>
    }
    .erase()
}

/// The URL of the share that was just made.
fn created_share(state: ShareForm) -> AnyView {
    let shown = move || {
        let NewShare { share, path } = state.created.get()?;
        let url = browser::full_url(&path);
        let copied = url.clone();
        let words = match share.readers {
            None => texts::NEW_LINK_HINT,
            Some(_) => texts::NEW_ADDRESS_HINT,
        };
        Some(view! {
            <div id="made-share" class="settings-made" role="group" aria-label=texts::NEW_SHARE tabindex="-1">
                <p>{words}</p>
                <div class="settings-token">
                    <code>{url}</code>
                    <CopyButton name=texts::COPY_LINK text=move || copied.clone()/>
                </div>
            </div>
        })
    };
    shown.erase()
}

fn list(state: ShareForm, confirm: Confirm) -> AnyView {
    let shares = Memo::new(move |_| state.shares.of_conversation(state.id));
    view! {
        <section aria-labelledby="sharing-list" class="sharing-list">
            <h3 id="sharing-list">{texts::SHARED_NOW}</h3>
            <When when=move || state.shares.is_unread()>
                <p class="settings-empty" role="status">{texts::LOADING_FAILED}</p>
                <button type="button" class="button button-quiet" on:click=move |_| state.shares.reload()>
                    {texts::TRY_AGAIN}
                </button>
            </When>
            <When when=move || !state.shares.is_unread() && shares.with(Vec::is_empty)>
                <p class="settings-empty">{texts::NOT_SHARED}</p>
            </When>
            <ul class="settings-list">
                <Each of=move || shares.get() key=|share| share.id let:share>
                    {row(state, confirm, share)}
                </Each>
            </ul>
        </section>
    }
    .erase()
}

fn row(state: ShareForm, confirm: Confirm, share: Share) -> AnyView {
    let who = match &share.readers {
        None => texts::READERS_BY_LINK.to_owned(),
        Some(names) => names.join(", "),
    };
    let extent = match share.is_live {
        true => texts::SHARE_IS_LIVE,
        false => texts::SHARE_IS_PAST,
    };
    let url = share.readers.as_ref().map(|_| {
        let url = browser::full_url(&shared_path(&share.id.to_string()));
        view! { <CopyButton name=texts::COPY_ADDRESS text=move || url.clone()/> }
    });
    let name = texts::end_of(&who);
    let (created_at, ended) = (share.created_at, share);
    let ask = move |_| {
        let share = ended.clone();
        confirm.ask(ConfirmRequest {
            title: texts::END_TITLE.into(),
            text: texts::END_WARNING.into(),
            button_label: texts::END_CONFIRM,
            on_confirm: Arc::new(move || {
                state.end(share.clone());
                browser::focus_selector(HEADING);
            }),
        });
    };
    view! {
        <li class="settings-row">
            <div class="settings-what">
                <p dir="auto">{who}</p>
                <p class="settings-facts">
                    <span>{extent}</span>
                    <span>{texts::SINCE} <Time at=created_at/></span>
                </p>
            </div>
            {url}
            <button type="button" class="button button-quiet" aria-label=name on:click=ask>{texts::END}</button>
        </li>
    }
    .erase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run_in_page;
    use parlor_protocol::{ShareId, Timestamp};
    use xss::assert_harmless_in;

    #[test]
    fn no_name_becomes_markup() {
        assert_harmless_in("a share", |text| {
            run_in_page(|| {
                let share = Share {
                    id: ShareId::new(),
                    conversation_id: ConversationId::new(),
                    readers: Some(vec![text.into(), text.into()]),
                    is_live: true,
                    created_at: Timestamp(0),
                };
                let created = NewShare {
                    share: share.clone(),
                    path: shared_path("key"),
                };
                let state = ShareForm {
                    shares: use_shares(),
                    id: share.conversation_id,
                    is_by_name: RwSignal::new(true),
                    is_live: RwSignal::new(true),
                    names: NodeRef::new(),
                    is_busy: RwSignal::new(false),
                    created: RwSignal::new(Some(created)),
                    error: RwSignal::new(None),
                };
                view! { {created_share(state)} {row(state, Confirm::new(), share)} }.into_any()
            })
        });
    }
}
