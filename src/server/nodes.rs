//! This process as one of several nodes on a database (`docs/nodes.md`): its lease, the work that it takes over, and what it learns
//! of the commits of others.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::{
    sync::mpsc,
    task::{JoinHandle, JoinSet},
    time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::app::{AppState, accounts, deletion};
use parlor_storage::{
    Storage, StorageError,
    limits::LimitKey,
    nodes::{CommitHint, SharedChanges},
};
use parlor_web::services::SharedTurns;

/// The number of commits of other nodes that wait to be looked at. Further ones wait in the connection.
const MAX_WAITING_HINTS: usize = 256;

/// The longest look at what other nodes have changed: behind a broken cable, a query would end after minutes.
const LOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// The time between two looks for what other nodes were about to erase when they ended in an orderly way.
const ERASURE_INTERVAL: Duration = Duration::from_secs(5 * 60);

/// The looks for leases that have ended, in the time between two extensions of the own one.
const LOOKS_PER_RENEWAL: u32 = 4;

/// The time after which an extension of the lease that failed is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// The turns at a service, which has one limit for all nodes.
struct ServiceTurns {
    storage: Arc<dyn Storage>,
    service: &'static str,
}

/// Returns the turns that the nodes share at a service; `None` if this is the only process.
pub(super) fn shared_turns(
    storage: &Arc<dyn Storage>,
    service: &'static str,
) -> Option<Arc<dyn SharedTurns>> {
    let turns = ServiceTurns {
        storage: storage.clone(),
        service,
    };
    storage.has_nodes().then(|| Arc::new(turns) as _)
}

impl ServiceTurns {
    fn key(&self) -> LimitKey {
        LimitKey::new("turns of service", self.service)
    }
}

impl fmt::Debug for ServiceTurns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServiceTurns").field(&self.service).finish()
    }
}

#[async_trait]
impl SharedTurns for ServiceTurns {
    async fn take(&self, interval: Duration) -> Option<Duration> {
        match self.storage.take_turn(self.key(), interval, Duration::ZERO).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::warn!(%error, service = self.service, "its turns are not shared with other nodes");
                None
            }
        }
    }

    async fn pause(&self, pause: Duration) {
        if let Err(error) = self.storage.pause_turns(self.key(), pause).await {
            tracing::warn!(%error, service = self.service, "its pause is not shared with other nodes");
        }
    }
}

/// Extends the lease while the server starts, until the returned set is dropped. Its loss is found when the server serves.
pub(super) fn renew_during_start(storage: Arc<dyn Storage>, every: Duration) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    if storage.has_nodes() {
        tasks.spawn(async move {
            let mut ticks = interval(every);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                match timeout(every, storage.renew()).await {
                    Ok(Ok(_)) => {}
                    Ok(Err(error)) => tracing::warn!(%error, "the lease of this node could not be extended"),
                    Err(_) => tracing::warn!("the lease of this node could not be extended in time"),
                }
            }
        });
    }
    tasks
}

/// Starts the tasks of a node, which takes work over when its start has recovered what was left; or the one of the only process, which
/// sees when it is replaced.
pub(super) fn start(app: &AppState, recovered: CancellationToken) -> Vec<JoinHandle<()>> {
    if !app.storage.has_nodes() {
        return vec![tokio::spawn(drop_work_when_replaced(app.clone()))];
    }
    vec![
        tokio::spawn(keep_lease(app.clone())),
        tokio::spawn(take_over_periodically(app.clone(), recovered)),
        tokio::spawn(Watch::new(app.clone()).run()),
        tokio::spawn({
            let app = app.clone();
            async move { app.hub.fill_gaps(&*app.storage).await }
        }),
    ]
}

/// Waits until another process has taken over the database of the only one, and ends the work of this one, which goes on there.
async fn drop_work_when_replaced(app: AppState) {
    app.journal.wait_until_lease_lost().await;
    tracing::error!("another process has taken over the database: stop one of the two");
    app.metrics.database.count_lost_lease();
    tokio::join!(app.runs.drop_all(), app.jobs.drop_all());
}

/// Extends the lease. If it can't, or the lease has ended, ends the work of this node and begins another lease.
async fn keep_lease(app: AppState) {
    let settings = &app.settings.nodes;
    // The lease ends at this time after the last extension was asked for, or later.
    let mut extended = Instant::now();
    let mut next = extended;
    loop {
        tokio::select! {
            () = sleep_until(next) => {}
            () = app.journal.wait_until_lease_lost() => {}
        }
        let asked = Instant::now();
        let is_lost = app.journal.has_lost_lease() || extended.elapsed() >= settings.lease;
        let renewed = match is_lost {
            true => Ok(Ok(false)),
            false => timeout(settings.renewal, app.storage.renew()).await,
        };
        // A database that restarts is back before the lease ends, so the next attempt comes soon.
        next = Instant::now() + RETRY_DELAY;
        match renewed {
            Ok(Ok(true)) => {
                extended = asked;
                next = asked + settings.renewal;
            }
            Ok(Ok(false)) => {
                extended = begin_another_lease(&app, settings.renewal).await;
                next = extended + settings.renewal;
            }
            Ok(Err(error)) => tracing::warn!(%error, "the lease of this node could not be extended"),
            Err(_) => tracing::warn!("the lease of this node could not be extended in time"),
        }
    }
}

