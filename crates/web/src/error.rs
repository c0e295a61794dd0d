//! Errors of fetching a page, for the model that asked for it: what happened, and what to do
//! instead.

use std::time::Duration;

use parlor_base::text::single_line;

/// The maximum length of a quotation, in characters.
const MAX_QUOTE_CHARS: usize = 200;

/// An error of fetching. Its message quotes at most one line of a URL or a response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("\"{0}\" is not a web address. Give a whole one, such as https://example.org/page.")]
    InvalidUrl(String),
    #[error("Addresses that begin with \"{0}:\" can't be fetched, only http: and https:.")]
    UnsupportedScheme(String),
    #[error("Addresses with a user name or a password in them can't be fetched. Leave them out.")]
    HasCredentials,
    #[error("Port {0} is not one of web pages. Try the address without it.")]
    BlockedPort(u16),
    /// The host resolves to an IP address that is not public. The message does not reveal which one.
    #[error(
        "{0} is an address inside this network, which is not allowed. Try a public address, or ask the person for the text."
    )]
    InternalAddress(String),
    #[error("There is no host named {0}. Check the spelling, or search for the page.")]
    UnknownHost(String),
    #[error("{host} can't be reached: {cause}. Try another address.")]
    Unreachable { host: String, cause: String },
    #[error("The page took longer than {} s. Try another address.", .0.as_secs_f32())]
    Timeout(Duration),
    #[error("The page redirected more than {0} times. Try another address.")]
    TooManyRedirects(usize),
    #[error("The page redirects to something that is not a web address. Try another address.")]
    InvalidRedirect,
    #[error("The page answered {status}. {}", status_advice(*.status))]
    Status { status: u16 },
    #[error("The address gives {0}, which can't be read as text. Look for a version of it as a web page.")]
    UnsupportedType(String),
    #[error("The page broke off or came garbled. Try again once, or try another address.")]
    ConnectionBroken,
    #[error("The page can't be read. Try another address.")]
    Unreadable,
}

fn status_advice(status: u16) -> &'static str {
    match status {
        401 | 403 | 407 | 451 => "It does not want to be read by programs. Try another address.",
        404 | 410 => "It is not there. Check the address, or search for the page.",
        408 | 429 | 500..=599 => "It may work later. Try another address for now.",
        _ => "Try another address.",
    }
}

/// Quotes at most one line of untrusted text.
pub fn quote_line(text: &str) -> String {
    single_line(text, MAX_QUOTE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_advises_what_to_do() {
        let said = |error: FetchError| error.to_string();
        assert_eq!(
            said(FetchError::Status { status: 404 }),
            "The page answered 404. It is not there. Check the address, or search for the page."
        );
        assert_eq!(
            said(FetchError::Timeout(Duration::from_secs(20))),
            "The page took longer than 20 s. Try another address."
        );
    }

    #[test]
    fn quotes_one_short_line() {
        assert_eq!(quote_line("a\r\nb\u{1b}[0m"), "a b [0m");
        assert_eq!(quote_line(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(quote_line(&"é".repeat(201)), "é".repeat(200) + "…");
    }
}
