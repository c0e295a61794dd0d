//! `chart`: `{title?, kind: "bar" | "line", x: [labels], series: [{name, values: [numbers]}]}`. A value that is not known is null.
//!
//! What can't be drawn well, such as a hundred series, is shown as the table that every chart comes with.

mod scale;

use serde::Deserialize;
use serde_json::Value;

use self::scale::{FULL, Scale};
use super::{
    table,
    words::{Line, shortened},
};
use crate::protocol::panel::{AxisLabel, Bar, Chart, Marks, PanelBody, Point, Series};

/// How many series are told from each other by their colours.
const SERIES: usize = 6;
/// How many bars, and how many points of a line, have room beside each other.
const BARS: usize = 200;
const POINTS: usize = 2000;
/// How many labels have room, and how long one may be.
const LABELS: usize = 8;
const LABEL: usize = 24;

/// A chart of more numbers is none, nor is it a table.
const CELLS: usize = 200_000;

#[derive(Deserialize)]
struct Data {
    #[serde(default)]
    title: Line,
    kind: Kind,
    x: Vec<Line>,
    series: Vec<SeriesData>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Bar,
    Line,
}

#[derive(Deserialize)]
struct SeriesData {
    #[serde(default)]
    name: Line,
    values: Vec<Option<f64>>,
}

pub fn read(data: &Value) -> Option<PanelBody> {
    let chart = Data::of(data)?;
    let PanelBody::Table(table) = table::read(&chart.as_table(data))? else {
        return None;
    };
    if chart.series.len() > SERIES || chart.x.len() > chart.kind.room() {
        return Some(PanelBody::Table(table));
    }
    let Some(scale) = chart.scale() else {
        return Some(PanelBody::Table(table));
    };
    let series = chart.series.iter().enumerate();
    Some(PanelBody::Chart(Chart {
        series: series
            .map(|(index, series)| Series {
                name: series.name.0.clone(),
                marks: chart.marks(&scale, index, &series.values),
            })
            .collect(),
        ticks: scale.ticks(),
        zero: scale.place(0.0),
        labels: labels(&chart.x),
        data: table,
    }))
}

/// The numbers as they were given, after a row with the series' names.
pub fn rows(data: &Value) -> Option<Vec<Vec<Value>>> {
    table::rows(&Data::of(data)?.as_table(data))
}

impl Kind {
    fn room(self) -> usize {
        match self {
            Self::Bar => BARS,
            Self::Line => POINTS,
        }
    }
}

impl Data {
    fn of(data: &Value) -> Option<Self> {
        let chart = Self::deserialize(data).ok()?;
        let longest = chart.series.iter().map(|series| series.values.len()).max()?;
        let cells = chart.x.len().saturating_mul(chart.series.len());
        (longest <= chart.x.len() && cells <= CELLS).then_some(chart)
    }

    /// The numbers as they were given: read as numbers they would be written differently.
    fn as_table(&self, data: &Value) -> Value {
        let names = self.series.iter().map(|series| series.name.0.as_str());
        let columns: Vec<&str> = std::iter::once("").chain(names).collect();
        let value = |series: usize, index: usize| &data["series"][series]["values"][index];
        let row = |index: usize| {
            let values = (0..self.series.len()).map(|series| value(series, index).clone());
            std::iter::once(data["x"][index].clone()).chain(values).collect()
        };
        let rows: Vec<Vec<Value>> = (0..self.x.len()).map(row).collect();
        serde_json::json!({ "title": self.title.0, "columns": columns, "rows": rows })
    }

    fn scale(&self) -> Option<Scale> {
        let values = self.series.iter().flat_map(|series| &series.values);
        // A bar begins at zero.
        let zero = (self.kind == Kind::Bar).then_some(0.0);
        Scale::of(values.flatten().copied().chain(zero))
    }

    fn marks(&self, scale: &Scale, series: usize, values: &[Option<f64>]) -> Marks {
        match self.kind {
            Kind::Bar => Marks::Bars(self.bars(scale, series, values)),
            Kind::Line => Marks::Lines(self.lines(scale, values)),
        }
    }

    /// The series' bars at one place stand side by side, with a gap to the next place.
    fn bars(&self, scale: &Scale, series: usize, values: &[Option<f64>]) -> Vec<Bar> {
        let places = self.x.len() as u32;
        let of_all = self.series.len() as u32;
        // Ten parts a place: one free on each side, eight for the bars.
        let part = |place: u32, bar: u32| {
            (place * 10 + 1) * FULL / (places * 10) + bar * 8 * FULL / (places * 10 * of_all)
        };
        let bar = |(place, value): (u32, &Option<f64>)| {
            let left = part(place, series as u32);
            let (value, zero) = (scale.place((*value)?), scale.place(0.0));
            Some(Bar {
                left,
                top: value.min(zero),
                width: (part(place, series as u32 + 1) - left).max(1),
                height: value.abs_diff(zero),
            })
        };
        (0..).zip(values).filter_map(bar).collect()
    }

