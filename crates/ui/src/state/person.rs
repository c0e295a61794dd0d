//! The signed-in user of the page, as the server knows them. Without accounts there is none.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

/// The user for whom the server made the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub name: String,
    pub is_administrator: bool,
    /// True if Parlor has signed them in; false behind a proxy that does it.
    pub has_session: bool,
    /// True if people sign in here with passwords of Parlor.
    pub has_password: bool,
    /// True if people may add keys of their own for model servers.
    pub may_bring_keys: bool,
}

/// The context with the person of the page. The server provides it for the page's snapshot, and the page for its views.
#[derive(Clone, Debug, Default)]
pub struct PagePerson(pub Option<Person>);

/// Returns the person of the page.
pub fn use_person() -> Option<Person> {
    use_context::<PagePerson>().unwrap_or_default().0
}
