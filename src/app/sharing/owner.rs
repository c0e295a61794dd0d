//! Shares as their owner makes, lists and ends them.

use std::collections::BTreeSet;

use crate::app::{
    Caller,
    accounts::{name, secret},
    not_found,
};
use parlor_base::{clock, settings::AuthMode};
use parlor_protocol::{
    ApiError, ConversationId, ErrorCode, NewShare, Share, ShareId, UserId, error::excerpt,
    sharing::shared_path,
};
use parlor_storage::{
    Change, PageSize,
    shares::{Audience, ShareChange, Snapshot, StoredShare},
};

/// Returns the shares of a user, newest first.
pub async fn list(caller: &Caller) -> Result<Vec<Share>, ApiError> {
    let shares = caller.app.storage.shares(caller.user_id).await?;
    Ok(shares.iter().map(describe).collect())
}

/// Shares a conversation with the named people, or by a link if there are none.
pub async fn create(
    caller: &Caller,
    conversation_id: ConversationId,
    names: Option<Vec<String>>,
    is_live: bool,
) -> Result<NewShare, ApiError> {
    let app = &caller.app;
    let (audience, secret) = match names {
        Some(names) => {
            let limit = app.settings.sharing.readers;
            let too_many = || {
                format!("A share names at most {limit} people (setting sharing.readers). Nothing was shared.")
            };
            let readers = find_readers(caller, &names, limit, too_many).await?;
            (Audience::People(readers), None)
        }
        None if app.settings.sharing.links => (Audience::Link, Some(secret::generate("")?)),
        None => {
            return Err(ApiError::new(
                ErrorCode::Forbidden,
                "Links are switched off here (setting sharing.links). Nothing was shared.",
            ));
        }
    };
    // Before the snapshot: what comes between the two is not in it.
    let created_at = clock::now();
    let snapshot = match is_live {
        true => None,
        false => Some(take_snapshot(caller, conversation_id).await?),
    };
    let share = StoredShare {
        id: ShareId::new(),
        user_id: caller.user_id,
        conversation_id,
        audience,
        snapshot,
        created_at,
    };
    let described = describe(&share);
    let path = shared_path(&secret.clone().unwrap_or_else(|| share.id.to_string()));
    let change = ShareChange::Create {
        share,
        hash: secret.as_deref().map(secret::sha256),
        limit: app.settings.sharing.shares,
    };
    app.journal.submit(Change::Share(change)).await?;
    Ok(NewShare {
        share: described,
        path,
    })
}

/// Ends a share, also for those who read it now. A share that has ended is not an error.
pub async fn end(caller: &Caller, share_id: ShareId) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    let change = ShareChange::End { user_id, share_id };
    match caller
        .app
        .journal
        .submit(Change::Share(change))
        .await
        .map_err(ApiError::from)
    {
        Ok(_) => caller.app.access.recheck(),
        Err(error) if error.code == ErrorCode::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Returns the accounts with these names, of others than the caller; `too_many` says that there are more than the limit.
///
/// # Errors
///
/// If nobody has one of the names, there is none of another person, or there are too many.
pub async fn find_readers(
    caller: &Caller,
    names: &[String],
    limit: usize,
    too_many: impl Fn() -> String,
) -> Result<Vec<(UserId, String)>, ApiError> {
    let app = &caller.app;
    let refuse = |message: String| Err(ApiError::new(ErrorCode::BadRequest, message));
    if app.accounts.mode() == AuthMode::None {
        return refuse(
            "There are no accounts here (setting accounts.auth), so nobody can be named. Nothing was shared."
                .into(),
        );
    }
    let names: BTreeSet<String> = names.iter().map(|name| name::normalize(name)).collect();
    // One more than the limit: the own name does not count. Each further name is a query.
    if names.len() > limit.saturating_add(1) {
        return refuse(too_many());
    }
    let mut readers: Vec<(UserId, String)> = Vec::new();
    for name in &names {
        let Some(account) = app.accounts.account_by_name(name).await? else {
            return refuse(format!(
                "There is nobody here with the name “{}”. Nothing was shared.",
                excerpt(name)
            ));
        };
        let is_new = readers.iter().all(|(user_id, _)| *user_id != account.user_id);
        if is_new && account.user_id != caller.user_id {
            readers.push((account.user_id, account.name));
        }
        if readers.len() > limit {
            return refuse(too_many());
        }
    }
    if readers.is_empty() {
        return refuse("Name at least one other person. Nothing was shared.".into());
    }
    readers.sort_by(|(_, name), (_, other)| name.cmp(other));
    Ok(readers)
}

/// Returns the end of a conversation's branch as it is now.
async fn take_snapshot(caller: &Caller, conversation_id: ConversationId) -> Result<Snapshot, ApiError> {
    let page = PageSize {
        messages: 1,
        bytes: usize::MAX,
    };
    let storage = &caller.app.storage;
    let found = storage
        .transcript(caller.user_id, conversation_id, page, None)
        .await?;
    let transcript = found.ok_or_else(not_found)?;
    let leaf = transcript.active_leaf.and_then(|leaf| transcript.message(leaf));
    let leaf = leaf.ok_or_else(|| {
        ApiError::new(
            ErrorCode::BadRequest,
            "There is no message in this conversation. Nothing was shared.",
        )
    })?;
    let answer = leaf.assistant();
    if answer.is_some_and(|answer| !answer.status.is_terminal()) {
        return Err(ApiError::new(
            ErrorCode::RunActive,
            "This conversation is being answered. Nothing was shared: wait for the end, or share it live.",
        ));
    }
    Ok(Snapshot {
        leaf_id: leaf.id,
        leaf_nodes: answer.map_or(0, |answer| answer.nodes.len()),
        title: transcript.title.clone(),
        position: transcript.as_of,
    })
}

fn describe(share: &StoredShare) -> Share {
    let readers = match &share.audience {
        Audience::Link | Audience::Project(_) => None,
        Audience::People(readers) => Some(readers.iter().map(|(_, name)| name.clone()).collect()),
    };
    Share {
        id: share.id,
        conversation_id: share.conversation_id,
        readers,
        is_live: share.snapshot.is_none(),
        created_at: share.created_at,
    }
}
