//! The administrator's form for deleting a user: with everything, or after a hand-over to another user.

use axum::{http::StatusCode, response::Response};
use leptos::prelude::*;

use super::{
    SignedIn,
    page::{self, failure, redirect},
    users::{UsersFormInput, parse_user, read},
};
use crate::app::{self, accounts::deletion::DeletionError};
use parlor_protocol::{ApiError, UserId};
use parlor_storage::accounts::Account;

/// A requested deletion.
struct AccountDeletion {
    account: Account,
    /// The users who can get what is in the account.
    others: Vec<Account>,
    heir: Option<UserId>,
    is_sure: bool,
}

/// `POST /settings/users/delete`: asks first.
pub async fn delete(admin: SignedIn, form: UsersFormInput) -> Response {
    let AccountDeletion {
        account,
        others,
        heir,
        is_sure,
    } = match read_deletion(&admin, form).await {
        Ok(read) => read,
        Err(error) => return failure("Nothing was changed", &error),
    };
    if !is_sure {
        return confirm(&account, &others);
    }
    let path = match heir {
        Some(_) => "/settings/users?done=handed-over",
        None => "/settings/users?done=deleted",
    };
    let actor = admin.actor();
    let deleted = app::accounts::deletion::delete_user(&admin.app, &actor, account.user_id, heir);
    match deleted.await {
        Ok(()) => redirect(path),
        Err(DeletionError {
            error,
            has_begun: false,
        }) => failure("Nothing was changed", &error),
        Err(DeletionError { error, .. }) => {
            let message =
                "The account is disabled. Its deletion goes on at the next start; enable it to give that up.";
            failure("Not deleted yet", &ApiError::new(error.code, message))
        }
    }
}

async fn read_deletion(admin: &SignedIn, form: UsersFormInput) -> Result<AccountDeletion, ApiError> {
    let form = read(admin, form)?;
    let user_id = parse_user(&form)?;
    let accounts = admin.app.accounts.accounts().await?;
    let (of_user, others): (Vec<_>, Vec<_>) = accounts
        .into_iter()
        .partition(|account| account.user_id == user_id);
    let heir = match form.heir.as_str() {
        "" => None,
        id => Some(id.parse().map_err(|_| app::not_found())?),
    };
    Ok(AccountDeletion {
        account: of_user.into_iter().next().ok_or_else(app::not_found)?,
        others: others.into_iter().filter(|other| !other.is_disabled).collect(),
        heir,
        is_sure: !form.sure.is_empty(),
    })
}

pub(super) fn confirm(account: &Account, others: &[Account]) -> Response {
    let user = account.user_id.to_string();
    let options: Vec<_> = others
        .iter()
        .map(|other| view! { <option value=other.user_id.to_string()>{other.name.clone()}</option> })
        .collect();
    let hand_over = (!options.is_empty()).then(|| {
        view! {
            <section class="settings-section" aria-labelledby="delete-hand-over">
                <h3 id="delete-hand-over">"Hand over, then delete"</h3>
                <p>
                    "Another user gets the conversations with their files, and the library. Everything else is deleted: the account, its \
                     memories, instructions and tokens, and messages that were deleted or not yet sent."
                </p>
                <form method="post" action="/settings/users/delete">
                    <input type="hidden" name="user" value=user.clone()/>
                    <input type="hidden" name="sure" value="yes"/>
                    <label class="field">"To" <select name="heir">{options}</select></label>
                    <button type="submit" class="button button-warning">"Hand over and delete the account"</button>
                </form>
            </section>
        }
    });
    let content = view! {
        <p>"The account " <strong>{account.name.clone()}</strong> " will be deleted. This cannot be undone."</p>
        {hand_over}
        <section class="settings-section" aria-labelledby="delete-everything">
            <h3 id="delete-everything">"Delete everything"</h3>
            <p>"All conversations, files and settings of the user are deleted with the account."</p>
            <form method="post" action="/settings/users/delete">
                <input type="hidden" name="user" value=user.clone()/>
                <input type="hidden" name="sure" value="yes"/>
                <button type="submit" class="button button-danger">"Delete everything of this user"</button>
            </form>
        </section>
        <div class="account-actions">
            <a class="button" href="/settings/users">"Keep it"</a>
        </div>
    };
    page::respond(StatusCode::OK, "Delete an account", content)
}
