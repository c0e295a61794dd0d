//! The texts of the pages of accounts that people read. A pair stands before and after a name.

use parlor_protocol::number_format::group_digits;
use parlor_storage::audit::AuditAction;

// All pages
pub(super) const BACK_TO_PARLOR: &str = "Back to Parlor";
pub(super) const NOT_FOUND: &str = "Not found";
pub(super) const NOT_AVAILABLE: &str = "Not available";
pub(super) const NO_ACCOUNTS: &str =
    "There is no such page here: people sign in to this Parlor in another way.";
pub(super) const ONLY_ADMINISTRATORS: &str =
    "Only administrators can see and change other accounts. Nothing was changed.";
pub(super) const NOTHING_CHANGED: &str = "Nothing was changed";
pub(super) const FORM_TOO_LARGE: &str = "The form is too large. Nothing was changed.";
pub(super) const FORM_INVALID: &str =
    "The form could not be read. Nothing was changed; go back and try again.";

pub(super) fn too_many_attempts(wait: &str) -> String {
    format!("Too many attempts. Nothing was changed; try again in {wait}.")
}

// Durations
pub(super) const SECOND: &str = "a second";

pub(super) fn seconds(count: u64) -> String {
    format!("{count} seconds")
}

pub(super) fn minutes(count: u64) -> String {
    format!("{count} minutes")
}

pub(super) fn hours(count: u64) -> String {
    format!("{count} hours")
}

pub(super) fn days(count: u64) -> String {
    format!("{count} days")
}

// Names and passwords
pub(super) const NAME: &str = "Name";
pub(super) const PASSWORD: &str = "Password";
pub(super) const PASSWORD_AGAIN: &str = "Password again";
pub(super) const OLD_PASSWORD: &str = "Old password";
pub(super) const NEW_PASSWORD: &str = "New password";
pub(super) const NEW_PASSWORD_AGAIN: &str = "New password again";
pub(super) const PASSWORDS_DIFFER: &str = "The two passwords differ. Nothing was changed; write both again.";
pub(super) const NEW_PASSWORDS_DIFFER: &str =
    "The two new passwords differ. Nothing was changed; write both again.";

pub(super) fn password_rules(min_characters: usize) -> String {
    format!("At least {min_characters} characters, and not your name.")
}

// Roles
pub(super) const ADMINISTRATOR: &str = "Administrator";
pub(super) const MEMBER: &str = "Member";

// Signing in and out
pub(super) const SIGN_IN: &str = "Sign in";
pub(super) const SIGN_OUT: &str = "Sign out";
pub(super) const STAY_SIGNED_IN: &str = "Stay signed in on this device";
pub(super) const NO_ACCOUNT_YET: &str = "No account yet? ";
pub(super) const MAKE_ONE: &str = "Make one";
pub(super) const PASSWORD_FORGOTTEN: &str =
    "Forgot your password? An administrator can send you a link for a new one.";
pub(super) const NOT_SIGNED_OUT: &str = "Not signed out";
pub(super) const SIGNED_OUT_TITLE: &str = "Signed out";
pub(super) const SIGNED_OUT: &str = "You are signed out of Parlor.";

// A provider
pub(super) const SIGN_IN_AT_PROVIDER: [&str; 2] = ["You sign in at ", " and come back."];
pub(super) const ON_OWN_DEVICE: &str = "On your own device: ";
pub(super) const ON_OWN_DEVICE_LINK: &str = "sign in and stay signed in";
pub(super) const SIGN_IN_NOT_BEGUN: &str = "This sign-in was not begun in this browser, was used already, or took too \
     long. You are not signed in; begin it again.";

pub(super) fn sign_in_at(provider: &str) -> String {
    format!("Sign in at {provider}")
}

pub(super) fn sign_out_at(provider: &str) -> String {
    format!("Sign out at {provider} too")
}

// Setup
pub(super) const SETUP_TITLE: &str = "Set up Parlor";
pub(super) const SETUP_HINT: &str =
    "Make the first account. It manages the others. Parlor printed the setup token when it started.";
pub(super) const SETUP_TOKEN: &str = "Setup token";
pub(super) const KEEP_CONVERSATIONS: &str = "The conversations that are here already become mine";
pub(super) const MAKE_ACCOUNT: &str = "Make the account";

