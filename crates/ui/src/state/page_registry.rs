//! The registered pages, and the payload handlers and drafts of the page that is shown. Each lives as long as the owner that
//! registered it.

use std::{pin::Pin, sync::Arc};

use leptos::prelude::*;

use crate::runtime::lock::Lock;
use parlor_protocol::{
    ConversationId, PageInfo, PanelView, PayloadRef,
    draft::{FieldChange, Proposal},
};

/// A page in the browser, as the parts around it know it. Its code is loaded when it is first shown.
pub struct PageEntry {
    pub info: &'static PageInfo,
    /// The icon of its link in the sidebar.
    pub icon: fn() -> AnyView,
    /// The page that it is reached from, which the sidebar marks as the current one. Without it, the sidebar and the palette have
    /// a link to the page itself.
    pub parent: Option<&'static PageInfo>,
    /// Creates the page's view, for any of its URLs. The root element has the page's name as `data-lazy`; an element
    /// in it, which gets the focus, has it as `id`, and `tabindex="-1"`.
    pub view: fn() -> AnyView,
    /// Loads the page's code. Returns false if that failed.
    pub load: fn() -> Pin<Box<dyn Future<Output = bool>>>,
    /// The presentation of the page's payloads elsewhere. While it is shown, a page can register others.
    pub handlers: &'static [PayloadHandler],
}

/// A payload in the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPayload {
    pub conversation_id: ConversationId,
    pub payload: PayloadRef,
}

/// What the user accepts of a proposal.
#[derive(Clone, Debug)]
pub struct AcceptedChanges {
    pub view: Arc<PanelView>,
    /// The accepted fields; empty for a proposal without fields.
    pub changes: Vec<FieldChange>,
}

/// Handles what is accepted of a proposal on a page.
pub type AcceptCallback = Callback<AcceptedChanges>;

/// A draft that the page shows: proposals for it are compared with it, and accepted into it. It lives as long as the owner that
/// registered it.
#[derive(Clone, Copy)]
pub struct DraftOnScreen {
    /// The name of the [draft](parlor_protocol::draft::Draft).
    pub name: &'static str,
    /// Returns the text that a field has now; `None` if there is no such field. Tracked.
    pub text: Callback<String, Option<String>>,
    /// Puts the changes into the draft, without saving them.
    pub accept: AcceptCallback,
    /// The page's own reaction to Reject.
    pub reject: Option<Callback<()>>,
}

/// Renders a payload in the panel.
pub type PayloadRenderer = Callback<(ShownPayload, Arc<PanelView>), AnyView>;

/// The presentation of a payload type. The server decides the content ([`PanelView`]).
#[derive(Clone, Copy, Debug)]
pub struct PayloadHandler {
    pub kind: &'static str,
    /// The panel's title.
    pub title: &'static str,
    /// The panel's default width.
    pub width: u32,
    /// The page's own view of the content. Without it, the panel shows the content by its kind.
    pub view: Option<PayloadRenderer>,
    /// The page's actions for Accept and Reject. Without them, only the verdict is stored.
    pub accept: Option<AcceptCallback>,
    pub reject: Option<Callback<()>>,
    /// The page that can accept the proposal if the present one can't.
    pub other_page: Option<OtherPage>,
    /// True for proposals for drafts.
    pub is_for_draft: bool,
}

/// Another page, on which a proposal is accepted.
#[derive(Clone, Copy, Debug)]
pub struct OtherPage {
    /// The label of the button.
    pub button_label: &'static str,
    /// A sentence about its effect.
    pub description: &'static str,
    /// Prepares the proposal to be opened there, and returns the URL.
    pub url: fn(&AcceptedChanges) -> Option<String>,
}

impl PayloadHandler {
    pub const fn new(kind: &'static str, title: &'static str, width: u32) -> Self {
        Self {
            kind,
            title,
            width,
            view: None,
            accept: None,
            reject: None,
            other_page: None,
            is_for_draft: false,
        }
    }

    /// The handler of proposals for a draft.
    pub const fn proposal<P: Proposal>(width: u32) -> Self {
        Self {
            is_for_draft: true,
            ..Self::new(P::KIND.payload_type, P::KIND.title, width)
        }
    }
}

/// The registry. One per application.
#[derive(Clone)]
pub struct PageRegistry {
    pub pages: &'static [PageEntry],
    pub handlers: Registry<PayloadHandler>,
    /// The drafts on the screen.
    pub drafts: Registry<DraftOnScreen>,
}

impl PageRegistry {
    /// The registry of an application with these pages.
    pub fn new(pages: &'static [PageEntry]) -> Self {
        let changed = RwSignal::new(false);
        Self {
            pages,
            handlers: Registry::new(changed),
            drafts: Registry::new(changed),
        }
    }

    /// The entry of a page.
    pub fn page(&self, info: &PageInfo) -> Option<&'static PageEntry> {
        self.pages.iter().find(|page| page.info.name == info.name)
    }
}

/// The registry of the current page.
pub fn use_page_registry() -> PageRegistry {
    expect_context()
}

/// Entries of one kind, the latest last. Clones share the list.
pub struct Registry<T> {
    entries: Arc<Lock<Vec<(usize, T)>>>,
    /// Toggled with every change of the entries.
    changed: RwSignal<bool>,
}

// Derived `Clone` would require that the entries are `Clone`.
impl<T> Clone for Registry<T> {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            changed: self.changed,
        }
    }
}

impl<T: Copy + Send + 'static> Registry<T> {
    pub fn new(changed: RwSignal<bool>) -> Self {
        Self {
            entries: Arc::default(),
            changed,
        }
    }

    /// Adds an entry for as long as the current owner lives.
    pub fn register(&self, entry: T) {
        let number = {
            let mut entries = self.entries.lock();
            let number = entries.last().map_or(0, |(last, _)| last + 1);
            entries.push((number, entry));
            number
        };
        self.mark_changed();
        let own = self.clone();
        on_cleanup(move || {
            own.entries.lock().retain(|(known, _)| *known != number);
            own.mark_changed();
        });
    }

    /// All entries, the earliest first. Tracked.
    pub fn all(&self) -> Vec<T> {
        self.changed.track();
        self.entries.lock().iter().map(|(_, entry)| *entry).collect()
    }

    /// The latest matching entry. Tracked.
    pub fn find(&self, matches: impl Fn(&T) -> bool) -> Option<T> {
        self.changed.track();
        let entries = self.entries.lock();
        let found = entries.iter().rev().find(|(_, entry)| matches(entry));
        found.map(|(_, entry)| *entry)
    }

    fn mark_changed(&self) {
        // The whole page may be gone.
        let _ = self.changed.try_update(|changed| *changed = !*changed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_entry_wins_until_its_owner_ends() {
        let owner = Owner::new();
        owner.set();
        let own = Registry::new(RwSignal::new(false));
        own.register("first");
        let child = owner.child();
        child.with(|| own.register("second"));
        assert_eq!(own.find(|_| true), Some("second"));
        assert_eq!(own.find(|entry| *entry == "first"), Some("first"));
        child.cleanup();
        assert_eq!(own.find(|_| true), Some("first"));
    }
}
