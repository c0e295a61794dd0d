//! What a message can have besides its text: the “+” that adds files, a photo or a tool, and the marks of chosen tools.

use leptos::{ev, prelude::*};

use super::texts;
use crate::{
    browser,
    components::{
        icon_button::IconButton,
        icons,
        menu::{ItemKind, Menu},
    },
    runtime::{signal::after_hydration, when::When},
    state::{use_models, use_navigation, use_next_message},
};

/// The button that adds something to the message. While only files can be added, it opens the system's picker at once.
#[component]
pub fn AddButton() -> impl IntoView {
    let (draft, models) = (use_next_message().files, use_models());
    let chat_route = use_navigation().chat_route();
    let on_choice = move |event: ev::Event| {
        let route = chat_route.get_untracked();
        for file in browser::chosen_files(&event) {
            draft.add(route, file);
        }
        browser::focus_after_removal();
    };
    let is_hydrated = after_hydration();
    let can_search = Memo::new(move |_| models.with_list(|list| list.can_search));
    // Only where a finger points: elsewhere the camera's field would open the same picker.
    let has_camera = Memo::new(move |_| is_hydrated.get() && !browser::has_hardware_keyboard());
    let has_menu = Memo::new(move |_| can_search.get() || has_camera.get());
    let menu = Menu::new("additions");
    let label = move || match has_menu.get() {
        true => texts::ADD_FILES_OR_TOOLS,
        false => texts::ATTACH_FILES,
    };
    let items = move || {
        let open_picker = |field| move || browser::open_picker(field);
        let files = menu.item(
            ItemKind::Action(icons::attach()),
            texts::ATTACH_FILES,
            open_picker(".attach-input"),
        );
        let mut items = vec![files];
        if has_camera.get() {
            items.push(menu.item(
                ItemKind::Action(icons::camera()),
                texts::TAKE_PHOTO,
                open_picker(".camera-input"),
            ));
        }
        if can_search.get() {
            items.push(search_item(menu));
        }
        menu.items(items)
    };
    view! {
        <input
            type="file"
            class="attach-input"
            multiple=true
            hidden=true
            aria-label=texts::FILES
            on:change=on_choice
        />
        <input
            type="file"
            class="camera-input"
            accept="image/*"
            capture="environment"
            hidden=true
            aria-label=texts::PHOTO
            on:change=on_choice
        />
        <button
            type="button"
            class="icon-button needs-script"
            aria-label=label
            title=label
            aria-haspopup=move || has_menu.get().then_some("menu")
            popovertarget=move || has_menu.get().then(|| menu.id())
            on:click=move |_| {
                if !has_menu.get_untracked() {
                    browser::open_picker(".attach-input");
                }
            }
        >
            {icons::plus()}
        </button>
        {menu.view(|| texts::ADD.into(), items)}
    }
}

/// The item that turns on the web search for the next message.
fn search_item(menu: Menu) -> AnyView {
    let next_message = use_next_message();
    let route = use_navigation().chat_route();
    let is_on = untrack(|| next_message.is_search_on(route.get()));
    menu.item(
        ItemKind::CheckBox(icons::globe(), is_on),
        texts::SEARCH_WEB,
        move || {
            next_message.toggle_search(route.get_untracked());
        },
    )
}

/// The mark of a web search for the next message, which takes it back.
#[component]
pub fn SearchMark() -> impl IntoView {
    let next_message = use_next_message();
    let route = use_navigation().chat_route();
    view! {
        <When when=move || next_message.is_search_on(route.get())>
            {IconButton::new(texts::SEARCHES_WEB, icons::globe(), move || {
                next_message.toggle_search(route.get_untracked());
                browser::focus_after_removal();
            })
            .pressed_while(|| true)
            .view()}
        </When>
    }
}
