//! Which addresses a link may have. Everything else is shown as the plain text of the link.

/// The schemes that a link may name. Relative addresses and fragments are allowed as well: they lead to this very site,
/// on which no GET changes anything.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// Whether a link to `href` may be made. `href` is the address as it would stand in the attribute: escapes and entities
/// are already decoded.
///
/// Browsers drop tabs and line breaks anywhere in an address and control characters before it, so `java\nscript:` would
/// run. An address with any control character is therefore refused, and whatever stands before a `:` in the first
/// segment counts as a scheme, even where a stricter reader would call it a relative path.
pub fn is_allowed(href: &str) -> bool {
    if href.chars().any(char::is_control) {
        return false;
    }
    let href = href.trim_start();
    match href.find([':', '/', '?', '#', '\\']) {
        Some(end) if href[end..].starts_with(':') => {
            let scheme = &href[..end];
            SCHEMES.iter().any(|allowed| scheme.eq_ignore_ascii_case(allowed))
        }
        _ => true,
    }
}
