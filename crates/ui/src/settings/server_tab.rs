//! A tab whose content the server makes: pages with forms, which work without scripts.
//!
//! The first page has the content from the server, and hydration leaves it alone. When the user comes from another tab, the same
//! HTML is requested without the page around it. Forms are sent by the browser, as without scripts, and lead to a new page.

use leptos::{ev, prelude::*};

use super::texts;
use crate::{
    browser::{self, ServerPart},
    components::{copy::announce_copy, toast::use_toasts},
    runtime::{erase::Erase, requests::LastRequest},
    state::{route::Route, use_lifecycle, use_navigation},
};

/// The content that the server has made for the page, which it provides as a context. HTML, in which all texts of people are
/// escaped.
#[derive(Clone, Default)]
pub struct ServerContent(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Loading,
    Ready,
    Failed,
}

#[derive(Clone, Copy)]
struct ServerTab {
    html: RwSignal<String>,
    phase: RwSignal<Phase>,
    requests: LastRequest,
}

/// Shows the tab of the present URL.
pub fn server_tab() -> AnyView {
    let navigation = use_navigation();
    let is_rendered = !use_lifecycle().is_hydrated();
    let tab = ServerTab {
        html: RwSignal::new(use_context::<ServerContent>().unwrap_or_default().0),
        phase: RwSignal::new(Phase::Ready),
        requests: LastRequest::new(),
    };
    let toasts = use_toasts();
    Effect::new(move |before: Option<String>| {
        let url = navigation.with_url(String::clone);
        match before {
            Some(before) if before == url => {}
            None if is_rendered => browser::finish_part(CONTENT),
            _ => {
                if matches!(navigation.page_route().get_untracked(), Route::Settings(tab) if tab.is_of_server())
                {
                    tab.load(url.clone());
                }
            }
        }
        url
    });
    let pressed = move |event: ev::MouseEvent| {
        if let Some(text) = browser::text_to_copy(&event) {
            browser::copy_text(text, move |is_copied| announce_copy(toasts, is_copied));
        }
    };
    let again = move |_| tab.load(navigation.with_url(String::clone));
    let notice = move || match tab.phase.get() {
        Phase::Ready => None,
        Phase::Loading => {
            Some(view! { <div class="notice notice-waiting" role="status">{texts::LOADING}</div> }.erase())
        }
        Phase::Failed => Some(
            view! {
                <div class="notice" role="alert">
                    <h2>{texts::TAB_FAILED}</h2>
                    <p>{texts::NO_RESPONSE}</p>
                    <button type="button" class="button" on:click=again>
                        {texts::TRY_AGAIN}
                    </button>
                </div>
            }
            .erase(),
        ),
    };
    view! {
        <div
            class="settings-server"
            class:hidden=move || tab.phase.get() != Phase::Ready
            on:click=pressed
            inner_html=move || tab.html.get()
        ></div>
        {notice}
    }
    .erase()
}

/// The element with the content.
const CONTENT: &str = ".settings-server";

impl ServerTab {
    fn load(self, url: String) {
        self.phase.set(Phase::Loading);
        let number = self.requests.begin();
        let address = url.clone();
        browser::fetch_part(&url, move |part| {
            if !self.requests.is_last(number) {
                return;
            }
            match part {
                ServerPart::Html(html) => {
                    self.html.set(html);
                    self.phase.set(Phase::Ready);
                    browser::on_next_frame(|| browser::finish_part(CONTENT));
                }
                ServerPart::OtherPage => browser::load_page(&address),
                ServerPart::Unreachable => self.phase.set(Phase::Failed),
            }
        });
    }
}
