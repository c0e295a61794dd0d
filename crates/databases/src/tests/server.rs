//! A real Postgres for tests: one for all tests of the process, in a folder of its own.

use std::{path::Path, sync::LazyLock, time::Duration};

use test_postgres::PostgresServer;

use super::super::{RoleRequest, role_sql};
use parlor_base::settings::{DatabaseSettings, Secret};

/// The tables that the tests read, the role that may read them, and a table that it may not read.
const SETUP: &str = "
    CREATE TYPE mood AS ENUM ('glad', 'sad');
    CREATE TABLE jobs (year int PRIMARY KEY, rate numeric(6, 2) NOT NULL);
    COMMENT ON TABLE jobs IS 'One row a year';
    COMMENT ON COLUMN jobs.rate IS 'Percent of all';
    INSERT INTO jobs VALUES (2020, 5.5), (2021, 4.25), (2022, 3);
    CREATE TABLE kinds (
        i8 bigint, f float8, n numeric, b bool, t text, ts timestamptz, d date, a int[], bin bytea, j jsonb, m mood,
        year int REFERENCES jobs (year));
    INSERT INTO kinds VALUES
        (9007199254740993, 'NaN', 123456789012345678901234567890.5, true, 'é''x', '2024-02-29 12:00:00+00', '2024-02-29',
         '{1,NULL,3}', '\\x00ff', '{\"k\": [1]}', 'sad', 2020),
        (NULL, 'Infinity', 'NaN', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CREATE SCHEMA pay;
    CREATE VIEW pay.best AS SELECT year FROM jobs WHERE rate < 5;
    CREATE TABLE secrets (word text);
    INSERT INTO secrets VALUES ('swordfish');
    CREATE SEQUENCE counter;
    CREATE ROLE reader LOGIN PASSWORD 'reader-password';
    CREATE ROLE boss LOGIN SUPERUSER PASSWORD 'boss-password';
    GRANT USAGE ON SCHEMA pay TO reader;
    GRANT SELECT ON jobs, kinds, pay.best TO reader;
    GRANT USAGE, SELECT ON SEQUENCE counter TO reader;
    CREATE FUNCTION alarm(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION alarm(jobs) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION pay.alarm(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION tand(text) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION varying(int) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION by(int) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION materialized(bool) RETURNS bool LANGUAGE sql AS 'SELECT 1 / random() > 1';
    CREATE FUNCTION area(int, int) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION over(int) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION total_of(jobs) RETURNS numeric LANGUAGE sql AS 'SELECT $1.rate * 2';
    CREATE FUNCTION dblink_connect(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
    CREATE FUNCTION dblink_exec(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
    CREATE FUNCTION crosstab(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
    CREATE SCHEMA \"my \"\"schema\";
    CREATE TABLE \"my \"\"schema\".\"my.\"\"table\" (\"a\"\"b\" int4multirange);
    INSERT INTO \"my \"\"schema\".\"my.\"\"table\" VALUES ('{[1,2)}');
    CREATE ROLE writer LOGIN PASSWORD 'writer-password';
    GRANT INSERT ON jobs TO writer;
    GRANT CREATE ON SCHEMA pay TO writer;
    GRANT pg_read_server_files TO writer;";

static SERVER: LazyLock<PostgresServer> = LazyLock::new(|| {
    let statements = SETUP.split_inclusive(';');
    let statements: Vec<String> = statements
        .map(|statement| format!("{}\n\n", statement.trim()))
        .chain([clerk_sql()])
        .collect();
    PostgresServer::start("scram-sha-256", &statements)
});

/// Returns the settings of the database for a role: `reader`, `boss`, `writer`, or `clerk`, which the printed SQL makes.
pub fn database(role: &str) -> DatabaseSettings {
    let port = SERVER.port();
    DatabaseSettings {
        name: "real".into(),
        url: format!("postgres://{role}@127.0.0.1:{port}/postgres?sslmode=disable"),
        password_env: None,
        password: Some(Secret(format!("{role}-password"))),
        documentation: None,
        functions: Vec::new(),
    }
}

/// Returns the URL of the database for a role, with its password.
pub fn url(role: &str) -> String {
    let url = database(role).url;
    url.replacen(&format!("{role}@"), &format!("{role}:{role}-password@"), 1)
}

/// Returns the folder of the server, in which nothing may appear that a query wrote.
pub fn folder() -> &'static Path {
    SERVER.folder()
}

/// Returns true if the server still runs.
pub fn is_running() -> bool {
    SERVER.is_running()
}

/// Returns the printed SQL of a role, with a password.
fn clerk_sql() -> String {
    let sql = role_sql(&RoleRequest {
        role: "clerk".into(),
        database: "postgres".into(),
        schemas: vec!["public".into(), "pay".into()],
        is_managed: false,
        timeout: Duration::from_secs(600),
        max_connections: 20,
        max_disk_bytes: 1 << 20,
    });
    format!("{sql}\nALTER ROLE clerk PASSWORD 'clerk-password';\n\n")
}
