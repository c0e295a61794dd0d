//! Results in files: written while a query runs, then read page by page.

use std::path::PathBuf;

use super::*;

/// Columns: a whole number, a decimal number, a text, a number or NULL, anything.
const NUMBERS: &str = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x LIMIT 3000) SELECT n, \
    n * 1.5 AS rate, CASE n % 4 WHEN 0 THEN 'Århus_' || n WHEN 1 THEN '50% of ' || n WHEN 2 THEN 'it''s \"x\" \\' || n END AS name, \
    CASE n % 3 WHEN 0 THEN NULL ELSE 10 - n END AS gap, CASE n WHEN 7 THEN x'00ff' WHEN 8 THEN 1e999 ELSE n END AS odd FROM x";
const COUNT: u64 = 3000;

fn row_file(folder: &Path) -> RowFile {
    let path = folder.join("rows");
    std::fs::write(&path, "").expect("an empty file");
    RowFile {
        path,
        max_cells: 100,
        max_json_bytes: 1 << 20,
        max_bytes: usize::MAX,
    }
}

async fn stored(folder: &Path) -> (QueryResult, StoredRows) {
    let file = row_file(folder);
    let path = file.path.clone();
    let result = open(folder).query_into(NUMBERS, file).await.expect("rows");
    (result, FileDatabases::new(&limits()).rows(path, 5))
}

fn texts(rows: &[Vec<Cell>], column: usize) -> Vec<String> {
    let text = |row: &Vec<Cell>| row[column].to_text().unwrap_or_else(|| "NULL".into());
    rows.iter().map(text).collect()
}

async fn page(rows: &StoredRows, offset: u64, order: Option<(usize, bool)>, filter: &str) -> RowsPage {
    let order = order.map(|(column, is_descending)| RowOrder {
        column,
        is_numeric: [0, 1, 3].contains(&column),
        is_descending,
    });
    let request = RowsRequest {
        offset,
        count: 3,
        columns: usize::MAX,
        order,
        words: filter.split_whitespace().map(str::to_owned).collect(),
    };
    rows.page(request).await.expect("a page")
}

#[tokio::test]
async fn only_many_rows_are_stored_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (result, rows) = stored(folder.path()).await;
    assert!(result.is_in_file);
    assert_eq!((result.rows.len(), result.row_count), (20, 3000));
    assert!(result.is_numeric(1) && !result.is_numeric(2), "all rows count");
    let (mut after, mut all) = (0, Vec::new());
    loop {
        let chunk = rows.chunk(after).await.unwrap();
        if chunk.is_empty() {
            break;
        }
        after += chunk.len() as u64;
        all.extend(chunk);
    }
    let expected: Vec<String> = (1..=COUNT).map(|n| n.to_string()).collect();
    assert_eq!(texts(&all, 0), expected);
    assert_eq!(
        all[1],
        [
            Cell::Integer(2),
            Cell::Real(3.0),
            Cell::Text("it's \"x\" \\2".into()),
            Cell::Integer(8),
            Cell::Integer(2),
        ]
    );
    assert_eq!(texts(&all[6..8], 4), ["\\x00ff", "Infinity"]);

    std::fs::remove_file(folder.path().join("town.db")).unwrap();
    let few = open(folder.path())
        .query_into("SELECT 1", row_file(folder.path()))
        .await;
    let few = few.unwrap();
    assert_eq!((few.is_in_file, few.row_count, few.rows.len()), (false, 1, 1));
    assert_eq!(std::fs::read(folder.path().join("rows")).unwrap(), b"");
}

#[tokio::test]
async fn long_rows_are_in_the_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = RowFile {
        max_json_bytes: 3000,
        ..row_file(folder.path())
    };
    let path = file.path.clone();
    let long = "SELECT replace(hex(zeroblob(2000)), '0', 'é') AS t UNION ALL SELECT 'short'";
    let result = open(folder.path()).query_into(long, file).await.unwrap();
    assert_eq!(
        (result.is_in_file, result.rows.len(), result.row_count),
        (true, 0, 2)
    );
    let rows = FileDatabases::new(&limits()).rows(path, 1);
    let all = rows.chunk(0).await.unwrap();
    assert_eq!(
        all,
        [[Cell::Text("é".repeat(4000))], [Cell::Text("short".into())]]
    );
    let shown = page(&rows, 0, None, "").await;
    assert_eq!((shown.rows.len(), shown.found), (2, 2));
}

