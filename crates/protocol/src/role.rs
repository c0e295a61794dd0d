//! The roles of users.

use serde::Deserialize;

/// The rights of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Manages the accounts.
    Administrator,
    Member,
}

impl Role {
    /// Returns the name as stored and as in forms.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Member => "member",
        }
    }

    /// Returns the role with a name. Any other name is the role with fewer rights.
    pub fn from_name(name: &str) -> Self {
        match name {
            "administrator" => Self::Administrator,
            _ => Self::Member,
        }
    }
}
