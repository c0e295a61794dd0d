//! The HTML of a server with `elements`, beside that of Leptos's own elements.

extern crate elements as leptos;

use std::iter::zip;

use leptos::{
    prelude::*,
    tachys::{ssr::StreamBuilder, view::Position},
};
use send_wrapper::SendWrapper;

#[path = "../../tests/elements-page/src/page/mod.rs"]
mod page;

/// Leptos leaves an attribute `class` without classes, and the spaces around those that are not there.
fn without_empty_classes(html: &str) -> String {
    html.replace(r#" class="""#, "").replace("  ", " ")
}

#[test]
fn every_kind_of_view_is_rendered_as_by_leptos() {
    let (ours, theirs) = (page::render(), elements_page::render());
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in zip(ours, theirs) {
        assert_eq!(ours, without_empty_classes(&theirs));
    }
}

#[test]
fn a_streamed_page_is_the_same() {
    let page = || page::page(RwSignal::new(1)).into_view();
    let mut stream = StreamBuilder::new(None);
    let html = Owner::new().with(|| {
        page().to_html_async_with_buf::<false>(
            &mut stream,
            &mut Position::FirstChild,
            true,
            false,
            Vec::new(),
        );
        page().to_html()
    });
    let mut streamed = String::new();
    stream.with_buf(|buf| streamed = std::mem::take(buf));
    assert_eq!(streamed, html);
}

#[test]
fn texts_and_attributes_are_escaped() {
    let owner = Owner::new();
    let text = "\"<b>&'\n";
    let html = owner
        .with(|| view! { <textarea title=text>{text}</textarea> <p class=text>{move || text}</p> }.to_html());
    assert_eq!(
        html,
        "<textarea title=\"&quot;&lt;b&gt;&amp;'\n\">\"&lt;b&gt;&amp;'\n</textarea><p class=\"&quot;&lt;b&gt;&amp;'\">\"&lt;b&gt;&amp;'\n</p>"
    );
}

#[tokio::test]
async fn awaited_views_are_rendered() {
    let owner = Owner::new();
    let view = owner.with(|| {
        let awaited = |text: &'static str| {
            Suspend::new(async move {
                view! { <b>{text}</b> }
            })
        };
        view! { <p>{move || awaited("first")} " and " <i>{awaited("second")}</i></p> }.into_any()
    });
    let html = view.resolve().await.to_html();
    assert_eq!(html, "<p><b>first</b> and <i><b>second</b></i></p>");
}

#[test]
fn a_view_with_handlers_can_end_on_another_thread() {
    let of_thread = SendWrapper::new(1);
    let (handled, read) = (of_thread.clone(), of_thread);
    let view = Owner::new().with(|| {
        view! { <button on:click=move |_| drop(handled.clone()) prop:value=move || read.to_string()>"Go"</button> }
    });
    assert!(std::thread::spawn(move || drop(view)).join().is_ok());
}
