//! Attributes, classes and styles: each type of value, read once, read again when the view is rendered again, and dynamic.

use leptos::prelude::*;

use super::{Step, pick};

pub fn view(step: Step) -> AnyView {
    view! {
        <section id="attributes">{values(step.get_untracked())}</section>
        <section id="attributes-rebuilt">{move || values(step.get())}</section>
        <section id="attributes-dynamic">{dynamic_values(step)}</section>
        <section id="classes">{classes(step.get_untracked())}</section>
        <section id="classes-rebuilt">{move || classes(step.get())}</section>
        <section id="classes-dynamic">{dynamic_classes(step)}</section>
        <section id="styles">{styles(step.get_untracked())}</section>
        <section id="styles-rebuilt">{move || styles(step.get())}</section>
        <section id="styles-dynamic">{dynamic_styles(step)}</section>
    }
    .into_any()
}

fn values(step: usize) -> AnyView {
    view! {
        <p title="literal" lang=pick(step, ["en", "de", "en", "fr"])>"text"</p>
        <p title=format!("owned {step}")>"String"</p>
        <p hidden=pick(step, [true, false, true, true]) inert=false>"bool"</p>
        <p dir=pick(step, [Some("ltr"), None, Some("rtl"), None])>"Option of text"</p>
        <p title=pick(step, [None, Some(1), Some(2), None]).map(|number: usize| number.to_string())>"Option of String"</p>
        <input maxlength=step + 1 size=2_u32 tabindex=pick(step, ["0", "1", "2", "3"])/>
        <table><tbody><tr><td colspan=u16::try_from(step).unwrap_or_default()>"u16"</td></tr></tbody></table>
        <button aria-label="Close" aria-expanded=pick(step, ["true", "false", "true", "true"]) data-step=step.to_string()>"names"</button>
        <label r#for="none">"a raw name"</label>
        <details open=pick(step, [false, true, false, true])><summary>{step}</summary></details>
    }
    .into_any()
}

fn dynamic_values(step: Step) -> AnyView {
    let number = Memo::new(move |_| step.get() / 2 + 1);
    let text = Memo::new(move |_| format!("memo {}", step.get()));
    let nested = move || {
        let step = step.get();
        move || format!("nested {step}")
    };
    view! {
        <div inner_html=move || ["<b>step</b> ", &step.get().to_string()].concat()></div>
        <p lang=move || pick(step.get(), ["en", "de", "en", "fr"])>"text"</p>
        <p title=move || format!("owned {}", step.get())>"String"</p>
        <p hidden=move || pick(step.get(), [true, false, true, true])>"bool"</p>
        <p dir=move || pick(step.get(), [Some("ltr"), None, Some("rtl"), None])>"Option"</p>
        <p title=text>"Memo"</p>
        <input size=number maxlength=step/>
        <p title=nested>"a function of a function"</p>
        <p title=move || step.get().to_string() lang="en" dir=move || pick(step.get(), [None, Some("ltr"), Some("rtl"), None])>"several"</p>
    }
    .into_any()
}

fn classes(step: usize) -> AnyView {
    view! {
        <p class=pick(step, ["a b", "b", "", "a"])>"text"</p>
        <p class=format!("a{step}")>"String"</p>
        <p class=pick(step, [None, Some("a"), None, Some("b")])>"Option of text"</p>
        <p class=pick(step, [None, Some("a"), None, Some("b")]).map(str::to_owned)>"Option of String"</p>
        <p class:a=pick(step, [true, false, true, true])>"one"</p>
        <p class=("a", pick(step, [false, true, false, true]))>"one, as a tuple"</p>
        <p class="always" class:a=pick(step, [true, false, true, true]) class:b=pick(step, [false, true, true, false])>"a literal and two"</p>
        <p class=pick(step, [Some("x y"), None, Some("y z"), Some("x")]) class:a=pick(step, [true, true, false, true])>"all and one"</p>
    }
    .into_any()
}

fn dynamic_classes(step: Step) -> AnyView {
    view! {
        <p class=move || pick(step.get(), ["a b", "b", "", "a"])>"text"</p>
        <p class=move || format!("a{}", step.get())>"String"</p>
        <p class=move || pick(step.get(), [None, Some("a"), None, Some("b")])>"Option"</p>
        <p class:a=move || pick(step.get(), [true, false, true, true])>"one"</p>
        <p class=("a", move || pick(step.get(), [false, true, false, true]))>"one, as a tuple"</p>
        <p class="always" class:a=move || pick(step.get(), [true, false, true, true])>"a literal and one"</p>
        <p class=move || pick(step.get(), [Some("x y"), None, Some("y z"), Some("x")]) class:a=move || pick(step.get(), [true, true, false, true])>"all and one"</p>
    }
    .into_any()
}

fn styles(step: usize) -> AnyView {
    view! {
        <p style:left=format!("{step}px")>"String"</p>
        <p style:display=pick(step, ["none", "block", "none", "flex"])>"text"</p>
        <p style=("--depth", step.to_string())>"a custom property"</p>
        <p style:left=pick(step, [None, Some("1px"), Some("2px"), None]) style:top="1px">"Option and text"</p>
    }
    .into_any()
}

fn dynamic_styles(step: Step) -> AnyView {
    view! {
        <p style:left=move || format!("{}px", step.get())>"String"</p>
        <p style:left=move || pick(step.get(), [None, Some("1px"), Some("2px"), None]) style:top="1px">"Option and text"</p>
        <p style=("--depth", move || step.get().to_string())>"a custom property"</p>
    }
    .into_any()
}
