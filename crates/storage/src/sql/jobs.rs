//! Queries about jobs.

use async_trait::async_trait;

use super::{
    SqlStorage,
    database::{Connection, Row, Sql, query, query_scalar},
    id, json, log_page, number_or_zero, optional_text, read_undamaged_rows, text,
};
use crate::{
    RecordedModelCall, StorageError,
    damage::{name_damaged, skip_damaged},
    jobs::{Fence, JobKey, JobStorage, Owner, StoredJob, StoredStep},
};
use parlor_protocol::{
    Dollars, JobId, RunStatus, Timestamp, UserId,
    job::{Job, JobList, JobProgress},
};

/// The columns of [`read_job`]: the contents `input` and `result`, which may be large, and all others.
macro_rules! select_jobs {
    ($contents:literal, $rest:literal) => {
        concat!(
            "SELECT id, user_id, kind, version, title, fingerprint, model, cost_limit, status, done, total, left_ms, totals, \
             error, waits_for, unseen, resumptions, created_at, ended_at, owner, fence, ",
            $contents,
            " FROM jobs ",
            $rest
        )
    };
}

#[async_trait]
impl JobStorage for SqlStorage {
    async fn jobs(&self, user_id: UserId) -> Result<JobList, StorageError> {
        let mut tx = self.readers.begin().await?;
        let as_of = log_page::last_log_position(&mut tx, user_id).await?;
        let rows = query(select_jobs!(
            "'' AS input, NULL AS result",
            "WHERE user_id = $1 ORDER BY created_at DESC, id DESC"
        ))
        .bind_value(user_id)
        .fetch_all(&mut tx)
        .await?;
        let jobs = read_undamaged_rows("jobs", "id", &rows, |row| Ok(read_job(row)?.job))?;
        Ok(JobList { as_of, jobs })
    }

    async fn unseen_jobs(&self, user_id: UserId, kind: &str) -> Result<Vec<JobId>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(
            "SELECT id FROM jobs WHERE user_id = $1 AND kind = $2 AND unseen <> 0 ORDER BY created_at DESC, id DESC",
        )
        .bind_value(user_id)
        .bind(kind)
        .fetch_all(&mut connection)
        .await?;
        read_undamaged_rows("jobs", "id", &rows, |row| id(row, "id"))
    }

    async fn job(&self, user_id: UserId, job_id: JobId) -> Result<Option<StoredJob>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        job(&mut connection, user_id, job_id).await
    }

    async fn job_before(&self, user_id: UserId, job_id: JobId) -> Result<Option<StoredJob>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(select_jobs!(
            "input, result",
            "WHERE user_id = $1 AND status = 'complete' AND (created_at, id) < \
             (SELECT created_at, id FROM jobs WHERE user_id = $1 AND id = $2) \
             AND (kind, input) = (SELECT kind, input FROM jobs WHERE user_id = $1 AND id = $2) \
             ORDER BY created_at DESC, id DESC LIMIT 1"
        ))
        .bind_value(user_id)
        .bind_value(job_id)
        .fetch_all(&mut connection)
        .await?;
        Ok(read_undamaged_rows("jobs", "id", &rows, read_job)?
            .into_iter()
            .next())
    }

    async fn jobs_of_input(
        &self,
        user_id: UserId,
        kind: &str,
        input: &str,
    ) -> Result<Vec<StoredJob>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(select_jobs!(
            "'' AS input, NULL AS result",
            "WHERE user_id = $1 AND kind = $2 AND input = $3 ORDER BY created_at DESC, id DESC"
        ))
        .bind_value(user_id)
        .bind(kind)
        .bind(input)
        .fetch_all(&mut connection)
        .await?;
        read_undamaged_rows("jobs", "id", &rows, read_job)
    }

    async fn finished_steps(
        &self,
        user_id: UserId,
        job_id: JobId,
        kind: &str,
    ) -> Result<Vec<StoredStep>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(
            "SELECT key, kind, version, input, output, error, attempts, started_at, ended_at FROM job_steps \
             WHERE user_id = $1 AND job_id = $2 AND kind = $3 AND (output IS NOT NULL OR error IS NOT NULL) ORDER BY number, key",
        )
        .bind_value(user_id)
        .bind_value(job_id)
        .bind(kind)
        .fetch_all(&mut connection)
        .await?;
        read_undamaged_rows("job_steps", "key", &rows, read_step)
    }

    async fn job_step(
        &self,
        user_id: UserId,
        job_id: JobId,
        key: &str,
    ) -> Result<Option<StoredStep>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = query(
            "SELECT key, kind, version, input, output, error, attempts, started_at, ended_at FROM job_steps \
             WHERE user_id = $1 AND job_id = $2 AND key = $3",
        )
        .bind_value(user_id)
        .bind_value(job_id)
        .bind(key)
        .fetch_optional(&mut connection)
        .await?;
        let read = read_undamaged_rows("job_steps", "key", row.as_slice(), read_step)?;
        Ok(read.into_iter().next())
    }

    async fn has_jobs(&self, user_id: UserId, kind: &str) -> Result<bool, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let exists = query_scalar("SELECT EXISTS (SELECT 1 FROM jobs WHERE user_id = $1 AND kind = $2)")
            .bind_value(user_id)
            .bind(kind)
            .fetch_one(&mut connection)
            .await?;
        Ok(exists)
    }

    async fn job_steps(&self, user_id: UserId, job_id: JobId) -> Result<Vec<StoredStep>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(
            "SELECT key, kind, version, input, output, error, attempts, started_at, ended_at FROM job_steps \
             WHERE user_id = $1 AND job_id = $2 ORDER BY number, key",
        )
        .bind_value(user_id)
        .bind_value(job_id)
        .fetch_all(&mut connection)
        .await?;
        // A job must not repeat a step because its result can't be read.
        rows.iter()
            .map(|row| name_damaged("job_steps", job_id.0, read_step(row)))
            .collect()
    }

    async fn job_calls(
        &self,
        user_id: UserId,
        job_id: JobId,
    ) -> Result<Vec<(String, RecordedModelCall)>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(
            "SELECT id, step, request, response FROM job_calls WHERE user_id = $1 AND job_id = $2 ORDER BY id",
        )
        .bind_value(user_id)
        .bind_value(job_id)
        .fetch_all(&mut connection)
        .await?;
        read_undamaged_rows("job_calls", "id", &rows, |row| {
            let call = RecordedModelCall {
                id: id(row, "id")?,
                request: Some(row.try_get("request")?),
                response: row.try_get("response")?,
            };
            Ok((text(row, "step")?, call))
        })
    }

    async fn running_jobs(&self) -> Result<Vec<JobKey>, StorageError> {
        let select = Sql::Two {
            sqlite: "SELECT user_id, id, fence FROM jobs WHERE status = 'running' ORDER BY id",
            postgres: "SELECT user_id, id, fence FROM jobs WHERE status = 'running' \
                 AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = jobs.owner) ORDER BY id",
        };
        let mut connection = self.readers.acquire().await?;
        let rows = query(select).fetch_all(&mut connection).await?;
        read_undamaged_rows("jobs", "id", &rows, |row| {
            let job_id: JobId = id(row, "id")?;
            let fence = number_or_zero("jobs", job_id, row, "fence")?;
            Ok(JobKey {
                user_id: id(row, "user_id")?,
                job_id,
                fence: Fence(u64::try_from(fence).unwrap_or_default()),
            })
        })
    }
}

