//! The state that an element keeps beside its attributes (whether `<details>` is open, where it is scrolled, the text typed into it), when the
//! view in its place is rendered again, and when it becomes another view of the same shape.

use leptos::prelude::*;

use super::Step;

pub fn view(step: Step) -> AnyView {
    let is_even = move || step.get().is_multiple_of(2);
    view! {
        <section id="same-view">{move || stateful(step.get())}</section>
        <section id="other-id">{move || identified(step.get())}</section>
        <section id="other-name">{move || named(step.get())}</section>
        <section id="branches">
            {move || match is_even() {
                true => view! {
                    <details><summary>{"even"}</summary>{"text"}</details>
                    <div class="scroller"><p>{"even"}</p></div>
                    <input/>
                },
                false => view! {
                    <details><summary>{"odd"}</summary>{"text"}</details>
                    <div class="scroller"><p>{"odd"}</p></div>
                    <input/>
                },
            }}
        </section>
        <section id="functions">
            {move || match is_even() {
                true => stateful(0),
                false => other_stateful(1),
            }}
        </section>
        <section id="components">
            {move || match is_even() {
                true => view! { <Even/> }.into_any(),
                false => view! { <Odd/> }.into_any(),
            }}
        </section>
        <section id="inner">
            {move || {
                let inner = match is_even() {
                    true => stateful(0),
                    false => other_stateful(1),
                };
                view! { <div>{inner}</div> }
            }}
        </section>
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

/// The same shape as [`stateful`].
fn other_stateful(step: usize) -> AnyView {
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

#[component]
fn Even() -> impl IntoView {
    stateful(0)
}

#[component]
fn Odd() -> impl IntoView {
    other_stateful(1)
}
