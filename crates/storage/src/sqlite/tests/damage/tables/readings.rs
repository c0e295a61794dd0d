//! Everything that storage returns about the two conversations and their user, as lines with a label.

use std::{collections::BTreeSet, fmt::Debug};

use uuid::Uuid;

use super::{Filled, Ids};
use crate::{
    FileKinds, FileLocation, LogPage, PageSize, Queues, Storage, StorageError, TokenHash,
    accounts::{AccountStorage, ProviderIdentity},
    endpoints::EndpointStorage,
    jobs::JobStorage,
    schedules::ScheduleStorage,
    search::{SearchQuery, SearchRequest},
    shares::ShareStorage,
    usage::Day,
};
use parlor_protocol::{
    AttachmentId, IntentId, JobId, Position, ProjectId, ResearchStreamId, ShareId, Timestamp, UserId,
    columns::ColumnSource,
};

/// The beginnings of the ids of damaged and of sound rows.
const KINDS: [(u32, u8, &str); 2] = [(0xdddd_dddd, 0xdd, "dddddddd"), (0xaaaa_aaaa, 0xaa, "aaaaaaaa")];

/// The lines of a reading.
pub(super) struct Lines<'a> {
    lines: BTreeSet<String>,
    /// The damage, for failures.
    damage: &'a str,
}

impl Lines<'_> {
    /// Adds the items of a list, which is read whatever one of them is like.
    fn list<T: Debug>(&mut self, label: &str, read: Result<impl IntoIterator<Item = T>, StorageError>) {
        let items = read.unwrap_or_else(|error| panic!("{}: {label}: {error}", self.damage));
        self.lines
            .extend(items.into_iter().map(|item| format!("{label}: {item:?}")));
    }

    /// Adds a single thing, which may be unreadable.
    fn one<T: Debug>(&mut self, label: &str, read: Result<T, StorageError>) -> Option<T> {
        match read {
            Ok(read) => {
                self.lines.insert(format!("{label}: {read:?}"));
                Some(read)
            }
            Err(error) if error.is_row_damage() => None,
            Err(error) => panic!("{}: {label}: {error}", self.damage),
        }
    }
}

fn id(first: u32, last: u128) -> Uuid {
    Uuid::from_u128((u128::from(first) << 96) | (7 << 76) | (8 << 60) | last)
}

fn hash(last: u8) -> TokenHash {
    let mut hash = TokenHash([0; 32]);
    hash.0[31] = last;
    hash
}

pub(super) async fn read_all(filled: &Filled, damage: &str) -> BTreeSet<String> {
    let mut lines = Lines {
        lines: BTreeSet::new(),
        damage,
    };
    let (storage, ids) = (&filled.storage, &filled.ids);
    read_at_start(storage, &mut lines).await;
    for user in [ids.user, ids.other] {
        read_user(storage, user, &mut lines).await;
    }
    read_by_id(storage, ids, &mut lines).await;
    read_conversations(storage, ids, &mut lines).await;
    lines.lines
}

/// The reads of the server's start, and lists of all users.
async fn read_at_start(storage: &impl StorageOfAll, lines: &mut Lines<'_>) {
    lines.list("running", storage.running_runs().await);
    lines.one(
        "dddddddd unindexed",
        storage.next_unindexed_file().await.map(|file| file.is_some()),
    );
    lines.list("running jobs", storage.running_jobs().await);
    lines.list("hidden", storage.hidden_messages().await);
    lines.list("ready", storage.ready_messages(Queues::All).await);
    lines.list("deleted files", storage.deleted_files().await);
    lines.list("contents", storage.contents().await);
    // With an unreadable one no content is taken for one without a file.
    lines.one(
        "dddddddd file locations",
        storage.file_locations().await.map(|files| files.len()),
    );
    lines.list(
        "dddddddd attachment row",
        storage
            .next_attachment_row()
            .await
            .map(|row| row.map(|row| row.data)),
    );
    lines.list("pending deletions", storage.pending_deletions().await);
    lines.list("accounts", storage.accounts().await);
    lines.list("endpoints", storage.endpoints(None).await);
    lines.one("dddddddd own keys", storage.allows_own_keys().await);
    lines.list("links", storage.account_links().await);
    lines.list("audit log", storage.audit_log(None, 100).await);
    lines.list(
        "dddddddd usage of all",
        storage.daily_usage(None, Day::default()).await,
    );
    assert!(storage.has_accounts().await.unwrap());
}