/// Returns a job of a user.
///
/// # Errors
///
/// If its row is damaged.
pub(super) async fn job(
    connection: &mut Connection,
    user_id: UserId,
    job_id: JobId,
) -> Result<Option<StoredJob>, StorageError> {
    let row = query(select_jobs!("input, result", "WHERE user_id = $1 AND id = $2"))
        .bind_value(user_id)
        .bind_value(job_id)
        .fetch_optional(connection)
        .await?;
    row.map(|row| name_damaged("jobs", job_id.0, read_job(&row)))
        .transpose()
}

fn read_job(row: &Row) -> Result<StoredJob, StorageError> {
    let job_id: JobId = id(row, "id")?;
    let count = |column| -> Result<usize, StorageError> {
        let number = number_or_zero("jobs", job_id, row, column)?;
        Ok(usize::try_from(number).unwrap_or_default())
    };
    let optional_number = |column| -> Result<Option<u64>, StorageError> {
        let number = row.try_get::<Option<i64>>(column)?;
        Ok(number.map(|number| u64::try_from(number).unwrap_or_default()))
    };
    // A job whose error can't be read is still a job.
    let error = match optional_text(row, "error")? {
        Some(error) => skip_damaged("jobs", job_id, serde_json::from_str(&error).map_err(Into::into))?,
        None => None,
    };
    Ok(StoredJob {
        user_id: id(row, "user_id")?,
        job: Job {
            id: job_id,
            kind: text(row, "kind")?,
            title: text(row, "title")?,
            status: read_status(row)?,
            model: text(row, "model")?,
            progress: JobProgress {
                done: count("done")?,
                total: count("total")?,
                left_ms: optional_number("left_ms")?,
            },
            totals: json(row, "totals")?,
            cost_limit: optional_number("cost_limit")?.map(Dollars),
            error,
            waits_for: optional_text(row, "waits_for")?,
            unseen: count("unseen")? != 0,
            created_at: Timestamp(row.try_get("created_at")?),
            ended_at: row.try_get::<Option<i64>>("ended_at")?.map(Timestamp),
        },
        version: read_version(row)?,
        input: row.try_get("input")?,
        result: row.try_get("result")?,
        fingerprint: text(row, "fingerprint")?,
        resumptions: count("resumptions")?,
        owner: Owner(id(row, "owner")?),
        fence: Fence(optional_number("fence")?.unwrap_or_default()),
    })
}

fn read_step(row: &Row) -> Result<StoredStep, StorageError> {
    let error: Option<String> = row.try_get("error")?;
    Ok(StoredStep {
        key: row.try_get("key")?,
        kind: text(row, "kind")?,
        version: read_version(row)?,
        input: row.try_get("input")?,
        output: row.try_get("output")?,
        error: error.map(|error| serde_json::from_str(&error)).transpose()?,
        attempts: usize::try_from(row.try_get::<i64>("attempts")?).unwrap_or_default(),
        started_at: Timestamp(row.try_get("started_at")?),
        ended_at: row.try_get::<Option<i64>>("ended_at")?.map(Timestamp),
    })
}

fn read_version(row: &Row) -> Result<u32, StorageError> {
    Ok(u32::try_from(row.try_get::<i64>("version")?).unwrap_or_default())
}

fn read_status(row: &Row) -> Result<RunStatus, StorageError> {
    let status: String = row.try_get("status")?;
    Ok(serde_json::from_value(serde_json::Value::String(status))?)
}
