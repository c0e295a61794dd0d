//! The list of conversations. Beside the conversation where there is room, a drawer where there is not: the
//! platform's own popover, so that it opens and closes without scripts too.

mod groups;
mod item;

use leptos::{ev, html, prelude::*};

pub use self::item::link_selector;
use self::{groups::by_day, item::Item};
use super::{
    browser,
    delete::Deletion,
    each::Each,
    erase::Erase,
    icons,
    live::{ListTrouble, use_live},
    panel::use_panel,
    place::Place,
    when::When,
};
use crate::protocol::literature::PATH;

/// Brand, *New chat*, and the conversations by day.
#[component]
pub fn Sidebar() -> impl IntoView {
    let live = use_live();
    let panel = use_panel();
    let nav = NodeRef::<html::Nav>::new();
    let close = move || {
        if let Some(nav) = nav.get_untracked() {
            browser::close_popover(&nav);
        }
    };
    Effect::new(move |_| {
        live.place.track();
        close();
    });
    // Whoever goes somewhere wants to see it, not the drawer, also if it is where one is already.
    let pressed = move |event: ev::MouseEvent| {
        if browser::is_within(&event, "a") {
            close();
        }
    };
    view! {
        <nav
            node_ref=nav
            id="sidebar"
            class="sidebar"
            popover="auto"
            aria-label="Conversations"
            inert=move || panel.covers_all()
            on:click=pressed
        >
            <div class="sidebar-head">
                <a class="brand" href="/">
                    {icons::brand()} "Parlor"
                </a>
                <button
                    type="button"
                    class="icon-button only-narrow"
                    aria-label="Close the list"
                    popovertarget="sidebar"
                    popovertargetaction="hide"
                >
                    {icons::close()}
                </button>
            </div>
            <a class="button new-chat" href="/" title="Ctrl+Shift+O" on:click=move |_| begin_again()>
                {icons::plus()} "New chat"
            </a>
            <a
                class="button button-quiet to-page"
                href=PATH
                aria-current=move || (live.page.get() == Place::Literature).then_some("page")
            >
                {icons::book()} "Literature"
            </a>
            <List/>
            <a
                class="button button-quiet sidebar-foot"
                href=Place::Settings.path()
                aria-current=move || (live.place.get() == Place::Settings).then_some("page")
            >
                {icons::gear()} "Settings"
            </a>
            // In here, so that the drawer stays open below it.
            {expect_context::<Deletion>().dialog()}
        </nav>
    }
}

/// *New chat* on the page of a new chat: the person wants to write. A keyboard on the screen comes with a press on the
/// box, when the drawer is gone.
fn begin_again() {
    if browser::has_keyboard() {
        browser::focus_selector("#message");
    }
}

#[component]
fn List() -> impl IntoView {
    let live = use_live();
    let groups = Memo::new(move |_| by_day(&live.list.get(), live.clock.get()));
    let labels = move || groups.with(|groups| groups.iter().map(|group| group.group).collect::<Vec<_>>());
    view! {
        <div class="list">
            <Each of=labels key=|group| *group let:group>
                <section class="list-group">
                    <h2>{group.label()}</h2>
                    <ul>
                        <Each
                            of=move || groups.with(|groups| groups::rows(groups, group))
                            key=|row| row.id
                            let:row
                        >
                            <Item row/>
                        </Each>
                    </ul>
                </section>
            </Each>
            {move || live.list_trouble.get().map(trouble)}
            <When when=move || live.has_more.get()>
                <Older/>
            </When>
            <When when=move || live.list.with(Vec::is_empty)>
                <p class="list-empty">"Your conversations will be listed here."</p>
            </When>
        </div>
    }
}

/// Why something may be missing in the list. *Show older* is there to be pressed again; the newest page has no button.
fn trouble(trouble: ListTrouble) -> AnyView {
    let live = use_live();
    let again = trouble.newest.then(|| {
        view! {
            <button type="button" class="button button-quiet" on:click=move |_| live.list_again()>
                "Load the list again"
            </button>
        }
    });
    view! {
        <div class="list-trouble" role="status">
            <p>"A part of the list could not be loaded. " {trouble.message}</p>
            {again}
        </div>
    }
    .erase()
}

/// More of the list: by pressing, or by coming into sight.
#[component]
fn Older() -> impl IntoView {
    let live = use_live();
    let button = NodeRef::<html::Button>::new();
    let watch = StoredValue::new(None);
    Effect::new(move |_| {
        if let Some(button) = button.get() {
            watch.set_value(Some(browser::on_seen(&button, move || live.show_older())));
        }
    });
    view! {
        <button
            node_ref=button
            type="button"
            class="button button-quiet needs-script"
            aria-busy=move || live.loading_more.get().to_string()
            on:click=move |_| live.show_older()
        >
            {move || if live.loading_more.get() { "Loading older ones…" } else { "Show older" }}
        </button>
    }
}
