//! What an element keeps beside its attributes (whether `<details>` is open, where it is scrolled, what was typed into it), when the
//! view in its place is rendered again, also for something with another id or name.

use leptos::prelude::*;

use crate::Step;

pub fn view(step: Step) -> AnyView {
    view! {
        <section id="same-view">{move || stateful(step.get())}</section>
        <section id="other-id">{move || identified(step.get())}</section>
        <section id="other-name">{move || named(step.get())}</section>
    }
    .into_any()
}

fn stateful(step: usize) -> AnyView {
    view! {
        <details><summary>{step}</summary>{"text"}</details>
        <div class="scroller"><p>{step}</p></div>
        <input/>
    }
    .into_any()
}

fn identified(step: usize) -> AnyView {
    view! {
        <div id=format!("of-{step}")>
            <details><summary>{step}</summary>{"text"}</details>
            <div class="scroller"><p>{step}</p></div>
            <input/>
        </div>
    }
    .into_any()
}

fn named(step: usize) -> AnyView {
    view! {
        <details><summary>{step}</summary>{"text"}</details>
        <div class="scroller"><p>{step}</p></div>
        <input name=format!("of-{step}")/>
    }
    .into_any()
}
