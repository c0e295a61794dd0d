//! Why an address gave no page, said to the model that asked for it: what happened, and what to do instead.

use std::time::Duration;

use crate::text::shortened;

/// What can go wrong. Its words quote no more of an address or an answer than a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("\"{0}\" is not a web address. Give a whole one, such as https://example.org/page.")]
    NotAnAddress(String),
    #[error("Addresses that begin with \"{0}:\" can't be fetched, only http: and https:.")]
    Scheme(String),
    #[error("Addresses with a user name or a password in them can't be fetched. Leave them out.")]
    Credentials,
    #[error("Port {0} is not one of web pages. Try the address without it.")]
    Port(u16),
    /// The host stands for an address that is not public. Which one is nobody's business.
    #[error(
        "{0} is an address inside this network, which is not allowed. Try a public address, or ask the person for the text."
    )]
    Internal(String),
    #[error("There is no host named {0}. Check the spelling, or search for the page.")]
    UnknownHost(String),
    #[error("{host} can't be reached: {cause}. Try another address.")]
    Unreachable { host: String, cause: String },
    #[error("The page took longer than {} s. Try another address.", .0.as_secs_f32())]
    TooSlow(Duration),
    #[error("The page redirected more than {0} times. Try another address.")]
    TooManyRedirects(usize),
    #[error("The page redirects to something that is not a web address. Try another address.")]
    BadRedirect,
    #[error("The page answered {status}. {}", what_to_do(*.status))]
    Status { status: u16 },
    #[error("The address gives {0}, which can't be read as text. Look for a version of it as a web page.")]
    UnsupportedType(String),
    #[error("The page broke off or came garbled. Try again once, or try another address.")]
    Broken,
    #[error("The page can't be read. Try another address.")]
    Unreadable,
}

fn what_to_do(status: u16) -> &'static str {
    match status {
        401 | 403 | 407 | 451 => "It does not want to be read by programs. Try another address.",
        404 | 410 => "It is not there. Check the address, or search for the page.",
        408 | 429 | 500..=599 => "It may work later. Try another address for now.",
        _ => "Try another address.",
    }
}

/// At most a line of what came from outside.
pub fn quote(text: &str) -> String {
    const LONGEST: usize = 200;
    // One more, to see whether there is more.
    let line = text.chars().filter(|c| !c.is_control()).take(LONGEST + 1);
    shortened(line.collect(), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_to_do_instead() {
        let said = |error: FetchError| error.to_string();
        assert_eq!(
            said(FetchError::Status { status: 404 }),
            "The page answered 404. It is not there. Check the address, or search for the page."
        );
        assert_eq!(
            said(FetchError::TooSlow(Duration::from_secs(20))),
            "The page took longer than 20 s. Try another address."
        );
    }

    #[test]
    fn what_is_quoted_is_one_line_and_not_long() {
        assert_eq!(quote("a\r\nb\u{1b}[0m"), "ab[0m");
        assert_eq!(quote(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(quote(&"é".repeat(201)), "é".repeat(200) + "…");
    }
}
