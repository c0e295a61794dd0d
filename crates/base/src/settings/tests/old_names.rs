//! Names and values of earlier versions.

use super::*;

/// Checks the settings file of an earlier version.
#[test]
fn old_and_new_keys_mean_the_same() {
    let old = include_str!("old_keys.toml");
    let new = include_str!("new_keys.toml");
    assert_eq!(old.lines().count(), new.lines().count());
    let (old, new) = (read_settings(old, &[]).unwrap(), read_settings(new, &[]).unwrap());
    assert_ne!(new, Settings::default());
    assert_eq!(old, new);
}

#[test]
fn reads_old_and_new_metadata_modes() {
    for (written, expected) in [
        ("'auto'", MetadataMode::Auto),
        ("'always'", MetadataMode::Always),
        ("'never'", MetadataMode::Never),
        ("true", MetadataMode::Always),
        ("false", MetadataMode::Never),
    ] {
        let settings = read_settings(&format!("[history]\nmetadata = {written}\n"), &[]).unwrap();
        assert_eq!(settings.history.metadata, expected, "{written}");
    }
    for written in ["'sometimes'", "1"] {
        let error = read_settings(&format!("[history]\nmetadata = {written}\n"), &[]).unwrap_err();
        assert!(
            error.to_string().contains("\"auto\", \"always\" or \"never\""),
            "{error}"
        );
    }
}

#[test]
fn reads_both_spellings_of_summarize() {
    for key in ["summarize", "summarise"] {
        let settings = read_settings(&format!("[history]\n{key} = false"), &[]).unwrap();
        assert!(!settings.history.summarize, "{key}");
    }
}
