//! SQLite: virtual tables, and mathematical functions.

use super::*;

/// Makes a database with a virtual table of each kind.
fn make_virtual(folder: &Path) -> DatabaseSettings {
    let path = folder.join("virtual.db");
    let connection = rusqlite::Connection::open(&path).expect("a new database");
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE notes USING fts5(title, body);
             INSERT INTO notes VALUES ('One', 'the quick fox'), ('Two', 'a lazy dog');
             CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT);
             INSERT INTO texts VALUES (1, 'the quick fox');
             CREATE VIRTUAL TABLE \"outer \"\"notes\" USING fts5(body, content=texts, content_rowid=id);
             INSERT INTO \"outer \"\"notes\"(\"outer \"\"notes\") VALUES ('rebuild');
             CREATE VIRTUAL TABLE terms USING fts5vocab(notes, row);
             CREATE VIRTUAL TABLE old_notes USING fts4(body);
             INSERT INTO old_notes VALUES ('the quick fox'), ('a lazy dog');
             CREATE VIRTUAL TABLE places USING rtree(id, min_x, max_x, min_y, max_y, +name TEXT);
             INSERT INTO places VALUES (1, 0, 1, 0, 1, 'here'), (2, 5, 6, 5, 6, 'there');
             CREATE VIRTUAL TABLE numbers USING rtree_i32(id, low, high);
             INSERT INTO numbers VALUES (1, 3, 4);",
        )
        .expect("the tables");
    connection.close().expect("it is closed");
    DatabaseSettings {
        url: format!("sqlite:{}", path.display()),
        documentation: None,
        ..make_sqlite(folder)
    }
}

fn texts(result: &QueryResult) -> Vec<Vec<String>> {
    let row = |row: Vec<Option<String>>| {
        row.into_iter()
            .map(|cell| cell.unwrap_or("NULL".into()))
            .collect()
    };
    cells(result).into_iter().map(row).collect()
}

#[tokio::test]
async fn virtual_tables_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(&make_virtual(folder.path()), &limits()).unwrap();
    for (sql, expected) in [
        ("SELECT title FROM notes WHERE notes MATCH 'quick'", "One"),
        ("SELECT title FROM notes('lazy') ORDER BY rank", "Two"),
        (
            "SELECT highlight(notes, 1, '<', '>') FROM notes WHERE body MATCH 'fox'",
            "the quick <fox>",
        ),
        (
            "SELECT snippet(notes, -1, '[', ']', '…', 5), bm25(notes) < 0 FROM notes('dog')",
            "a lazy [dog]",
        ),
        ("SELECT count(*) FROM notes", "2"),
        (
            "SELECT body FROM \"outer \"\"notes\" WHERE \"outer \"\"notes\" MATCH 'qui*'",
            "the quick fox",
        ),
        ("SELECT cnt FROM terms WHERE term = 'lazy'", "1"),
        (
            "SELECT body FROM old_notes WHERE body MATCH 'quick'",
            "the quick fox",
        ),
        (
            "SELECT snippet(old_notes, '[', ']') FROM old_notes WHERE old_notes MATCH 'lazy'",
            "a [lazy] dog",
        ),
        ("SELECT name FROM places WHERE min_x >= 4 AND max_x <= 7", "there"),
        ("SELECT low + high FROM numbers", "7"),
        (
            "SELECT p.name FROM places p JOIN notes n ON n.rowid = p.id WHERE n.title = 'One'",
            "here",
        ),
        ("SELECT json_each.value FROM json_each('[3]')", "3"),
    ] {
        let result = database.query(sql).await.map_err(|error| error.to_string());
        assert_eq!(
            result.as_ref().map(|result| texts(result)[0][0].clone()),
            Ok(expected.to_owned()),
            "{sql}"
        );
    }
    let catalogue = database.catalogue().await.unwrap();
    let names: Vec<&str> = catalogue.tables().map(|table| &*table.name).collect();
    assert_eq!(
        names,
        [
            "notes",
            "numbers",
            "old_notes",
            "outer \"notes",
            "places",
            "terms",
            "texts"
        ]
    );
    let notes = catalogue.table("notes").unwrap();
    assert_eq!(database.first_rows(notes, 5).await.unwrap().rows.len(), 2);
    let values = database
        .values(notes, &notes.columns[0], Some("o"), 5)
        .await
        .unwrap();
    assert_eq!(values.rows.len(), 2);
}

