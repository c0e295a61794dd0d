//! The sheet of keyboard shortcuts.

use leptos::{ev, prelude::*};

use super::{close_on_backdrop, texts};
use crate::{
    commands::{Scope, Shortcut, keys, use_commands},
    components::{confirm::use_modal, icons},
    runtime::erase::Erase,
};

/// Shows all shortcuts by the place where they work.
pub fn sheet() -> AnyView {
    let dialog = use_modal(|| true);
    let commands = use_commands();
    let opening = commands.opening();
    let sections: Vec<_> = Scope::ALL.iter().map(|scope| section(*scope)).collect();
    view! {
        <dialog
            node_ref=dialog
            class="dialog shortcuts"
            aria-labelledby="shortcuts-title"
            on:click=move |event: ev::MouseEvent| close_on_backdrop(&event, dialog)
            on:close=move |_| commands.closed(opening)
        >
            <form method="dialog" class="shortcuts-head">
                <h2 id="shortcuts-title">{texts::SHORTCUTS}</h2>
                <button class="icon-button" autofocus aria-label=texts::CLOSE title=texts::CLOSE>
                    {icons::close()}
                </button>
            </form>
            // Without a focus in it, keys can't scroll it.
            <div class="shortcuts-list" role="region" aria-labelledby="shortcuts-title" tabindex="0">{sections}</div>
        </dialog>
    }
    .erase()
}

fn section(scope: Scope) -> AnyView {
    let of_scope = Shortcut::ALL
        .iter()
        .filter(|shortcut| shortcut.entry().scope == scope);
    let rows: Vec<_> = of_scope.map(|shortcut| row(*shortcut)).collect();
    view! {
        <section>
            <h3>{scope.heading()}</h3>
            <dl>{rows}</dl>
        </section>
    }
    .erase()
}

fn row(shortcut: Shortcut) -> AnyView {
    view! {
        <div class="shortcut">
            <dt>{shortcut.entry().name}</dt>
            <dd>{keys(shortcut)}</dd>
        </div>
    }
    .erase()
}
