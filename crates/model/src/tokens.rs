//! An estimate of a text's size in tokens without the model's own tokenizer: four ASCII characters a token,
//! and three quarters of a token for any other character.

/// The bytes of English text or code per token.
pub const BYTES_PER_TOKEN: usize = 4;

/// Returns the estimated number of tokens of a text.
pub fn estimate_text(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    // Continuation bytes of UTF-8.
    let inner = text.bytes().filter(|byte| (0x80..0xc0).contains(byte)).count();
    let others = text.len() - ascii - inner;
    (ascii + 3 * others).div_ceil(BYTES_PER_TOKEN)
}

/// Returns the beginning of a text that has at most `max_tokens` tokens.
pub fn truncate_to_tokens(text: &str, max_tokens: usize) -> &str {
    let mut quarters = 0;
    let over = text.char_indices().find(|(_, c)| {
        quarters += if c.is_ascii() { 1 } else { 3 };
        quarters > max_tokens.saturating_mul(BYTES_PER_TOKEN)
    });
    over.map_or(text, |(at, _)| &text[..at])
}
