//! Text designed to be slow costs no more than other text: twice the length takes about twice the
//! work. Steps cannot be counted here, so the texts are so long that quadratic work would not
//! finish.

use redaction::Level;

use crate::kit::Session;

#[test]
fn hostile_texts_are_redacted_in_bounded_time() {
    let size = 50_000;
    for unit in [
        "a",
        "1",
        "1 ",
        "<",
        "<email_",
        "a@",
        "a.",
        "+1",
        "%25",
        "\\u005c",
        "-----BEGIN PRIVATE KEY-----",
        "sk-",
        "SE12 ",
        "password:",
        "4111 1111 ",
    ] {
        let text = unit.repeat(size / unit.len());
        let mut session = Session::with(Level::Strict, &["Xk29fLm3QpZr81TbVw6Y"]);
        let out = session.text(&text);
        assert_eq!(session.replaced.restore(&out), text);
    }
}
