//! The texts of the list of models.

pub(super) const FAVOURITES: &str = "Favourites";
pub(super) const LAST_USED: &str = "Last used";
pub(super) const FAVOURITE: &str = "Favourite";
pub(super) const ADD_MODEL: &str = "Add a model";
pub(super) const NO_MODEL: &str = "No model has this name.";

/// The number of shown models.
pub(super) fn models(count: usize) -> String {
    match count {
        1 => "1 model".into(),
        count => [&count.to_string(), " models"].concat(),
    }
}
