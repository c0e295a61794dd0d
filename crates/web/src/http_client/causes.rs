//! The causes of an error.

use std::{error::Error, io, iter};

type Cause<'a> = &'a (dyn Error + 'static);

/// Iterates over an error and its causes, outermost first.
pub fn causes(error: Cause<'_>) -> impl Iterator<Item = Cause<'_>> {
    causes_with(error, |_| None)
}

/// Iterates over an error and its causes, outermost first. `hidden_cause` returns the cause of an error that does
/// not return it as its source.
pub fn causes_with<'a>(
    error: Cause<'a>,
    hidden_cause: impl Fn(Cause<'a>) -> Option<Cause<'a>>,
) -> impl Iterator<Item = Cause<'a>> {
    iter::successors(Some(error), move |&error| {
        hidden_cause(error)
            .or_else(|| io_cause(error))
            .or_else(|| error.source())
    })
}

/// Returns the error inside an `io::Error`, whose source is that error's source.
fn io_cause(error: Cause<'_>) -> Option<Cause<'_>> {
    let inner: Cause = error.downcast_ref::<io::Error>()?.get_ref()?;
    Some(inner)
}

/// Returns the innermost cause, which is the specific one.
pub fn innermost_cause(error: Cause<'_>) -> String {
    causes(error).last().unwrap_or(error).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] io::Error);

    #[test]
    fn lists_the_error_inside_an_io_error() {
        let error = Outer(io::Error::other(Outer(io::ErrorKind::TimedOut.into())));
        let texts: Vec<String> = causes(&error).map(ToString::to_string).collect();
        assert_eq!(texts, ["outer", "outer", "outer", "timed out"]);
        assert_eq!(causes(&error).filter(|cause| cause.is::<Outer>()).count(), 2);
        assert_eq!(innermost_cause(&error), "timed out");
    }

    #[test]
    fn follows_hidden_causes() {
        let hidden = io::Error::from(io::ErrorKind::TimedOut);
        let error = std::fmt::Error;
        let texts: Vec<String> = causes_with(&error, |error| {
            error.is::<std::fmt::Error>().then_some(&hidden as Cause)
        })
        .map(ToString::to_string)
        .collect();
        assert_eq!(texts, [error.to_string(), "timed out".into()]);
    }
}