// A new account
pub(super) const NEW_ACCOUNT_TITLE: &str = "Make an account";
pub(super) const NEW_ACCOUNT_HINT: &str = "Choose a name and a password. Others here see your name.";
pub(super) const CLOSED_TITLE: &str = "No open sign-up";
pub(super) const CLOSED: &str = "New accounts need an invitation here. Ask an administrator for a link.";
pub(super) const LINK_NOT_VALID: &str = "Not valid";

// A new password
pub(super) const NEW_PASSWORD_TITLE: &str = "Set a new password";
pub(super) const NEW_PASSWORD_WARNING: &str =
    "All devices on which you are signed in will be signed out, and your API tokens will end.";
pub(super) const SET_PASSWORD: &str = "Set the password";

// The own account
pub(super) const ACCOUNT_TITLE: &str = "Account";
pub(super) const SIGNED_IN_AS: [&str; 2] = ["You are signed in as ", ". "];
pub(super) const YOU_ARE_ADMINISTRATOR: &str =
    "You are an administrator: you can manage other people’s accounts.";
pub(super) const YOU_ARE_MEMBER: &str = "You are a member.";
pub(super) const CHANGE_PASSWORD: &str = "Change the password";
pub(super) const CHANGE_PASSWORD_WARNING: &str =
    "All other devices will be signed out, and your API tokens will end.";
pub(super) const PASSWORD_CHANGED: &str =
    "The password was changed. All other devices were signed out, and your API tokens have ended.";
pub(super) const NO_PASSWORD: &str = "You do not sign in with a password here. Nothing was changed.";

// Devices
pub(super) const DEVICES_TITLE: &str = "Devices";
pub(super) const DEVICES_HINT: &str =
    "Where you are signed in. A device that you do not know: sign it out, then change your password.";
pub(super) const NO_DEVICES: &str = "Parlor has not signed you in on any device.";
pub(super) const THIS_DEVICE: &str = "This device";
/// Before a time.
pub(super) const LAST_USED: &str = "Last used ";
/// Before a time.
pub(super) const SIGNED_IN: &str = "Signed in ";
pub(super) const SIGN_OUT_EVERYWHERE: &str = "Sign out everywhere";
pub(super) const DEVICE_SIGNED_OUT: &str = "That device was signed out.";

// Users
pub(super) const USERS_TITLE: &str = "Users";
pub(super) const USER_IS_YOU: &str = "you";
pub(super) const USER_IS_BEING_DELETED: &str = "being deleted";
pub(super) const USER_IS_DISABLED: &str = "disabled";
/// Before a time.
pub(super) const USER_SINCE: &str = "since ";
pub(super) const ENABLE: &str = "Enable";
pub(super) const DISABLE: &str = "Disable";
pub(super) const DELETE_USER: &str = "Delete…";
pub(super) const MAKE_MEMBER: &str = "Make a member";
pub(super) const MAKE_ADMINISTRATOR: &str = "Make an administrator";
pub(super) const MAKE_PASSWORD_LINK: &str = "New password link";
pub(super) const PASSWORD_LINK_HINT: &str =
    "Send this link to the user. It works once, to set a new password.";
pub(super) const ROLES_ARE_PROVIDED: &str = "The provider’s groups decide the roles. Nothing was changed.";

// Users: what was done
pub(super) const DISABLED: &str =
    "The account was disabled, its devices were signed out, and the links that it had made have ended.";
pub(super) const ENABLED: &str = "The account can be used again.";
pub(super) const DELETED: &str = "The account and everything of its user were deleted.";
pub(super) const HANDED_OVER: &str =
    "The account was deleted. The other user has its conversations, files and library.";
pub(super) const ROLE_CHANGED: &str =
    "The role was changed. Links that the account had made as an administrator end with that role.";

// Deletion of a user
pub(super) const DELETE_TITLE: &str = "Delete an account";
pub(super) const DELETE_WARNING: [&str; 2] = ["The account ", " will be deleted. This cannot be undone."];
pub(super) const HAND_OVER_TITLE: &str = "Hand over, then delete";
pub(super) const HAND_OVER_WARNING: &str = "Another user gets the conversations with their files, and the library. \
     Everything else is deleted: the account, its memories, instructions and tokens, and messages that were deleted or \
     not yet sent.";
