//! Charts. The lines scale with the available space; the labels next to them are plain text.

use leptos::prelude::*;

use super::{chart_cursor::ChartCursor, table};
use crate::{panel::texts, runtime::erase::Erase};
use parlor_protocol::{
    number_format::group_text,
    panel::{AxisLabel, ChartView, Series, SeriesMarks},
};

/// The height and the width of the coordinate system.
pub const EXTENT: usize = 10_000;

/// A chart, with its numbers as a table below it.
pub fn chart(chart: &ChartView, name: &str) -> AnyView {
    let title = chart.data.title.clone();
    view! {
        {title.map(|title| view! { <p class="panel-about" dir="auto">{title}</p> })}
        {figure(chart, name)}
        <details class="chart-numbers">
            <summary>{texts::NUMBERS}</summary>
            {table::table_grid(&chart.data)}
        </details>
    }
    .erase()
}

/// The drawing, with the values at the chosen place.
pub fn figure(chart: &ChartView, name: &str) -> AnyView {
    let title = chart.data.title.as_deref();
    let name = texts::chart(title.unwrap_or(name));
    let marks: Vec<_> = chart.series.iter().enumerate().map(series_marks).collect();
    let ticks: Vec<_> = chart
        .ticks
        .iter()
        .map(|tick| view! { <span>{group_text(tick)}</span> })
        .collect();
    let is_thinned = chart.labels.iter().any(|label| label.places > 1);
    let labels: Vec<_> = chart.labels.iter().map(axis_label).collect();
    let zero = ["M0 ", &chart.zero.to_string(), "H10000"].concat();
    let cursor = ChartCursor::new(chart);
    view! {
        <figure class="chart">
            <div class="chart-ticks" aria-hidden="true">{ticks}</div>
            <svg class="chart-plot" viewBox="0 0 10000 10000" preserveAspectRatio="none" role="img" aria-label=name.clone()>
                <path class="chart-grid" d=grid_path(chart.ticks.len())/>
                {cursor.background()}
                {marks}
                <path class="chart-zero" d=zero/>
                {cursor.dots()}
            </svg>
            {cursor.overlay(&name)}
            <div class="chart-labels" class:thinned=is_thinned aria-hidden="true">{labels}</div>
            {legend(&chart.series)}
        </figure>
    }
    .erase()
}

/// The drawing for pages without scripts: no place can be chosen. Their policy forbids styles in the markup, so all labels are
/// to have as many places.
pub fn still_chart(chart: &ChartView, name: &str) -> AnyView {
    let marks: Vec<_> = chart.series.iter().enumerate().map(series_marks).collect();
    let ticks = chart.ticks.iter();
    let ticks: Vec<_> = ticks
        .map(|tick| view! { <span>{group_text(tick)}</span> })
        .collect();
    let is_thinned = chart.labels.iter().any(|label| label.places > 1);
    let labels = chart.labels.iter();
    let labels: Vec<_> = labels
        .map(|label| view! { <span>{label.text.clone()}</span> })
        .collect();
    let zero = ["M0 ", &chart.zero.to_string(), "H10000"].concat();
    view! {
        <figure class="chart">
            <div class="chart-ticks" aria-hidden="true">{ticks}</div>
            <svg
                class="chart-plot"
                viewBox="0 0 10000 10000"
                preserveAspectRatio="none"
                role="img"
                aria-label=texts::chart(name)
            >
                <path class="chart-grid" d=grid_path(chart.ticks.len())/>
                {marks}
                <path class="chart-zero" d=zero/>
            </svg>
            <div class="chart-labels" class:thinned=is_thinned aria-hidden="true">{labels}</div>
        </figure>
    }
    .erase()
}

/// Horizontal grid lines at equal distances.
fn grid_path(lines: usize) -> String {
    let mut path = String::new();
    for line in 0..lines {
        let top = line * EXTENT / (lines - 1).max(1);
        path.push_str(&["M0 ", &top.to_string(), "H10000"].concat());
    }
    path
}

fn series_marks((index, series): (usize, &Series)) -> AnyView {
    let (mut path, mut dots) = (String::new(), String::new());
    let kind = match &series.marks {
        SeriesMarks::Bars(bars) => {
            for bar in bars {
                let (right, bottom) = (bar.left + bar.width, bar.top + bar.height);
                push_point(&mut path, "M", bar.left, bar.top);
                push_point(&mut path, "L", right, bar.top);
                push_point(&mut path, "L", right, bottom);
                push_point(&mut path, "L", bar.left, bottom);
                path.push('Z');
            }
            "chart-bars"
        }
        SeriesMarks::Lines(lines) => {
            for points in lines {
                let mut command = "M";
                for point in points {
                    push_point(&mut path, command, point.left, point.top);
                    command = "L";
                }
                // One point is no line; a line of zero length is drawn as a dot.
                if let [only] = &points[..] {
                    push_point(&mut dots, "M", only.left, only.top);
                    push_point(&mut dots, "L", only.left, only.top);
                }
            }
            "chart-line"
        }
    };
    let class = |kind| [kind, " ", &series_class(index)].concat();
    let dots = (!dots.is_empty()).then(|| view! { <path class=class("chart-dots") d=dots/> });
    view! {
        <path class=class(kind) d=path/>
        {dots}
    }
    .erase()
}

pub fn push_point(path: &mut String, command: &str, left: u32, top: u32) {
    path.push_str(&[command, &left.to_string(), " ", &top.to_string()].concat());
}

pub fn series_class(index: usize) -> String {
    ["series-", &(index + 1).to_string()].concat()
}

/// One place is the style sheet's default, which markup from the server needs: its policy forbids styles there.
fn axis_label(label: &AxisLabel) -> AnyView {
    let places = (label.places > 1).then(|| label.places.to_string());
    view! { <span style:flex-grow=places>{label.text.clone()}</span> }.erase()
}

/// The legend; a single series without a name needs none.
fn legend(series: &[Series]) -> AnyView {
    let entries: Vec<_> = series
        .iter()
        .enumerate()
        .filter(|(_, series)| !series.name.is_empty())
        .map(|(index, series)| {
            view! {
                <li>
                    <span class=["chart-key ", &series_class(index)].concat()></span>
                    <span dir="auto">{series.name.clone()}</span>
                </li>
            }
        })
        .collect();
    view! { <ul class="chart-legend">{entries}</ul> }.erase()
}
