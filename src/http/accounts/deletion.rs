//! The administrator's form for deleting a user: with everything, or after a hand-over to another user.

use axum::{http::StatusCode, response::Response};
use leptos::prelude::*;

use super::{
    SignedIn,
    page::{self, failure, redirect},
    texts,
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
        Err(error) => return failure(texts::NOTHING_CHANGED, &error),
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
        }) => failure(texts::NOTHING_CHANGED, &error),
        Err(DeletionError { error, .. }) => {
            let message = texts::NOT_DELETED;
            failure(texts::NOT_DELETED_TITLE, &ApiError::new(error.code, message))
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
                <h3 id="delete-hand-over">{texts::HAND_OVER_TITLE}</h3>
                <p>
                    {texts::HAND_OVER_WARNING}
                </p>
                <form method="post" action="/settings/users/delete">
                    <input type="hidden" name="user" value=user.clone()/>
                    <input type="hidden" name="sure" value="yes"/>
                    <label class="field">{texts::HAND_OVER_TO} <select name="heir">{options}</select></label>
                    <button type="submit" class="button button-warning">{texts::HAND_OVER}</button>
                </form>
            </section>
        }
    });
    let [before, after] = texts::DELETE_WARNING;
    let content = view! {
        <p>{before} <strong>{account.name.clone()}</strong> {after}</p>
        {hand_over}
        <section class="settings-section" aria-labelledby="delete-everything">
            <h3 id="delete-everything">{texts::DELETE_ALL_TITLE}</h3>
            <p>{texts::DELETE_ALL_WARNING}</p>
            <form method="post" action="/settings/users/delete">
                <input type="hidden" name="user" value=user.clone()/>
                <input type="hidden" name="sure" value="yes"/>
                <button type="submit" class="button button-danger">{texts::DELETE_ALL}</button>
            </form>
        </section>
        <div class="account-actions">
            <a class="button" href="/settings/users">{texts::KEEP_ACCOUNT}</a>
        </div>
    };
    page::respond(StatusCode::OK, texts::DELETE_TITLE, content)
}
