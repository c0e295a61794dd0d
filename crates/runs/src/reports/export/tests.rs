use super::*;
use parlor_protocol::{
    FoundPassage, Passage, ResearchStreamId,
    literature::Article,
    report::{Cell, Claim, Relevance, ReportArticle},
};

fn found(text: &str) -> Passage {
    Passage::Found(FoundPassage {
        text: text.into(),
        place: String::new(),
    })
}

fn article(pmid: &str, title: &str) -> ReportArticle {
    ReportArticle {
        article: Article {
            pmid: pmid.into(),
            title: title.into(),
            authors: vec!["Roe JM".into(), "Sea Group".into()],
            journal: "J".into(),
            published: "2024 Mar 5".into(),
            doi: Some("10.1/a_b".into()),
        },
        retracted: false,
        relevance: Relevance::Relevant {
            reason: "It is.".into(),
        },
        category: None,
        cells: Vec::new(),
        problem: None,
        text: vec![title.into(), "Salt rises\nat night.".into()],
    }
}

fn report() -> Report {
    let salt = ReportArticle {
        retracted: true,
        category: Some("Night".into()),
        cells: vec![Cell {
            field: "Amount".into(),
            value: "=5".into(),
            passage: found("by 5 grams"),
        }],
        ..article("101", "Salt & <b>tides</b> 50%")
    };
    let ships = ReportArticle {
        relevance: Relevance::Unknown,
        problem: Some("PubMed has no abstract of it.".into()),
        ..article("102", "Ships")
    };
    Report {
        stream_id: ResearchStreamId::new(),
        name: "Sea: level".into(),
        query: "tides[mesh]".into(),
        found: 7,
        articles: vec![salt, ships, article("103", "Moon")],
        summary: vec![
            Claim {
                text: "Salt *rises*.".into(),
                pmid: "101".into(),
                passage: found("Salt rises at night."),
            },
            Claim {
                text: "Ships sink.".into(),
                pmid: "102".into(),
                passage: Passage::NotFound { quote: "sink".into() },
            },
        ],
        summary_problem: None,
        unsupported: 1,
    }
}

fn content(format: ExportFormat) -> String {
    export(&report(), Timestamp(0), format).content
}

#[test]
fn markdown_shows_text_as_it_is() {
    let expected = "# Sea: level\n\n1970-01-01 · 7 found · 3 looked at · 2 relevant\n\nQuery: tides\\[mesh\\]\n\n## Summary\n\n\
        - Salt \\*rises\\*. (“Salt rises at night.” [PMID 101](https://pubmed.ncbi.nlm.nih.gov/101/))\n\
        - Ships sink. (no source found)\n\n\
        1 sentence of the summary has no source: its article does not have the words that it quotes.\n\n\
        ## Night\n\n\
        - **Retracted.** [Salt \\& \\<b\\>tides\\</b\\> 50%](https://pubmed.ncbi.nlm.nih.gov/101/)  \n  Roe JM et al. · J · 2024 Mar 5\n\
        \x20 - Amount: =5 (“by 5 grams”)\n\n\
        ## In no category\n\n\
        - [Moon](https://pubmed.ncbi.nlm.nih.gov/103/)  \n  Roe JM et al. · J · 2024 Mar 5\n\n\
        ## Not read\n\n\
        - [Ships](https://pubmed.ncbi.nlm.nih.gov/102/): PubMed has no abstract of it.\n";
    assert_eq!(content(ExportFormat::Markdown), expected);
}

#[test]
fn html_has_no_markup_of_others() {
    let html = content(ExportFormat::Html);
    assert!(html.contains("Salt &amp; &lt;b&gt;tides&lt;/b&gt; 50%"), "{html}");
    assert!(!html.contains("<b>") && !html.contains("<script"), "{html}");
    assert!(html.contains("<h2>Not read</h2>"), "{html}");
}

#[test]
fn csv_has_all_articles_and_runs_no_formula() {
    let expected = "\u{feff}PMID,Title,Authors,Journal,Published,DOI,Retracted,Relevance,Reason,Category,Problem,Amount,Amount (passage)\r\n\
        101,Salt & <b>tides</b> 50%,\"Roe JM; Sea Group\",J,2024 Mar 5,10.1/a_b,yes,relevant,It is.,Night,,'=5,by 5 grams\r\n\
        102,Ships,\"Roe JM; Sea Group\",J,2024 Mar 5,10.1/a_b,no,unknown,,,PubMed has no abstract of it.,,\r\n\
        103,Moon,\"Roe JM; Sea Group\",J,2024 Mar 5,10.1/a_b,no,relevant,It is.,,,,\r\n";
    assert_eq!(content(ExportFormat::Csv), expected);
}

#[test]
fn bibtex_has_relevant_articles() {
    let expected = "@article{pmid101,\n  title = {{Salt \\& <b>tides</b> 50\\%}},\n  author = {Roe, J. M. and {Sea Group}},\n  \
        journal = {J},\n  year = {2024},\n  doi = {10.1/a_b},\n  pmid = {101},\n  url = {https://pubmed.ncbi.nlm.nih.gov/101/},\n  \
        keywords = {Night},\n  abstract = {Salt rises at night.},\n  note = {Retracted}\n}\n\n\
        @article{pmid103,\n  title = {{Moon}},\n  author = {Roe, J. M. and {Sea Group}},\n  \
        journal = {J},\n  year = {2024},\n  doi = {10.1/a_b},\n  pmid = {103},\n  url = {https://pubmed.ncbi.nlm.nih.gov/103/},\n  \
        abstract = {Salt rises at night.}\n}\n\n";
    assert_eq!(content(ExportFormat::Bibtex), expected);
}

#[test]
fn ris_has_relevant_articles() {
    let entry = |pmid: &str, title: &str, more: &str, note: &str| {
        format!(
            "TY  - JOUR\r\nTI  - {title}\r\nAU  - Roe, J. M.\r\nAU  - Sea Group\r\nJO  - J\r\nPY  - 2024\r\nDO  - 10.1/a_b\r\n\
             AN  - {pmid}\r\nUR  - https://pubmed.ncbi.nlm.nih.gov/{pmid}/\r\n{more}AB  - Salt rises at night.\r\n{note}ER  - \r\n\r\n"
        )
    };
    let expected = [
        entry(
            "101",
            "Salt & <b>tides</b> 50%",
            "KW  - Night\r\n",
            "N1  - Retracted\r\n",
        ),
        entry("103", "Moon", "", ""),
    ];
    assert_eq!(content(ExportFormat::Ris), expected.concat());
}

#[test]
fn a_report_without_a_usable_name_is_called_report() {
    let nameless = Report {
        name: "../".into(),
        ..report()
    };
    for (report, expected) in [(report(), "Sea level.csv"), (nameless, "Report.csv")] {
        assert_eq!(export(&report, Timestamp(0), ExportFormat::Csv).name, expected);
    }
}

#[test]
fn markdown_of_others_begins_no_list() {
    let mut report = report();
    let texts = ["- a", "+ b", "12. c", "3) d", "4 e", "-5"];
    let claim = |text: &str| Claim {
        text: text.into(),
        ..report.summary[1].clone()
    };
    report.summary = texts.iter().map(|text| claim(text)).collect();
    let markdown = export(&report, Timestamp(0), ExportFormat::Markdown).content;
    for shown in ["- \\- a (", "- \\+ b (", "- 12\\. c (", "- 3\\) d (", "- 4 e ("] {
        assert!(markdown.contains(shown), "{shown}: {markdown}");
    }
}