async fn read_user(storage: &impl StorageOfAll, user: UserId, lines: &mut Lines<'_>) {
    let label = |name: &str| format!("{name} of {user}");
    let listed = storage.conversations(user, None, 10).await;
    lines.list(&label("conversations"), listed.map(|list| list.conversations));
    lines.list(&label("memories"), storage.memories(user).await);
    lines.list(&label("tokens"), storage.api_tokens(user).await);
    let library = storage.library(user).await.expect("the library");
    lines.list(&label("articles"), Ok(library.articles));
    lines.list(&label("streams"), Ok(library.streams));
    let jobs = storage.jobs(user).await;
    lines.list(&label("jobs"), jobs.map(|list| list.jobs));
    lines.list(&label("sessions"), storage.sessions(user).await);
    lines.list(&label("shares"), storage.shares(user).await);
    lines.list(&label("projects"), storage.projects(user).await);
    lines.list(&label("projects of others"), storage.shared_projects(user).await);
    lines.list(
        &label("columns"),
        storage.columns(user, &ColumnSource::Articles).await,
    );
    lines.list(
        &label("corrections"),
        storage.corrections(user, &ColumnSource::Articles).await,
    );
    lines.list(&label("schedules"), storage.schedules(user, Timestamp(0)).await);
    lines.list(&label("active runs"), storage.active_runs(user).await);
    // The only row of a day is the damaged one.
    lines.list(
        &label("dddddddd usage"),
        storage.daily_usage(Some(user), Day::default()).await,
    );
    lines.one(&label("instructions"), storage.instructions(user).await);
    lines.one(&label("dddddddd seen version"), storage.seen_version(user).await);
    lines.one(
        &label("dddddddd chat search"),
        storage.may_search_chats(user).await,
    );
    lines.one(&label("dddddddd account"), storage.account(user).await);
    lines.list(
        &label("dddddddd bytes"),
        storage.stored_bytes(user).await.map(Some),
    );
    let kinds = FileKinds {
        media_types: &["image/png"],
        name_ends: &[],
    };
    lines.list(
        &label("attached files"),
        storage.attached_files(user, kinds, 10).await,
    );
    let request = SearchRequest {
        query: SearchQuery::parse("from:me"),
        limit: 100,
        ..SearchRequest::default()
    };
    let found = storage.search(user, &request).await;
    lines.list(&label("found"), found.map(|found| found.hits));
    let log = storage.events_after(user, Position(0), None, 1000).await;
    let LogPage::Events { events, .. } = log.expect("the log") else {
        panic!("{}: the log is complete", lines.damage)
    };
    lines.list(&label("events"), Ok(events));
    // An unreadable position of the last event is none.
    lines.one(&label("dddddddd position"), storage.last_position(user).await);
}

