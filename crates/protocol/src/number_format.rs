//! Formatting of numbers, the same on the server and in the browser.

/// Formats a number with its digits in groups of three: "1,234,567".
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a file size for people.
pub fn format_size(bytes: usize) -> String {
    let (number, unit) = match bytes {
        0..1000 => (bytes, " bytes"),
        1000..1_000_000 => (bytes.div_ceil(1000), " KB"),
        _ => (bytes.div_ceil(1_000_000), " MB"),
    };
    [&number.to_string(), unit].concat()
}

/// Groups the digits before the point of a written number: "-12,000.5". Other texts are returned unchanged.
pub fn group_text(text: &str) -> String {
    let (sign, rest) = text.split_at(usize::from(text.starts_with('-')));
    let whole = rest.split('.').next().unwrap_or(rest);
    let decimals = &rest[whole.len()..];
    let is_number = !whole.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match whole.parse() {
        Ok(whole) if is_number => [sign, &group_digits(whole), decimals].concat(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_digits_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(group_digits(number), text);
        }
    }

    #[test]
    fn groups_only_written_numbers() {
        for (text, grouped) in [
            ("1234", "1,234"),
            ("-12000.50", "-12,000.50"),
            ("0.25", "0.25"),
            ("1.5e9", "1.5e9"),
            ("2020-01", "2020-01"),
            ("", ""),
            ("-", "-"),
            ("é1", "é1"),
        ] {
            assert_eq!(group_text(text), grouped);
        }
    }
}
