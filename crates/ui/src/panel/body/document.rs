//! Documents: one version at a time, as text or as the difference from the previous version.

use std::sync::Arc;

use leptos::{ev, prelude::*};

use super::empty_notice;
use crate::{
    components::copy::CopyButton,
    markdown::{MarkdownView, Prose},
    panel::texts,
    runtime::erase::Erase,
};
use parlor_protocol::panel::{DiffLine, DocumentVersion, DocumentView, LineChange};

/// A document, with its newest version at first. A proposed one shows its changes, on which the user decides.
pub fn document(document: &DocumentView, is_proposal: bool) -> AnyView {
    let versions: Arc<[DocumentVersion]> = document.versions.clone().into();
    let last = versions.len().saturating_sub(1);
    let chosen = RwSignal::new(last);
    let compares = RwSignal::new(is_proposal);
    let version = {
        let versions = versions.clone();
        move || versions.get(chosen.get()).cloned()
    };
    let copied = {
        let version = version.clone();
        move || version().map(|version| version.text).unwrap_or_default()
    };
    let shown = move || {
        version().map(|version| {
            if compares.get() && chosen.get() > 0 {
                diff(&version.changes)
            } else {
                text(&version.text)
            }
        })
    };
    let title = document.title.clone();
    view! {
        {title.map(|title| view! { <p class="panel-about" dir="auto">{title}</p> })}
        <div class="panel-tools">
            {(last > 0).then(|| version_switch(&versions, chosen, compares))}
            <CopyButton name=texts::COPY_TEXT text=copied/>
        </div>
        {shown}
    }
    .erase()
}

fn version_switch(
    versions: &[DocumentVersion],
    chosen: RwSignal<usize>,
    compares: RwSignal<bool>,
) -> AnyView {
    let options: Vec<_> = versions
        .iter()
        .enumerate()
        .map(|(index, version)| {
            let selected = index + 1 == versions.len();
            view! { <option value=index.to_string() selected=selected>{version.label.clone()}</option> }
        })
        .collect();
    let choose = move |event: ev::Event| {
        if let Ok(index) = event_target_value(&event).parse() {
            chosen.set(index);
        }
    };
    // The first version has no previous one.
    let impossible = move || (chosen.get() == 0).then_some("true");
    let compare = move |_| {
        if chosen.get_untracked() > 0 {
            compares.update(|compares| *compares = !*compares);
        }
    };
    view! {
        <select class="picker" aria-label=texts::VERSION on:change=choose>{options}</select>
        <button
            type="button"
            class="button"
            aria-pressed=move || (compares.get() && chosen.get() > 0).to_string()
            aria-disabled=impossible
            on:click=compare
        >
            {texts::SHOW_CHANGES}
        </button>
    }
    .erase()
}

fn text(text: &str) -> AnyView {
    if text.trim().is_empty() {
        return empty_notice(texts::NO_TEXT);
    }
    view! { <div class="prose"><MarkdownView prose=Prose::finished(text) prefix="panel-text"/></div> }.erase()
}

fn diff(lines: &[DiffLine]) -> AnyView {
    if lines.is_empty() {
        return empty_notice(texts::NO_CHANGES);
    }
    let lines: Vec<_> = lines.iter().map(diff_line).collect();
    view! { <div class="diff" role="region" tabindex="0" aria-label=texts::CHANGES>{lines}</div> }.erase()
}

pub fn diff_line(line: &DiffLine) -> AnyView {
    let text = line.text.clone();
    match line.change {
        LineChange::Same => view! { <div class="diff-line">{text}</div> }.erase(),
        LineChange::Added => view! { <ins class="diff-line">{text}</ins> }.erase(),
        LineChange::Removed => view! { <del class="diff-line">{text}</del> }.erase(),
        LineChange::Skipped => view! { <div class="diff-skipped">{text}</div> }.erase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::MarkdownLoader;

    #[test]
    fn only_a_proposal_shows_its_changes_first() {
        let owner = Owner::new();
        owner.set();
        provide_context(MarkdownLoader::start());
        let version = |text: &str, changes| DocumentVersion {
            label: String::new(),
            text: text.into(),
            changes,
        };
        let added = DiffLine {
            change: LineChange::Added,
            text: "Dear Bob,".into(),
        };
        let view = DocumentView {
            title: None,
            versions: vec![version("Dear Ann,", vec![]), version("Dear Bob,", vec![added])],
        };
        for is_proposal in [true, false] {
            let html = document(&view, is_proposal).to_html();
            assert_eq!(html.contains("<ins"), is_proposal, "{html}");
        }
    }
}
