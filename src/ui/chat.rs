//! The layout: the list beside the conversation, and what is there only once.

use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*};
use leptos_meta::Title;
use leptos_router::{
    NavigateOptions,
    components::Outlet,
    hooks::{use_location, use_navigate},
};

use super::{
    browser,
    composer::Composer,
    delete::{DeleteDialog, Deletion},
    erase::Erase,
    header::Header,
    live::Live,
    models::Models,
    not_found::nothing_here,
    page::{Page, PageCodec},
    place::Place,
    sidebar::Sidebar,
    toast::ToastArea,
    transcript::Conversation,
    welcome::Welcome,
};

/// Everything: the server waits for the page's snapshots and renders them; the browser finds them in the page.
#[component]
pub fn Chat() -> impl IntoView {
    let pathname = use_location().pathname;
    let place = Memo::new(move |_| pathname.with(|path| Place::of(path)));
    let navigate = use_navigate();
    let go = Callback::new(move |(place, replace): (Place, bool)| {
        navigate(
            &place.path(),
            NavigateOptions {
                replace,
                scroll: false,
                ..NavigateOptions::default()
            },
        );
    });
    let page = OnceResource::<_, PageCodec>::new_with_options(Page::load(place.get_untracked()), true);
    view! {
        <Suspense>
            {move || Suspend::new(async move { begin(page.await, place, go) })}
        </Suspense>
        <Outlet/>
    }
    .erase()
}

fn begin(page: Page, place: Memo<Place>, go: Callback<(Place, bool)>) -> AnyView {
    let models = Models::new(&page);
    let live = Live::new(page, place, go);
    provide_context(live);
    provide_context(models);
    provide_context(Deletion::new());
    Effect::new(move |_| {
        live.start();
        models.start();
    });
    Effect::new(move |_| live.visit(place.get()));
    Effect::new(move |_| shortcuts(live));
    view! { <Layout live/> }.erase()
}

/// New chat from anywhere.
fn shortcuts(live: Live) {
    let handle = window_event_listener(ev::keydown, move |event| {
        let chord = (event.ctrl_key() || event.meta_key()) && event.shift_key();
        if chord && event.code() == "KeyO" {
            event.prevent_default();
            live.go(Place::New);
            browser::focus_selector("#message");
        }
    });
    on_cleanup(move || handle.remove());
}

#[component]
fn Layout(live: Live) -> impl IntoView {
    let title = Memo::new(move |_| match live.here() {
        Some(view) => view.title.get(),
        None => String::new(),
    });
    let page_title = move || {
        title.with(|title| {
            if title.is_empty() {
                "Parlor".into()
            } else {
                [title, " · Parlor"].concat()
            }
        })
    };
    view! {
        <Title text=page_title/>
        <div class="app">
            <a class="skip-link" href="#message">"Skip to the message box"</a>
            <Sidebar/>
            <div class="stage">
                <Header title/>
                <main class="scene">{move || scene(live, live.place.get())}</main>
                <Composer/>
            </div>
            <DeleteDialog/>
            <ToastArea toasts=live.toasts/>
        </div>
    }
}

/// What the place shows.
fn scene(live: Live, place: Place) -> AnyView {
    match place {
        Place::New => view! { <Welcome/> }.erase(),
        Place::Conversation(id) => view! { <Conversation view=live.view(id)/> }.erase(),
        Place::Nowhere => {
            browser::not_found();
            nothing_here("There is nothing at this address.")
        }
    }
}
