//! What the page that is shown has of its own: things that go when what has registered them goes.

use leptos::prelude::*;

/// Things of one kind, the latest last. Copies are the same list.
#[derive(Clone, Copy)]
pub struct Own<T: Clone + Send + Sync + 'static>(RwSignal<Vec<(usize, T)>>);

impl<T: Clone + Send + Sync + 'static> Own<T> {
    /// There are none.
    pub fn new() -> Self {
        Self(RwSignal::new(Vec::new()))
    }

    /// It is there from now on, as long as what is being rendered is.
    pub fn add(self, thing: T) {
        let Some(number) = self.0.try_update(|things| {
            let number = things.last().map_or(0, |(last, _)| last + 1);
            things.push((number, thing));
            number
        }) else {
            return;
        };
        on_cleanup(move || {
            // The page may be gone as a whole.
            let _ = self
                .0
                .try_update(|things| things.retain(|(known, _)| *known != number));
        });
    }

    /// The latest that fits.
    pub fn find(self, fits: impl Fn(&T) -> bool) -> Option<T> {
        self.0.with(|things| {
            let mut things = things.iter().rev();
            things
                .find(|(_, thing)| fits(thing))
                .map(|(_, thing)| thing.clone())
        })
    }
}
