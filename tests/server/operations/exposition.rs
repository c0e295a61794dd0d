//! A strict reader of Prometheus's text format 0.0.4, written from its specification.

use std::collections::{BTreeMap, BTreeSet};

/// The labels of a series, by name.
pub type Labels = BTreeMap<String, String>;

/// The figures that a server has exposed.
#[derive(Debug, Default)]
pub struct Exposition {
    pub types: BTreeMap<String, String>,
    help: BTreeMap<String, String>,
    series: BTreeMap<(String, Labels), f64>,
}

impl Exposition {
    /// Reads a text. Panics at anything that the format does not allow.
    pub fn parse(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has an end");
        let mut read = Self::default();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect(line);
                let known = read.help.insert(name.to_owned(), help.to_owned());
                assert!(known.is_none(), "a second HELP: {line}");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect(line);
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                let known = read.types.insert(name.to_owned(), kind.to_owned());
                assert!(known.is_none(), "a second TYPE: {line}");
            } else {
                read.add_series(line);
            }
        }
        read.check();
        read
    }

    fn add_series(&mut self, line: &str) {
        let (series, value) = line.rsplit_once(' ').expect(line);
        let value = value.parse().expect(line);
        let (name, labels) = match series.split_once('{') {
            Some((name, labels)) => (name, parse_labels(labels.strip_suffix('}').expect(line))),
            None => (series, Labels::new()),
        };
        assert!(is_name(name), "{line}");
        let family = self.family_of(name);
        assert!(family.is_some(), "without a TYPE before it: {line}");
        let known = self.series.insert((name.to_owned(), labels), value);
        assert!(known.is_none(), "a second one: {line}");
    }

    /// Returns the name under which a series is declared.
    fn family_of(&self, name: &str) -> Option<&str> {
        let of_histogram = ["_bucket", "_sum", "_count"]
            .into_iter()
            .filter_map(|ending| name.strip_suffix(ending))
            .find(|name| self.types.get(*name).is_some_and(|kind| kind == "histogram"));
        let name = of_histogram.unwrap_or(name);
        self.types.get_key_value(name).map(|(name, _)| name.as_str())
    }

    fn check(&self) {
        for (name, kind) in &self.types {
            assert!(self.help.contains_key(name), "{name} has no HELP");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
        }
        for ((name, labels), count) in &self.series {
            let Some(histogram) = name.strip_suffix("_count") else {
                continue;
            };
            if self.types.get(histogram).is_none_or(|kind| kind != "histogram") {
                continue;
            }
            let mut bucket_labels = labels.clone();
            bucket_labels.insert("le".into(), "+Inf".into());
            let bucket = (format!("{histogram}_bucket"), bucket_labels);
            assert_eq!(self.series.get(&bucket), Some(count), "{histogram}");
            let sum = (format!("{histogram}_sum"), labels.clone());
            assert!(self.series.contains_key(&sum), "{histogram}");
        }
    }

    /// Returns the value of a series.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.series.get(&(name.to_owned(), labels.collect())).copied()
    }

    /// Returns the names of all series.
    pub fn names(&self) -> BTreeSet<&str> {
        self.series.keys().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the labels of all series of a name.
    pub fn labels_of(&self, name: &str) -> Vec<&Labels> {
        let series = self.series.keys().filter(|(known, _)| known == name);
        series.map(|(_, labels)| labels).collect()
    }
}

fn parse_labels(mut text: &str) -> Labels {
    let mut labels = Labels::new();
    while !text.is_empty() {
        let (name, rest) = text.split_once("=\"").expect(text);
        assert!(is_name(name) && !name.contains(':'), "{text}");
        let (mut value, mut chars) = (String::new(), rest.char_indices());
        let end = loop {
            match chars.next().expect("a closing quote") {
                (at, '"') => break at,
                (_, '\\') => value.push(match chars.next().expect("an escaped character").1 {
                    'n' => '\n',
                    c @ ('\\' | '"') => c,
                    c => panic!("\\{c} is no escape"),
                }),
                (_, '\n') => panic!("a line in a label"),
                (_, c) => value.push(c),
            }
        };
        labels.insert(name.to_owned(), value);
        text = &rest[end + 1..];
        text = text.strip_prefix(',').unwrap_or(text);
    }
    labels
}

fn is_name(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':');
    name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit())
}
