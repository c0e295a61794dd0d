//! The views of the panel's content, by kind. The server has prepared the data; this module renders it.

mod articles;
mod chart;
mod chart_cursor;
mod document;
mod paged_table;
mod preview;
mod results;
mod table;
mod tree;

use leptos::prelude::*;

pub use self::chart::still_chart;

use super::proposal::proposal;
use crate::{
    browser, components::link::EXTERNAL_LINK_REL, panel::texts, runtime::erase::Erase,
    state::page_registry::ShownPayload,
};
use parlor_protocol::{
    number_format::group_digits,
    panel::{PanelBody, PanelView},
};

/// A payload.
pub fn body(view: &PanelView) -> AnyView {
    match &view.body {
        PanelBody::Articles(articles) => articles::article_list(articles),
        PanelBody::Article(article) => articles::article(article),
        PanelBody::Results(results) => results::results(results),
        PanelBody::Table(table) => table::table(table),
        PanelBody::Chart(chart) => chart::chart(chart, &view.summary),
        PanelBody::Document(document) => document::document(document, view.is_proposal),
        PanelBody::Proposal(view) => proposal(view),
        PanelBody::Tree(tree) => tree::tree(tree),
    }
}

/// A payload of the user, whose further rows are loaded from the server.
pub fn own_body(payload: &ShownPayload, view: &PanelView) -> AnyView {
    match &view.body {
        PanelBody::Table(table) => match table.stored_rows {
            Some(count) => paged_table::table(payload, table, count),
            None => table::own_table(payload, table),
        },
        _ => body(view),
    }
}

/// The part of a payload that an answer shows; `None` of a kind without one.
pub fn preview(view: &PanelView) -> Option<AnyView> {
    match &view.body {
        PanelBody::Table(table) => Some(preview::table(table)),
        PanelBody::Chart(chart) => Some(chart::figure(chart, &view.summary)),
        PanelBody::Document(document) => Some(preview::changes(document)),
        PanelBody::Proposal(view) => Some(proposal(view)),
        _ => None,
    }
}

/// A text, as a link if it has a URL.
fn link(text: &str, url: Option<&str>) -> AnyView {
    let text = text.to_owned();
    match url.map(str::to_owned) {
        Some(url) => view! { <a href=url target="_blank" rel=EXTERNAL_LINK_REL>{text}</a> }.erase(),
        None => view! { <span>{text}</span> }.erase(),
    }
}

/// The notice for empty content.
fn empty_notice(words: &'static str) -> AnyView {
    view! { <p class="panel-nothing">{words}</p> }.erase()
}

/// The first items of a long list, with a button that shows all.
fn expandable_list<T: Send + Sync + 'static>(
    things: Vec<T>,
    first: usize,
    show: impl Fn(&[T]) -> AnyView + Send + 'static,
) -> AnyView {
    let all = RwSignal::new(things.len() <= first);
    let count = group_digits(things.len() as u64);
    let press = move |_| {
        all.set(true);
        // The button is removed.
        browser::focus_selector(".panel-body");
    };
    let button = move || {
        (!all.get()).then(|| {
            let words = texts::show_all(&count);
            view! { <button type="button" class="button panel-all" on:click=press>{words}</button> }
        })
    };
    let shown = move || {
        let shown = if all.get() { things.len() } else { first };
        show(&things[..shown])
    };
    view! {
        {shown}
        {button}
    }
    .erase()
}
