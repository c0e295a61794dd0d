//! The list of conversations. Beside the conversation where there is room, a drawer where there is not: the
//! platform's own popover, so that it opens and closes without scripts too.

mod groups;
mod item;

use leptos::{html, prelude::*};

use self::{groups::by_day, item::Item};
use super::{browser, each::Each, icons, live::use_live, when::When};

/// Brand, *New chat*, and the conversations by day.
#[component]
pub fn Sidebar() -> impl IntoView {
    let live = use_live();
    let nav = NodeRef::<html::Nav>::new();
    Effect::new(move |_| {
        // Whoever goes somewhere wants to see it, not the drawer.
        live.place.track();
        if let Some(nav) = nav.get_untracked() {
            browser::close_popover(&nav);
        }
    });
    view! {
        <nav node_ref=nav id="sidebar" class="sidebar" popover="auto" aria-label="Conversations">
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
            <List/>
        </nav>
    }
}

/// *New chat* on the page of a new chat: the person wants to write.
fn begin_again() {
    browser::focus_selector("#message");
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
            <When when=move || live.has_more.get()>
                <Older/>
            </When>
            <When when=move || live.list.with(Vec::is_empty)>
                <p class="list-empty">"Your conversations will be listed here."</p>
            </When>
        </div>
    }
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
