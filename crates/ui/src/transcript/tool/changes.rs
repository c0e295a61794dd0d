//! The arguments of a call that change a text, as differences.

use parlor_protocol::{json, tool::object_entries};

/// Names of arguments that are a text before and after a change.
const CHANGED_ARGUMENTS: [(&str, &str); 4] = [
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
];

/// Adds the differences among the arguments, and those of the objects in a list such as `edits`. Returns the names of
/// the arguments that they show.
pub fn add_changes(arguments: &[(String, json::RawJson)], found: &mut Vec<String>) -> Vec<String> {
    let text = |name: &str| {
        let (_, value) = arguments.iter().find(|(field, _)| field == name)?;
        json::parse::<String>(value.as_str().as_bytes()).ok()
    };
    let mut shown = Vec::new();
    for (before, after) in CHANGED_ARGUMENTS {
        if let (Some(old), Some(new)) = (text(before), text(after)) {
            found.push(line_changes(&old, &new));
            shown.extend([before.to_owned(), after.to_owned()]);
        }
    }
    for (name, value) in arguments {
        let Ok(items) = json::parse::<Vec<json::RawJson>>(value.as_str().as_bytes()) else {
            continue;
        };
        let fields = items.iter().map(object_entries).collect::<Option<Vec<_>>>();
        let mut changes = Vec::new();
        // Every item is shown whole, or none is.
        let is_change = |fields: &Vec<(String, json::RawJson)>| {
            add_changes(fields, &mut changes).len() == fields.len() && !fields.is_empty()
        };
        if fields.is_some_and(|fields| !fields.is_empty() && fields.iter().all(is_change)) {
            found.append(&mut changes);
            shown.push(name.clone());
        }
    }
    shown
}

/// The change of a text: the lines that differ, between the equal ones at both ends.
fn line_changes(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let is_same = |(one, other): &(&&str, &&str)| one == other;
    let start = old.iter().zip(&new).take_while(is_same).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(is_same)
        .count();
    let (removed, kept) = old_rest.split_at(old_rest.len() - end);
    let added = &new_rest[..new_rest.len() - end];
    let line = |sign: &str, line: &str| [sign, line].concat();
    let lines = old[..start].iter().map(|same| line(" ", same));
    let lines = lines.chain(removed.iter().map(|gone| line("-", gone)));
    let lines = lines.chain(added.iter().map(|came| line("+", came)));
    let lines = lines.chain(kept.iter().map(|same| line(" ", same)));
    lines.collect::<Vec<_>>().join("\n")
}
