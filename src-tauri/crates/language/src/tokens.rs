//! Splits a message into tokens, each with its folded form. The meaning of tokens is not
//! interpreted.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Word,
    Number,
    Punct,
}

/// A word, number or sign of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The text as typed.
    pub raw: String,
    /// The text in lower case, without diacritics and apostrophes.
    pub fold: String,
    /// The folded text, or the known word to which it was corrected.
    pub norm: String,
    pub kind: TokenKind,
    /// Whether no space separates the token from the previous token.
    pub glued: bool,
    /// Whether the token ends the name of a thing ("sleeping bag"), so that it must not be
    /// interpreted alone.
    pub part: bool,
}

impl Token {
    pub fn is(&self, word: &str) -> bool {
        self.norm == word || self.fold == word
    }
    pub fn any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
    /// Returns the value of a whole number in plain digits.
    pub fn int(&self) -> Option<u32> {
        if self.kind == TokenKind::Number && self.fold.bytes().all(|b| b.is_ascii_digit()) {
            self.fold.parse().ok()
        } else {
            None
        }
    }
}

/// Returns a letter without its diacritics.
fn plain_letter(c: char) -> char {
    match c {
        'å' | 'ä' | 'à' | 'á' | 'â' | 'ã' => 'a',
        'ö' | 'ø' | 'ò' | 'ó' | 'ô' | 'õ' => 'o',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'ü' | 'ù' | 'ú' | 'û' => 'u',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ç' => 'c',
        'ñ' => 'n',
        'æ' => 'a',
        _ => c,
    }
}

/// Returns the text in lower case, without diacritics and apostrophes.
pub fn fold(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(plain_letter)
        .filter(|c| !is_apostrophe(*c) && !is_mark(*c))
        .collect()
}

/// Whether a character belongs to the letter before it, as the accent of a decomposed letter does.
pub fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | '`' | '´')
}

/// The most tokens that are read of a message. Requests to the packs are shorter.
const MOST: usize = 240;

/// Splits a message into tokens. A number keeps the points and commas between its digits. Letters
/// directly after a number form their own token.
pub fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().take(4_000).collect();
    let mut out: Vec<Token> = Vec::new();
    let (mut i, mut spaced) = (0, true);
    while i < chars.len() && out.len() < MOST {
        let c = chars[i];
        if c.is_whitespace() {
            spaced = true;
            i += 1;
            continue;
        }
        let times = matches!(c, 'x' | 'X' | '×')
            && spaced
            && chars.get(i + 1).is_some_and(char::is_ascii_digit);
        let (end, kind) = if times {
            (i + 1, TokenKind::Word)
        } else if c.is_ascii_digit() {
            (number_end(&chars, i), TokenKind::Number)
        } else if c.is_alphanumeric() {
            (word_end(&chars, i), TokenKind::Word)
        } else {
            (i + 1, TokenKind::Punct)
        };
        let raw: String = chars[i..end].iter().collect();
        let folded = if kind == TokenKind::Punct { raw.clone() } else { fold(&raw) };
        out.push(Token {
            norm: folded.clone(),
            fold: folded,
            raw,
            kind,
            glued: !spaced,
            part: false,
        });
        spaced = false;
        i = end;
    }
    out
}

fn number_end(chars: &[char], from: usize) -> usize {
    let mut i = from;
    while i < chars.len() {
        let separator =
            matches!(chars[i], '.' | ',') && chars.get(i + 1).is_some_and(char::is_ascii_digit);
        if !(chars[i].is_ascii_digit() || separator) {
            break;
        }
        i += 1;
    }
    i
}

fn word_end(chars: &[char], from: usize) -> usize {
    let mut i = from;
    while i < chars.len() {
        let inner = is_apostrophe(chars[i]) && chars.get(i + 1).is_some_and(|c| c.is_alphabetic());
        if !(chars[i].is_alphanumeric() || inner || is_mark(chars[i])) {
            break;
        }
        i += 1;
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_into_words_numbers_and_signs() {
        let found: Vec<String> =
            tokens("What's 3/10–20/10, 200k and Q3? 1.5m").into_iter().map(|t| t.fold).collect();
        assert_eq!(
            found,
            [
                "whats", "3", "/", "10", "–", "20", "/", "10", ",", "200", "k", "and", "q3", "?",
                "1.5", "m"
            ]
        );
    }

    #[test]
    fn folding_removes_case_and_diacritics() {
        assert_eq!(fold("Löparskor FÖRRA veckan"), "loparskor forra veckan");
        assert_eq!(tokens("fo\u{308}rra")[0].fold, "forra", "an accent after its letter");
    }
}
