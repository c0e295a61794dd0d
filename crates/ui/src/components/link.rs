//! Links in texts: those that leave Parlor, and those to its pages.

use leptos::{ev, prelude::*};

use crate::{browser, runtime::erase::Erase};

/// The `rel` of external links: the target cannot access this page and gets no referrer, and the link does not vouch
/// for it.
pub const EXTERNAL_LINK_REL: &str = "noopener noreferrer nofollow";

/// Opens links to pages of Parlor. A reader of a share, who has none of them, has no such context either.
#[derive(Clone, Copy)]
pub struct PageLinks {
    /// Returns true for the URL of a page.
    pub is_page: Callback<String, bool>,
    /// Opens the URL of a page, with the conversation beside it.
    pub open: Callback<String>,
}

/// A link in an answer. One to a page of Parlor opens here, with the conversation beside it, any other in a new tab.
pub fn answer_link(
    class: &'static str,
    href: String,
    title: Option<String>,
    children: Vec<AnyView>,
) -> AnyView {
    let pages = use_context::<PageLinks>().filter(|pages| pages.is_page.run(href.clone()));
    let Some(pages) = pages else {
        return view! {
            <a class=class href=href title=title target="_blank" rel=EXTERNAL_LINK_REL>{children}</a>
        }
        .erase();
    };
    let url = href.clone();
    let open = move |event: ev::MouseEvent| {
        if browser::is_plain_click(&event) {
            event.prevent_default();
            pages.open.run(url.clone());
        }
    };
    view! { <a class=class href=href title=title on:click=open>{children}</a> }.erase()
}
