//! Lists of views.

use leptos::prelude::*;
use serde::Serialize;

use crate::{browser, runtime::erase::Erase};
use parlor_protocol::{
    AttachmentId, ConversationId, JobId, MemoryId, MessageId, ProjectId, ResearchStreamId, ShareId, TokenId,
};

/// The key of an item, unique within its list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct ItemKey(pub u64, pub u64);

/// Shows a changing list; an item keeps its view as long as it has its key, and the focus when the list is ordered anew.
///
/// This replaces Leptos's `For`, which is large and is compiled again for every item type. Here it always gets the same
/// type: a key, and a function that makes the view.
#[component]
pub fn Each<T, K, V>(
    /// Returns the items. Tracked.
    of: impl Fn() -> Vec<T> + Send + 'static,
    key: impl Fn(&T) -> K + Send + 'static,
    /// Makes an item's view.
    children: impl Fn(T) -> V + Clone + Send + 'static,
) -> impl IntoView
where
    T: Send + 'static,
    K: Into<ItemKey>,
    V: IntoView + 'static,
{
    let entry = move |item: T| {
        let key = key(&item).into();
        let children = children.clone();
        let view: ViewFactory = Box::new(move || children(item).into_view().erase());
        (key, view)
    };
    let entries: KeyedViews = Box::new(move || {
        let items = of();
        browser::keep_focus();
        items.into_iter().map(&entry).collect()
    });
    view! { <For each=entries key=entry_key children=entry_view/> }
}

type ViewFactory = Box<dyn FnOnce() -> AnyView + Send>;
type KeyedView = (ItemKey, ViewFactory);
type KeyedViews = Box<dyn Fn() -> Vec<KeyedView> + Send>;

fn entry_key((key, _): &KeyedView) -> ItemKey {
    *key
}

fn entry_view((_, make): KeyedView) -> AnyView {
    make()
}

impl From<u64> for ItemKey {
    fn from(number: u64) -> Self {
        Self(0, number)
    }
}

impl From<(usize, usize)> for ItemKey {
    fn from((high, low): (usize, usize)) -> Self {
        Self(high as u64, low as u64)
    }
}

impl From<(usize, usize, usize)> for ItemKey {
    /// The first two must be small.
    fn from((first, second, third): (usize, usize, usize)) -> Self {
        Self(((first as u64) << 32) | second as u64, third as u64)
    }
}

/// Takes ids as keys: an id is unique over all.
macro_rules! keys {
    ($($id:ident)*) => {
        $(impl From<$id> for ItemKey {
            fn from(id: $id) -> Self {
                let (high, low) = id.0.as_u64_pair();
                Self(high, low)
            }
        })*
    };
}

keys! { AttachmentId ConversationId JobId MemoryId MessageId ProjectId ResearchStreamId ShareId TokenId }
