//! The usage by user and day: its query, and the statements that count.

use crate::sql::database::{Connection, Row, query};

use super::{id, read_undamaged_rows};
use crate::{
    RunKey, StorageError,
    usage::{DailyUsage, Day, UsageSum},
};
use parlor_protocol::{Dollars, Timestamp, TokenTotals, UserId};

/// Adds the values of a new row to those of the day. A damaged one counts as 0. All are set: an update checks the types of all
/// columns.
macro_rules! add_to_day {
    () => {
        "ON CONFLICT (user_id, day) DO UPDATE SET runs = CAST(coalesce(daily_usage.runs, 0) AS BIGINT) + excluded.runs, \
             input_tokens = CAST(coalesce(daily_usage.input_tokens, 0) AS BIGINT) + excluded.input_tokens, \
             output_tokens = CAST(coalesce(daily_usage.output_tokens, 0) AS BIGINT) + excluded.output_tokens, \
             cost = CAST(coalesce(daily_usage.cost, 0) AS BIGINT) + excluded.cost"
    };
}
pub(super) use add_to_day;

/// Takes the sums of an answer as counted.
macro_rules! skip_usage {
    () => {
        "UPDATE runs SET counted_input = max(CAST(coalesce(counted_input, 0) AS BIGINT), $3), counted_output = max(CAST(coalesce(counted_output, 0) AS BIGINT), $4), \
             counted_cost = max(CAST(coalesce(counted_cost, 0) AS BIGINT), $5) WHERE user_id = $1 AND id = $2"
    };
}

/// Adds the increase of an answer's sums to the usage of a day.
const COUNT_USAGE: &str = concat!(
    "INSERT INTO daily_usage (user_id, day, input_tokens, output_tokens, cost) \
         SELECT $1, $6, max(0, $3 - coalesce(counted_input, 0)), max(0, $4 - coalesce(counted_output, 0)), \
             max(0, $5 - coalesce(counted_cost, 0)) \
         FROM runs WHERE user_id = $1 AND id = $2 ",
    add_to_day!(),
    "; ",
    skip_usage!()
);

/// Takes the sums of an answer as counted: it is a copy, or older than the counting.
const SKIP_USAGE: &str = skip_usage!();

/// Counts the sums of an answer.
pub(super) async fn count_usage(
    connection: &mut Connection,
    run: &RunKey,
    totals: &TokenTotals,
    at: Timestamp,
) -> Result<(), StorageError> {
    let sums = to_sums(totals);
    query(COUNT_USAGE)
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .bind(sums[0])
        .bind(sums[1])
        .bind(sums[2])
        .bind_value(Day::from_timestamp(at))
        .execute(connection)
        .await?;
    Ok(())
}

/// Takes the sums of an answer as counted.
pub(super) async fn skip_usage(
    connection: &mut Connection,
    run: &RunKey,
    totals: &TokenTotals,
) -> Result<(), StorageError> {
    let sums = to_sums(totals);
    query(SKIP_USAGE)
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .bind(sums[0])
        .bind(sums[1])
        .bind(sums[2])
        .execute(connection)
        .await?;
    Ok(())
}

/// Adds the usage of a single call, which the sums of its answer will not have.
pub(super) async fn add_usage(
    connection: &mut Connection,
    user_id: UserId,
    totals: &TokenTotals,
    at: Timestamp,
) -> Result<(), StorageError> {
    let sums = to_sums(totals);
    query(concat!(
        "INSERT INTO daily_usage (user_id, day, input_tokens, output_tokens, cost) \
         SELECT id, $5, $2, $3, $4 FROM users WHERE id = $1 ",
        add_to_day!()
    ))
    .bind_value(user_id)
    .bind(sums[0])
    .bind(sums[1])
    .bind(sums[2])
    .bind_value(Day::from_timestamp(at))
    .execute(connection)
    .await?;
    Ok(())
}

fn to_sums(totals: &TokenTotals) -> [i64; 3] {
    let sum = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    [
        sum(totals.input_tokens as u64),
        sum(totals.output_tokens as u64),
        sum(totals.cost.0),
    ]
}

pub(super) async fn daily_usage(
    connection: &mut Connection,
    user_id: Option<UserId>,
    since: Day,
) -> Result<Vec<DailyUsage>, StorageError> {
    let rows = query(
        "SELECT user_id, day, runs, input_tokens, output_tokens, cost FROM daily_usage \
         WHERE day >= $2 AND ($1 IS NULL OR user_id = $1) ORDER BY day, user_id",
    )
    .bind_value(user_id)
    .bind_value(since)
    .fetch_all(connection)
    .await?;
    read_undamaged_rows("daily_usage", "user_id", &rows, read_usage)
}

fn read_usage(row: &Row) -> Result<DailyUsage, StorageError> {
    let number = |column| -> Result<u64, StorageError> {
        Ok(u64::try_from(row.try_get::<i64>(column)?).unwrap_or_default())
    };
    Ok(DailyUsage {
        user_id: id(row, "user_id")?,
        day: Day(row.try_get("day")?),
        usage: UsageSum {
            runs: number("runs")?,
            input_tokens: number("input_tokens")?,
            output_tokens: number("output_tokens")?,
            cost: Dollars(number("cost")?),
        },
    })
}
