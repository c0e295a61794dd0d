//! A conversation as a notebook.

use serde_json::{Value, json};
use upstream::Upstream;
use uuid::Uuid;

use super::{
    conversations::{ask, start_in},
    data::{DATABASE, call, execute, town},
};
use crate::support::string_field;

/// The check of a notebook by Jupyter's own schema.
const VALIDATE: &str = "import nbformat, sys
nbformat.validate(nbformat.read(sys.argv[1], as_version=nbformat.NO_CONVERT))";

fn validate(notebook: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ipynb");
    std::fs::write(&path, notebook).unwrap();
    let interpreter = super::interpreter();
    let environment = interpreter.parent().and_then(std::path::Path::parent).unwrap();
    let checked = std::process::Command::new(&interpreter)
        .env("PYTHONPATH", environment.join("nbformat"))
        .args(["-c", VALIDATE])
        .arg(&path)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{errors}");
}

/// Returns the text of a cell.
fn source(cell: &Value) -> String {
    let lines = cell["source"].as_array().unwrap().iter();
    lines.map(|line| line.as_str().unwrap()).collect()
}

#[tokio::test]
async fn conversation_with_code_is_a_notebook() {
    let folder = tempfile::tempdir().unwrap();
    let (path, data) = (folder.path().join("town.db"), folder.path().join("data"));
    execute(&path, DATABASE).await;
    let upstream = Upstream::start().await;
    let parlor = start_in(&data, &upstream, |settings| {
        settings.databases = vec![town(&path)]
    })
    .await;
    let query = json!({ "query": "SELECT year, rate FROM jobs", "df_name": "jobs" });
    let first = call(&parlor, &upstream, None, "sql_query", query).await;
    let conversation = string_field(&first[0], "conversation_id");
    let plot = "import matplotlib.pyplot as plt\nprint(len(jobs))\nplt.plot(jobs.year)\nplt.show()";
    let shown = json!({ "code": plot, "show": ["jobs"] });
    call(&parlor, &upstream, Some(&conversation), "jupyter_notebook", shown).await;
    ask(&parlor, &upstream, Some(&conversation), "1 / 0").await;
    let renamed = parlor
        .client
        .patch(format!("{}/api/conversations/{conversation}", parlor.url))
        .json(&json!({ "title": "Jobs: a/b" }))
        .send()
        .await;
    assert_eq!(renamed.unwrap().status(), 200);

    for prefix in ["/api", "/rpc"] {
        let path = format!("{prefix}/conversations/{conversation}/notebook");
        let response = parlor.get(&path).send().await.unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), "application/x-ipynb+json");
        assert_eq!(
            header("content-disposition"),
            "attachment; filename=\"Jobs a b.ipynb\""
        );
        let text = response.text().await.unwrap();
        validate(&text);
        let notebook: Value = serde_json::from_str(&text).unwrap();
        let cells = notebook["cells"].as_array().unwrap();
        let kinds: Vec<&str> = cells
            .iter()
            .map(|cell| cell["cell_type"].as_str().unwrap())
            .collect();
        let turn = ["markdown", "code", "markdown"];
        let setup = ["markdown", "markdown", "code", "code", "markdown"];
        assert_eq!(kinds, [&setup[..], &turn, &turn].concat(), "{text}");
        assert!(source(&cells[3]).contains("jobs = pd.read_sql(\"\"\"\nSELECT year, rate FROM jobs\n\"\"\""));
        let rows = &cells[3]["outputs"][0]["data"]["text/markdown"];
        assert_eq!(
            (&rows[0], &rows[4]),
            (&json!("| year | rate |\n"), &json!("| 2022 | 3.0 |"))
        );
        assert_eq!(source(&cells[6]), format!("{plot}\ndisplay(jobs)"));
        let outputs = &cells[6]["outputs"];
        assert_eq!(outputs[0]["text"], json!(["3\n"]), "{outputs}");
        let last = outputs.as_array().unwrap().last().unwrap();
        let picture = last["data"]["image/png"].as_str().unwrap();
        assert!(picture.starts_with("iVBORw0KGgo"), "{outputs}");
        assert!(!outputs.to_string().contains("The person is shown"), "{outputs}");
        let error = &cells[9]["outputs"][0];
        assert_eq!(
            (&error["ename"], &error["evalue"]),
            (&json!("ZeroDivisionError"), &json!("division by zero"))
        );
    }
}

#[tokio::test]
async fn without_code_there_is_no_notebook() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let turn = parlor.turn(None, "Hello").await;
    let conversation = string_field(&turn[0], "conversation_id");
    let (status, problem) = parlor
        .get_json(&format!("/api/conversations/{conversation}/notebook"))
        .await;
    assert_eq!((status, &problem["code"]), (400, &json!("bad_request")));
    for missing in [Uuid::now_v7().to_string(), "what".into()] {
        let (status, _) = parlor
            .get_json(&format!("/api/conversations/{missing}/notebook"))
            .await;
        assert_eq!(status, 404, "{missing}");
    }
}
