//! The size of a text in tokens, as far as that can be said without the model's own tokenizer: four ASCII characters a token, and
//! three quarters of a token for any other character.

/// How many bytes of English or code make a token.
pub const BYTES_PER_TOKEN: usize = 4;

/// What a text comes to.
pub fn estimate_text(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    // Bytes that do not begin a character.
    let inner = text.bytes().filter(|byte| (0x80..0xc0).contains(byte)).count();
    let others = text.len() - ascii - inner;
    (ascii + 3 * others).div_ceil(BYTES_PER_TOKEN)
}

/// The beginning of a text that comes to at most so many tokens.
pub fn truncate_to_tokens(text: &str, most: usize) -> &str {
    let mut quarters = 0;
    let over = text.char_indices().find(|(_, c)| {
        quarters += if c.is_ascii() { 1 } else { 3 };
        quarters > most.saturating_mul(BYTES_PER_TOKEN)
    });
    over.map_or(text, |(at, _)| &text[..at])
}
