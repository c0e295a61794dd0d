//! Commands and environments that the parser lacks and that mean the same as others.

/// Commands, and what to write in their place.
const SYNONYMS: [(&str, &str); 22] = [
    ("AA", "\\text{Å}"),
    ("Bbb", "\\mathbb"),
    ("argmax", "\\mathop{arg\\,max}"),
    ("argmin", "\\mathop{arg\\,min}"),
    ("bcancel", "\\cancel"),
    ("bm", "\\boldsymbol"),
    ("defeq", "\\coloneqq "),
    ("enskip", "\\hspace{0.5em}"),
    ("enspace", "\\hspace{0.5em}"),
    ("hdots", "\\ldots "),
    ("idotsint", "\\int\\cdots\\int "),
    ("mathbbm", "\\mathbb"),
    ("mathds", "\\mathbb"),
    ("mathscr", "\\mathcal"),
    ("mathstrut", ""),
    ("mspace", "\\mskip"),
    ("negthinspace", "\\!"),
    ("pmb", "\\boldsymbol"),
    ("smash", ""),
    ("strut", ""),
    ("thinspace", "\\,"),
    ("xcancel", "\\cancel"),
];

/// Returns the command that the parser knows in place of `name`.
pub(super) fn known(name: &str) -> Option<&'static str> {
    let synonym = SYNONYMS.iter().find(|(unknown, _)| *unknown == name)?;
    Some(synonym.1)
}

/// Returns the text after the name of an old environment for equations in three columns.
pub(super) fn strip_eqnarray(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("{eqnarray")?;
    rest.strip_prefix('*').unwrap_or(rest).strip_prefix('}')
}

/// Returns the columns of an array without whitespace and without what stands between them, as in `@{\\,}`.
pub(super) fn plain_columns(columns: &str) -> String {
    let mut columns: String = columns.split_whitespace().collect();
    while let Some(start) = columns.find("@{") {
        let end = columns[start..]
            .find('}')
            .map_or(columns.len(), |at| start + at + 1);
        columns.replace_range(start..end, "");
    }
    columns
}
