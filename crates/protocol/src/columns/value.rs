//! The check of answers against the type of their column. Models write numbers with units, and truth values in many ways.

use super::{ColumnQuestion, ColumnType};

const YES: [&str; 4] = ["yes", "true", "y", "1"];
const NO: [&str; 4] = ["no", "false", "n", "0"];

/// The words by which models say that a text has no answer.
const NO_ANSWER: [&str; 8] = [
    "n/a",
    "na",
    "none",
    "unknown",
    "not stated",
    "not reported",
    "not available",
    "not specified",
];

impl ColumnQuestion {
    /// Returns an answer in the form of the type; `None` if it is not of the type. An empty one is of every type.
    pub fn check_value(&self, answer: &str) -> Option<String> {
        let answer = answer.trim();
        if answer.is_empty() || self.kind != ColumnType::Text && is_no_answer(answer) {
            return Some(String::new());
        }
        match self.kind {
            ColumnType::Text => Some(answer.into()),
            ColumnType::Number => find_number(answer),
            ColumnType::YesNo => yes_or_no(answer),
            ColumnType::Choice => {
                let answer = answer.trim_end_matches('.').to_lowercase();
                let mut choices = self.choices.iter();
                choices
                    .find(|choice| choice.trim().to_lowercase() == answer)
                    .cloned()
            }
        }
    }
}

/// Returns true if a text says that there is no answer.
fn is_no_answer(answer: &str) -> bool {
    let answer = answer.trim_end_matches('.').to_lowercase();
    NO_ANSWER.contains(&answer.as_str())
}

/// Returns the truth value with which a text begins: the word stands alone, or punctuation follows it.
fn yes_or_no(answer: &str) -> Option<String> {
    let end = answer
        .find(|char: char| !char.is_alphanumeric())
        .unwrap_or(answer.len());
    let (word, rest) = answer.split_at(end);
    let rest = rest.trim_start();
    if !rest.is_empty() && !rest.starts_with([',', '.', ';', ':', '!', '(', '\u{2014}', '\u{2013}']) {
        return None;
    }
    let word = word.to_lowercase();
    if YES.contains(&word.as_str()) {
        Some("yes".into())
    } else {
        NO.contains(&word.as_str()).then(|| "no".into())
    }
}

/// Returns the only number of a text, such as `1234.5` of `1,234.5 mg`; `None` if there is none, or several. A name with digits, such as
/// `IL-6`, is none.
fn find_number(text: &str) -> Option<String> {
    let is_part = |char: char| char.is_ascii_digit() || matches!(char, '.' | ',' | '-' | '+' | '\u{2212}');
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let is_in_a_name = rest[..start].ends_with(char::is_alphabetic);
        let part = &rest[start..];
        let end = part.find(|char| !is_part(char)).unwrap_or(part.len());
        let word = part[..end].trim_end_matches(['.', ',', '-', '+', '\u{2212}']);
        if word.contains(|char: char| char.is_ascii_digit()) {
            if is_in_a_name {
                return None;
            }
            numbers.push(word);
        }
        rest = &part[end..];
    }
    let [word] = numbers[..] else {
        return None;
    };
    let number = word.replace('\u{2212}', "-");
    let number = match number.contains(',') {
        true if has_groups(&number) => number.replace(',', ""),
        true => return None,
        false => number,
    };
    number.parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some(number)
}

/// Returns true if the commas of a number stand before groups of three digits, and before its point: `12,345.6`.
fn has_groups(number: &str) -> bool {
    let whole = number.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default().trim_start_matches(['-', '+']);
    let is_group = |group: &str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    !number[whole.len()..].contains(',') && (1..=3).contains(&first.len()) && groups.all(is_group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_take_the_form_of_their_type() {
        let of = |kind, answer: &str| {
            let column = ColumnQuestion {
                question: "?".into(),
                kind,
                choices: vec!["Cohort study".into(), "Trial".into()],
                revision: 0,
            };
            column.check_value(answer)
        };
        for (kind, answer, value) in [
            (ColumnType::Text, " five grams ", Some("five grams")),
            (ColumnType::Number, "1,234.5 mg", Some("1234.5")),
            (ColumnType::Number, "about \u{2212}3.", Some("-3")),
            (ColumnType::Number, "12", Some("12")),
            (ColumnType::Number, "12,345,678", Some("12345678")),
            (ColumnType::Number, "1,5", None),
            (ColumnType::Number, "1.234,5", None),
            (ColumnType::Number, "IL-6", None),
            (ColumnType::Number, "COVID-19", None),
            (ColumnType::Number, "n=40", Some("40")),
            (ColumnType::Number, "Not reported.", Some("")),
            (ColumnType::Number, "2 to 3", None),
            (ColumnType::Number, "many", None),
            (ColumnType::Number, "1.2.3", None),
            (ColumnType::YesNo, "Yes, it was.", Some("yes")),
            (ColumnType::YesNo, "false", Some("no")),
            (ColumnType::YesNo, "no (see Table 2)", Some("no")),
            (ColumnType::YesNo, "N/A", Some("")),
            (ColumnType::YesNo, "No information in the text", None),
            (ColumnType::YesNo, "perhaps", None),
            (ColumnType::Choice, "cohort study.", Some("Cohort study")),
            (ColumnType::Choice, "Case report", None),
            (ColumnType::Choice, " ", Some("")),
        ] {
            assert_eq!(of(kind, answer).as_deref(), value, "{kind:?}: {answer}");
        }
    }
}
