//! The tools that a project uses, in its form: all but those that are switched off here.

use leptos::{prelude::*, task::spawn_local};

use super::texts;
use crate::{
    api::projects::project_tools,
    runtime::{erase::Erase, when::When},
    state::use_projects,
};
use parlor_protocol::{OfferedTool, Project};

/// The switches of a project's tools.
pub fn tools(project: RwSignal<Project>) -> AnyView {
    let connection = use_projects().connection();
    let (listed, error) = (RwSignal::new(Vec::new()), RwSignal::new(None));
    spawn_local(async move {
        match connection.call(project_tools()).await {
            Ok(tools) => drop(listed.try_set(tools)),
            Err(failure) => drop(error.try_set(Some(failure.message))),
        }
    });
    // Those that are switched off and not there just now can be switched on again.
    let shown = move || {
        let mut tools: Vec<OfferedTool> = listed.get();
        let missing = project
            .with_untracked(|project| project.disabled_tools.clone())
            .into_iter();
        for name in missing {
            if !tools.is_empty() && tools.iter().all(|tool| tool.name != name) {
                let label = name.clone();
                tools.push(OfferedTool { name, label });
            }
        }
        tools
    };
    let switches = move || {
        shown()
            .into_iter()
            .map(|tool| switch(project, tool))
            .collect::<Vec<_>>()
    };
    let summary = move || texts::tools_off(project.with(|project| project.disabled_tools.len()));
    view! {
        <details class="project-tools">
            <summary>{texts::TOOLS} <span class="stream-help">{summary}</span></summary>
            <p class="stream-help">{texts::TOOLS_HELP}</p>
            <When when=move || error.with(Option::is_some)>
                <p class="project-alarm" role="alert">{move || error.get()}</p>
            </When>
            <ul>
                {switches}
            </ul>
        </details>
    }
    .erase()
}

fn switch(project: RwSignal<Project>, tool: OfferedTool) -> AnyView {
    let OfferedTool { name, label } = tool;
    let is_on = {
        let name = name.clone();
        Memo::new(move |_| project.with(|project| !project.disabled_tools.contains(&name)))
    };
    let toggle = move |_| {
        project.update(|project| {
            let before = project.disabled_tools.len();
            project.disabled_tools.retain(|other| *other != name);
            if project.disabled_tools.len() == before {
                project.disabled_tools.push(name.clone());
            }
        });
    };
    view! {
        <li>
            <button
                type="button"
                class="switch-row"
                role="switch"
                aria-checked=move || is_on.get().to_string()
                on:click=toggle
            >
                <span class="switch-text" dir="auto">{label}</span>
                <span class="switch" aria-hidden="true"></span>
            </button>
        </li>
    }
    .erase()
}
