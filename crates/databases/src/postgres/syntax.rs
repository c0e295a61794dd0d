//! The keywords before parentheses, and the words that are refused wherever they stand.

/// Keywords before a parenthesis that can't be functions.
pub const SYNTAX: &str = "
    all and any array as asymmetric between both case cast coalesce collate current_time current_timestamp default distinct else except
    exists extract for from greatest group grouping having in intersect lateral leading least limit localtime localtimestamp
    not nullif offset on only or overlay placing position returning row select some substring symmetric then to trailing trim union
    using values variadic when where with
    bigint bit boolean char character dec decimal float int integer interval national nchar numeric precision real smallint time
    timestamp varchar
    xmlattributes xmlconcat xmlelement xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize";

/// Keywords before a parenthesis that are also possible names of functions: Postgres' own list has none of them.
pub const SYNTAX_OR_FUNCTIONS: &str = "
    columns content cube document escape first groups ilike join json_table key like next overlaps passing path range repeatable
    rollup rows second value varying zone";

/// Keywords before a parenthesis, and the keywords that must be before them, the nearest one first. No expression can begin between
/// them: `NOT materialized(x)` without AS is a call.
pub const SYNTAX_AFTER: [(&str, &[&str]); 7] = [
    ("by", &["group"]),
    ("by", &["order"]),
    ("by", &["partition"]),
    ("sets", &["grouping"]),
    ("materialized", &["as"]),
    ("materialized", &["not", "as"]),
    ("over", &["nulls"]),
];

/// Words that call a function in a way of their own.
pub const REFUSED_WORDS: [(&str, &str); 2] = [
    ("treat", "Write CAST in place of TREAT."),
    ("operator", "Write operators without OPERATOR()."),
];

/// Types whose values are functions. No query needs them.
pub const REFUSED_TYPES: [&str; 4] = ["regproc", "regprocedure", "regoper", "regoperator"];

/// Returns true if a list of words has a word.
pub fn has_word(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|other| other == word)
}
