//! The models that a person wants at hand: the favourites and the last used ones, as this browser stores them.

use crate::browser;

const FAVOURITES_KEY: &str = "parlor-favourite-models";
const LAST_USED_KEY: &str = "parlor-last-models";

/// The maximum number of last used models.
const MAX_LAST_USED: usize = 5;

/// The maximum number of favourites.
const MAX_FAVOURITES: usize = 50;

/// The ids of the models at hand, the first ones first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelShortlist {
    pub favourites: Vec<String>,
    pub last_used: Vec<String>,
}

impl ModelShortlist {
    /// Reads it. Other tabs may have changed it.
    pub fn load() -> Self {
        Self {
            favourites: read(FAVOURITES_KEY),
            last_used: read(LAST_USED_KEY),
        }
    }

    /// Makes a model a favourite, or no longer. Returns the favourites.
    pub fn toggle_favourite(id: &str) -> Vec<String> {
        let favourites = toggled(read(FAVOURITES_KEY), id);
        write(FAVOURITES_KEY, &favourites);
        favourites
    }

    /// Notes that a model was chosen.
    pub fn note_use(id: &str) {
        write(LAST_USED_KEY, &used(read(LAST_USED_KEY), id));
    }
}

fn toggled(mut ids: Vec<String>, id: &str) -> Vec<String> {
    let before = ids.len();
    ids.retain(|favourite| favourite != id);
    if ids.len() == before && before < MAX_FAVOURITES {
        ids.push(id.to_owned());
    }
    ids
}

fn used(mut ids: Vec<String>, id: &str) -> Vec<String> {
    ids.retain(|used| used != id);
    ids.insert(0, id.to_owned());
    ids.truncate(MAX_LAST_USED);
    ids
}

/// Ids have no line breaks: one a line.
fn read(key: &str) -> Vec<String> {
    let stored = browser::storage_get(key).unwrap_or_default();
    stored.lines().map(str::to_owned).collect()
}

fn write(key: &str, ids: &[String]) {
    browser::storage_set(key, Some(&ids.join("\n")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_used_model_is_the_first() {
        let mut ids = Vec::new();
        for id in ["a", "b", "c", "d", "e", "a", "f"] {
            ids = used(ids, id);
        }
        assert_eq!(ids, ["f", "a", "e", "d", "c"]);
    }

    #[test]
    fn a_second_press_takes_the_star_away() {
        let one = toggled(vec!["a".into()], "b");
        assert_eq!(one, ["a", "b"]);
        assert_eq!(toggled(one, "a"), ["b"]);
    }
}
