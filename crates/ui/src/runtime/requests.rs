//! The order of requests for one value: responses may come in another one.

use leptos::prelude::*;

/// Numbers the requests for a value. The response to any but the last one is discarded.
#[derive(Clone, Copy)]
pub struct LastRequest(StoredValue<u32>);

impl LastRequest {
    /// Creates it for the value of a view, with which it ends.
    pub fn new() -> Self {
        Self(StoredValue::new(0))
    }

    /// Returns the number of a new request.
    pub fn begin(self) -> u32 {
        self.0
            .try_update_value(|number| {
                *number = number.wrapping_add(1);
                *number
            })
            .unwrap_or_default()
    }

    /// Returns true if no request was made after this one, and the view is still there.
    pub fn is_last(self, number: u32) -> bool {
        self.0.try_get_value() == Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_requests_are_outdated() {
        let owner = Owner::new();
        let requests = owner.with(LastRequest::new);
        let (first, second) = (requests.begin(), requests.begin());
        assert!(!requests.is_last(first) && requests.is_last(second));
        owner.cleanup();
        assert!(!requests.is_last(second));
    }
}
