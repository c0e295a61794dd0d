use super::*;
use parlor_model::{ImageShape, ImageSize};

#[test]
fn recognizes_image_models_by_name() {
    for (name, api) in [
        ("gpt-image-1", Some(ImageApi::Images)),
        ("chatgpt-image-latest", Some(ImageApi::Images)),
        ("dall-e-3", Some(ImageApi::Images)),
        ("grok-2-image-1212", Some(ImageApi::Images)),
        ("google/gemini-2.5-flash-image", Some(ImageApi::Chat)),
        ("openai/gpt-5-image-mini", Some(ImageApi::Chat)),
        ("gpt-5.2", None),
        ("google/gemini-3-pro-preview", None),
        ("imagenet-classifier", None),
    ] {
        assert_eq!(openai_model_api(name), api, "{name}");
    }
    let google = ["gemini-3-pro-image-preview", "models/gemini-2.5-flash-image"];
    assert!(google.iter().all(|name| google_model_api(name).is_some()));
    let others = ["gemini-3-pro-preview", "imagen-4.0-generate-001"];
    assert!(others.iter().all(|name| google_model_api(name).is_none()));
}

#[test]
fn better_models_come_first() {
    let mut names = [
        "dall-e-2",
        "gpt-image-1-mini",
        "dall-e-3",
        "unknown-image",
        "gpt-image-1",
        "gpt-image-1.5",
    ];
    names.sort_by_key(|name| image_rank(name));
    assert_eq!(
        names,
        [
            "gpt-image-1.5",
            "gpt-image-1",
            "gpt-image-1-mini",
            "dall-e-3",
            "dall-e-2",
            "unknown-image"
        ]
    );
}

#[test]
fn sizes_follow_model_and_shape() {
    let size = |api, model, shape| {
        let ImageSize { width, height } = expected_size(api, model, shape);
        (width, height)
    };
    use ImageShape::{Landscape, Portrait, Square};
    assert_eq!(size(ImageApi::Images, "gpt-image-1", Landscape), (1536, 1024));
    assert_eq!(size(ImageApi::Images, "dall-e-3", Portrait), (1024, 1792));
    assert_eq!(size(ImageApi::Images, "dall-e-2", Portrait), (1024, 1024));
    assert_eq!(
        size(ImageApi::GenerateContent, "gemini-2.5-flash-image", Square),
        (1024, 1024)
    );
    assert!(can_edit(ImageApi::Images, "gpt-image-1") && !can_edit(ImageApi::Images, "dall-e-3"));
}
