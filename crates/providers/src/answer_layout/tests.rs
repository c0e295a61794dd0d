use super::*;

const KIND: &str = "test";

fn raw(text: &str) -> RawJson {
    RawJson::parse_or_quote(text)
}

fn provider_data_of(events: VecDeque<ModelEvent>) -> Vec<ProviderData> {
    let data = events.into_iter().filter_map(|event| match event {
        ModelEvent::ProviderData { data, .. } => Some(data),
        _ => None,
    });
    data.collect()
}

/// Returns the data of: thinking, text, thinking, a call, thinking, a call.
fn recorded() -> Vec<ProviderData> {
    let mut layout = LayoutRecorder::new(KIND);
    let mut events = VecDeque::new();
    layout.push_block(&raw("{\"a\": 1}"), &mut events);
    layout.push_text("O", &mut events);
    layout.push_text("ne", &mut events);
    layout.push_block(&raw("{\"b\":2}"), &mut events);
    layout.push_call(&mut events);
    layout.push_block(&raw("{\"c\":3}"), &mut events);
    layout.push_call(&mut events);
    provider_data_of(events)
}

fn block(text: &str) -> AnswerBlock<'static> {
    AnswerBlock::Provider(raw(text))
}

#[test]
fn restores_the_order_of_blocks() {
    assert_eq!(
        arrange_blocks("OneTwo", 3, &recorded(), KIND),
        [
            block("{\"a\": 1}"),
            AnswerBlock::Text("One"),
            block("{\"b\":2}"),
            AnswerBlock::Call(0),
            block("{\"c\":3}"),
            AnswerBlock::Text("Two"),
            AnswerBlock::Call(1),
            AnswerBlock::Call(2),
        ]
    );
}

#[test]
fn keeps_changed_text_whole() {
    for text in ["é", ""] {
        let blocks = arrange_blocks(text, 1, &recorded(), KIND);
        let texts: String = blocks
            .iter()
            .filter_map(|block| match block {
                AnswerBlock::Text(text) => Some(*text),
                _ => None,
            })
            .collect();
        assert_eq!(texts, text);
        let calls = blocks
            .iter()
            .filter(|block| matches!(block, AnswerBlock::Call(0)));
        assert_eq!(calls.count(), 1);
    }
}

#[test]
fn divides_a_text_that_something_precedes() {
    let mut layout = LayoutRecorder::new(KIND);
    let mut events = VecDeque::new();
    for (text, name) in [("One two.", "{\"a\":1}"), ("Three.", "{\"b\":2}")] {
        layout.push_text(text, &mut events);
        layout.push_block(&raw(name), &mut events);
    }
    let provider_data = provider_data_of(events);
    assert_eq!(
        arrange_blocks("METADATA {} One two.Three.", 0, &provider_data, KIND),
        [
            AnswerBlock::Text("METADATA {} One two."),
            block("{\"a\":1}"),
            AnswerBlock::Text("Three."),
            block("{\"b\":2}"),
        ]
    );
}

#[test]
fn reads_layouts_without_text_ends() {
    let old = ProviderData {
        kind: KIND.into(),
        field: FIELD.into(),
        value: raw("[3,{\"a\":1},\"call\"]"),
    };
    assert_eq!(
        arrange_blocks("OneTwo", 1, &[old], KIND),
        [
            AnswerBlock::Text("One"),
            block("{\"a\":1}"),
            AnswerBlock::Call(0),
            AnswerBlock::Text("Two")
        ]
    );
}

#[test]
fn records_text_without_tagged_thinking() {
    let mut layout = LayoutRecorder::new(KIND);
    let mut events = VecDeque::new();
    layout.push_text("<think>Hm.</think>One", &mut events);
    layout.push_block(&raw("{\"a\":1}"), &mut events);
    assert_eq!(
        events.iter().take(2).collect::<Vec<_>>(),
        [
            &ModelEvent::Thinking("Hm.".into()),
            &ModelEvent::Text("One".into())
        ]
    );
    let provider_data = provider_data_of(events);
    assert_eq!(provider_data[0].value.as_str(), "[[3,\"One\"],{\"a\":1}]");
}

