//! Text that is built to be slow costs no more than other text: twice the length takes about twice
//! the work. Steps cannot be counted here, so the sizes are chosen such that quadratic work would
//! not finish.

use redaction::Level;

use crate::kit::Session;

#[test]
fn hostile_texts_end() {
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
