//! The panel next to the conversation, with payloads of tools and the model.
//!
//! This module has what every page needs: the shown payload, opening and closing, the frame, and the [`card`] in the
//! transcript. The content's code is in a file of its own ([`content`]), which is loaded when the panel is first
//! opened.
//!
//! - [`handlers`]: the presentation by payload type: title, width, and the page's own view and actions for proposals
//! - [`proposal`]: the changes of a draft; [`verdict`]: accepting and rejecting
//! - [`width`]: the resizing by pointer and keys
//! - [`loading`]: requests for the content
//! - [`preview`]: the beginning of a payload in the answer
//! - [`body`]: the content, one file per kind

mod body;
mod card;
mod content;
mod handlers;
mod loading;
mod preview;
mod proposal;
mod texts;
mod verdict;
mod width;

pub use self::body::still_chart;

use leptos::{html, prelude::*};

#[cfg(test)]
pub use self::body::body;
#[cfg(debug_assertions)]
pub use self::body::{own_body, preview as payload_preview};
pub use self::card::{load_card, payload_card};
use crate::{
    browser,
    components::{icon_button::IconButton, icons},
    runtime::{effect::effect, lazy::lazy_view, when::When},
    state::{
        ConversationPhase, Navigation, OpenConversations, page_registry::ShownPayload, use_conversations,
        use_feeds, use_navigation,
    },
};
use parlor_protocol::{ConversationId, PayloadRef, PayloadVerdict, Transcript};

/// The frame, for focus changes.
const FRAME_SELECTOR: &str = "#panel";
/// The media query for windows in which the panel does not fit next to the conversation, which keeps at least 30rem. The style
/// sheet has the same.
const NARROW_QUERY: &str = "(width < 68rem)";
/// The media query for windows with room for the panel beside a page and its tray, as in the style sheet.
const BESIDE_PAGE_QUERY: &str = "(width >= 100rem)";

/// The panel. One per page.
#[derive(Clone, Copy)]
pub struct Panel {
    shown: RwSignal<Option<ShownPayload>>,
    /// True if it does not fit next to the conversation: it covers the whole screen.
    is_fullscreen: RwSignal<bool>,
    conversations: OpenConversations,
    navigation: Navigation,
}

impl Panel {
    /// A closed panel. It opens automatically for new payloads, and closes with its conversation.
    pub fn new() -> Self {
        let (conversations, feeds) = (use_conversations(), use_feeds());
        let panel = Self {
            shown: RwSignal::new(None),
            is_fullscreen: RwSignal::new(false),
            conversations,
            navigation: use_navigation(),
        };
        effect(move || {
            if let Some((id, payload)) = feeds.latest_payload() {
                panel.on_payload(id, payload);
            }
        });
        let conversation = Memo::new(move |_| {
            let here = conversations.current_view();
            let there = here.filter(|view| view.phase.with(|phase| *phase != ConversationPhase::Missing));
            there.map(|view| view.id)
        });
        Effect::new(move |before: Option<Option<ConversationId>>| {
            let here = conversation.get();
            if before.is_some_and(|before| before != here) {
                panel.shown.set(None);
            }
            here
        });
        panel
    }

    /// Opens automatically, if there is room, the user is not working in it, and the answer shows nothing of the payload.
    /// It never covers a page that is open next to the chat.
    fn on_payload(self, id: ConversationId, payload: PayloadRef) {
        let is_here = self.navigation.shown_conversation() == Some(id);
        let is_on_page = self.navigation.page_route().get_untracked().has_tray();
        let covers_page = is_on_page && !browser::matches_media(BESIDE_PAGE_QUERY);
        if is_here
            && payload.preview_rows.is_none()
            && !covers_page
            && !browser::matches_media(NARROW_QUERY)
            && !browser::has_focus_in(FRAME_SELECTOR)
        {
            self.show(id, payload);
        }
    }

    fn show(self, conversation_id: ConversationId, payload: PayloadRef) {
        self.is_fullscreen.set(browser::matches_media(NARROW_QUERY));
        self.shown.set(Some(ShownPayload {
            conversation_id,
            payload,
        }));
    }

    /// Opens on request and moves the focus into it.
    pub fn open(self, payload: PayloadRef) {
        if let Some(id) = self.navigation.shown_conversation() {
            self.show(id, payload);
            browser::on_next_frame(|| browser::focus_selector(FRAME_SELECTOR));
        }
    }

    /// Closes and returns the focus to the element that opened it.
    pub fn close(self) {
        let was_within = browser::has_focus_in(FRAME_SELECTOR);
        let Some(ShownPayload { payload, .. }) = self.shown.get_untracked() else {
            return;
        };
        self.shown.set(None);
        if was_within {
            browser::on_next_frame(move || {
                let card = card::card_selector(&payload);
                if browser::exists(&card) {
                    browser::focus_selector(&card);
                } else {
                    browser::focus_after_removal();
                }
            });
        }
    }

    fn is_showing(self, payload_id: &str) -> bool {
        self.shown.with(|shown| {
            shown
                .as_ref()
                .is_some_and(|shown| shown.payload.payload_id == payload_id)
        })
    }

    /// The user's verdict on a payload.
    fn judged(self, conversation_id: ConversationId, payload_id: &str) -> Memo<Option<PayloadVerdict>> {
        let judged = self.conversations.view(conversation_id).verdict_version;
        let payload_id = payload_id.to_owned();
        Memo::new(move |_| {
            judged.track();
            let verdict = |transcript: &Transcript| transcript.verdict(&payload_id).cloned();
            self.conversations
                .with_transcript(conversation_id, verdict)
                .flatten()
        })
    }

    /// Returns true if nothing else on the page can be reached.
    pub fn is_covering_page(self) -> bool {
        self.is_fullscreen.get() && self.shown.with(Option::is_some)
    }
}

/// The panel of the page.
pub fn use_panel() -> Panel {
    expect_context()
}

/// The panel's frame, while it has content.
#[component]
pub fn PanelFrame() -> impl IntoView {
    let panel = use_panel();
    view! {
        <When when=move || panel.shown.with(Option::is_some)>
            <Frame panel/>
        </When>
    }
}

#[component]
fn Frame(panel: Panel) -> impl IntoView {
    let frame = NodeRef::<html::Div>::new();
    let watch = StoredValue::new(None);
    effect(move || {
        if let Some(frame) = frame.get() {
            // The window may change its width.
            let resized = move || panel.is_fullscreen.set(browser::matches_media(NARROW_QUERY));
            watch.set_value(Some(browser::on_resize(&frame, resized)));
        }
    });
    let covers = move || panel.is_fullscreen.get();
    let name = move || {
        panel
            .shown
            .with(|shown| shown.as_ref().map(|shown| shown.payload.summary.clone()))
    };
    view! {
        <div
            node_ref=frame
            id="panel"
            class="panel"
            tabindex="-1"
            role=move || if covers() { "dialog" } else { "complementary" }
            aria-modal=move || covers().then_some("true")
            aria-label=name
        >
            {IconButton::new(texts::CLOSE_PANEL, icons::close(), move || panel.close())
                .class("panel-close")
                .view()}
            {lazy_view(move || content::load_view(panel))}
        </div>
    }
}
