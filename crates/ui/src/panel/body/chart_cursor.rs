//! The values of a chart at one place, under the pointer or chosen with the keyboard.

use std::sync::Arc;

use leptos::{ev, prelude::*, web_sys::HtmlElement};

use super::chart::{EXTENT, push_point, series_class};
use crate::{
    browser,
    panel::texts,
    runtime::{erase::Erase, signal::set_if_changed},
};
use parlor_protocol::{
    number_format::group_text,
    panel::{ChartView, SeriesMarks},
};

/// The number of steps of the page keys.
const PAGE_KEY_STEPS: usize = 10;

/// The chosen place on the horizontal axis.
#[derive(Clone)]
pub struct ChartCursor {
    chart: Arc<ChartView>,
    place: RwSignal<Option<usize>>,
}

impl ChartCursor {
    pub fn new(chart: &ChartView) -> Self {
        Self {
            chart: Arc::new(chart.clone()),
            place: RwSignal::new(None),
        }
    }

    /// The number of places.
    fn count(&self) -> usize {
        self.chart.data.rows.len()
    }

    /// The horizontal coordinate of the middle of a place, as the points of lines have it.
    fn middle(&self, place: usize) -> usize {
        (2 * place + 1) * EXTENT / (2 * self.count()).max(1)
    }

    /// The mark behind the series: a column for bars, a line otherwise.
    pub fn background(&self) -> AnyView {
        let cursor = self.clone();
        (move || cursor.place.get().map(|place| cursor.render_background(place))).erase()
    }

    fn render_background(&self, place: usize) -> AnyView {
        let has_bars = self
            .chart
            .series
            .iter()
            .any(|series| matches!(series.marks, SeriesMarks::Bars(_)));
        if has_bars {
            let edge = |place: usize| (place * EXTENT / self.count().max(1)).to_string();
            let path = ["M", &edge(place), " 0V10000H", &edge(place + 1), "V0Z"].concat();
            view! { <path class="chart-column" d=path/> }.erase()
        } else {
            let path = ["M", &self.middle(place).to_string(), " 0V10000"].concat();
            view! { <path class="chart-cursor" d=path/> }.erase()
        }
    }

    /// The dots on the lines at the chosen place.
    pub fn dots(&self) -> AnyView {
        let cursor = self.clone();
        (move || cursor.place.get().map(|place| cursor.render_dots(place))).erase()
    }

    fn render_dots(&self, place: usize) -> Vec<AnyView> {
        let left = self.middle(place);
        let series = self.chart.series.iter().enumerate();
        let dot = |(index, marks): (usize, &SeriesMarks)| {
            let SeriesMarks::Lines(lines) = marks else {
                return None;
            };
            let point = lines.iter().flatten().find(|point| point.left as usize == left)?;
            let mut path = String::new();
            push_point(&mut path, "M", point.left, point.top);
            push_point(&mut path, "L", point.left, point.top);
            let class = ["chart-dots ", &series_class(index)].concat();
            Some(view! { <path class=class d=path/> }.erase())
        };
        series
            .filter_map(|(index, series)| dot((index, &series.marks)))
            .collect()
    }

