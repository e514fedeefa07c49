//! Text made to be slow costs no more than any other: twice the text, about twice the work. Asserted as counts of steps is
//! impossible here, so the sizes are such that anything quadratic would not end.

use redaction::Level;

use crate::kit::Session;

#[test]
fn hostile_texts_end() {
    let size = 50_000;
    for unit in ["a", "1", "1 ", "<", "<email_", "a@", "a.", "+1", "%25", "\\u005c", "-----BEGIN PRIVATE KEY-----", "sk-", "SE12 ", "password:", "4111 1111 "] {
        let text = unit.repeat(size / unit.len());
        let mut session = Session::with(Level::Strict, &["Xk29fLm3QpZr81TbVw6Y"]);
        let out = session.text(&text);
        assert_eq!(session.replaced.restore(&out), text);
    }
}
