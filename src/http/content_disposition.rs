//! The name and disposition of a file that a browser shows or saves (`Content-Disposition`, RFC 6266).

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Returns `inline` or `attachment` with a file name in any script. The second form of the name is for
/// clients that support RFC 8187, which all browsers do; the first is for all others.
pub fn content_disposition(how: &str, name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| {
            if matches!(c, ' '..='~') && !matches!(c, '"' | '\\') {
                c
            } else {
                '_'
            }
        })
        .collect();
    let encoded = utf8_percent_encode(name, NON_ALPHANUMERIC);
    if plain == name {
        return format!("{how}; filename=\"{plain}\"");
    }
    format!("{how}; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::content_disposition;

    #[test]
    fn name_is_given_in_ascii_and_utf8() {
        assert_eq!(
            content_disposition("inline", "a b.png"),
            "inline; filename=\"a b.png\""
        );
        assert_eq!(
            content_disposition("attachment", "Übung \"1\"\r\n.md"),
            "attachment; filename=\"_bung _1___.md\"; filename*=UTF-8''%C3%9Cbung%20%221%22%0D%0A%2Emd"
        );
    }
}