    /// The part that takes the pointer and the keys, with the values.
    pub fn overlay(&self, name: &str) -> AnyView {
        let count = self.count();
        if count == 0 {
            return ().into_any();
        }
        let place = self.place;
        // The place that the focus shows. A touch is over before it focuses the element.
        let last = StoredValue::new(0);
        let go_to = move |new: usize| {
            last.set_value(new);
            set_if_changed(&place, &Some(new));
        };
        let is_focused = StoredValue::new(false);
        let place_of = move |event: &ev::PointerEvent| {
            let width = event_target::<HtmlElement>(event).client_width().max(1);
            let left = event.offset_x().clamp(0, width - 1);
            // Both are small and not negative.
            left as usize * count / width as usize
        };
        let hover = move |event: ev::PointerEvent| set_if_changed(&place, &Some(place_of(&event)));
        let tap = move |event: ev::PointerEvent| go_to(place_of(&event));
        let leave = move |_| {
            if !is_focused.get_value() {
                place.set(None);
            }
        };
        let focus = move |_| {
            is_focused.set_value(true);
            if place.get_untracked().is_none() {
                go_to(last.get_value());
            }
        };
        let blur = move |_| {
            is_focused.set_value(false);
            place.set(None);
        };
        let press = move |event: ev::KeyboardEvent| {
            if browser::has_modifier(&event) {
                return;
            }
            let now = place.get_untracked().unwrap_or(0);
            let new = match event.key().as_str() {
                "ArrowLeft" | "ArrowDown" => now.saturating_sub(1),
                "ArrowRight" | "ArrowUp" => now + 1,
                "PageDown" => now.saturating_sub(PAGE_KEY_STEPS),
                "PageUp" => now + PAGE_KEY_STEPS,
                "Home" => 0,
                "End" => count,
                _ => return,
            };
            event.prevent_default();
            go_to(new.min(count - 1));
        };
        let (values, words) = (self.clone(), self.clone());
        view! {
            <div
                class="chart-overlay"
                role="slider"
                tabindex="0"
                aria-label=texts::chart_values(name)
                aria-valuemin="1"
                aria-valuemax=count.to_string()
                aria-valuenow=move || (place.get().unwrap_or(0) + 1).to_string()
                aria-valuetext=move || words.describe(place.get().unwrap_or(0))
                on:pointermove=hover
                on:pointerdown=tap
                on:pointerleave=leave
                on:focus=focus
                on:blur=blur
                on:keydown=press
            >
                {move || place.get().map(|place| values.values(place))}
            </div>
        }
        .erase()
    }

    /// The label of a place, and the names and values of the series there.
    fn entries(&self, place: usize) -> (String, Vec<(usize, String, String)>) {
        let row = self.chart.data.rows.get(place).map_or(&[][..], |row| &row[..]);
        let label = row.first().cloned().unwrap_or_default();
        let series = self.chart.series.iter().enumerate();
        let entries = series.map(|(index, series)| {
            let value = row.get(index + 1).filter(|value| !value.is_empty());
            let value = value.map_or_else(|| texts::NO_VALUE.into(), |value| group_text(value));
            (index, series.name.clone(), value)
        });
        (label, entries.collect())
    }

    /// The values in words: "June: Rain 30, Sun 4".
    fn describe(&self, place: usize) -> String {
        let (label, entries) = self.entries(place);
        let entries = entries.into_iter().map(|(_, name, value)| match name.as_str() {
            "" => value,
            name => [name, " ", &value].concat(),
        });
        [&label, ": ", &entries.collect::<Vec<_>>().join(", ")].concat()
    }

    /// The values next to their place, at the side that has more room.
    fn values(&self, place: usize) -> AnyView {
        let (label, entries) = self.entries(place);
        let entries: Vec<_> = entries
            .into_iter()
            .map(|(index, name, value)| {
                view! {
                    <li>
                        <span class=["chart-key ", &series_class(index)].concat()></span>
                        <span class="chart-value-name" dir="auto">{name}</span>
                        <span class="chart-value">{value}</span>
                    </li>
                }
            })
            .collect();
        let middle = self.middle(place);
        let percent = [&(middle / 100).to_string(), "%"].concat();
        view! {
            <div class="chart-values" class:chart-values-before={middle > EXTENT / 2} style:left=percent aria-hidden="true">
                <strong dir="auto">{label}</strong>
                <ul>{entries}</ul>
            </div>
        }
        .erase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::panel::{ChartPoint, Series, TableView};

    #[test]
    fn describes_the_values_of_a_place() {
        let owner = Owner::new();
        owner.set();
        let series = |name: &str| Series {
            name: name.into(),
            marks: SeriesMarks::Lines(vec![vec![ChartPoint { left: 2500, top: 10 }]]),
        };
        let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
        let cursor = ChartCursor::new(&ChartView {
            series: vec![series("Rain"), series("")],
            ticks: vec![],
            zero: 0,
            labels: vec![],
            data: TableView {
                title: None,
                columns: vec![],
                rows: vec![row(["May", "12000.5", "3"]), row(["June", "-1", ""])],
                missing: String::new(),
                stored_rows: None,
                has_columns: false,
            },
        });
        assert_eq!(cursor.describe(0), "May: Rain 12,000.5, 3");
        assert_eq!(cursor.describe(1), "June: Rain -1, no value");
        assert_eq!((cursor.render_dots(0).len(), cursor.render_dots(1).len()), (2, 0));
    }
}