/// Searches by an id, a name or a secret.
async fn read_by_id(storage: &impl StorageOfAll, ids: &Ids, lines: &mut Lines<'_>) {
    let user = ids.user;
    for (first, last, text) in KINDS {
        let label = |name: &str| format!("{name} {text}");
        let file = AttachmentId(id(first, 0xc));
        lines.one(&label("file"), storage.file(user, file).await);
        let location = FileLocation {
            user_id: user,
            conversation_id: ids.conversation,
            stored_name: id(first, 0x1e),
        };
        lines.one(
            &label("part"),
            storage.content_part(location, "original", 0).await,
        );
        lines.one(&label("token"), storage.api_token(&hash(last)).await);
        lines.one(&label("dddddddd session"), storage.session(&hash(last)).await);
        lines.one(&label("link"), storage.account_link(&hash(last)).await);
        lines.one(&label("account"), storage.account_by_name(text).await);
        let identity = ProviderIdentity {
            issuer: "https://id.example".into(),
            subject: text.into(),
        };
        lines.one(&label("identity"), storage.account_by_identity(&identity).await);
        let share = storage.share_of_reader(ShareId(id(first, 7)), ids.other).await;
        let share = lines.one(&label("share"), share).flatten();
        if let Some(share) = share {
            let shown = storage.shared_transcript(&share, PageSize::UNLIMITED, None).await;
            lines.one(&label("shared"), shown);
        }
        let project = ProjectId(id(first, 0x17));
        lines.list(&label("readers"), storage.project_readers(user, project).await);
        let content = storage.shared_project(ids.other, project, None, 10).await;
        lines.one(&label("project of another"), content);
        let intent = IntentId(id(first, 8));
        lines.one(&label("intent"), storage.completed_intent(user, intent).await);
        lines.one(&label("article"), storage.saved_article(user, text).await);
        let job = JobId(id(first, 0x14));
        lines.one(&label("job"), storage.job(user, job).await);
        lines.one(&label("dddddddd steps"), storage.job_steps(user, job).await);
        lines.list(
            &label("finished steps"),
            storage.finished_steps(user, job, "add").await,
        );
        lines.one(&label("step"), storage.job_step(user, job, text).await);
        lines.list("job call", storage.job_calls(user, job).await);
        let stream = ResearchStreamId(id(first, 6));
        lines.one(&label("stream"), storage.research_stream(user, stream).await);
    }
    let both = KINDS.map(|(_, _, text)| text.to_owned());
    lines.list("saved", storage.saved_articles(user, &both).await);
}

async fn read_conversations(storage: &impl StorageOfAll, ids: &Ids, lines: &mut Lines<'_>) {
    let user = ids.user;
    for (conversation, question, answer) in [
        (ids.conversation, ids.question, ids.answer),
        (ids.sound_conversation, ids.sound_question, ids.sound_answer),
    ] {
        let label = |name: &str| format!("{name} of {conversation}");
        let page = PageSize::UNLIMITED;
        let transcript = storage.transcript(user, conversation, page, None).await;
        let transcript = lines.one(&label("transcript"), transcript).flatten();
        let (messages, queue) = transcript.map(|found| (found.messages, found.queue)).unzip();
        lines.list(&label("message"), Ok(messages.into_iter().flatten()));
        lines.list(
            &label("queue"),
            Ok(queue.into_iter().flat_map(|queue| queue.messages)),
        );
        let older = storage.older_messages(user, conversation, answer, page).await;
        lines.one(&label("older"), older);
        lines.one(&label("row"), storage.conversation(user, conversation).await);
        lines.one(&label("tokens"), storage.token_totals(user, conversation).await);
        lines.one(
            &label("model"),
            storage.conversation_model(user, conversation).await,
        );
        lines.one(&label("parameters"), storage.parameters(user, conversation).await);
        let texts = KINDS.map(|(_, _, text)| text);
        let payloads = storage.payloads(user, conversation, &texts, 1000).await;
        lines.list("payload", payloads);
        lines.list("verdict", storage.payload_verdicts(user, conversation).await);
        for message in [question, answer] {
            let label = |name: &str| format!("{name} of {message}");
            lines.one(&label("message"), storage.message(user, message).await);
            lines.one(&label("context"), storage.context_snapshot(user, message).await);
            lines.one(&label("run"), storage.run(user, message).await);
            let events = storage.events_after(user, Position(0), Some(message), 1000).await;
            assert!(matches!(events, Ok(LogPage::Events { .. })), "{}", lines.damage);
            lines.list("model call", storage.model_calls(user, message).await);
        }
        let key = super::RunKey {
            user_id: user,
            conversation_id: conversation,
            message_id: answer,
        };
        let context = lines
            .one("dddddddd context of a run", storage.run_context(key).await)
            .flatten();
        let Some(context) = context else { continue };
        lines.list(&label("history"), Ok(context.history));
        lines.list("allowed", Ok(context.allowed_tools));
        lines.list("summary", Ok(context.options.summaries));
        lines.list("provider data", Ok(context.provider_data.into_values().flatten()));
    }
}

/// All queries.
pub(super) trait StorageOfAll:
    Storage + AccountStorage + EndpointStorage + JobStorage + ScheduleStorage + ShareStorage
{
}

impl<S: Storage + AccountStorage + EndpointStorage + JobStorage + ScheduleStorage + ShareStorage> StorageOfAll
    for S
{
}