#[test]
fn ignores_data_of_others() {
    let expected = [AnswerBlock::Text("One"), AnswerBlock::Call(0)];
    assert_eq!(arrange_blocks("One", 1, &recorded(), "other"), expected);
    let shown = ProviderData {
        kind: KIND.into(),
        field: FIELD.into(),
        value: raw("(for the provider alone: 12 bytes)"),
    };
    assert_eq!(arrange_blocks("One", 1, &[shown], KIND), expected);
}

/// Returns all text of the events.
fn text_of(events: &VecDeque<ModelEvent>) -> String {
    let texts = events.iter().filter_map(|event| match event {
        ModelEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn hidden_block_separates_two_texts() {
    let mut layout = LayoutRecorder::new(KIND);
    let mut events = VecDeque::new();
    layout.end_paragraph(&mut events);
    layout.push_text("One.", &mut events);
    layout.push_block(&raw("{\"a\":1}"), &mut events);
    layout.end_paragraph(&mut events);
    layout.push_text("Two", &mut events);
    layout.push_text(".", &mut events);
    layout.push_block(&raw("{\"b\":2}"), &mut events);
    layout.end_paragraph(&mut events);
    layout.push_text("\n\nThree.", &mut events);
    let text = text_of(&events);
    assert_eq!(text, "One.\n\nTwo.\n\nThree.");
    assert_eq!(
        arrange_blocks(&text, 0, &provider_data_of(events), KIND)
            .into_iter()
            .filter(|block| !matches!(block, AnswerBlock::Text("" | PARAGRAPH_GAP)))
            .collect::<Vec<_>>(),
        [
            AnswerBlock::Text("One."),
            block("{\"a\":1}"),
            AnswerBlock::Text("Two."),
            block("{\"b\":2}"),
            AnswerBlock::Text("\n\nThree."),
        ],
        "the gap is not part of a text of the provider"
    );
}

#[test]
fn text_after_other_parts_needs_no_gap() {
    let mut layout = LayoutRecorder::new(KIND);
    let mut events = VecDeque::new();
    layout.push_text("One.", &mut events);
    layout.push_block(&raw("{\"a\":1}"), &mut events);
    layout.end_paragraph(&mut events);
    layout.push_thinking("Hm.", &mut events);
    layout.push_text("Two.", &mut events);
    layout.end_paragraph(&mut events);
    layout.push_call(&mut events);
    layout.push_text("Three.", &mut events);
    assert_eq!(text_of(&events), "One.Two.Three.");
}

#[test]
fn white_space_between_two_calls_belongs_to_neither() {
    for second in ["Two.", "\n\nTwo.", " Two."] {
        let mut data = Vec::new();
        for (text, name) in [("One.", "{\"a\":1}"), (second, "{\"b\":2}")] {
            let (mut layout, mut events) = (LayoutRecorder::new(KIND), VecDeque::new());
            layout.push_text(text, &mut events);
            layout.push_block(&raw(name), &mut events);
            data.extend(provider_data_of(events));
        }
        let second = format!("\n\n{second}");
        assert_eq!(
            arrange_blocks(&format!("One.{second}"), 0, &data, KIND),
            [
                AnswerBlock::Text("One."),
                block("{\"a\":1}"),
                AnswerBlock::Text(&second),
                block("{\"b\":2}"),
            ]
        );
    }
}

#[test]
fn a_block_keeps_the_place_where_it_began() {
    let mut layout = LayoutRecorder::new(KIND);
    let mut events = VecDeque::new();
    let first = layout.open_block(&mut events);
    layout.push_text("One", &mut events);
    layout.push_call(&mut events);
    // It ends before the block before it.
    layout.push_block(&raw("{\"b\":2}"), &mut events);
    let lost = layout.open_block(&mut events);
    layout.push_text("Two", &mut events);
    layout.close_block(Some(first), &raw("{\"a\":1}"), &mut events);
    layout.push_block(&raw("{\"c\":3}"), &mut events);
    layout.close(&mut events);
    // Too late: it comes last.
    layout.close_block(Some(lost), &raw("{\"d\":4}"), &mut events);
    assert_eq!(
        arrange_blocks("OneTwo", 1, &provider_data_of(events), KIND),
        [
            block("{\"a\":1}"),
            AnswerBlock::Text("One"),
            AnswerBlock::Call(0),
            block("{\"b\":2}"),
            AnswerBlock::Text("Two"),
            block("{\"c\":3}"),
            block("{\"d\":4}"),
        ]
    );
}
