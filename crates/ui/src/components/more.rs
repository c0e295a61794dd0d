//! The *more* button of content that is shown in pieces.

use leptos::prelude::*;

use crate::runtime::erase::Erase;

/// A button that shows the next piece.
pub fn more(press: impl Fn() + Send + Sync + 'static) -> AnyView {
    view! {
        <div class="more">
            <button type="button" class="button button-quiet needs-script" on:click=move |_| press()>
                "Show more"
            </button>
            <p class="without-script">"This text is very long. The rest of it is shown only with scripts."</p>
        </div>
    }
    .erase()
}
