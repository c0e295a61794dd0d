//! The *more* button of content that is shown in pieces.

use leptos::prelude::*;

use super::texts;
use crate::runtime::erase::Erase;

/// A button that shows the next piece.
pub fn more(press: impl Fn() + Send + Sync + 'static) -> AnyView {
    view! {
        <div class="more">
            <button type="button" class="button button-quiet needs-script" on:click=move |_| press()>
                {texts::SHOW_MORE}
            </button>
            <p class="without-script">{texts::REST_NEEDS_SCRIPTS}</p>
        </div>
    }
    .erase()
}
