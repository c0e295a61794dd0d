//! What the panel shows, by what it is. The server has made it ready to be drawn; here it becomes views.

mod articles;
mod chart;
mod document;
mod query;
mod results;
mod table;
mod tree;

use leptos::prelude::*;

use crate::{
    protocol::panel::PanelBody,
    protocol::panel::PanelView,
    ui::{browser, components::link::EXTERNAL_LINK_REL, runtime::erase::Erase},
};

/// A payload.
pub fn body(view: &PanelView) -> AnyView {
    match &view.body {
        PanelBody::Articles(articles) => articles::article_list(articles),
        PanelBody::Article(article) => articles::article(article),
        PanelBody::Results(results) => results::results(results),
        PanelBody::Table(table) => table::table(table),
        PanelBody::Chart(chart) => chart::chart(chart, &view.summary),
        PanelBody::Document(document) => document::document(document),
        PanelBody::Query(query) => query::query(query),
        PanelBody::Tree(tree) => tree::tree(tree),
    }
}

/// Words, as a link if they lead somewhere.
fn link(text: &str, url: Option<&str>) -> AnyView {
    let text = text.to_owned();
    match url.map(str::to_owned) {
        Some(url) => view! { <a href=url target="_blank" rel=EXTERNAL_LINK_REL>{text}</a> }.erase(),
        None => view! { <span>{text}</span> }.erase(),
    }
}

/// What is said in place of something that has nothing in it.
fn empty_notice(words: &'static str) -> AnyView {
    view! { <p class="panel-nothing">{words}</p> }.erase()
}

/// The first few of many things, and all of them when they are asked for.
fn expandable_list<T: Send + Sync + 'static>(
    things: Vec<T>,
    first: usize,
    show: impl Fn(&[T]) -> AnyView + Send + 'static,
) -> AnyView {
    let all = RwSignal::new(things.len() <= first);
    let count = things.len().to_string();
    let press = move |_| {
        all.set(true);
        // The button is gone.
        browser::focus_selector(".panel-body");
    };
    let button = move || {
        (!all.get()).then(|| {
            let words = ["Show all ", &count].concat();
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
