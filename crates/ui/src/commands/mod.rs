//! What a person can do by a key or by name: the table of [`shortcuts`] and the registry of commands.
//!
//! A shortcut is one entry of the table. A command is one line of the code that can perform it, `use_commands().add(…)`; the palette
//! lists the commands of all views that are shown, each with its shortcut. [`mod@keys`] is the pure part; the dialogs are in
//! [`palette`](super::palette).

mod keys;
mod shortcuts;
mod texts;

use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*};

#[cfg(test)]
pub use self::keys::labels as key_labels;
use self::keys::{Combination, KeyPress, combinations};
pub use self::shortcuts::{Action, Scope, Shortcut, start_new_chat};
use crate::{browser, runtime::erase::Erase, state::page_registry::Registry};

/// The fields to which a typed character belongs.
const TEXT_FIELDS: &str = "input, select, textarea, [contenteditable]";

/// A dialog of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandDialog {
    /// The palette.
    Search,
    /// The palette for the texts of the shown conversation.
    Find,
    /// The sheet of shortcuts.
    Shortcuts,
}

/// The handler of a view for a shortcut.
#[derive(Clone, Copy)]
struct Handler {
    shortcut: Shortcut,
    /// Returns false if there is nothing to do.
    handle: Callback<ev::KeyboardEvent, bool>,
}

/// An action that the palette offers.
#[derive(Clone, Copy)]
pub struct Command {
    pub name: &'static str,
    /// Further words by which it is found.
    pub words: &'static str,
    pub icon: fn() -> AnyView,
    pub shortcut: Option<Shortcut>,
    is_possible: Callback<(), bool>,
    perform: Callback<()>,
}

impl Command {
    /// A command that is always possible.
    pub fn new(
        name: &'static str,
        icon: fn() -> AnyView,
        perform: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            words: "",
            icon,
            shortcut: None,
            is_possible: Callback::new(|()| true),
            perform: Callback::new(move |()| perform()),
        }
    }

    /// Adds words by which it is found besides its name.
    pub fn words(mut self, words: &'static str) -> Self {
        self.words = words;
        self
    }

    /// Names the shortcut that does the same.
    pub fn shortcut(mut self, shortcut: Shortcut) -> Self {
        self.shortcut = Some(shortcut);
        self
    }

    /// Offers it only while `is_possible` is true.
    pub fn possible_while(mut self, is_possible: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.is_possible = Callback::new(move |()| is_possible());
        self
    }

    /// Returns true if it can be performed now. Tracked.
    pub fn is_possible(self) -> bool {
        self.is_possible.run(())
    }

    /// Performs it.
    pub fn perform(self) {
        self.perform.run(());
    }
}

/// The commands and shortcuts of the page.
#[derive(Clone)]
pub struct Commands {
    commands: Registry<Command>,
    handlers: Registry<Handler>,
    opened: RwSignal<Option<CommandDialog>>,
    /// How often one was opened.
    openings: StoredValue<u32>,
    /// The text that was typed before the palette's code is loaded.
    typed: StoredValue<String>,
    is_mac: RwSignal<bool>,
    /// True for a page that only shows something, without conversations to open.
    is_read_only: bool,
}

impl Commands {
    /// Creates and provides those of a page.
    pub fn provide(is_read_only: bool) {
        let changed = RwSignal::new(false);
        provide_context(Self {
            commands: Registry::new(changed),
            handlers: Registry::new(changed),
            opened: RwSignal::new(None),
            openings: StoredValue::new(0),
            typed: StoredValue::default(),
            is_mac: RwSignal::new(false),
            is_read_only,
        });
    }

    /// Adds a command for as long as the current owner lives.
    pub fn add(&self, command: Command) {
        self.commands.register(command);
    }

    /// The commands that can be performed now, the latest first. Tracked.
    pub fn possible(&self) -> Vec<Command> {
        let mut all = self.commands.all();
        all.retain(|command| command.is_possible());
        all.reverse();
        all
    }

