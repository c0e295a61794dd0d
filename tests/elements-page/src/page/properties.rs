//! Properties, which have no place in HTML: the test reads them from the elements.

use leptos::prelude::*;

use super::{Step, pick};

pub fn view(step: Step) -> AnyView {
    view! {
        <section id="properties">
            <input class="text" prop:value="literal"/>
            <input class="owned" prop:value=format!("owned {}", step.get_untracked())/>
            <input class="bool" r#type="checkbox" prop:checked=true/>
            <input class="dynamic" prop:value=move || format!("dynamic {}", step.get())/>
            // The same value at two steps.
            <input class="restored" prop:value=move || pick(step.get(), ["a", "b", "b", "b"])/>
            <input class="dynamic-bool" r#type="checkbox" prop:checked=move || pick(step.get(), [true, false, true, true])/>
            {move || rebuilt(step.get())}
        </section>
    }
    .into_any()
}

fn rebuilt(step: usize) -> AnyView {
    view! { <input class="rebuilt" prop:value=format!("rebuilt {step}")/> }.into_any()
}
