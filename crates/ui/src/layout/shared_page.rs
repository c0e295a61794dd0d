//! The page of a share's reader: the conversation with the chat's own views, and nothing that changes it.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};
use serde::{Deserialize, Serialize};

use super::{header::ConnectionIndicator, texts};
use crate::{
    api::sharing::shared_conversation,
    browser,
    commands::{Commands, use_commands},
    components::{
        icons,
        time::Time,
        toast::{ToastArea, use_toasts},
    },
    layout::chat,
    pages::pages,
    panel::{Panel, PanelFrame, use_panel},
    preferences::{Preferences, ThemeSwitch},
    runtime::{
        bidi::isolated,
        effect::effect,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_view},
        lazy_part::LazyPart,
        shared_view::SharedView,
        when::When,
    },
    state::{
        Navigation, SharedFollower, Stores,
        page_registry::PageRegistry,
        route::{self, Route},
        snapshot::{PageCodec, PageSnapshot},
        use_conversations,
    },
    transcript::conversation,
};
use parlor_protocol::{ApiError, ErrorCode, SharedConversation, Timestamp};

/// The snapshot that a reader's page starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SharedSnapshot {
    /// The server's clock.
    pub now: Timestamp,
    pub shared: Result<SharedConversation, ApiError>,
}

/// The page of a share, by its key.
pub fn shared_page(key: String) -> AnyView {
    lazy_view(move || load_view(key.clone()))
}

/// Loads the view's code on first use.
#[wasm_split(shared, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view(key: String) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || page(key.clone())))
}

fn page(key: String) -> AnyView {
    let before = route::before_message(&browser::current_url());
    let load = {
        let key = key.clone();
        async move {
            SharedSnapshot {
                now: browser::now(),
                shared: shared_conversation(key, before).await,
            }
        }
    };
    let snapshot = OnceResource::<_, PageCodec>::new_with_options(browser::load_for_page(load), true);
    let navigation = chat::create_navigation(Route::New.path());
    view! {
        <Suspense>
            {move || {
                let key = key.clone();
                Suspend::new(async move {
                    let snapshot = snapshot.await;
                    // The client may have disconnected meanwhile, and the signals with it.
                    match navigation.page_route().try_get_untracked() {
                        Some(_) => render_snapshot(&key, snapshot, navigation),
                        None => ().into_any(),
                    }
                })
            }}
        </Suspense>
    }
    .erase()
}

/// Renders the page from its snapshot.
pub(crate) fn render_snapshot(
    key: &str,
    SharedSnapshot { now, shared }: SharedSnapshot,
    navigation: Navigation,
) -> AnyView {
    match shared {
        Ok(shared) => render(key, now, shared, navigation),
        Err(error) => {
            if error.code == ErrorCode::NotFound {
                browser::set_not_found();
            }
            browser::set_title(|| texts::page_title(texts::NOT_SHARED));
            view! {
                <div class="app shared-app" data-lazy=LazyPart::Shared.name()>
                    <main class="scene">{notice(texts::NOTHING_TO_READ, error.message)}</main>
                </div>
            }
            .erase()
        }
    }
}

fn render(key: &str, now: Timestamp, shared: SharedConversation, navigation: Navigation) -> AnyView {
    let share = SharedView::provide(key);
    let before = route::before_message(&browser::current_url());
    let id = shared.transcript.conversation_id;
    // The views find the conversation as they do in its owner's page.
    navigation.follow_browser(Route::Conversation(id).path());
    let stores = Stores::new(PageSnapshot::of_share(now, shared.transcript.clone()), navigation);
    stores.provide();
    Commands::provide(true);
    Preferences::provide(true);
    provide_context(Panel::new());
    provide_context(PageRegistry::new(pages()));
    let follower = stores.shared_follower(id, share, before);
    let is_live = shared.is_live;
    effect(move || {
        follower.start(is_live);
        use_commands().listen();
        browser::set_started();
    });
    layout(follower, shared)
}

fn layout(follower: SharedFollower, shared: SharedConversation) -> AnyView {
    let SharedConversation {
        transcript,
        is_live,
        created_at,
        owner,
        project_id,
    } = shared;
    let back = project_id.map(|id| {
        view! {
            <a class="icon-button" href=Route::SharedProject(id).path() aria-label=texts::BACK_TO_PROJECT title=texts::BACK_TO_PROJECT>
                {icons::folder()}
            </a>
        }
        .erase()
    });
    let view = use_conversations().view(transcript.conversation_id);
    let panel = use_panel();
    let (title, shown) = (view.title.clone(), view.title.clone());
    browser::set_title(move || {
        if follower.has_ended() {
            return texts::page_title(texts::NO_LONGER_SHARED);
        }
        let title = title.try_get().unwrap_or_default();
        texts::page_title(&isolated(&title))
    });
    let by = move || {
        let name = owner.clone()?;
        let (before, after) = texts::SHARED_BY;
        Some(view! { {before} <strong dir="auto">{name}</strong> {after} })
    };
    let extent = move || match is_live {
        true => {
            let words = move || match follower.is_crowded() {
                true => texts::CROWDED,
                false => texts::LIVE,
            };
            words.erase()
        }
        false => {
            let (before, after) = texts::AS_OF;
            view! { {before} <Time at=created_at/> {after} }.erase()
        }
    };
    let content = move || match follower.has_ended() {
        true => notice(texts::SHARE_ENDED_TITLE, texts::SHARE_ENDED.into()),
        false => conversation(view.clone()),
    };
    view! {
        <div class="app shared-app" data-lazy=LazyPart::Shared.name()>
            <div class="stage shared-stage" inert=move || panel.is_covering_page()>
                <header class="header">
                    {back}
                    <h1 class="header-title" dir="auto">
                        {move || if follower.has_ended() { texts::NO_LONGER_SHARED.to_owned() } else { shown.get() }}
                    </h1>
                    <When when=move || !follower.is_crowded()>
                        <ConnectionIndicator/>
                    </When>
                    <ThemeSwitch/>
                </header>
                <When when=move || !follower.has_ended()>
                    <aside class="shared-note" aria-label=texts::ABOUT_SHARE>
                        <span role="status">{by()} {extent()}</span>
                    </aside>
                </When>
                <main class="scene">{content}</main>
            </div>
            <When when=move || !follower.has_ended()>
                <PanelFrame/>
            </When>
            <ToastArea toasts=use_toasts()/>
        </div>
    }
    .erase()
}

fn notice(title: &'static str, text: String) -> AnyView {
    view! {
        <div class="notice" role="alert">
            <h2>{title}</h2>
            <p>{text}</p>
        </div>
    }
    .erase()
}
