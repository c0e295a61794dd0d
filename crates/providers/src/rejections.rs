//! The features of requests that a server has rejected for a model. They are left out of later requests, until
//! Parlor is restarted.

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
};

use parking_lot::{Mutex, MutexGuard};

/// The rejected features by model.
#[derive(Debug)]
pub struct Rejections<F>(Mutex<HashMap<String, HashSet<F>>>);

impl<F> Default for Rejections<F> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<F: Copy + Eq + Hash> Rejections<F> {
    pub fn contains(&self, model: &str, feature: F) -> bool {
        self.lock()
            .get(model)
            .is_some_and(|known| known.contains(&feature))
    }

    /// Returns the number of rejected features.
    pub fn count(&self, model: &str) -> usize {
        self.lock().get(model).map_or(0, HashSet::len)
    }

    /// Adds a feature. Returns false if it was known.
    pub fn add(&self, model: &str, feature: F) -> bool {
        self.lock().entry(model.to_owned()).or_default().insert(feature)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, HashSet<F>>> {
        self.0.lock()
    }
}
