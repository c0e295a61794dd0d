//! The check of the passages that the model quotes: each counts only if the title or the abstract of its article has it.

use super::judge::{ArticleText, ReadAnswer, SummaryAnswer};
use parlor_protocol::{
    Passage,
    literature::Schema,
    passage::{find_passage, quoted_passage},
    report::{Cell, Claim},
};

/// Returns the cells of an article, one for each field of the schema.
pub(super) fn check_cells(answer: ReadAnswer, schema: &Schema, text: &ArticleText) -> Vec<Cell> {
    let cell = |field: &str| {
        let found = answer
            .answers
            .iter()
            .find(|cell| cell.name.trim().eq_ignore_ascii_case(field));
        Cell {
            field: field.into(),
            value: found.map(|cell| cell.value.trim().to_owned()).unwrap_or_default(),
            passage: check_passage(
                Some(text),
                found.map(|cell| cell.passage.as_str()).unwrap_or_default(),
            ),
        }
    };
    schema.0.iter().map(|field| cell(&field.name)).collect()
}

/// Returns the claims of a summary.
pub(super) fn check_claims(answer: SummaryAnswer, texts: &[ArticleText]) -> Vec<Claim> {
    let claims = answer.claims.into_iter();
    let claims = claims.filter(|claim| !claim.text.trim().is_empty());
    claims
        .map(|claim| {
            // Some models write "PMID 12".
            let pmid: String = claim.pmid.chars().filter(char::is_ascii_digit).collect();
            let text = texts.iter().find(|text| text.pmid == pmid);
            Claim {
                passage: check_passage(text, &claim.passage),
                text: claim.text,
                pmid,
            }
        })
        .collect()
}

/// Returns the number of claims without a passage of their article.
pub(super) fn count_unsupported(claims: &[Claim]) -> usize {
    let is_unsupported = |claim: &&Claim| matches!(claim.passage, Passage::NotFound { .. });
    claims.iter().filter(is_unsupported).count()
}

fn check_passage(text: Option<&ArticleText>, quote: &str) -> Passage {
    let paragraphs = text.map(|text| text.paragraphs.as_slice()).unwrap_or_default();
    quoted_passage(quote, paragraphs, &find_passage(paragraphs, quote), "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reports::judge::{CellAnswer, ClaimAnswer};
    use parlor_protocol::{
        FoundPassage,
        draft::DraftList,
        literature::{SchemaField, SchemaFieldType},
    };

    fn text() -> ArticleText {
        ArticleText {
            pmid: "11".into(),
            paragraphs: vec!["Tides".into(), "Salt rises at night.".into()],
        }
    }

    #[test]
    fn a_quote_counts_only_in_its_article() {
        let claim = |pmid: &str, passage: &str| ClaimAnswer {
            text: "It rises.".into(),
            pmid: pmid.into(),
            passage: passage.into(),
        };
        let claims = vec![
            claim("PMID 11", "Salt  rises"),
            claim("11", "Salt falls at night."),
            claim("12", "Salt rises at night."),
            claim("", ""),
        ];
        let checked = check_claims(SummaryAnswer { claims }, &[text()]);
        assert_eq!(count_unsupported(&checked), 3);
        let found = Passage::Found(FoundPassage {
            text: "Salt rises".into(),
            place: String::new(),
        });
        assert_eq!((checked[0].pmid.as_str(), &checked[0].passage), ("11", &found));
    }

    #[test]
    fn each_field_has_a_cell() {
        let field = |name: &str| SchemaField {
            name: name.into(),
            question: "Which?".into(),
            kind: SchemaFieldType::Text,
        };
        let schema = DraftList(vec![field("Time"), field("Place")]);
        let answer = ReadAnswer {
            category: None,
            answers: vec![CellAnswer {
                name: "time ".into(),
                value: " night".into(),
                passage: "rises at night".into(),
            }],
        };
        let cells = check_cells(answer, &schema, &text());
        let seen: Vec<_> = cells
            .iter()
            .map(|cell| {
                (
                    &*cell.field,
                    &*cell.value,
                    matches!(cell.passage, Passage::Found(_)),
                )
            })
            .collect();
        assert_eq!(seen, [("Time", "night", true), ("Place", "", false)]);
    }
}
