//! Postgres as the oracle of its list of functions: it says which functions a statement calls, and each must be harmless.
//!
//! Random statements of calls in many spellings are checked. One that is accepted becomes a view, and the functions are read from the
//! tree that Postgres has made of it.

mod statements;

use std::{collections::BTreeSet, sync::LazyLock};

use fuzzing::proptest::{collection::vec, prop_assert_eq};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::{runtime::Runtime, sync::Mutex};

use self::statements::statement;
use super::server;
use crate::postgres::{
    calls::{Calls, single_query},
    functions,
};

/// The functions that a statement calls, and whether one is of others and may have effects.
const CALLED: &str = "
    SELECT p.proname::text,
        p.pronamespace <> 'pg_catalog'::regnamespace AND p.provolatile = 'v'
    FROM pg_rewrite r, regexp_matches(r.ev_action::text,
        'FUNCEXPR :funcid (\\d+) :funcresulttype \\d+ :funcretset \\w+ :funcvariadic \\w+ :funcformat 0|:(?:aggfnoid|winfnoid) (\\d+)', 'g') f
    JOIN pg_proc p ON p.oid = COALESCE(f[1], f[2])::oid
    WHERE r.ev_class = 'pg_temp.seen'::regclass";

/// Returns the names of the functions that an accepted statement calls and that are not harmless; `None` if it is refused, or is no SQL.
async fn harmful_calls(connection: &mut PgConnection, sql: &str) -> Option<Vec<String>> {
    let (sql, calls): (&str, Calls) = single_query(sql, &BTreeSet::new()).ok()?;
    calls.check(connection).await.ok()?;
    called(connection, sql).await.map(|called| {
        let harmful = called
            .into_iter()
            .filter(|(name, has_effects)| *has_effects || !functions::is_harmless(name));
        harmful.map(|(name, _)| name).collect()
    })
}

async fn called(connection: &mut PgConnection, sql: &str) -> Option<Vec<(String, bool)>> {
    let mut transaction = connection.begin().await.unwrap();
    // It is analysed and never run.
    let view = format!("CREATE TEMP VIEW seen AS SELECT EXISTS (\n{sql}\n)");
    sqlx::raw_sql(AssertSqlSafe(view))
        .execute(&mut *transaction)
        .await
        .ok()?;
    let called = sqlx::query_as(CALLED).fetch_all(&mut *transaction).await.unwrap();
    transaction.rollback().await.unwrap();
    Some(called)
}

/// A connection of the owner of all tables.
struct Oracle {
    runtime: Runtime,
    connection: Mutex<PgConnection>,
}

static ORACLE: LazyLock<Oracle> = LazyLock::new(|| {
    let runtime = Runtime::new().unwrap();
    let connection = runtime.block_on(async {
        let _started = super::postgres::open("boss").await;
        PgConnection::connect(&server::url("boss")).await.unwrap()
    });
    Oracle {
        runtime,
        connection: Mutex::new(connection),
    }
});

impl Oracle {
    fn ask<T>(&self, ask: impl AsyncFnOnce(&mut PgConnection) -> T) -> T {
        let mut connection = self.connection.blocking_lock();
        self.runtime.block_on(ask(&mut connection))
    }
}

#[test]
fn postgres_names_the_functions_of_a_statement() {
    for (sql, names) in [
        ("SELECT (0.2::float8).pg_sleep", &["pg_sleep"][..]),
        ("SELECT t.row_to_json FROM jobs t", &["row_to_json"]),
        ("SELECT t.total_of, t.year FROM jobs t", &["total_of"]),
        (
            "SELECT count(*) OVER (), max(1) FROM jobs GROUP BY year",
            &["count", "max"],
        ),
        ("SELECT 1 + 1, 1::text, extract(year FROM now())", &["now"]),
        ("SELECT * FROM alarm(1)", &["alarm"]),
    ] {
        let called = ORACLE
            .ask(async |connection| called(connection, sql).await)
            .unwrap();
        let called: Vec<&str> = called.iter().map(|(name, _)| &**name).collect();
        assert_eq!(called, names, "{sql}");
    }
}

fuzzing::properties! {
    400;

    #[test]
    fn accepted_statements_call_harmless_functions_only(choices in vec(0..=u8::MAX, 4..60)) {
        let sql = statement(&choices);
        let harmful = ORACLE.ask(async |connection| harmful_calls(connection, &sql).await);
        prop_assert_eq!(harmful.unwrap_or_default(), Vec::<String>::new(), "{}", sql);
    }
}