pub(super) const HAND_OVER_TO: &str = "To";
pub(super) const HAND_OVER: &str = "Hand over and delete the account";
pub(super) const DELETE_ALL_TITLE: &str = "Delete everything";
pub(super) const DELETE_ALL_WARNING: &str =
    "All conversations, files and settings of the user are deleted with the account.";
pub(super) const DELETE_ALL: &str = "Delete everything of this user";
pub(super) const KEEP_ACCOUNT: &str = "Keep it";
pub(super) const NOT_DELETED_TITLE: &str = "Not deleted yet";
pub(super) const NOT_DELETED: &str =
    "The account is disabled. Its deletion goes on at the next start; enable it to give that up.";

// Invitations
pub(super) const INVITATIONS_TITLE: &str = "Invitations";
pub(super) const INVITATIONS_HINT: &str =
    "A person with an invitation link makes an account of their own. Each link works once.";
pub(super) const NO_INVITATIONS: &str =
    "Nobody needs an invitation here: people sign in to this Parlor in another way.";
pub(super) const ROLE: &str = "Role";
pub(super) const MAKE_INVITATION: &str = "Make an invitation link";
pub(super) const INVITATION_HINT: &str = "Send this link to the person. It works once, for a new account.";

// Links
pub(super) const LINKS: &str = "Links that are valid";
pub(super) const NO_LINKS: &str = "There is no link that was not used yet.";
pub(super) const INVITATION: &str = "Invitation";
pub(super) const ADMINISTRATORS_INVITATION: &str = "Invitation of an administrator";
/// Before a time.
pub(super) const VALID_UNTIL: &str = "Valid until ";
pub(super) const WITHDRAW: &str = "Withdraw";
pub(super) const LINK_WITHDRAWN: &str = "The link is not valid any more.";

pub(super) fn password_link_for(name: &str) -> String {
    format!("New password for {name}")
}

// A new link
pub(super) const NEW_LINK_TITLE: &str = "A new link";
pub(super) const NO_LINK_MADE: &str = "No link was made";
/// After what the link is for.
pub(super) const LINK_SHOWN_ONCE: &str = " It is shown only now: copy it.";
pub(super) const LINK: &str = "Link";
pub(super) const COPY_LINK: &str = "Copy the link";
pub(super) const DONE: &str = "Done";

// Usage
pub(super) const USAGE_TITLE: &str = "Usage";
pub(super) const OWN_USAGE: &str = "Yours";
pub(super) const USAGE_OF_ALL: &str = "All users";
pub(super) const USAGE_OF: [&str; 2] = ["Of the account ", "."];
pub(super) const TOKENS_BY_DAY: &str = "Tokens by day";
pub(super) const COST_BY_DAY: &str = "Cost by day, in US dollars";

pub(super) fn about_usage(days: i64) -> String {
    format!(
        "The last {days} days, each from midnight UTC. Tokens are those that model servers report; models without a known price \
         count as free."
    )
}

// Usage: the tables
pub(super) const BY_DAY: &str = "By day";
pub(super) const DAY: &str = "Day";
pub(super) const BY_USER: &str = "By user";
pub(super) const USER: &str = "User";
pub(super) const ANSWERS: &str = "Answers";
pub(super) const TOKENS_IN: &str = "Tokens in";
pub(super) const TOKENS_OUT: &str = "Tokens out";
pub(super) const COST: &str = "Cost";
pub(super) const TOTAL: &str = "All";
pub(super) const NOTHING_USED: &str = "Nothing was used in these days.";

// Usage: the limits
pub(super) fn limits(limits: &[String]) -> String {
    format!(
        "Your limits, and what you have used today: {}.",
        limits.join("; ")
    )
}

pub(super) fn used_tokens(used: &str, limit: &str) -> String {
    format!("{used} of {limit} tokens")
}

pub(super) fn used_dollars(used: &str, limit: &str) -> String {
    format!("{used} of {limit}")
}

pub(super) fn runs_at_once(limit: usize) -> String {
    format!("at most {limit} answers are written at the same time")
}

// The audit log
pub(super) const AUDIT_TITLE: &str = "Audit log";
pub(super) const NO_ENTRIES: &str = "There are no entries.";
pub(super) const OLDER_ENTRIES: &str = "Older entries";
pub(super) const NEWEST_ENTRIES: &str = "Newest entries";

pub(super) fn about_audit(keep: &str, max_entries: usize) -> String {
    let max_entries = group_digits(max_entries as u64);
    format!("Who did what, without contents. Entries are kept for {keep}, and at most {max_entries} of them.")
}