#[tokio::test]
async fn virtual_tables_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let settings = make_virtual(folder.path());
    let database = Database::new(&settings, &limits()).unwrap();
    let path = folder.path().join("virtual.db");
    let before = std::fs::read(&path).unwrap();
    for sql in [
        "INSERT INTO notes VALUES ('a', 'b')",
        "INSERT INTO notes VALUES ('a', 'b') RETURNING *",
        "INSERT INTO notes(notes) VALUES ('optimize')",
        "INSERT INTO notes(notes, rank) VALUES ('pgsz', 64)",
        "DELETE FROM notes",
        "UPDATE notes SET title = 'x' RETURNING title",
        "INSERT INTO notes_data VALUES (99, x'00')",
        "DELETE FROM notes_data RETURNING id",
        "UPDATE notes_content SET c0 = 'x' RETURNING c0",
        "DELETE FROM places_node",
        "DELETE FROM places_node RETURNING nodeno",
        "INSERT OR REPLACE INTO places_node VALUES (1, x'00') RETURNING nodeno",
        "WITH x AS (SELECT 1) DELETE FROM places_rowid RETURNING rowid",
        "DELETE FROM old_notes_segdir RETURNING level",
        "DROP TABLE notes",
        "ALTER TABLE notes RENAME TO other",
        "CREATE VIRTUAL TABLE other USING fts5(a)",
        "SELECT optimize(old_notes) FROM old_notes LIMIT 1",
        "SELECT rtreecheck('main', 'places', 1)",
        "PRAGMA page_size = 512",
        "PRAGMA user_version = 5",
        "PRAGMA data_version = 5",
    ] {
        let result = database.query(sql).await;
        assert!(result.is_err(), "{sql}: {result:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{sql}");
    }
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[tokio::test]
async fn mathematical_functions_are_those_of_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    for (expression, expected) in [
        ("sqrt(16)", "4"),
        ("sqrt(-1)", "NULL"),
        ("pow(2, 10)", "1024"),
        ("power(2, 0.5)", "1.4142135623730951"),
        ("power(-8, 1.0 / 3)", "NULL"),
        ("ln(exp(1))", "1"),
        ("ln(0)", "NULL"),
        ("log(1000)", "3"),
        ("log(2, 8)", "3"),
        ("log10(100)", "2"),
        ("log2(8)", "3"),
        ("mod(11, 3.5)", "0.5"),
        ("mod(-7, 3)", "-1"),
        ("mod(7, 0)", "NULL"),
        ("floor(2.7)", "2"),
        ("floor(-2.5)", "-3"),
        ("typeof(floor(2))", "integer"),
        ("typeof(floor(2.5))", "real"),
        ("floor('2.7')", "2"),
        ("floor('abc')", "NULL"),
        ("floor(NULL)", "NULL"),
        ("floor(9007199254740993)", "9007199254740993"),
        ("ceil(2.1) + ceiling(2)", "5"),
        ("trunc(-2.7)", "-2"),
        ("sign(-3)", "-1"),
        ("round(degrees(pi()))", "180"),
        ("round(radians(180), 4)", "3.1416"),
        ("sin(0) + cos(0) + tan(0)", "1"),
        ("asin(2)", "NULL"),
        ("round(atan2(1, 1) * 4, 4)", "3.1416"),
        ("sinh(0) + cosh(0) + tanh(0)", "1"),
        ("acosh(1) + asinh(0) + atanh(0) + acos(1) + atan(0)", "0"),
        ("sqrt(x'00')", "NULL"),
        ("exp(1000)", "Infinity"),
    ] {
        let result = database.query(&format!("SELECT {expression}")).await;
        let result = result.map_err(|error| error.to_string());
        assert_eq!(
            result.as_ref().map(|result| texts(result)[0][0].clone()),
            Ok(expected.to_owned()),
            "{expression}"
        );
    }
    let summed = database
        .query("SELECT round(sum(sqrt(rate)), 3) FROM jobs WHERE floor(rate) > 3")
        .await;
    assert_eq!(texts(&summed.unwrap()), [["4.407"]]);
}
