//! Tables of CSV, TSV, JSON and workbooks, as they are read into a database.

use rusqlite::types::Value;

use super::*;
use crate::reader::document::PreviewLimits;

/// Returns the columns with their types, and the rows, of the only table.
fn table(format: TableFormat, data: &str) -> (Vec<String>, Vec<Vec<Value>>) {
    let database = to_database(format, data.as_bytes()).expect("it is read");
    let mut statement = database.prepare("SELECT * FROM t1").expect("a table");
    let columns: Vec<String> = statement
        .columns()
        .iter()
        .map(|column| format!("{} {}", column.name(), column.decl_type().unwrap_or_default()))
        .collect();
    let rows = statement
        .query_map([], |row| (0..columns.len()).map(|index| row.get(index)).collect())
        .expect("rows");
    let rows = rows.collect::<Result<_, _>>().expect("values");
    (columns, rows)
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn columns_have_the_type_of_all_their_values() {
    let (columns, rows) = table(
        TableFormat::Delimited,
        "place,count,share,code,mixed,long\nKøge,3,0.5,0042,1,9223372036854775808\n\"a, b\",-4,1e3,17,x,2\n,,,,,\n",
    );
    assert_eq!(
        columns,
        [
            "place TEXT",
            "count INTEGER",
            "share REAL",
            "code TEXT",
            "mixed TEXT",
            "long TEXT"
        ]
    );
    let first = vec![
        text("Køge"),
        Value::Integer(3),
        Value::Real(0.5),
        text("0042"),
        text("1"),
        text("9223372036854775808"),
    ];
    assert_eq!(rows[0], first);
    assert_eq!(
        rows[1][..3],
        [text("a, b"), Value::Integer(-4), Value::Real(1000.0)]
    );
    assert_eq!(rows[2], vec![Value::Null; 6]);
}

#[test]
fn decimal_commas_are_numbers() {
    let (columns, rows) = table(TableFormat::Delimited, "Ort;Betrag\nKöln;3,25\nBonn;2\n");
    assert_eq!(columns, ["Ort TEXT", "Betrag REAL"]);
    assert_eq!(rows[0][1], Value::Real(3.25));
    assert_eq!(rows[1][1], Value::Real(2.0));
}

#[test]
fn columns_have_different_names() {
    let (columns, rows) = table(TableFormat::Delimited, "a,A,,a\nx,y,z,w,more\n");
    assert_eq!(
        columns,
        ["a TEXT", "A_2 TEXT", "column_3 TEXT", "a_3 TEXT", "column_5 TEXT"]
    );
    assert_eq!(rows[0][4], text("more"));
    let (columns, rows) = table(TableFormat::Delimited, "1,2\n3,4\n");
    assert_eq!(columns, ["column_1 INTEGER", "column_2 INTEGER"]);
    assert_eq!(rows.len(), 2);
}

#[test]
fn json_lines_have_the_keys_of_all_lines() {
    let lines =
        "{\"a\": 1, \"b\": \"x\"}\n\n{\"c\": [1, {\"d\": null}], \"a\": 2.5}\n{\"a\": null, \"b\": true}\n";
    let (columns, rows) = table(TableFormat::Json, lines);
    assert_eq!(columns, ["a REAL", "b TEXT", "c TEXT"]);
    assert_eq!(rows[0], [Value::Real(1.0), text("x"), Value::Null]);
    assert_eq!(rows[1][2], text("[1, {\"d\": null}]"));
    assert_eq!(rows[2], [Value::Null, text("true"), Value::Null]);
    let (columns, rows) = table(TableFormat::Json, "[{\"n\": 1}, {\"n\": 2}]");
    assert_eq!((columns, rows.len()), (vec!["n INTEGER".to_owned()], 2));
}

#[test]
fn missing_words_are_null_among_numbers() {
    let (columns, rows) = table(
        TableFormat::Delimited,
        "a,b,c\n1,NA,TRUE\n-,x,false\nNULL,y,True\n",
    );
    assert_eq!(columns, ["a INTEGER", "b TEXT", "c BOOLEAN"]);
    assert_eq!(rows[0], [Value::Integer(1), text("NA"), Value::Integer(1)]);
    assert_eq!(rows[1], [Value::Null, text("x"), Value::Integer(0)]);
}

#[test]
fn unclear_commas_stay_text() {
    for column in [
        "999\n12,345",
        "1,234\n2,345",
        "999,50\n1.234",
        "9007199254740993\n0.5",
    ] {
        let (columns, _) = table(
            TableFormat::Delimited,
            &format!("name\tn\nx\t{}\n", column.replace('\n', "\ny\t")),
        );
        assert_eq!(columns, ["name TEXT", "n TEXT"], "{column}");
    }
    let (columns, _) = table(TableFormat::Delimited, "name\tn\nx\t0,123\ny\t1,234\n");
    assert_eq!(columns, ["name TEXT", "n REAL"]);
}

#[test]
fn json_keeps_order_and_digits() {
    let (columns, rows) = table(
        TableFormat::Json,
        "[{\"z\": 18446744073709551617, \"a\": 1, \"b\": 2, \"b\\u0000\": 3}]",
    );
    assert_eq!(columns, ["z TEXT", "a INTEGER", "b INTEGER", "b_2 INTEGER"]);
    assert_eq!(rows[0][0], text("18446744073709551617"));
    let error = to_database(TableFormat::Json, b"{\"a\": 1}\n{\"a\": secret}").expect_err("no JSON");
    assert_eq!(error.to_string(), "line 2 is no JSON object");
}

#[test]
fn tables_say_what_is_missing() {
    let wide = vec!["x"; 1001].join(",");
    let database =
        to_database(TableFormat::Delimited, format!("{wide}\n{wide}\n").as_bytes()).expect("it is read");
    let row = database.query_row(
        "SELECT name, row_count, cut, width FROM parlor_tables",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
    );
    assert_eq!(row, Ok((Some("t1".to_owned()), 1, None::<String>, 1001)));
}

#[test]
fn what_has_no_rows_is_an_error() {
    for (format, data) in [
        (TableFormat::Delimited, ""),
        (TableFormat::Delimited, "\n\n"),
        (TableFormat::Json, "{\"a\": 1}\nnot JSON\n"),
        (TableFormat::Json, "[1, 2]"),
        (TableFormat::Xlsx, "no workbook"),
    ] {
        assert!(
            to_database(format, data.as_bytes()).is_err(),
            "{format:?} {data:?}"
        );
    }
}

#[test]
fn previews_have_the_types_of_queries() {
    let data = "code,count,big,share,ok,none,mixed,day,missing,words\n\
                0042,1,9223372036854775808,0.5,true,,1,2026-01-02,NA,a\n\
                0043,2,1,1e3,false,,true,2026-02-03,3,4\n";
    let (columns, _) = table(TableFormat::Delimited, data);
    let limits = PreviewLimits { bytes: 1000, rows: 1 };
    let preview = delimited::read(data.as_bytes(), limits).content.unwrap();
    let kinds = preview.tables[0].columns.iter();
    let both: Vec<String> = columns
        .iter()
        .zip(kinds)
        .map(|(column, preview)| format!("{column} {}", preview.kind))
        .collect();
    assert_eq!(
        both,
        [
            "code TEXT text",
            "count INTEGER number",
            "big TEXT text",
            "share REAL number",
            "ok BOOLEAN boolean",
            "none TEXT empty",
            "mixed TEXT text",
            "day TEXT date",
            "missing INTEGER number",
            "words TEXT text",
        ]
    );
}

#[test]
fn formulas_without_values_are_noted() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/files/formulas_nocache.xlsx"
    );
    let database = to_database(TableFormat::Xlsx, &std::fs::read(path).unwrap()).unwrap();
    let note: (String, String) = database
        .query_row("SELECT name, text FROM parlor_notes", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(note.0, "t1");
    assert!(
        note.1.starts_with("3 formulas have no stored value"),
        "{}",
        note.1
    );
}
