//! Charts of Plotly: the stored picture, and over it the frame that draws the chart. Readers of shares and pages without scripts have the
//! picture alone. The code of the frame is loaded when the first chart is seen.

use std::sync::Arc;

use leptos::{html, prelude::*, wasm_split::wasm_split};

use super::{file_url, texts};
use crate::{
    browser::{self, ChartUrls, DrawFailure, FrameKind},
    components::icons,
    runtime::{
        effect::effect,
        erase::Erase,
        lazy::{LazySlot, LazyView, LoadError},
        shared_view::is_read_only,
    },
};
use parlor_protocol::{Attachment, number_format::format_size};

/// The maximum length of the reason why a chart can't be drawn, in characters.
const MAX_REASON_CHARACTERS: usize = 300;

/// A chart in the place of its picture.
pub fn chart(file: &Attachment) -> AnyView {
    let urls = ChartUrls {
        chart: file_url(file),
        picture: [&file_url(file), "/picture"].concat(),
    };
    let place = NodeRef::<html::Div>::new();
    let (watch, frame) = (StoredValue::new(None), LazySlot::new());
    let seen = urls.clone();
    // Frames are for signed-in people.
    if !is_read_only() {
        effect(move || {
            let Some(place) = place.get() else { return };
            let urls = seen.clone();
            watch.set_value(Some(browser::on_visible(&place, move || {
                let urls = urls.clone();
                frame.load(move || chart_frame(urls.clone()));
            })));
        });
    }
    let (name, saved_name) = (file.name.clone(), file.name.clone());
    view! {
        <figure class="tool-chart">
            <div class="tool-chart-place" node_ref=place>
                <img src=urls.picture alt=texts::chart_file(&file.name) loading="lazy"/>
                {frame.view(|| ().into_any())}
            </div>
            <figcaption>
                <a class="button button-quiet" href=urls.chart download=saved_name>
                    {icons::download()}
                    <span class="tool-file-name">{name}</span>
                    <span class="tool-took">{format_size(file.bytes)}</span>
                </a>
            </figcaption>
        </figure>
    }
    .erase()
}

/// Makes the view of a chart's frame.
#[wasm_split(panel, wasm_split_path = leptos::wasm_split, fallible)]
pub fn chart_frame(urls: ChartUrls) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || frame_view(urls.clone())))
}

/// The reason why a chart is not drawn, and whether trying again may help.
#[derive(Clone, PartialEq)]
struct Failure {
    reason: String,
    can_retry: bool,
}

fn frame_view(urls: ChartUrls) -> AnyView {
    let title = RwSignal::new(None::<String>);
    let failure = RwSignal::new(None::<Failure>);
    let is_framed = Memo::new(move |_| !browser::are_frames_paused() && failure.with(Option::is_none));
    let frame = move || is_framed.get().then(|| frame(urls.clone(), title, failure));
    let retry = move |_| failure.set(None);
    let note = move || {
        failure.get().map(|Failure { reason, can_retry }| {
            let button = can_retry.then(|| {
                view! { <button type="button" class="button" on:click=retry>{texts::TRY_AGAIN}</button> }
                    .erase()
            });
            view! { <p class="tool-chart-failure" role="note">{reason} {button}</p> }
        })
    };
    view! { {frame} {note} }.erase()
}

/// A frame with a chart. It is hidden until the chart is drawn.
fn frame(
    urls: ChartUrls,
    title: RwSignal<Option<String>>,
    failure: RwSignal<Option<Failure>>,
) -> impl IntoView {
    title.set(None);
    let element = NodeRef::<html::Iframe>::new();
    // A name that is given later is not found.
    let name = ["chart-", &browser::random().to_string()].concat();
    let drawn = StoredValue::new(None);
    effect(move || {
        let Some(element) = element.get() else { return };
        let is_dark = untrack(browser::is_dark);
        let chart = browser::draw_chart(&element, urls.clone(), is_dark, move |result| match result {
            Ok(text) => {
                title.try_set(Some(text));
            }
            Err(error) => {
                failure.try_set(Some(to_failure(error)));
            }
        });
        drawn.set_value(Some(chart));
    });
    effect(move || {
        let is_dark = browser::is_dark();
        drawn.with_value(|chart| {
            if let Some(chart) = chart {
                chart.set_dark(is_dark);
            }
        });
    });
    let label = move || match title.get() {
        Some(title) if !title.is_empty() => texts::chart_title(&title),
        _ => texts::CHART.to_owned(),
    };
    view! {
        <iframe
            node_ref=element
            class="tool-chart-frame"
            class:is-drawn=move || title.with(Option::is_some)
            name=name
            title=label
            sandbox=FrameKind::Charts.sandbox()
        ></iframe>
    }
}

/// Converts a drawing error to the notice for the user.
fn to_failure(error: DrawFailure) -> Failure {
    let (reason, can_retry) = match error {
        DrawFailure::NotLoaded => (texts::PLOTLY_FAILED.to_owned(), true),
        DrawFailure::Impossible(reason) => {
            let line = reason.split_whitespace().collect::<Vec<_>>().join(" ");
            (line.chars().take(MAX_REASON_CHARACTERS).collect(), false)
        }
    };
    let reason = match reason.as_str() {
        "" => texts::CHART_FAILED.to_owned(),
        reason => texts::chart_failed(reason),
    };
    Failure { reason, can_retry }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notice_has_the_reason() {
        let failure = to_failure(DrawFailure::Impossible("no\n such  map".into()));
        assert_eq!(failure.reason, "This chart can’t be drawn: no such map");
        assert!(!failure.can_retry && to_failure(DrawFailure::NotLoaded).can_retry);
        let long = to_failure(DrawFailure::Impossible("a".repeat(1000)));
        assert!(long.reason.chars().count() < MAX_REASON_CHARACTERS + 40);
    }
}