// The audit log: who did something, and to whom
pub(super) const OPERATOR: &str = "The operator";
pub(super) const SOMEBODY: &str = "Somebody";
pub(super) const OWN_ACCOUNT: &str = "their own account";

pub(super) fn account(name: &str) -> String {
    format!("the account {name}")
}

/// What was done, after the name of who did it. `account` is one of the above, `about` a name.
pub(super) fn action(action: AuditAction, has_name: bool, account: &str, about: &str) -> String {
    match action {
        AuditAction::SignedIn => "signed in".to_owned(),
        AuditAction::SignInFailed if has_name => "could not sign in".to_owned(),
        AuditAction::SignInFailed => "failed to sign in, without an account here".to_owned(),
        AuditAction::PasswordChangeFailed => "wrote a wrong old password when changing it".to_owned(),
        AuditAction::SignedOut => "signed a device out".to_owned(),
        AuditAction::SignedOutEverywhere => "signed all devices out".to_owned(),
        AuditAction::AccountMade => "got an account".to_owned(),
        AuditAction::Renamed => format!("is called {about} since"),
        AuditAction::MadeAdministrator if about.is_empty() => {
            "is an administrator since, by the provider’s groups".to_owned()
        }
        AuditAction::MadeAdministrator => format!("made {account} an administrator"),
        AuditAction::MadeMember if about.is_empty() => {
            "is a member since, by the provider’s groups".to_owned()
        }
        AuditAction::MadeMember => format!("made {account} a member"),
        AuditAction::Disabled => format!("disabled {account}"),
        AuditAction::Enabled => format!("enabled {account}"),
        AuditAction::Deleted => format!("deleted {account} with everything in it"),
        AuditAction::HandedOver => format!("handed over what was in {account}, and deleted the account"),
        AuditAction::Invited => "made an invitation".to_owned(),
        AuditAction::InvitedAdministrator => "made an invitation for an administrator".to_owned(),
        AuditAction::PasswordLinkMade => format!("made a link for a new password of {account}"),
        AuditAction::LinkWithdrawn => "withdrew a link".to_owned(),
        AuditAction::PasswordChanged => "has a new password".to_owned(),
        AuditAction::TokenMade => "made an API token".to_owned(),
        AuditAction::TokenRevoked => "revoked an API token".to_owned(),
        AuditAction::Shared => "shared a conversation".to_owned(),
        AuditAction::ShareEnded => "ended a share".to_owned(),
        AuditAction::ProjectShared => format!("shared a project with {about}"),
        AuditAction::ProjectShareEnded => format!("ended the sharing of a project with {about}"),
        AuditAction::EndpointAdded => format!("added the model server {about}"),
        AuditAction::EndpointChanged => format!("changed the model server {about}"),
        AuditAction::EndpointKeyChanged => format!("changed the key of the model server {about}"),
        AuditAction::EndpointRemoved => format!("removed the model server {about}"),
        AuditAction::OwnKeysAllowed => "allowed keys of people’s own".into(),
        AuditAction::OwnKeysForbidden => "forbade keys of people’s own".into(),
    }
}

// Any page for signing in
pub(super) const WITHOUT_TLS: &str = "This page came without TLS: what you enter, a password too, crosses the network in the clear. Use an \
     address that begins with https://, if there is one.";

// The state of the system
pub(super) const SYSTEM_TITLE: &str = "System";
pub(super) const SYSTEM_ABOUT: &str = "What works here and what does not, checked just now. On the machine itself, “parlor \
     doctor” prints the same.";
pub(super) const SYSTEM_ALL_WORKS: &str = "Everything works.";
pub(super) const SYSTEM_IS_FOR_OPERATORS: &str = "Only administrators can see the state of the system.";

/// Counts the checks that need attention.
pub(super) fn checks_with_problems(failed: usize, warnings: usize) -> String {
    let count = |number: usize, one: &str, many: &str| match number {
        0 => None,
        1 => Some(format!("One {one}")),
        _ => Some(format!("{number} {many}")),
    };
    let parts = [
        count(failed, "part fails", "parts fail"),
        count(warnings, "warning", "warnings"),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => SYSTEM_ALL_WORKS.into(),
        false => parts.join(", ") + ".",
    }
}