    fn lines(&self, scale: &Scale, values: &[Option<f64>]) -> Vec<Vec<Point>> {
        let places = self.x.len() as u32;
        let mut lines = vec![Vec::new()];
        for (place, value) in (0..).zip(values) {
            match (value, lines.last_mut()) {
                (Some(value), Some(line)) => line.push(Point {
                    left: (2 * place + 1) * FULL / (2 * places),
                    top: scale.place(*value),
                }),
                _ => lines.push(Vec::new()),
            }
        }
        lines.retain(|line| !line.is_empty());
        lines
    }
}

/// As many labels as there is room for.
fn labels(x: &[Line]) -> Vec<AxisLabel> {
    let label = |places: &[Line]| AxisLabel {
        text: places
            .first()
            .map(|Line(text)| shortened(text, LABEL))
            .unwrap_or_default(),
        places: places.len() as u32,
    };
    x.chunks(x.len().div_ceil(LABELS).max(1)).map(label).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chart(data: &Value) -> Chart {
        match read(data) {
            Some(PanelBody::Chart(chart)) => chart,
            other => panic!("{other:?} is no chart"),
        }
    }

    #[test]
    fn bars_begin_at_zero_and_stand_side_by_side() {
        let chart = chart(&json!({
            "title": "T", "kind": "bar", "x": ["a", 2020],
            "series": [{"name": "one", "values": [10, -10]}, {"name": "two", "values": [null, 5.5]}]
        }));
        let bar = |left, top, width, height| Bar {
            left,
            top,
            width,
            height,
        };
        assert_eq!(chart.ticks, ["10", "5", "0", "-5", "-10"]);
        assert_eq!(chart.zero, 5000);
        assert_eq!(
            chart.series[0].marks,
            Marks::Bars(vec![bar(500, 0, 2000, 5000), bar(5500, 5000, 2000, 5000)])
        );
        assert_eq!(
            chart.series[1].marks,
            Marks::Bars(vec![bar(7500, 2250, 2000, 2750)])
        );
        assert_eq!(chart.data.title.as_deref(), Some("T"));
        assert_eq!(chart.data.rows, [["a", "10", ""], ["2020", "-10", "5.5"]]);
    }

    #[test]
    fn a_line_breaks_where_nothing_is_known() {
        let values = json!([1, 2, null, null, 3]);
        let chart = chart(&json!({
            "kind": "line", "x": ["a", "b", "c", "d", "e"], "series": [{"name": "s", "values": values}]
        }));
        let point = |left, top| Point { left, top };
        let lines = vec![vec![point(1000, 10_000), point(3000, 5000)], vec![point(9000, 0)]];
        assert_eq!(chart.series[0].marks, Marks::Lines(lines));
    }

    #[test]
    fn there_are_as_many_labels_as_there_is_room_for() {
        let x: Vec<u32> = (2000..2030).collect();
        let values = vec![1; 30];
        let chart = chart(&json!({"kind": "line", "x": x, "series": [{"values": values}]}));
        let texts: Vec<&str> = chart.labels.iter().map(|label| label.text.as_str()).collect();
        assert_eq!(
            texts,
            ["2000", "2004", "2008", "2012", "2016", "2020", "2024", "2028"]
        );
        assert_eq!(chart.labels.iter().map(|label| label.places).sum::<u32>(), 30);
    }

    #[test]
    fn what_cannot_be_drawn_is_a_table_and_what_does_not_match_is_nothing() {
        let series = |count: usize| vec![json!({"name": "s", "values": [1]}); count];
        let drawn = |series: Value| read(&json!({"kind": "bar", "x": ["a"], "series": series}));
        assert!(matches!(drawn(json!(series(6))), Some(PanelBody::Chart(_))));
        assert!(matches!(drawn(json!(series(7))), Some(PanelBody::Table(_))));
        assert!(matches!(
            drawn(json!([{"values": [-1e308]}, {"values": [1e308]}])),
            Some(PanelBody::Table(_))
        ));
        assert!(matches!(
            drawn(json!([{"values": []}])),
            Some(PanelBody::Chart(_))
        ));
        assert_eq!(drawn(json!([{"values": [1, 2]}])), None);
        assert_eq!(drawn(json!([{"values": ["1"]}])), None);
        assert_eq!(drawn(json!([])), None);
        assert_eq!(
            read(&json!({"kind": "pie", "x": ["a"], "series": series(1)})),
            None
        );
    }
}
