//! Events, and references to elements. What the handlers are called with is written to a list.

use leptos::{ev::CustomEvent, html, prelude::*};

use super::Step;

/// The calls of handlers so far.
#[derive(Clone, Copy)]
struct Log(RwSignal<Vec<String>>);

impl Log {
    fn add(self, line: impl Into<String>) {
        self.0.update(|lines| lines.push(line.into()));
    }
}

/// A context of the views in this section.
#[derive(Clone)]
struct Greeting(&'static str);

pub fn view(step: Step) -> AnyView {
    let log = Log(RwSignal::new(vec!["ready".into()]));
    let owner = Owner::current().unwrap_or_default().child();
    let inner = owner.with(|| {
        provide_context(Greeting("from the view"));
        with_context(log)
    });
    let (kept, exchanged) = (NodeRef::<html::Input>::new(), NodeRef::<html::Button>::new());
    view! {
        <section id="events">
            <button class="click" on:click=move |event| log.add(event.type_())>"click"</button>
            <input class="input" on:input=move |event| log.add(event_target_value(&event))/>
            <div class="capturing" on:click=move |_| log.add("bubbled") on:click:capture=move |_| log.add("captured")>
                <button on:click=move |_| log.add("target")>"capture"</button>
            </div>
            <button class="custom" on:ping=move |event: CustomEvent| log.add(event.type_())>"custom"</button>
            {inner}
            // A handler is no effect: reading the step does not call it again.
            <button class="reading" on:click=move |_| log.add(format!("step {}", step.get()))>"reading"</button>
            {move || rebuilt(log, step.get())}
            <input class="kept" node_ref=kept/>
            {move || referred(step.get(), exchanged)}
            <button
                class="references"
                on:click=move |_| {
                    log.add(kept.get().map_or_else(String::new, |input| input.class_name()));
                    log.add(exchanged.get().map_or_else(String::new, |button| button.id()));
                }
            >
                "references"
            </button>
            <p class="log">{move || log.0.get().join(", ")}</p>
        </section>
    }
    .into_any()
}

fn with_context(log: Log) -> AnyView {
    let greeting = || use_context::<Greeting>().map_or("none", |greeting| greeting.0);
    view! { <button class="context" on:click=move |_| log.add(greeting())>"context"</button> }.into_any()
}

/// Handlers that take the places of those of the step before.
fn rebuilt(log: Log, step: usize) -> AnyView {
    view! { <button class="rebuilt" on:click=move |_| log.add(format!("rebuilt {step}"))>"rebuilt"</button> }
        .into_any()
}

/// An element that is another one at each step.
fn referred(step: usize, reference: NodeRef<html::Button>) -> AnyView {
    view! { <button id=format!("exchanged-{step}") node_ref=reference>"exchanged"</button> }.into_any()
}
