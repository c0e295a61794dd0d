//! The card that says what is new after an upgrade, until the user closes it on one of their devices.

use leptos::{prelude::*, task::spawn_local};

use super::texts;
use crate::{
    api::personal,
    components::{
        icon_button::IconButton,
        icons,
        toast::{Toasts, use_toasts},
    },
    runtime::erase::Erase,
    state::{Connection, use_connection, use_feeds},
};
use parlor_protocol::News;

/// The news that are not closed. One per page.
#[derive(Clone, Copy)]
pub struct PageNews {
    open: RwSignal<Option<News>>,
    connection: Connection,
    toasts: Toasts,
}

impl PageNews {
    /// Starts with the news of the page's snapshot. Those that are closed on another device are closed here, too.
    pub fn new(news: Option<News>) -> Self {
        let page = Self {
            open: RwSignal::new(news),
            connection: use_connection(),
            toasts: use_toasts(),
        };
        let feeds = use_feeds();
        Effect::new(move |before: Option<u32>| {
            let changes = feeds.settings_version();
            if before.is_some_and(|before| before != changes) && page.open.with_untracked(Option::is_some) {
                page.load();
            }
            changes
        });
        page
    }

    fn load(self) {
        spawn_local(async move {
            if let Ok(news) = self.connection.call(personal::news()).await {
                self.open.try_set(news);
            }
        });
    }

    fn close(self) {
        let Some(news) = self.open.write().take() else {
            return;
        };
        spawn_local(async move {
            let closed = personal::close_news(news.version.clone());
            if let Err(error) = self.connection.call(closed).await {
                self.toasts.show(error.message);
                self.open.try_set(Some(news));
            }
        });
    }
}

/// The card, if there are news.
pub fn news() -> AnyView {
    let page = expect_context::<PageNews>();
    let card = move |news: News| {
        let items = news.items.into_iter().map(|item| view! { <li>{item}</li> });
        view! {
            <section class="hint news needs-script" aria-labelledby="news">
                <h3 id="news">{texts::news_title(&news.version)}</h3>
                {IconButton::new(texts::CLOSE, icons::close(), move || page.close()).view()}
                <ul>{items.collect_view()}</ul>
            </section>
        }
        .erase()
    };
    (move || page.open.get().map(card)).into_any()
}
