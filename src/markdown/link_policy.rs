//! The check of every link's address. What does not pass is shown as the plain text of the link.

use super::unseen::is_unseen;

/// Schemes with a host that a link may name.
const WEB_SCHEMES: [&str; 2] = ["http", "https"];
const MAIL_SCHEME: &str = "mailto";

/// Whether a link to `href` may be made. `href` is the address as it would stand in the attribute: escapes and entities
/// are already decoded.
///
/// A link leads to a host of the web that is written out, to a mailbox, or to this very site, on which no GET changes anything.
/// Browsers drop tabs and line breaks anywhere in an address and control characters around it, read `\` as `/`, and take `https:x`,
/// `//x` and `/\x` for other hosts. So an address with a control character is refused, a relative one may not begin with two
/// slashes of either kind, `http` and `https` need exactly two, no backslash may end the host, and whatever stands before a `:` in
/// the first segment counts as a scheme, even where a stricter reader would call it a relative path. A name before the host (`https://bank.example@evil.example/`) only makes it
/// look like another host, as invisible and reordering characters in it do.
pub fn is_allowed(href: &str) -> bool {
    if href.chars().any(char::is_control) {
        return false;
    }
    // As browsers do: other white space is a part of the address.
    let href = href.trim_matches(' ');
    match href.find([':', '/', '\\', '?', '#']) {
        Some(end) if href[end..].starts_with(':') => {
            let (scheme, rest) = (&href[..end], &href[end + 1..]);
            if scheme.eq_ignore_ascii_case(MAIL_SCHEME) {
                return true;
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

/// Whether `//host/…`, the part of an address behind its scheme, begins with a host and nothing that hides it.
fn starts_with_host(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix("//") else {
        return false;
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    !host.is_empty()
        && !host
            .chars()
            .any(|c| c == '@' || c == '\\' || c.is_whitespace() || is_unseen(c))
}
