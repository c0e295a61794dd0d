use std::collections::HashMap;

use fuzzing::properties;
use proptest::prelude::*;

use super::abstracts;

/// Articles in PubMed's form: with sections, emphasis, entities, and cited articles.
const ABSTRACTS_XML: &str = include_str!("../../../../../tests/fixtures/pubmed/abstracts.xml");

#[test]
fn parses_abstracts_by_pmid() {
    let expected = HashMap::from([
        (
            "11".to_owned(),
            "BACKGROUND: Water is wet (p < 0.05).\nRESULTS & MORE: It’s H2O.".to_owned(),
        ),
        ("13".to_owned(), "A <book>.".to_owned()),
    ]);
    assert_eq!(abstracts::parse_abstracts(ABSTRACTS_XML).unwrap(), expected);
}

#[test]
fn ignores_custom_entities() {
    let laughs = r#"<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
        <PubmedArticle><PMID>1</PMID><Abstract><AbstractText>So: &b;&f;&nbsp;.</AbstractText></Abstract></PubmedArticle>"#;
    assert_eq!(abstracts::parse_abstracts(laughs).unwrap()["1"], "So: .");
}

properties! {
    256;

    #[test]
    fn never_panics_on_any_xml(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "<PubmedArticle>", "</PubmedArticle>", "<PMID>", "</PMID>", "1", "<Abstract>", "</Abstract>", "<AbstractText>",
                "<AbstractText Label='&#0;'>", "</AbstractText>", "&amp;", "&#xD800;", "&", "<", "]]>", "<![CDATA[", "<!--", "ä", "<?",
            ]),
            0..30,
        )
    ) {
        let _ = abstracts::parse_abstracts(&tokens.concat());
    }
}
