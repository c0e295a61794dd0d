use super::text::{article_text, report_text};
use parlor_protocol::{
    FoundPassage, JobId, Passage, ResearchStreamId, RunStatus, Timestamp, TokenTotals,
    job::{Job, JobProgress},
    literature::Article,
    report::{Cell, Claim, ComparedReport, Comparison, Gone, Relevance, Report, ReportArticle},
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
            journal: "J".into(),
            published: "2024".into(),
            ..Article::default()
        },
        retracted: false,
        relevance: Relevance::Relevant {
            reason: "It is.".into(),
        },
        category: None,
        cells: Vec::new(),
        problem: None,
        text: vec![title.into(), "Salt rises at night.".into()],
    }
}

fn report() -> Report {
    let salt = ReportArticle {
        retracted: true,
        category: Some("Night".into()),
        cells: vec![Cell {
            field: "Amount".into(),
            value: "5".into(),
            passage: found("by 5\ngrams"),
        }],
        ..article("101", "Salt")
    };
    Report {
        stream_id: ResearchStreamId::new(),
        name: "Sea".into(),
        query: "tides".into(),
        found: 7,
        articles: vec![
            salt,
            article("102", "Moon"),
            ReportArticle {
                relevance: Relevance::Unknown,
                problem: Some("No abstract.".into()),
                text: vec!["Ships".into()],
                ..article("103", "Ships")
            },
        ],
        summary: vec![Claim {
            text: "Salt rises.".into(),
            pmid: "101".into(),
            passage: Passage::NotFound { quote: String::new() },
        }],
        summary_problem: None,
        unsupported: 1,
    }
}

fn job() -> Job {
    Job {
        id: JobId::new(),
        kind: "report".into(),
        title: "Sea".into(),
        status: RunStatus::Complete,
        model: "test/any".into(),
        progress: JobProgress::default(),
        totals: TokenTotals::default(),
        cost_limit: None,
        error: None,
        waits_for: None,
        unseen: false,
        created_at: Timestamp(0),
        ended_at: None,
    }
}

#[test]
fn text_has_sources_differences_and_filtered_articles() {
    let compared = ComparedReport {
        report_id: JobId::new(),
        created_at: Timestamp(0),
        comparison: Comparison {
            new: vec!["102".into()],
            moved: Vec::new(),
            gone: vec![Gone {
                pmid: "99".into(),
                title: "Old".into(),
            }],
        },
    };
    let text = report_text(&job(), &report(), Some(&compared), "", 1);
    let made = Timestamp(0).to_rfc3339();
    let expected = format!(
        "Report: Sea, made {made} with test/any\nQuery: tides\nFound: 7; looked at: 3; relevant: 2\n\
         Since the report of {made}: new: PMID 102; no longer there: PMID 99\n\n\
         Summary:\n- Salt rises. (PMID 101; no source found)\n\n\
         Relevant articles:\nPMID 101 [Night] RETRACTED Salt J, 2024. Amount: 5.\n(1 more are not listed here.)\n\n\
         Could not be read in full: PMID 103\n"
    );
    assert_eq!(text, expected);
    let filtered = report_text(&job(), &report(), None, "MOON", 9);
    assert!(filtered.contains("PMID 102 Moon J, 2024."), "{filtered}");
    assert!(!filtered.contains("[Night]"), "{filtered}");
}

#[test]
fn article_has_its_passages_and_its_text() {
    let report = report();
    let text = report.articles.iter().map(article_text).collect::<Vec<_>>();
    assert_eq!(
        text[0],
        "PMID 101 [Night] RETRACTED Salt J, 2024. Amount: 5.\nRelevant: It is.\nAmount: 5: “by 5 grams”\n\nAbstract:\nSalt rises at night."
    );
    assert!(
        text[2].contains("(No abstract.)") && text[2].ends_with("(PubMed has none.)"),
        "{}",
        text[2]
    );
}
