//! Accept and Reject, below a proposal. The verdict is stored, sent to the model, and shown in every tab; its effect is
//! up to the page.

use std::sync::Arc;

use leptos::prelude::*;

use super::Panel;
use crate::{
    browser,
    components::icons,
    runtime::erase::Erase,
    state::page_registry::{PayloadHandler, ShownPayload},
};
use parlor_protocol::{PanelView, Verdict};

/// The buttons, or the verdict. The buttons are removed when one is pressed, and the focus goes to the element that `focus`
/// selects.
pub fn verdict_buttons(
    focus: impl Into<Arc<str>>,
    panel: Panel,
    shown: &ShownPayload,
    handler: &PayloadHandler,
    proposal: Arc<PanelView>,
) -> AnyView {
    let verdict = panel.verdict(shown.conversation_id, &shown.payload.payload_id);
    let is_sending = RwSignal::new(false);
    let announcement = move || {
        verdict.get().map(|verdict| {
            let (icon, word) = match verdict {
                Verdict::Accepted => (icons::check(), "Accepted"),
                Verdict::Rejected => (icons::close(), "Rejected"),
            };
            view! { <p class="verdict">{icon} {word}</p> }
        })
    };
    let (id, payload_id) = (shown.conversation_id, shown.payload.payload_id.clone());
    let (accept, reject) = (handler.accept, handler.reject);
    // A proposal that the present page can't accept is accepted on another one.
    let elsewhere = handler.other_page.filter(|_| accept.is_none());
    let obstacle = proposal.obstacle.clone();
    let focus: Arc<str> = focus.into();
    let say = Callback::new(move |verdict: Verdict| {
        if is_sending.get_untracked() {
            return;
        }
        is_sending.set(true);
        let does = match verdict {
            Verdict::Accepted => accept,
            Verdict::Rejected => reject,
        };
        let (proposal, focus) = (proposal.clone(), focus.clone());
        let counts = move || {
            // The panel may show something else by now, and the page that handles the verdict may be left.
            if !is_sending.is_disposed() {
                browser::focus_selector(&focus);
            }
            if let Some(does) = does {
                does.try_run(proposal);
            } else if let Some(there) = elsewhere.filter(|_| verdict == Verdict::Accepted)
                && let Some(url) = (there.url)(&proposal)
            {
                let talk = panel.navigation.chat_route().get_untracked();
                panel.navigation.set_url(url, false);
                panel.navigation.carry_over(talk);
            }
        };
        let over = move || {
            // The panel may show something else by now.
            is_sending.try_set(false);
        };
        panel
            .conversations
            .send_verdict(id, payload_id.clone(), verdict, counts, over);
    });
    let button = move |class: &'static str, word: &'static str, verdict: Verdict| {
        view! {
            <button
                type="button"
                class=class
                aria-disabled=move || is_sending.get().then_some("true")
                on:click=move |_| say.run(verdict)
            >
                {word}
            </button>
        }
    };
    let buttons = move || {
        verdict.get().is_none().then(|| {
            let about = obstacle
                .clone()
                .or(elsewhere.map(|there| there.description.into()));
            view! {
                <div class="verdict-buttons" role="group" aria-label="Accept this?">
                    {obstacle.is_none().then(|| button(
                        "button button-primary",
                        elsewhere.map_or("Accept", |there| there.button_label),
                        Verdict::Accepted,
                    ))}
                    {button("button", "Reject", Verdict::Rejected)}
                </div>
                {about.map(|about| view! { <p class="panel-meta">{about}</p> })}
            }
        })
    };
    view! {
        <div class="panel-verdict">
            <div role="status">{announcement}</div>
            {buttons}
        </div>
    }
    .erase()
}
