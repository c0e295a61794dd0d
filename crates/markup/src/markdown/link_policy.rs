//! The check of every link's URL. A link that fails is shown as its plain text.

use super::invisible::is_invisible;

/// Schemes with a host that a link may have.
const WEB_SCHEMES: [&str; 2] = ["http", "https"];
const MAIL_SCHEME: &str = "mailto";

/// Returns true if a link to `href` is allowed. `href` is the URL as it would stand in the attribute: escapes and
/// entities are already decoded.
///
/// A link leads to a web host that is written out, to a mailbox, or to this site, on which no GET request
/// changes anything. Browsers drop tabs and line breaks anywhere in a URL and control characters around
/// it, read `\` as `/`, and take `https:x`, `//x` and `/\x` for other hosts. So a URL with a control
/// character is refused, a relative one may not begin with two slashes of either kind, `http` and `https`
/// need exactly two, no backslash may end the host, and any text before a `:` in the first segment counts as
/// a scheme, even where a stricter parser would read a relative path. User information before the host
/// (`https://bank.example@evil.example/`) is refused, since it makes the URL look like another host; so
/// are invisible and reordering characters in the host.
pub fn is_allowed(href: &str) -> bool {
    if href.chars().any(char::is_control) {
        return false;
    }
    // As in browsers: other whitespace is part of the URL.
    let href = href.trim_matches(' ');
    match href.find([':', '/', '\\', '?', '#']) {
        Some(end) if href[end..].starts_with(':') => {
            let (scheme, rest) = (&href[..end], &href[end + 1..]);
            if scheme.eq_ignore_ascii_case(MAIL_SCHEME) {
                // With two slashes, a mailbox's name would be read as user information before a host.
                return !rest.starts_with("//");
            }
            WEB_SCHEMES
                .iter()
                .any(|allowed| scheme.eq_ignore_ascii_case(allowed))
                && starts_with_host(rest)
        }
        _ => !["//", "/\\", "\\/", "\\\\"]
            .iter()
            .any(|slashes| href.starts_with(slashes)),
    }
}

/// Returns true if `//host/…`, the part of a URL after its scheme, begins with a host and nothing that disguises
/// it.
fn starts_with_host(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix("//") else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    !host.is_empty()
        && !host
            .chars()
            .any(|c| c == '@' || c == '\\' || c.is_whitespace() || is_invisible(c))
}
