//! The check of answers against the type of their column. Models write numbers with units, and truth values in many ways.

use super::{ColumnQuestion, ColumnType};

const YES: [&str; 4] = ["yes", "true", "y", "1"];
const NO: [&str; 4] = ["no", "false", "n", "0"];

impl ColumnQuestion {
    /// Returns an answer in the form of the type; `None` if it is not of the type. An empty one is of every type.
    pub fn check_value(&self, answer: &str) -> Option<String> {
        let answer = answer.trim();
        if answer.is_empty() {
            return Some(String::new());
        }
        match self.kind {
            ColumnType::Text => Some(answer.into()),
            ColumnType::Number => find_number(answer),
            ColumnType::YesNo => {
                let word = answer
                    .split(|char: char| !char.is_alphanumeric())
                    .next()
                    .unwrap_or_default()
                    .to_lowercase();
                let is = |words: &[&str]| words.contains(&word.as_str());
                match (is(&YES), is(&NO)) {
                    (true, _) => Some("yes".into()),
                    (_, true) => Some("no".into()),
                    _ => None,
                }
            }
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

/// Returns the only number of a text, such as `1234.5` of `1,234.5 mg`; `None` if there is none, or several.
fn find_number(text: &str) -> Option<String> {
    let is_part = |char: char| char.is_ascii_digit() || matches!(char, '.' | ',' | '-' | '+' | '\u{2212}');
    let words = text.split(|char: char| !is_part(char));
    let mut numbers = words
        .map(|word| word.trim_end_matches(['.', ',', '-']))
        .filter(|word| word.chars().any(|char| char.is_ascii_digit()));
    let number = numbers.next()?.replace('\u{2212}', "-").replace(',', "");
    if numbers.next().is_some() {
        return None;
    }
    number.parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some(number)
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
            (ColumnType::Number, "2 to 3", None),
            (ColumnType::Number, "many", None),
            (ColumnType::Number, "1.2.3", None),
            (ColumnType::YesNo, "Yes, it was.", Some("yes")),
            (ColumnType::YesNo, "false", Some("no")),
            (ColumnType::YesNo, "perhaps", None),
            (ColumnType::Choice, "cohort study.", Some("Cohort study")),
            (ColumnType::Choice, "Case report", None),
            (ColumnType::Choice, " ", Some("")),
        ] {
            assert_eq!(of(kind, answer).as_deref(), value, "{kind:?}: {answer}");
        }
    }
}
