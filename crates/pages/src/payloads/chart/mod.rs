//! `chart`: `{title?, kind: "bar" | "line", x: [labels], series: [{name, values: [numbers]}]}`. Unknown
//! values are null.
//!
//! A chart that cannot be drawn well, such as one of a hundred series, is shown only as the table that every
//! chart has.

mod scale;

use serde::Deserialize;
use serde_json::Value;

use self::scale::{CHART_SIZE, Scale};
use super::{formatting::Line, table};
use parlor_base::text::truncate_chars;
use parlor_protocol::panel::{AxisLabel, ChartBar, ChartPoint, ChartView, PanelBody, Series, SeriesMarks};

/// The maximum number of series with distinct colours.
const MAX_SERIES: usize = 6;
/// The maximum numbers of bars and of points of a line.
const MAX_BARS: usize = 200;
const MAX_POINTS: usize = 2000;
/// The maximum number of labels, and their length in characters.
const MAX_LABELS: usize = 8;
const MAX_LABEL_CHARS: usize = 24;

/// The maximum number of values. A larger chart is not shown, not even as a table.
const MAX_CELLS: usize = 200_000;

#[derive(Deserialize)]
struct ChartData {
    #[serde(default)]
    title: Line,
    kind: ChartKind,
    x: Vec<Line>,
    series: Vec<SeriesData>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ChartKind {
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
    let chart = ChartData::parse(data)?;
    let PanelBody::Table(table) = table::read(&chart.as_table(data))? else {
        return None;
    };
    if chart.series.len() > MAX_SERIES || chart.x.len() > chart.kind.max_points() {
        return Some(PanelBody::Table(table));
    }
    let Some(scale) = chart.scale() else {
        return Some(PanelBody::Table(table));
    };
    let series = chart.series.iter().enumerate();
    Some(PanelBody::Chart(ChartView {
        series: series
            .map(|(index, series)| Series {
                name: series.name.0.clone(),
                marks: chart.marks(&scale, index, &series.values),
            })
            .collect(),
        ticks: scale.ticks(),
        zero: scale.position(0.0),
        labels: axis_labels(&chart.x),
        data: table,
    }))
}

/// Returns the numbers unchanged, after a row of the series' names.
pub fn rows(data: &Value) -> Option<Vec<Vec<Value>>> {
    table::rows(&ChartData::parse(data)?.as_table(data))
}

impl ChartKind {
    fn max_points(self) -> usize {
        match self {
            Self::Bar => MAX_BARS,
            Self::Line => MAX_POINTS,
        }
    }
}

impl ChartData {
    fn parse(data: &Value) -> Option<Self> {
        let chart = Self::deserialize(data).ok()?;
        let max_length = chart.series.iter().map(|series| series.values.len()).max()?;
        let cells = chart.x.len().saturating_mul(chart.series.len());
        (max_length <= chart.x.len() && cells <= MAX_CELLS).then_some(chart)
    }

    /// Returns the data as a table. The numbers are copied unchanged: parsed numbers could be written
    /// differently.
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
        // Bars start at zero.
        let zero = (self.kind == ChartKind::Bar).then_some(0.0);
        Scale::from_values(values.flatten().copied().chain(zero))
    }

    fn marks(&self, scale: &Scale, series: usize, values: &[Option<f64>]) -> SeriesMarks {
        match self.kind {
            ChartKind::Bar => SeriesMarks::Bars(self.bars(scale, series, values)),
            ChartKind::Line => SeriesMarks::Lines(self.lines(scale, values)),
        }
    }

    /// Returns the bars of a series. The bars at one position are side by side, with a gap to the next
    /// position.
    fn bars(&self, scale: &Scale, series: usize, values: &[Option<f64>]) -> Vec<ChartBar> {
        let places = self.x.len() as u32;
        let of_all = self.series.len() as u32;
        // Each position has ten parts: one free on each side, and eight for the bars.
        let part = |place: u32, bar: u32| {
            (place * 10 + 1) * CHART_SIZE / (places * 10) + bar * 8 * CHART_SIZE / (places * 10 * of_all)
        };
        let bar = |(place, value): (u32, &Option<f64>)| {
            let left = part(place, series as u32);
            let (value, zero) = (scale.position((*value)?), scale.position(0.0));
            Some(ChartBar {
                left,
                top: value.min(zero),
                width: (part(place, series as u32 + 1) - left).max(1),
                height: value.abs_diff(zero),
            })
        };
        (0..).zip(values).filter_map(bar).collect()
    }

    fn lines(&self, scale: &Scale, values: &[Option<f64>]) -> Vec<Vec<ChartPoint>> {
        let places = self.x.len() as u32;
        let mut lines = vec![Vec::new()];
        for (place, value) in (0..).zip(values) {
            match (value, lines.last_mut()) {
                (Some(value), Some(line)) => line.push(ChartPoint {
                    left: (2 * place + 1) * CHART_SIZE / (2 * places),
                    top: scale.position(*value),
                }),
                _ => lines.push(Vec::new()),
            }
        }
        lines.retain(|line| !line.is_empty());
        lines
    }
}

/// Returns as many labels as fit.
fn axis_labels(x: &[Line]) -> Vec<AxisLabel> {
    let label = |places: &[Line]| AxisLabel {
        text: places
            .first()
            .map(|Line(text)| truncate_chars(text, MAX_LABEL_CHARS))
            .unwrap_or_default(),
        places: places.len() as u32,
    };
    x.chunks(x.len().div_ceil(MAX_LABELS).max(1)).map(label).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chart(data: &Value) -> ChartView {
        match read(data) {
            Some(PanelBody::Chart(chart)) => chart,
            other => panic!("{other:?} is no chart"),
        }
    }

    #[test]
    fn bars_start_at_zero_side_by_side() {
        let chart = chart(&json!({
            "title": "T", "kind": "bar", "x": ["a", 2020],
            "series": [{"name": "one", "values": [10, -10]}, {"name": "two", "values": [null, 5.5]}]
        }));
        let bar = |left, top, width, height| ChartBar {
            left,
            top,
            width,
            height,
        };
        assert_eq!(chart.ticks, ["10", "5", "0", "-5", "-10"]);
        assert_eq!(chart.zero, 5000);
        assert_eq!(
            chart.series[0].marks,
            SeriesMarks::Bars(vec![bar(500, 0, 2000, 5000), bar(5500, 5000, 2000, 5000)])
        );
        assert_eq!(
            chart.series[1].marks,
            SeriesMarks::Bars(vec![bar(7500, 2250, 2000, 2750)])
        );
        assert_eq!(chart.data.title.as_deref(), Some("T"));
        assert_eq!(chart.data.rows, [["a", "10", ""], ["2020", "-10", "5.5"]]);
    }

    #[test]
    fn line_breaks_at_missing_values() {
        let values = json!([1, 2, null, null, 3]);
        let chart = chart(&json!({
            "kind": "line", "x": ["a", "b", "c", "d", "e"], "series": [{"name": "s", "values": values}]
        }));
        let point = |left, top| ChartPoint { left, top };
        let lines = vec![vec![point(1000, 10_000), point(3000, 5000)], vec![point(9000, 0)]];
        assert_eq!(chart.series[0].marks, SeriesMarks::Lines(lines));
    }

    #[test]
    fn labels_are_thinned_to_fit() {
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
    fn undrawable_charts_become_tables() {
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