#[tokio::test]
async fn row_file_stays_within_its_byte_limit() {
    let folder = tempfile::tempdir().unwrap();
    let file = RowFile {
        max_bytes: 20_000,
        ..row_file(folder.path())
    };
    let path = file.path.clone();
    let result = open(folder.path()).query_into(NUMBERS, file).await.unwrap();
    assert_eq!(
        (result.is_in_file, result.cut_by),
        (true, Some("files.user_bytes"))
    );
    assert!(
        (100..COUNT as usize).contains(&result.row_count),
        "{}",
        result.row_count
    );
    let rows = FileDatabases::new(&limits()).rows(path, 5);
    let found = page(&rows, 0, None, "").await.found;
    assert_eq!(found, result.row_count as u64);
}

#[tokio::test]
async fn results_in_files_end_at_their_limits() {
    let folder = tempfile::tempdir().unwrap();
    let limits = DataSettings {
        result_rows: 1500,
        ..limits()
    };
    let file = row_file(folder.path());
    let path = file.path.clone();
    let database = Database::new(&make_sqlite(folder.path()), &limits).unwrap();
    let result = database.query_into(NUMBERS, file).await.unwrap();
    assert_eq!(
        (result.cut_by, result.row_count),
        (Some("data.result_rows"), 1500)
    );
    let rows = FileDatabases::new(&limits).rows(path, 5);
    assert_eq!(page(&rows, 1499, None, "").await.rows.len(), 1);
}

#[tokio::test]
async fn pages_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (_, rows) = stored(folder.path()).await;
    for (offset, expected) in [
        (0, &["1", "2", "3"][..]),
        (3, &["4", "5", "6"]),
        (2998, &["2999", "3000"]),
        (3000, &[]),
        (u64::MAX, &[]),
    ] {
        let page = page(&rows, offset, None, "").await;
        assert_eq!(
            (&texts(&page.rows, 0)[..], page.found),
            (
                &expected.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()[..],
                COUNT
            ),
            "{offset}"
        );
    }
}

#[tokio::test]
async fn every_column_sorts_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let (_, rows) = stored(folder.path()).await;
    for (column, is_descending, offset, expected) in [
        (0, false, 0, ["1", "2", "3"]),
        // Numbers, not texts.
        (0, true, 0, ["3000", "2999", "2998"]),
        (1, false, 0, ["1.5", "3", "4.5"]),
        (1, true, 0, ["4500", "4498.5", "4497"]),
        (2, false, 0, ["50% of 1", "50% of 1001", "50% of 1005"]),
        (2, true, 0, ["Århus_996", "Århus_992", "Århus_988"]),
        // Missing values are last in both directions.
        (2, false, 2250, ["NULL", "NULL", "NULL"]),
        (2, true, 2249, ["50% of 1", "NULL", "NULL"]),
        (3, false, 0, ["-2989", "-2988", "-2986"]),
        (3, true, 0, ["9", "8", "6"]),
        (3, true, 1999, ["-2989", "NULL", "NULL"]),
        (4, false, 2997, ["3000", "Infinity", "\\x00ff"]),
        (4, true, 0, ["\\x00ff", "Infinity", "3000"]),
    ] {
        let page = page(&rows, offset, Some((column, is_descending)), "").await;
        assert_eq!(
            (texts(&page.rows, column), page.found),
            (expected.map(str::to_owned).to_vec(), COUNT),
            "{column} {is_descending} {offset}"
        );
    }
    let order = Some(RowOrder {
        column: 5,
        is_numeric: false,
        is_descending: false,
    });
    let request = RowsRequest {
        order,
        count: 3,
        ..RowsRequest::default()
    };
    assert_eq!(
        rows.page(request).await.unwrap_err().kind,
        QueryErrorKind::Refused
    );
}

