//! Changes to accounts, sessions and one-time links. No log has them: their pages are loaded on request.

use crate::sql::database::{Connection, query, query_scalar};

use super::{
    super::id,
    Batch, ChangeError,
    administrators::{disable, end_links_of_others, keep_administrator},
    audit, hand_over,
    personal::ensure_user,
    provided_accounts,
};
use crate::{
    ChangeRejection, Outcome, TokenHash,
    accounts::{AccountChange, AccountLink, AccountWarrant, LinkPurpose, Role, Session},
    audit::Actor,
    damage::skip_damaged,
};
use parlor_protocol::{MessageId, SessionId, UserId};

impl Batch<'_> {
    pub(super) async fn change_accounts(
        &mut self,
        connection: &mut Connection,
        change: &AccountChange,
    ) -> Result<Outcome, ChangeError> {
        let (change, by) = match change {
            AccountChange::By { actor, change } => (&**change, Some(actor)),
            change => (change, None),
        };
        let entry = audit::NewEntry::from_change(connection, change, by).await?;
        let outcome = self.apply_account_change(connection, change, by).await?;
        end_links_of_others(connection).await?;
        if let Some(entry) = entry {
            entry.store(connection, self.at).await?;
        }
        Ok(outcome)
    }

    async fn apply_account_change(
        &mut self,
        connection: &mut Connection,
        change: &AccountChange,
        by: Option<&Actor>,
    ) -> Result<Outcome, ChangeError> {
        let way = by.map(|actor| &actor.signs_in_by);
        match change {
            AccountChange::Create {
                user_id,
                name,
                password,
                warrant,
            } => {
                let account = (*user_id, name.as_str(), password.as_deref());
                self.create_account(connection, account, *warrant).await
            }
            AccountChange::CreateProvided {
                user_id,
                name,
                identity,
                role,
            } => {
                let account = (*user_id, name.as_str(), *role);
                provided_accounts::create(connection, self.at, account, identity).await
            }
            AccountChange::Rename { user_id, name } => {
                provided_accounts::rename(connection, *user_id, name).await
            }
            AccountChange::SetRole {
                user_id,
                role,
                keeps_administrator,
            } => {
                if *keeps_administrator && *role != Role::Administrator {
                    keep_administrator(connection, *user_id, way).await?;
                }
                let changed = query("UPDATE accounts SET role = $1 WHERE user_id = $2")
                    .bind_value(role)
                    .bind_value(user_id)
                    .execute(connection)
                    .await?;
                require_row(changed.rows_affected())
            }
            AccountChange::StartSession {
                user_id,
                session,
                hash,
                replaces,
            } => {
                self.start_session(connection, *user_id, session, hash, *replaces)
                    .await
            }
            AccountChange::UseSession { session_id, address } => {
                query("UPDATE sessions SET last_used_at = $1, address = $2 WHERE id = $3")
                    .bind_value(self.at)
                    .bind(address)
                    .bind_value(session_id)
                    .execute(connection)
                    .await?;
                Ok(Outcome::Done)
            }
            AccountChange::EndSession { user_id, session_id } => {
                let ended = query("DELETE FROM sessions WHERE user_id = $1 AND id = $2")
                    .bind_value(user_id)
                    .bind_value(session_id)
                    .execute(connection)
                    .await?;
                require_row(ended.rows_affected())
            }
            AccountChange::EndSessions { user_id, except } => {
                end_sessions(connection, *user_id, *except).await?;
                Ok(Outcome::DataDeleted)
            }
            AccountChange::SetPassword {
                user_id,
                password,
                link,
                except,
            } => {
                self.set_password(connection, *user_id, password, *link, *except)
                    .await
            }
            AccountChange::AddLink { link, hash } => self.add_link(connection, link, hash, by).await,
            AccountChange::DeleteLink { link_id } => {
                let deleted = query("DELETE FROM invitations WHERE id = $1")
                    .bind_value(link_id)
                    .execute(connection)
                    .await?;
                require_row(deleted.rows_affected())
            }
            AccountChange::SetDisabled { user_id, is_disabled } => {
                self.tell_readers_of_user(&mut *connection, *user_id).await?;
                if *is_disabled {
                    disable(connection, *user_id, way).await
                } else {
                    // A deletion that has begun is given up.
                    query("DELETE FROM pending_deletions WHERE user_id = $1")
                        .bind_value(user_id)
                        .execute(&mut *connection)
                        .await?;
                    let enabled = query("UPDATE accounts SET disabled = 0 WHERE user_id = $1")
                        .bind_value(user_id)
                        .execute(connection)
                        .await?;
                    require_row(enabled.rows_affected())
                }
            }
            AccountChange::BeginDeletion { user_id, heir } => {
                let actor = by.ok_or(ChangeRejection::Internal)?;
                self.tell_readers_of_user(&mut *connection, *user_id).await?;
                disable(&mut *connection, *user_id, way).await?;
                hand_over::begin_deletion(connection, (*user_id, *heir), actor).await
            }
            AccountChange::Delete { user_id, heir } => {
                // Its beginning has disabled the account, and has kept an administrator.
                hand_over::require_begun(&mut *connection, *user_id, *heir).await?;
                // An heir shares with nobody of the former owner's choice.
                self.end_sharing_of_projects(&mut *connection, *user_id).await?;
                if let Some(heir) = heir {
                    self.hand_over(&mut *connection, *user_id, *heir).await?;
                }
                self.delete_account(connection, *user_id).await
            }
            AccountChange::NoteFailure { .. } => Ok(Outcome::Done),
            AccountChange::TrimAuditLog { before, keep } => {
                Ok(match audit::trim(connection, *before, *keep).await? {
                    true => Outcome::DataDeleted,
                    false => Outcome::Done,
                })
            }
            // Nobody acts for an actor.
            AccountChange::By { .. } => Err(ChangeRejection::Internal)?,
        }
    }

    async fn create_account(
        &mut self,
        connection: &mut Connection,
        (user_id, name, password): (UserId, &str, Option<&str>),
        warrant: AccountWarrant,
    ) -> Result<Outcome, ChangeError> {
        let is_first: bool = query_scalar("SELECT NOT EXISTS (SELECT 1 FROM accounts)")
            .fetch_one(&mut *connection)
            .await?;
        let role = match warrant {
            AccountWarrant::Setup if !is_first => Err(ChangeRejection::SetupDone)?,
            AccountWarrant::Setup => Role::Administrator,
            AccountWarrant::Invitation(hash) => self.use_invitation(connection, &hash).await?,
            AccountWarrant::Proxy if is_first => Role::Administrator,
            // Without an administrator, nobody could invite or manage anybody.
            AccountWarrant::SignUp if is_first => Err(ChangeRejection::SetupNeeded)?,
            AccountWarrant::SignUp | AccountWarrant::Proxy => Role::Member,
        };
        ensure_user(connection, user_id).await?;
        let created = query(
            "INSERT INTO accounts (user_id, name, password, role, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        )
        .bind_value(user_id)
        .bind(name)
        .bind(password)
        .bind_value(role)
        .bind_value(self.at)
        .execute(connection)
        .await?;
        if created.rows_affected() == 0 {
            // The savepoint keeps the invitation.
            Err(ChangeRejection::NameTaken)?;
        }
        Ok(Outcome::Done)
    }

    /// Uses up an invitation. Returns the role that it grants.
    async fn use_invitation(
        &self,
        connection: &mut Connection,
        hash: &TokenHash,
    ) -> Result<Role, ChangeError> {
        let role: Option<String> = query_scalar(
            "DELETE FROM invitations WHERE hash = $1 AND user_id IS NULL AND expires_at > $2 RETURNING role",
        )
        .bind_value(hash)
        .bind_value(self.at)
        .fetch_optional(connection)
        .await?;
        Ok(Role::from_name(&role.ok_or(ChangeRejection::NotFound)?))
    }

    async fn start_session(
        &self,
        connection: &mut Connection,
        user_id: UserId,
        session: &Session,
        hash: &TokenHash,
        replaces: Option<TokenHash>,
    ) -> Result<Outcome, ChangeError> {
        query(
            "DELETE FROM sessions WHERE hash = $1 OR (user_id = $2 AND (expires_at <= $3 OR last_used_at + idle_ms <= $3))",
        )
        .bind_value(replaces)
        .bind_value(user_id)
        .bind_value(self.at)
        .execute(&mut *connection)
        .await?;
        let started = query(
            "INSERT INTO sessions (id, hash, user_id, device, address, created_at, last_used_at, idle_ms, expires_at, method) \
             SELECT $1, $2, user_id, $3, $4, $5, $6, $7, $8, $9 FROM accounts WHERE user_id = $10 AND disabled = 0",
        )
        .bind_value(session.id)
        .bind_value(hash)
        .bind(&session.device)
        .bind(&session.address)
        .bind_value(session.created_at)
        .bind_value(session.last_used_at)
        .bind(session.idle_ms)
        .bind_value(session.expires_at)
        .bind_value(session.method)
        .bind_value(user_id)
        .execute(connection)
        .await?;
        require_row(started.rows_affected())
    }

    async fn set_password(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        password: &str,
        link: Option<TokenHash>,
        except: Option<SessionId>,
    ) -> Result<Outcome, ChangeError> {
        if let Some(link) = link {
            let used = query("DELETE FROM invitations WHERE hash = $1 AND user_id = $2 AND expires_at > $3")
                .bind_value(link)
                .bind_value(user_id)
                .bind_value(self.at)
                .execute(&mut *connection)
                .await?;
            require_row(used.rows_affected())?;
        }
        end_sessions(connection, user_id, except).await?;
        // Whoever knew the old password may have made tokens.
        let tokens = query("DELETE FROM api_tokens WHERE user_id = $1")
            .bind_value(user_id)
            .execute(&mut *connection)
            .await?;
        if tokens.rows_affected() > 0 {
            self.log_settings_changed(connection, user_id).await?;
        }
        // Links that were made for the old password.
        query("DELETE FROM invitations WHERE user_id = $1")
            .bind_value(user_id)
            .execute(&mut *connection)
            .await?;
        let set = query("UPDATE accounts SET password = $1 WHERE user_id = $2")
            .bind(password)
            .bind_value(user_id)
            .execute(connection)
            .await?;
        require_row(set.rows_affected())
    }

    async fn add_link(
        &self,
        connection: &mut Connection,
        link: &AccountLink,
        hash: &TokenHash,
        by: Option<&Actor>,
    ) -> Result<Outcome, ChangeError> {
        let (user_id, role) = match link.purpose {
            LinkPurpose::Invitation(role) => (None, role),
            LinkPurpose::NewPassword(user_id) => (Some(user_id.to_string()), Role::Member),
        };
        query("DELETE FROM invitations WHERE expires_at <= $1 OR user_id = $2")
            .bind_value(self.at)
            .bind(&user_id)
            .execute(&mut *connection)
            .await?;
        query(
            "INSERT INTO invitations (id, hash, user_id, role, created_at, expires_at, made_by) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind_value(link.id)
        .bind_value(hash)
        .bind(user_id)
        .bind_value(role)
        .bind_value(link.created_at)
        .bind_value(link.expires_at)
        .bind_value(by.map(|actor| actor.user_id))
        .execute(&mut *connection)
        .await?;
        // The administrator may not be one any more.
        match end_links_of_others(connection).await? {
            0 => Ok(Outcome::Done),
            _ => Err(ChangeRejection::NotFound)?,
        }
    }

    async fn delete_account(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
    ) -> Result<Outcome, ChangeError> {
        let active = query("SELECT id FROM runs WHERE user_id = $1 AND status IN ('running', 'waiting')")
            .bind_value(user_id)
            .fetch_all(&mut *connection)
            .await?;
        for run in &active {
            let run: Option<MessageId> = skip_damaged("runs", "of a deleted user", id(run, "id"))?;
            self.orphaned_runs.extend(run);
        }
        let deleted = query("DELETE FROM users WHERE id = (SELECT user_id FROM accounts WHERE user_id = $1)")
            .bind_value(user_id)
            .execute(connection)
            .await?;
        let outcome = require_row(deleted.rows_affected())?;
        // Its log went with it, and what was to be written there in this batch would belong to nobody.
        self.events.retain(|event| event.user_id != user_id);
        self.last_positions.remove(&user_id);
        Ok(outcome)
    }
}

pub(super) fn require_row(affected: u64) -> Result<Outcome, ChangeError> {
    if affected == 0 {
        Err(ChangeRejection::NotFound)?;
    }
    Ok(Outcome::DataDeleted)
}

pub(super) async fn end_sessions(
    connection: &mut Connection,
    user_id: UserId,
    except: Option<SessionId>,
) -> Result<(), ChangeError> {
    query("DELETE FROM sessions WHERE user_id = $1 AND id IS DISTINCT FROM $2")
        .bind_value(user_id)
        .bind_value(except)
        .execute(connection)
        .await?;
    Ok(())
}
