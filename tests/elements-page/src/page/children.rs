//! Children of each type, and each type in the place of another.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Step, pick};

pub fn view(step: Step) -> AnyView {
    view! {
        <section id="children">{children(step.get_untracked())}</section>
        <section id="children-rebuilt">{move || children(step.get())}</section>
        <section id="children-dynamic">{dynamic_children(step)}</section>
        <section id="children-exchanged">
            <p>"before "{move || exchanged(step.get())}" after"</p>
        </section>
        <section id="children-in-order">"before"{move || in_order(step.get())}"after"</section>
        <section id="svg">{drawing(step)}</section>
    }
    .into_any()
}

fn children(step: usize) -> AnyView {
    view! {
        <p>"literal"</p>
        <p>{pick(step, ["a", "b", "b", "c"])}</p>
        <p>"a "{format!("String {step}")}" and "{Arc::<str>::from("Arc")}" and "{step}</p>
        <p><b>"of"</b>" "<i><s>"elements"</s></i>{step}</p>
        <p>{step.is_multiple_of(2).then(|| view! { <b>"Option "{step}</b> })}"."</p>
        <ul>{(0..=step).map(|item| view! { <li>"Vec "{item}</li> }).collect_view()}</ul>
        <p>{element(step).into_any()}</p>
        <div><Card title=format!("component {step}")>"of "{step}</Card></div>
        <br/>
        <div></div>
        <textarea rows="2"></textarea>
    }
    .into_any()
}

fn dynamic_children(step: Step) -> AnyView {
    let nested = move || {
        let step = step.get();
        move || format!("nested {step}")
    };
    view! {
        <p>{move || pick(step.get(), ["a", "b", "b", "c"])}</p>
        <p>"a "{move || format!("String {}", step.get())}" and "{move || Arc::<str>::from("Arc")}" and "{move || step.get()}</p>
        <p>{nested}</p>
        <p>{move || step.get().is_multiple_of(2).then(|| view! { <b>"Option"</b> })}"."</p>
        <p>{move || (step.get() % 3 == 1).then_some("Option of text")}"."</p>
        <ul>{move || (0..=step.get()).map(|item| view! { <li>"Vec "{item}</li> }).collect_view()}</ul>
        <ul><For each=move || keys(step.get()) key=|key| *key let(key)><li>"For "{key}</li></For></ul>
        <p><Show when=move || step.get() == 2 fallback=|| "fallback"><b>"Show"</b></Show></p>
        <div><Card title="constant".to_owned()>{move || step.get()}</Card></div>
    }
    .into_any()
}

/// Items of which some stay, move, come and go.
fn keys(step: usize) -> Vec<usize> {
    pick(step, [&[1, 2, 3][..], &[3, 1, 2], &[4, 2], &[2, 5, 4, 1]]).to_vec()
}

/// A type in the place of another.
fn exchanged(step: usize) -> AnyView {
    match step {
        0 => "text".into_any(),
        1 => view! { <b>"an element"</b> }.into_any(),
        2 => view! {
            <i>"two"</i>
            " nodes"
        }
        .into_any(),
        _ => vec!["a list", " of texts"].into_any(),
    }
}

/// Views with other tags, attributes or numbers of children than the one before.
fn in_order(step: usize) -> AnyView {
    match step {
        0 => view! { <p title=step.to_string()>{step}</p> }.into_any(),
        1 => view! { <b title=step.to_string()>{step}</b> }.into_any(),
        2 => view! { <b lang=step.to_string()>{step}</b> }.into_any(),
        _ => view! { <b lang=step.to_string()>{step}<i>{step}</i></b> }.into_any(),
    }
}

fn element(step: usize) -> impl IntoView {
    view! { <i>"erased "{step}</i> }
}

/// A component with children.
#[component]
fn Card(title: String, children: Children) -> impl IntoView {
    view! {
        <h2>{title}</h2>
        <div>{children()}</div>
    }
}

fn drawing(step: Step) -> AnyView {
    view! {
        <svg viewBox="0 0 8 8" aria-hidden="true">
            <circle cx="4" cy="4" r=move || step.get().to_string()></circle>
            <g>{move || view! { <path d=format!("M0 0 L{} 8", step.get())></path> }}</g>
            <text>{move || step.get()}</text>
        </svg>
    }
    .into_any()
}
