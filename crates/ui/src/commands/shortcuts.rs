//! The table of keyboard shortcuts. From it come the listener of the page, the titles and `aria-keyshortcuts` of buttons, the sheet
//! that `?` opens, and the list in README.md.

use leptos::{ev::KeyboardEvent, prelude::*};

use super::{
    CommandDialog,
    keys::{KeyPress, aria_keyshortcuts, combinations, labels},
    texts, use_commands,
};
use crate::{
    browser,
    components::escape::EscapeAction,
    state::{Navigation, route::Route, tray::use_tray, use_conversations, use_navigation, use_run_intents},
};

/// The place where a shortcut works, which is also its heading in the sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Everywhere,
    MessageBox,
    Conversation,
    List,
}

impl Scope {
    /// All, in the order of the sheet.
    pub const ALL: &[Self] = &[Self::Everywhere, Self::MessageBox, Self::Conversation, Self::List];

    /// Returns the heading of this place in the sheet of shortcuts and in README.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Everywhere => texts::EVERYWHERE,
            Self::MessageBox => texts::IN_MESSAGE_BOX,
            Self::Conversation => texts::IN_CONVERSATION,
            Self::List => texts::IN_LIST,
        }
    }
}

/// The code that a shortcut runs.
#[derive(Clone, Copy)]
pub enum Action {
    /// This function, wherever the focus is. It returns false if there is nothing to do now.
    Page(fn(&KeyboardEvent) -> bool),
    /// The handler of a view that is shown, wherever the focus is (`Commands::on_shortcut`).
    View,
    /// The element that has the focus: its view asks [`Shortcut::is_pressed`].
    Element,
}

/// An entry of the table.
#[derive(Clone, Copy)]
pub struct Entry {
    /// See [`mod@super::keys`].
    pub keys: &'static str,
    pub name: &'static str,
    pub scope: Scope,
    pub action: Action,
}

/// Declares the shortcuts, each in one entry.
macro_rules! shortcuts {
    ($($id:ident: $keys:literal $name:ident $scope:ident $action:expr,)*) => {
        /// A shortcut.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Shortcut {
            $($id,)*
        }

        impl Shortcut {
            /// All, in the order of the sheet.
            pub const ALL: &[Self] = &[$(Self::$id,)*];

            /// The entry of the shortcut.
            pub fn entry(self) -> Entry {
                match self {
                    $(Self::$id => Entry { keys: $keys, name: texts::$name, scope: Scope::$scope, action: $action },)*
                }
            }
        }
    };
}

shortcuts! {
    Search: "Mod+K" SEARCH Everywhere Action::Page(open_search),
    NewChat: "Mod+Shift+O" NEW_CHAT Everywhere Action::Page(new_chat),
    ShowShortcuts: "? Mod+/" SHOW_SHORTCUTS Everywhere Action::Page(show_shortcuts),
    ToggleTray: "Mod+." TOGGLE_TRAY Everywhere Action::Page(toggle_tray),
    Close: "Escape" CLOSE Everywhere Action::View,
    Send: "Enter Mod+Enter" SEND MessageBox Action::Element,
    InsertLine: "Shift+Enter" INSERT_LINE MessageBox Action::Element,
    EditLast: "ArrowUp" EDIT_LAST MessageBox Action::Element,
    Stop: "Escape" STOP Conversation Action::Page(stop),
    FindInChat: "Mod+Shift+F" FIND Conversation Action::Page(find_in_chat),
    StepFound: "ArrowUp ArrowDown" STEP_FOUND Conversation Action::Element,
    Quote: "Mod+Shift+U" QUOTE Conversation Action::View,
    MoveInList: "ArrowUp ArrowDown Home End" MOVE_IN_LIST List Action::Element,
    SelectRow: "X" SELECT_ROW List Action::Element,
    SelectAll: "Mod+A" SELECT_ALL List Action::Element,
    PinRow: "P" PIN_ROW List Action::Element,
    ArchiveRow: "E" ARCHIVE_ROW List Action::Element,
    MoveRow: "M" MOVE_ROW List Action::Element,
    FoldProject: "ArrowLeft ArrowRight" FOLD_PROJECT List Action::Element,
    RowActions: "Delete ContextMenu Shift+F10" ROW_ACTIONS List Action::Element,
}

impl Shortcut {
    /// Returns true if a key press is this shortcut.
    pub fn is_pressed(self, event: &KeyboardEvent) -> bool {
        let (press, is_mac) = (KeyPress::from(event), browser::is_mac());
        combinations(self.entry().keys).any(|keys| keys.is_pressed(&press, is_mac))
    }

    /// The value of `aria-keyshortcuts` of its button.
    pub fn aria(self) -> String {
        aria_keyshortcuts(self.entry().keys)
    }

    /// The texts of its keys on this machine. Tracked.
    pub fn labels(self) -> Vec<String> {
        labels(self.entry().keys, use_commands().is_mac())
    }

    /// The title of its button: what the button does, and the keys. Tracked.
    pub fn title(self, name: &str) -> String {
        let keys = self.labels().into_iter().next().unwrap_or_default();
        [name, " (", &keys, ")"].concat()
    }
}

fn open_search(_: &KeyboardEvent) -> bool {
    use_commands().open(CommandDialog::Search);
    true
}

/// Opens the search in the shown conversation, if there is one.
fn find_in_chat(_: &KeyboardEvent) -> bool {
    let is_shown = use_navigation().shown_conversation().is_some();
    if is_shown {
        use_commands().open(CommandDialog::Find);
    }
    is_shown
}

fn show_shortcuts(_: &KeyboardEvent) -> bool {
    use_commands().open(CommandDialog::Shortcuts);
    true
}

fn new_chat(_: &KeyboardEvent) -> bool {
    start_new_chat(use_navigation());
    true
}

/// Shows a new chat, with the focus in its message box.
pub fn start_new_chat(navigation: Navigation) {
    navigation.go_to(Route::New);
    browser::focus_selector("#message");
}

/// Toggles the chat next to a page, if this page has one.
fn toggle_tray(_: &KeyboardEvent) -> bool {
    let has_tray = use_navigation().page_route().get_untracked().has_tray();
    if has_tray {
        use_tray().toggle();
    }
    has_tray
}

/// Stops the conversation's run, if nothing is open that Escape closes.
fn stop(event: &KeyboardEvent) -> bool {
    let view = untrack(|| use_conversations().current_view());
    match view {
        Some(view) if EscapeAction::StopAnswer.is_triggered(event) && untrack(|| view.is_busy()) => {
            use_run_intents().stop(view.id);
            true
        }
        _ => false,
    }
}
