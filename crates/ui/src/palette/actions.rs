//! The actions of the palette that no view on the page offers by itself: those of the shown conversation, and of the page.

use leptos::prelude::*;

use super::{rename::RenameDialog, texts};
use crate::{
    browser,
    commands::{Command, CommandDialog, Shortcut, start_new_chat, use_commands},
    components::icons,
    projects::{MovedChats, use_project_dialogs},
    runtime::erase::Erase,
    sharing::ShareDialog,
    sidebar::{deletion::Deletion, list_view::use_list_view},
    state::{
        ConversationPhase, ConversationView, Row, use_archive, use_conversation_list, use_conversations,
        use_navigation, use_run_intents,
    },
};
use parlor_protocol::{ListChange, MessageId};

/// Adds the actions to the registry, and returns their dialogs. The dialogs of the sidebar are hidden with it.
pub fn add_actions() -> AnyView {
    let (commands, navigation) = (use_commands(), use_navigation());
    let (conversations, run_intents) = (use_conversations(), use_run_intents());
    let (deletion, renaming) = (Deletion::new(), RenameDialog::new());
    let sharing = expect_context::<ShareDialog>();
    let shown = move || {
        let view = conversations.current_view();
        view.filter(|view| view.phase.with(|phase| *phase == ConversationPhase::Ready))
    };
    let is_shown = move || shown().is_some();
    // The closing palette moves the focus back first.
    let new_chat = move || browser::on_next_frame(move || start_new_chat(navigation));
    let answer = move || shown().and_then(|view| idle_answer(&view));
    // The palette lists the latest first.
    let shortcuts = commands.clone();
    commands.add(
        Command::new(texts::SHORTCUTS, icons::keyboard, move || {
            shortcuts.open(CommandDialog::Shortcuts);
        })
        .words("keys help")
        .shortcut(Shortcut::ShowShortcuts),
    );
    let finding = commands.clone();
    commands.add(
        Command::new(texts::FIND, icons::search, move || {
            finding.open(CommandDialog::Find)
        })
        .words("search conversation messages words")
        .shortcut(Shortcut::FindInChat)
        .possible_while(is_shown),
    );
    commands.add(
        Command::new(texts::DELETE_CHAT, icons::trash, move || {
            if let Some(view) = untrack(shown) {
                deletion.delete(view.id, &view.title.get_untracked());
            }
        })
        .words("conversation remove")
        .possible_while(is_shown),
    );
    add_list_actions(is_shown);
    commands.add(
        Command::new(texts::SHARE_CHAT, icons::people, move || {
            if let Some(view) = untrack(shown) {
                sharing.open(view.id, "#share".into());
            }
        })
        .words("conversation link publish")
        .possible_while(is_shown),
    );
    commands.add(
        Command::new(texts::RENAME_CHAT, icons::pencil, move || {
            if let Some(view) = untrack(shown) {
                renaming.ask(view.id, view.title.get_untracked());
            }
        })
        .words("conversation title")
        .possible_while(is_shown),
    );
    commands.add(
        Command::new(texts::REGENERATE, icons::retry, move || {
            if let (Some(view), Some(message)) = (untrack(shown), untrack(answer)) {
                run_intents.regenerate(view.id, message);
            }
        })
        .words("again retry")
        .possible_while(move || answer().is_some()),
    );
    commands.add(
        Command::new(texts::STOP, icons::stop, move || {
            if let Some(id) = navigation.shown_conversation() {
                run_intents.stop(id);
            }
        })
        .words("cancel")
        .shortcut(Shortcut::Stop)
        .possible_while(move || shown().is_some_and(|view| view.is_busy())),
    );
    commands.add(
        Command::new(texts::NEW_CHAT, icons::plus, new_chat)
            .words("start conversation")
            .shortcut(Shortcut::NewChat),
    );
    view! {
        {deletion.dialog()}
        {renaming.dialog()}
    }
    .erase()
}

/// Adds the actions of the list, and of the shown conversation in it.
fn add_list_actions(is_shown: impl Fn() -> bool + Copy + Send + Sync + 'static) {
    let (commands, navigation) = (use_commands(), use_navigation());
    let (list, archive, view) = (use_conversation_list(), use_archive(), use_list_view());
    // An archived conversation is not pinned.
    let is_pinned = move || {
        let shown = navigation.shown_conversation();
        list.with_rows(|rows| {
            rows.iter()
                .any(|row| Some(row.id) == shown && row.is_pinned.get())
        })
    };
    let is_archived = move || {
        let shown = navigation.shown_conversation();
        archive.with_rows(|rows| rows.iter().any(|row| Some(row.id) == shown))
    };
    let change = move |change| {
        move || {
            if let Some(id) = navigation.shown_conversation() {
                let here = if untrack(is_archived) { archive } else { list };
                here.change(vec![id], change);
            }
        }
    };
    let dialogs = use_project_dialogs();
    // On a phone the button is in the list, which is closed.
    commands.add(
        Command::new(texts::NEW_PROJECT, icons::folder_plus, move || {
            dialogs.create(".list-head button".into());
        })
        .words("folder create"),
    );
    commands.add(
        Command::new(texts::MOVE_CHAT, icons::folder, move || {
            if let Some(id) = navigation.shown_conversation() {
                let list = if untrack(is_archived) { archive } else { list };
                dialogs.move_chats(MovedChats { list, ids: vec![id] }, "#message".into());
            }
        })
        .words("conversation folder")
        .possible_while(is_shown),
    );
    commands.add(
        Command::new(texts::SHOW_ARCHIVED, icons::archive, move || {
            view.show_archive(true)
        })
        .words("archive list"),
    );
    commands.add(
        Command::new(texts::SELECT_CHATS, icons::check, move || {
            view.begin_selecting(None)
        })
        .words("several list"),
    );
    commands.add(
        Command::new(texts::MARK_ALL_READ, icons::eye, move || list.mark_all_read())
            .words("unread news seen"),
    );
    commands.add(
        Command::new(
            texts::UNARCHIVE_CHAT,
            icons::unarchive,
            change(ListChange::Unarchive),
        )
        .words("conversation restore")
        .possible_while(move || is_shown() && is_archived()),
    );
    commands.add(
        Command::new(texts::ARCHIVE_CHAT, icons::archive, change(ListChange::Archive))
            .words("conversation hide")
            .possible_while(move || is_shown() && !is_archived()),
    );
    commands.add(
        Command::new(texts::UNPIN_CHAT, icons::unpin, change(ListChange::Unpin))
            .words("conversation top")
            .possible_while(move || is_shown() && is_pinned()),
    );
    commands.add(
        Command::new(texts::PIN_CHAT, icons::pin, change(ListChange::Pin))
            .words("conversation top")
            .possible_while(move || is_shown() && !is_pinned()),
    );
}

/// The last answer, if another one can be asked for. Tracked.
fn idle_answer(view: &ConversationView) -> Option<MessageId> {
    if view.is_busy() {
        return None;
    }
    view.rows.with(|rows| match rows.last() {
        Some(Row::Answer(answer)) => Some(answer.id),
        _ => None,
    })
}
