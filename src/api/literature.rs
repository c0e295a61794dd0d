//! What the page *Literature* begins with, when it is loaded with its address.

use serde::{Deserialize, Serialize};

use super::ApiError;
use crate::protocol::literature::{Found, FullArticle, Library};

/// What the page *Literature* begins with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opened {
    pub library: Result<Library, ApiError>,
    /// What the address searches for, unless that takes too long.
    pub found: Option<Result<Found, ApiError>>,
    /// The article that the address names, unless that takes too long.
    pub article: Option<Result<FullArticle, ApiError>>,
}
