//! The content of the tray. Its code is loaded with the first page that has one.

use std::sync::Arc;

use leptos::{ev, html, prelude::*, wasm_split::wasm_split, web_sys};

use super::texts;
use crate::{
    browser,
    commands::Shortcut,
    components::{escape::EscapeAction, icon_button::IconButton, icons},
    composer::Composer,
    panel::use_panel,
    runtime::{
        each::Each,
        effect::effect,
        erase::Erase,
        lazy::{LazyView, LoadError},
        lazy_part::LazyPart,
        when::When,
    },
    state::{
        ConversationPhase,
        route::Route,
        tray::{TrayPage, use_tray},
        use_conversation_list, use_conversations, use_models, use_navigation, use_run_intents,
    },
    transcript::conversation,
};
use parlor_protocol::ConversationId;

/// The maximum number of conversations to choose from; the others are in the list.
const MAX_CHOICES: usize = 30;

/// Loads the view's code on first use.
#[wasm_split(tray, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view() -> Result<LazyView, LoadError> {
    Ok(Arc::new(tray_view))
}

/// Renders the open tray or the button that opens it.
fn tray_view() -> AnyView {
    let tray = use_tray();
    view! {
        <div class="tray-place" data-lazy=LazyPart::Tray.name()>
            <When when=move || !tray.is_open()>
                <button
                    type="button"
                    id="tray-open"
                    class="button tray-open needs-script"
                    title=move || Shortcut::ToggleTray.labels().concat()
                    aria-keyshortcuts=Shortcut::ToggleTray.aria()
                    on:click=move |_| tray.set_open(true)
                >
                    {icons::brand()} {texts::ASK}
                </button>
            </When>
            <When when=move || tray.is_open()>
                <OpenTray/>
            </When>
        </div>
    }
    .erase()
}

#[component]
fn OpenTray() -> impl IntoView {
    let (tray, navigation, conversations) = (use_tray(), use_navigation(), use_conversations());
    let chat_route = navigation.chat_route();
    let panel = use_panel();
    let frame = NodeRef::<html::Section>::new();
    let watch = StoredValue::new(None);
    effect(move || {
        if let Some(frame) = frame.get() {
            // The window may change its width.
            watch.set_value(Some(browser::on_resize(&frame, move || tray.fit_to_window())));
        }
    });
    let covers = move || tray.is_fullscreen();
    let escape = move |event: ev::KeyboardEvent| {
        if EscapeAction::CloseTray.is_triggered(&event) {
            event.prevent_default();
            tray.close();
        }
    };
    // The tray's conversation may have been deleted since.
    effect(move || {
        if conversations
            .current_view()
            .is_some_and(|view| view.phase.get() == ConversationPhase::Missing)
        {
            navigation.go_to(Route::New);
        }
    });
    let scene = move || match chat_route.get() {
        Route::New | Route::Project(_) => tray_welcome(),
        Route::Conversation(id) => conversation(conversations.view(id)),
        Route::SharedProject(_) | Route::Page(_) | Route::Settings(_) | Route::NotFound => ().into_any(),
    };
    view! {
        <section
            node_ref=frame
            class="tray"
            role=move || if covers() { "dialog" } else { "complementary" }
            aria-modal=move || covers().then_some("true")
            aria-label=texts::CHAT
            inert=move || panel.is_covering_page()
            on:keydown=escape
        >
            <header class="tray-head">
                <ConversationPicker/>
                {IconButton::new(texts::NEW_CONVERSATION, icons::plus(), move || {
                    navigation.go_to(Route::New);
                    browser::focus_selector("#message");
                })
                .view()}
                <a
                    class="icon-button"
                    href=move || chat_route.get().path()
                    aria-label=texts::OPEN_FULL
                    title=texts::OPEN_FULL
                >
                    {icons::expand()}
                </a>
                <button
                    type="button"
                    class="icon-button"
                    aria-label=texts::CLOSE
                    title=move || Shortcut::ToggleTray.title(texts::CLOSE)
                    aria-keyshortcuts=Shortcut::ToggleTray.aria()
                    on:click=move |_| tray.close()
                >
                    {icons::close()}
                </button>
            </header>
            <div class="scene">{scene}</div>
            <Composer/>
        </section>
    }
}

/// The picker of the tray's conversation.
#[component]
fn ConversationPicker() -> impl IntoView {
    let (navigation, list, conversations) = (use_navigation(), use_conversation_list(), use_conversations());
    let chat_route = navigation.chat_route();
    let select = NodeRef::<html::Select>::new();
    let shown = move || {
        let id = chat_route.get().conversation_id();
        id.map(|id| id.to_string()).unwrap_or_default()
    };
    // The selected conversation may be far down the list.
    let choices = Memo::new(move |_| {
        let mut ids: Vec<ConversationId> =
            list.with_rows(|rows| rows.iter().take(MAX_CHOICES).map(|row| row.id).collect());
        if let Some(here) = chat_route.get().conversation_id()
            && !ids.contains(&here)
        {
            ids.insert(0, here);
        }
        ids
    });
    let title = move |id: ConversationId| {
        let listed = list.with_rows(|rows| {
            let row = rows.iter().find(|row| row.id == id);
            row.map(|row| row.title.clone())
        });
        match listed {
            Some(title) => title.get(),
            None => conversations.view(id).title.get(),
        }
    };
    // An option must be rendered before it can be selected.
    effect(move || {
        choices.track();
        let value = shown();
        if let Some(select) = select.get() {
            browser::on_next_frame(move || select.set_value(&value));
        }
    });
    let choose = move |event: web_sys::Event| {
        let chosen = event_target_value(&event);
        navigation.go_to(chosen.parse().map_or(Route::New, Route::Conversation));
    };
    view! {
        <select node_ref=select class="tray-picker" aria-label=texts::CONVERSATION on:change=choose>
            <option value="">{texts::NEW_CONVERSATION}</option>
            <Each of=move || choices.get() key=|id| *id let:id>
                <option value=id.to_string()>{move || title(id)}</option>
            </Each>
        </select>
    }
}

/// The welcome of an empty tray, with suggested questions.
fn tray_welcome() -> AnyView {
    let (tray, models, run_intents) = (use_tray(), use_models(), use_run_intents());
    let question = move |text: String| {
        let message = text.clone();
        let ask = move |_| run_intents.send(Route::New, message.clone(), models.requested());
        view! {
            <li>
                <button type="button" class="suggestion" on:click=ask>{text}</button>
            </li>
        }
    };
    let words = move || {
        tray.tray_page().map(
            |TrayPage {
                 about,
                 suggested_questions: questions,
                 ..
             }| {
                let questions: Vec<_> = questions.run(()).into_iter().map(question).collect();
                view! {
                    <p>{about}</p>
                    <ul class="suggestions">{questions}</ul>
                }
            },
        )
    };
    view! { <div class="welcome tray-welcome">{words}</div> }.erase()
}