#[tokio::test]
async fn decimal_numbers_sort_as_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    std::fs::write(&path, "").unwrap();
    let mut writer = sqlite::RowWriter::create(&path, 1).unwrap();
    let decimals = [
        "10.10",
        "NaN",
        "9.5",
        "-Infinity",
        "12345678901234567890.1",
        "Infinity",
    ];
    let decimals = decimals.map(|text| vec![Cell::Decimal(text.into())]);
    writer.write(&decimals).unwrap();
    writer
        .write(&[vec![Cell::Null], vec![Cell::Real(f64::NAN)]])
        .unwrap();
    writer.finish().unwrap();
    let rows = FileDatabases::new(&limits()).rows(path, 1);
    let order = |is_descending| RowsRequest {
        count: 9,
        columns: usize::MAX,
        order: Some(RowOrder {
            column: 0,
            is_numeric: true,
            is_descending,
        }),
        ..RowsRequest::default()
    };
    let up = rows.page(order(false)).await.unwrap();
    let numbers = ["-Infinity", "9.5", "10.10", "12345678901234567890.1", "Infinity"];
    assert_eq!(texts(&up.rows, 0)[..5], numbers);
    let down = rows.page(order(true)).await.unwrap();
    let mut reversed = numbers;
    reversed.reverse();
    assert_eq!(texts(&down.rows, 0)[..5], reversed);
}

#[tokio::test]
async fn filter_takes_words_literally() {
    let folder = tempfile::tempdir().unwrap();
    let (_, rows) = stored(folder.path()).await;
    for (filter, found) in [
        ("%", 750),
        ("_", 750),
        ("'", 750),
        ("\"x\"", 750),
        ("\\", 751),
        ("50%", 750),
        ("' OR 1=1 --", 0),
        ("århus", 750),
        ("ÅRHUS_2996", 1),
        // All words, in any columns.
        ("århus 2996", 1),
        ("infinity", 1),
        ("4498.5", 1),
        ("null", 0),
    ] {
        let page = page(&rows, 0, None, filter).await;
        assert_eq!(
            (page.found, page.rows.len() as u64),
            (found, found.min(3)),
            "{filter}"
        );
    }
    // Filtered, sorted and on a later page.
    let last = page(&rows, 748, Some((0, true)), "50%").await;
    assert_eq!(texts(&last.rows, 0), ["5", "1"]);
}

#[tokio::test]
async fn wide_rows_are_filtered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    std::fs::write(&path, "").unwrap();
    let mut writer = sqlite::RowWriter::create(&path, 300).unwrap();
    let mut row = vec![Cell::Null; 300];
    writer.write(&[row.clone()]).unwrap();
    row[299] = Cell::Text("the last".into());
    writer.write(&[row]).unwrap();
    writer.finish().unwrap();
    // Also if the settings allow fewer columns by now.
    let rows = FileDatabases::new(&limits()).rows(path, 300);
    let page = page(&rows, 0, Some((299, false)), "last the").await;
    assert_eq!((page.found, page.rows.len()), (1, 1));
}

#[tokio::test]
async fn damaged_and_missing_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (_, rows) = stored(folder.path()).await;
    let path: PathBuf = folder.path().join("rows");
    let whole = std::fs::read(&path).unwrap();
    let other = folder.path().join("other");
    rusqlite::Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE rows (c0, c1); CREATE VIEW x AS SELECT 1")
        .unwrap();
    let mut torn = whole.clone();
    torn[4096..].fill(0xa5);
    for (what, content) in [
        ("empty", Vec::new()),
        ("text", b"no database, but a text".repeat(100)),
        ("torn", torn),
        ("cut", whole[..4096].to_vec()),
        ("another one", std::fs::read(&other).unwrap()),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = rows
            .page(RowsRequest {
                count: 3,
                ..RowsRequest::default()
            })
            .await;
        assert_eq!(
            error.map_err(|error| error.kind),
            Err(QueryErrorKind::Unavailable),
            "{what}"
        );
        let error = rows.chunk(0).await.map_err(|error| error.kind);
        assert_eq!(error, Err(QueryErrorKind::Unavailable), "{what}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(rows.chunk(0).await.is_err());
    assert!(!path.exists(), "reading makes no file");
}

#[tokio::test]
async fn reading_ends_at_its_limits() {
    let folder = tempfile::tempdir().unwrap();
    stored(folder.path()).await;
    let path = folder.path().join("rows");
    let limits = DataSettings {
        query_timeout: Duration::from_nanos(1),
        ..limits()
    };
    let rows = FileDatabases::new(&limits).rows(path, 5);
    let request = RowsRequest {
        count: 3,
        words: vec!["nothing".into()],
        ..RowsRequest::default()
    };
    let error = rows.page(request).await.map_err(|error| error.kind);
    assert!(
        matches!(error, Err(QueryErrorKind::Timeout(_) | QueryErrorKind::Busy)),
        "{error:?}"
    );
}