    /// Handles a shortcut of [`Action::View`] for as long as the current owner lives. `handle` returns false if there is nothing to
    /// do.
    pub fn on_shortcut(
        &self,
        shortcut: Shortcut,
        handle: impl Fn(&ev::KeyboardEvent) -> bool + Send + Sync + 'static,
    ) {
        let handle = Callback::new(move |event: ev::KeyboardEvent| handle(&event));
        self.handlers.register(Handler { shortcut, handle });
    }

    /// Opens a dialog.
    pub fn open(&self, dialog: CommandDialog) {
        self.openings.update_value(|openings| *openings += 1);
        self.opened.set(Some(dialog));
    }

    /// The number of the last opening, which a dialog keeps for [`closed`](Self::closed).
    pub fn opening(&self) -> u32 {
        self.openings.get_value()
    }

    /// Notes that a dialog was closed. Browsers report that later: another one, or the same again, may be open by now.
    pub fn closed(&self, opening: u32) {
        if self.openings.get_value() == opening {
            self.opened.set(None);
        }
    }

    /// Keeps a text that is typed before the palette's code is loaded.
    pub fn keep_typed(&self, typed: String) {
        self.typed.set_value(typed);
    }

    /// Takes the kept text. The next call returns an empty one.
    pub fn take_typed(&self) -> String {
        self.typed.try_update_value(std::mem::take).unwrap_or_default()
    }

    /// The open dialog.
    pub fn opened(&self) -> ReadSignal<Option<CommandDialog>> {
        self.opened.read_only()
    }

    /// Returns true on a Mac, whose keyboards have other modifier keys. Known after hydration. Tracked.
    pub fn is_mac(&self) -> bool {
        self.is_mac.get()
    }

    /// Listens for the shortcuts of the whole page.
    pub fn listen(self) {
        self.is_mac.set(browser::is_mac());
        let owner = Owner::current().unwrap_or_default();
        let handle = window_event_listener(ev::keydown, move |event| {
            if owner.with(|| untrack(|| self.on_key(&event))) {
                event.prevent_default();
            }
        });
        on_cleanup(move || handle.remove());
    }

    /// Performs the shortcut of a key press. Returns false if there is none.
    fn on_key(&self, event: &ev::KeyboardEvent) -> bool {
        // An element that handles a key prevents its default action.
        if event.default_prevented() || browser::is_composing(event) {
            return false;
        }
        let (press, is_mac) = (KeyPress::from(event), self.is_mac.get_untracked());
        // The document is searched for the few keys of shortcuts only, not for each letter that is typed.
        let is_typed = |keys: &Combination| keys.is_character() && browser::is_within(event, TEXT_FIELDS);
        // A dialog has keys of its own. Those that close something know what is above it.
        let is_of_dialog = || press.key != "Escape" && browser::exists("dialog[open]");
        Shortcut::ALL.iter().any(|shortcut| {
            let entry = shortcut.entry();
            combinations(entry.keys).any(|keys| keys.is_pressed(&press, is_mac) && !is_typed(&keys))
                && !is_of_dialog()
                && match entry.action {
                    Action::Page(perform) => !self.is_read_only && perform(event),
                    Action::View => self
                        .handlers
                        .find(|handler| handler.shortcut == *shortcut)
                        .is_some_and(|handler| handler.handle.run(event.clone())),
                    Action::Element => false,
                }
        })
    }
}

/// The keys of a shortcut, as on this machine.
pub fn keys(shortcut: Shortcut) -> AnyView {
    let labels = move || {
        let label = |label| view! { <kbd>{label}</kbd> }.erase();
        shortcut.labels().into_iter().map(label).collect::<Vec<_>>()
    };
    view! { <span class="keys">{labels}</span> }.erase()
}

/// The commands and shortcuts of the page.
pub fn use_commands() -> Commands {
    expect_context()
}
