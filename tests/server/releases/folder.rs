//! A data folder as text: the database as SQL, and the files.

use std::{fs, path::Path};

use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Executor, Row, SqliteConnection, migrate::Migrator,
    sqlite::SqliteConnectOptions,
};

/// Writes a data folder as a folder of a repository.
pub async fn pack(data: &Path, packed: &Path) {
    let mut database = open(&data.join("parlor.db")).await;
    fs::create_dir_all(packed).unwrap();
    fs::write(packed.join("database.sql"), dump(&mut database).await).unwrap();
    database.close().await.unwrap();
    copy_files(&data.join("files"), &packed.join("files"));
}

/// Creates a data folder from a packed one.
pub async fn unpack(packed: &Path, data: &Path) {
    restore(&fs::read_to_string(packed.join("database.sql")).unwrap(), data).await;
    copy_files(&packed.join("files"), &data.join("files"));
}

/// Creates the database of a data folder from SQL.
pub async fn restore(sql: &str, data: &Path) {
    let mut database = open(&data.join("parlor.db")).await;
    database
        .execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned())))
        .await
        .unwrap();
    database.close().await.unwrap();
}

/// Returns the numbers of the migrations that a folder's database lacks.
pub async fn newer_migrations(data: &Path) -> Vec<i64> {
    let mut database = open(&data.join("parlor.db")).await;
    let last = "SELECT max(version) FROM _sqlx_migrations";
    let last: i64 = database.fetch_one(last).await.unwrap().get(0);
    database.close().await.unwrap();
    let all = migrations().await;
    let newer = all.iter().filter(|migration| migration.version > last);
    newer.map(|migration| migration.version).collect()
}

/// Applies the migrations up to this one, as a server does that is killed after it.
pub async fn migrate_until(data: &Path, last: i64) {
    let mut database = open(&data.join("parlor.db")).await;
    let all = migrations().await;
    let begun = all.iter().filter(|migration| migration.version <= last);
    let begun = Migrator::with_migrations(begun.cloned().collect());
    begun.run(&mut database).await.unwrap();
    database.close().await.unwrap();
}

async fn migrations() -> Migrator {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite"));
    Migrator::new(folder).await.unwrap()
}

async fn open(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    // Tables refer to others that follow.
    options.foreign_keys(false).connect().await.unwrap()
}

async fn dump(database: &mut SqliteConnection) -> String {
    let mut sql = "BEGIN;\n".to_owned();
    let made = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' AND sql IS NOT NULL \
        AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY type = 'table' DESC, name";
    let mut indexes = String::new();
    for made in database.fetch_all(made).await.unwrap() {
        let (kind, name, statement): (String, String, String) = (made.get(0), made.get(1), made.get(2));
        if statement.starts_with("CREATE VIRTUAL TABLE") {
            // An index of words: it is made again from its table.
            sql += &format!("{statement};\n");
            indexes += &format!("INSERT INTO {name} ({name}, rank) VALUES ('secure-delete', 1);\n");
            indexes += &format!("INSERT INTO {name} ({name}) VALUES ('rebuild');\n");
        } else if kind == "table" {
            sql += &format!("{statement};\n");
            for row in rows(database, &name).await {
                sql += &format!("INSERT INTO \"{name}\" VALUES({row});\n");
            }
        } else {
            indexes += &format!("{statement};\n");
        }
    }
    sql + &indexes + "COMMIT;\n"
}

/// Returns the values of each row of a table as SQL.
async fn rows(database: &mut SqliteConnection, table: &str) -> Vec<String> {
    let columns = format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid");
    let columns = database
        .fetch_all(sqlx::raw_sql(AssertSqlSafe(columns)))
        .await
        .unwrap();
    let quoted: Vec<String> = columns
        .iter()
        .map(|column| format!("quote(\"{}\")", column.get::<String, _>(0)))
        .collect();
    let select = format!("SELECT {} FROM \"{table}\"", quoted.join("||','||"));
    let rows = database
        .fetch_all(sqlx::raw_sql(AssertSqlSafe(select)))
        .await
        .unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

fn copy_files(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).into_iter().flatten() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_files(&entry.path(), &to);
        } else {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