/// Ends all work without a trace, and begins another lease. Returns the time at which it was asked for.
async fn begin_another_lease(app: &AppState, retry: Duration) -> Instant {
    tracing::error!("this node has lost its lease; it ends its work, which other nodes take over");
    app.metrics.database.count_lost_lease();
    app.journal.lose_lease();
    tokio::join!(app.runs.drop_all(), app.jobs.drop_all());
    loop {
        let asked = Instant::now();
        match app.storage.join().await {
            Ok(()) => {
                app.journal.begin_lease();
                tracing::warn!("this node has a lease again");
                return asked;
            }
            Err(error) => tracing::warn!(%error, "this node can't begin a lease yet"),
        }
        sleep(retry).await;
    }
}

/// Ends the leases of nodes that are not heard of any more, and takes over what nobody works on.
async fn take_over_periodically(app: AppState, recovered: CancellationToken) {
    // Two recoveries at a time would take the same work.
    recovered.cancelled().await;
    let mut ticks = interval(app.settings.nodes.renewal / LOOKS_PER_RENEWAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut looked_for_work, mut looked_for_hidden) = (None, Instant::now());
    loop {
        ticks.tick().await;
        if app.journal.has_lost_lease() || app.runs.is_closed() {
            continue;
        }
        let ended = match app.storage.end_expired().await {
            Ok(ended) => ended,
            Err(error) => {
                tracing::warn!(%error, "the leases of other nodes can't be read");
                continue;
            }
        };
        if ended > 0 {
            tracing::warn!(count = ended, "the leases of other nodes have ended");
            app.metrics.database.count_ended_leases(ended);
        }
        // A node that stops in an orderly way leaves what could still be restored.
        if ended > 0 || looked_for_hidden.elapsed() >= ERASURE_INTERVAL {
            looked_for_hidden = Instant::now();
            tokio::spawn(deletion::erase_hidden(app.clone()));
            tokio::spawn(accounts::deletion::resume(app.clone()));
        }
        let renewal = app.settings.nodes.renewal;
        if ended == 0 && looked_for_work.is_some_and(|at: Instant| at.elapsed() < renewal) {
            continue;
        }
        looked_for_work = Some(Instant::now());
        app.runs.recover().await;
        app.jobs.recover().await;
    }
}

/// The reason for which this node looks at what others have changed.
enum Seen {
    Hint(CommitHint),
    /// Another node has a run of this one.
    RefusedOutput,
    /// The time of the poll has come.
    Nothing,
}

/// The others' commits, as far as this node has seen them.
struct Watch {
    app: AppState,
    shared: SharedChanges,
}

impl Watch {
    fn new(app: AppState) -> Self {
        Self {
            app,
            shared: SharedChanges::default(),
        }
    }

    async fn run(mut self) {
        let app = self.app.clone();
        let poll = app.settings.nodes.poll;
        let (sender, mut hints) = mpsc::channel(MAX_WAITING_HINTS);
        let mut ticks = interval(poll);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let following = follow(&app, sender, poll);
        tokio::pin!(following);
        loop {
            let seen = tokio::select! {
                () = &mut following => return,
                Some(hint) = hints.recv() => Seen::Hint(hint),
                () = app.journal.wait_for_refused_output() => Seen::RefusedOutput,
                _ = ticks.tick() => Seen::Nothing,
            };
            let looking = async {
                match seen {
                    Seen::Hint(hint) => self.look_at(hint).await,
                    Seen::RefusedOutput => self.look_for_work().await,
                    Seen::Nothing => self.look().await,
                }
            };
            match timeout(LOOK_TIMEOUT, looking).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the changes of other nodes can't be read; trying again");
                }
                // The next look finds what this one has not.
                Err(_) => tracing::warn!("the changes of other nodes can't be read in time; trying again"),
            }
        }
    }

    async fn look_at(&mut self, hint: CommitHint) -> Result<(), StorageError> {
        if hint.is_unknown {
            return self.look().await;
        }
        // Before the events that tell of it.
        if hint.has_shared_changes {
            self.look_for_shared_changes().await?;
        }
        for (user_id, position) in hint.positions {
            self.app.hub.announce(user_id, position);
        }
        if hint.has_work_changes {
            self.look_for_work().await?;
        }
        Ok(())
    }

    /// Looks at everything that other nodes may have changed.
    async fn look(&mut self) -> Result<(), StorageError> {
        self.look_for_shared_changes().await?;
        let users = self.app.hub.users();
        for (user_id, position) in self.app.storage.log_heads(&users).await? {
            self.app.hub.announce(user_id, position);
        }
        self.look_for_work().await
    }

    async fn look_for_shared_changes(&mut self) -> Result<(), StorageError> {
        let now = self.app.storage.shared_changes().await?;
        if now.access != self.shared.access {
            self.app.access.recheck();
        }
        self.app.accounts.learn_setup().await?;
        if now.endpoints != self.shared.endpoints {
            self.app.endpoints.reload().await?;
        }
        self.shared = now;
        Ok(())
    }

    async fn look_for_work(&self) -> Result<(), StorageError> {
        self.app.runs.drop_lost_runs().await?;
        self.app.jobs.drop_lost_jobs().await?;
        self.app.runs.apply_left_answers().await
    }
}

/// Follows the notifications of other nodes. Never ends.
async fn follow(app: &AppState, hints: mpsc::Sender<CommitHint>, retry: Duration) {
    loop {
        match app.storage.follow_commits(hints.clone()).await {
            // There are none: the poll has to do.
            Ok(()) => return std::future::pending().await,
            Err(error) => tracing::warn!(%error, "the notifications of other nodes are followed again"),
        }
        sleep(retry).await;
    }
}
