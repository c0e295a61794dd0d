//! Buttons, fields, dialogs, toasts, notices and icons.

use leptos::prelude::*;

use crate::{
    components::{
        copy::CopyButton,
        edit_field::EditField,
        icon_button::IconButton,
        icons,
        menu::{ItemKind, Menu},
        more::more,
        toast::{ToastArea, use_toasts},
    },
    runtime::erase::Erase,
};

/// The kinds of buttons: their classes and names.
const BUTTONS: [(&str, &str); 5] = [
    ("button", "Plain"),
    ("button button-primary", "Primary"),
    ("button button-quiet", "Quiet"),
    ("button button-warning", "Asks again"),
    ("button button-danger", "For good"),
];

/// Every control at rest, disabled and pressed.
pub fn controls() -> AnyView {
    let toasts = use_toasts();
    toasts.show("Copied.");
    toasts.show_with_undo("The message was deleted.", || {});
    let rows = vec![
        row(buttons(None)),
        row(buttons(Some("true"))),
        row(icon_buttons()),
        row(view! { <CopyButton name="Copy" label="Copy" text=String::new/> }.erase()),
        row(more(|| {})),
        row(edit_field()),
        row(fields()),
        row(dialog()),
        row(view! { <ToastArea toasts/> }.erase()),
        row(menu()),
        row(details()),
        row(
            view! { <span class="dots" role="img" aria-label="Working"><i></i><i></i><i></i></span> }.erase(),
        ),
    ];
    rows.into_any()
}

fn row(content: AnyView) -> AnyView {
    view! { <div class="design-row">{content}</div> }.erase()
}

fn buttons(disabled: Option<&'static str>) -> AnyView {
    let button = |(class, name): (&'static str, &'static str)| {
        view! { <button type="button" class=class aria-disabled=disabled>{icons::plus()} {name}</button> }
    };
    BUTTONS.map(button).collect_view().into_any()
}

fn icon_buttons() -> AnyView {
    let pressed = view! {
        <button type="button" class="icon-button" aria-label="Pressed" title="Pressed" aria-pressed="true">
            {icons::globe()}
        </button>
        <button type="button" class="icon-button icon-button-marked" aria-label="Changed" title="Changed">
            {icons::sliders()}
        </button>
    };
    let buttons = vec![
        IconButton::new("Try again", icons::retry(), || {}).view(),
        IconButton::new("Disabled", icons::send(), || {})
            .disabled_while(|| true)
            .view(),
        view! { <CopyButton name="Copy text" text=String::new/> }.erase(),
        pressed.into_any(),
    ];
    buttons.into_any()
}

fn edit_field() -> AnyView {
    view! {
        <EditField
            name="A message"
            save_label="Send"
            text="Which port has the highest tide?".into()
            on_input=|_| {}
            on_save=|_| {}
            on_cancel=|| {}
        />
    }
    .erase()
}

fn fields() -> AnyView {
    view! {
        <form class="design-form">
            <label class="field">"Name" <input name="name" value="Ann"/></label>
            <label class="field">"Empty" <input name="empty" placeholder="At least 10 characters"/></label>
            <label class="field">
                "Choice"
                <select name="choice">
                    <option>"High"</option>
                    <option>"Low"</option>
                </select>
            </label>
            <p class="field-error" role="alert">"Enter a number from 0 to 2."</p>
        </form>
    }
    .erase()
}

fn dialog() -> AnyView {
    view! {
        <dialog open class="dialog" aria-label="Delete this conversation?">
            <h2>"Delete this conversation?"</h2>
            <p>"“Tides” and its files are deleted for good."</p>
            <div class="dialog-actions">
                <button type="button" class="button">"Cancel"</button>
                <button type="button" class="button button-danger">"Delete"</button>
            </div>
        </dialog>
    }
    .erase()
}

/// An open menu with each kind of item.
fn menu() -> AnyView {
    let menu = Menu::new("design-menu");
    let items = vec![
        menu.item(ItemKind::Action(icons::pencil()), "Rename", || {}),
        menu.item(ItemKind::CheckBox(icons::globe(), true), "Search the web", || {}),
        menu.item(ItemKind::Radio(false), "Low", || {}),
        menu.item(ItemKind::Radio(true), "High", || {}),
    ];
    view! { <div class="menu" role="menu" aria-label="A menu">{menu.items(items)}</div> }.erase()
}

fn details() -> AnyView {
    view! {
        <details open>
            <summary>"An open section"</summary>
            <p>"Its content."</p>
        </details>
        <details>
            <summary>"A closed section"</summary>
            <p>"Its content."</p>
        </details>
    }
    .erase()
}

/// The notices in place of content.
pub fn notices() -> AnyView {
    view! {
        <div class="notice notice-waiting" role="status">"Loading the conversation…"</div>
        <div class="notice" role="alert">
            <h2>"This conversation could not be loaded"</h2>
            <p>"Parlor did not respond."</p>
            <button type="button" class="button">"Try again"</button>
        </div>
    }
    .erase()
}

/// All icons, with their names.
pub fn icon_list() -> AnyView {
    let icons: Vec<_> = icons::ALL
        .iter()
        .map(|(name, icon)| view! { <li>{icon()} <code>{*name}</code></li> })
        .collect();
    view! { <ul class="design-icons">{icons}</ul> }.erase()
}
