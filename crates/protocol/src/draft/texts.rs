//! The declaration of a draft whose fields are texts, with its proposal.

/// Declares a draft of texts and what the assistant may propose for it: `name: "label"` is a field. Doc comments of fields are also
/// for the model.
///
/// ```
/// parlor_protocol::draft! {
///     /// A letter.
///     pub struct Letter = "letter" {
///         /// To whom it goes.
///         to: "To",
///         text: "Text",
///     }
///     /// Changes of the letter.
///     pub struct LetterProposal {
///         payload_type: "letter_proposal",
///         marker: "LETTER_PROPOSAL:",
///         title: "Proposed letter",
///         about: "Changes of the open letter",
///         example: r#"{"to": "Ann"}"#,
///         progress_text: "Writing a letter...",
///     }
/// }
/// ```
#[macro_export]
macro_rules! draft {
    (
        $(#[$doc:meta])*
        pub struct $draft:ident = $name:literal {
            $($(#[$field_doc:meta])* $field:ident: $label:literal),+ $(,)?
        }
        $(#[$proposal_doc:meta])*
        pub struct $proposal:ident { $($property:ident: $value:expr),+ $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(default)]
        pub struct $draft {
            $($(#[$field_doc])* #[serde(skip_serializing_if = "String::is_empty")] pub $field: String),+
        }

        impl $crate::draft::Draft for $draft {
            const NAME: &'static str = $name;

            fn text(&self, field: &str) -> Option<String> {
                match field {
                    $(stringify!($field) => Some(self.$field.clone()),)+
                    _ => None,
                }
            }

            fn apply(&mut self, change: &$crate::draft::FieldChange) -> bool {
                let Some(text) = change.read::<String>() else {
                    return false;
                };
                match change.name.as_str() {
                    $(stringify!($field) => self.$field = text,)+
                    _ => return false,
                }
                true
            }
        }

        $(#[$proposal_doc])*
        #[derive(::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $proposal {
            $($(#[$field_doc])* pub $field: Option<String>,)+
            /// Why, in a sentence or two, as Markdown.
            pub explanation: Option<String>,
        }

        impl $crate::draft::Proposal for $proposal {
            type Draft = $draft;

            const KIND: $crate::draft::ProposalKind = $crate::draft::ProposalKind { $($property: $value),+ };

            fn into_changes(self) -> $crate::draft::ProposedChanges {
                let mut fields = Vec::new();
                $(if let Some(text) = self.$field {
                    let text = text.trim();
                    fields.push($crate::draft::FieldChange::new(stringify!($field), $label, text.into(), &text));
                })+
                $crate::draft::ProposedChanges { fields, explanation: self.explanation }
            }
        }
    };
}
