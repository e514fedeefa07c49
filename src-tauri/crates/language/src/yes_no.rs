//! Reads yes and no in English and Swedish, in two ways. `read_reply` decides a pending change, so
//! the whole message must be in a fixed list: "yes and no" or "okay but first" approves nothing.
//! The lists of phrases also match inside a message. The offline model uses them for its own
//! questions, after which a change still needs approval.

/// A reply to an open question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Yes,
    No,
    Other,
}

const YES: [&str; 20] = [
    "y",
    "yes",
    "ok",
    "okay",
    "confirm",
    "sure",
    "yep",
    "yeah",
    "go ahead",
    "do it",
    "please",
    "please do",
    "ja",
    "japp",
    "jo",
    "visst",
    "absolut",
    "självklart",
    "gör det",
    "kör",
];
const NO: [&str; 17] = [
    "n",
    "no",
    "cancel",
    "stop",
    "nope",
    "nah",
    "don't",
    "dont",
    "never mind",
    "nevermind",
    "nej",
    "nä",
    "nää",
    "avbryt",
    "stopp",
    "strunt",
    "glöm det",
];

/// Reads a whole message in either language.
pub fn read_reply(message: &str) -> Reply {
    let small = message.trim().to_lowercase();
    if YES.contains(&small.as_str()) {
        return Reply::Yes;
    }
    if NO.contains(&small.as_str()) { Reply::No } else { Reply::Other }
}

/// Phrases that mean yes, without diacritics, separated by semicolons. A phrase with `^` matches
/// only at the beginning of a message.
pub const YES_PHRASES: &str = "^yes; ^yep; ^yeah; ^sure; ^ok; ^okay; ^go ahead; ^do it; ^correct; ^right; ^exactly; ^please do; ^ja; ^japp; ^jo; ^visst; ^gor det; ^kor; \
         ^precis; ^absolut";

/// Phrases that mean no, in the same format.
pub const NO_PHRASES: &str = "^no; ^nope; ^nah; cancel; ^stop; never mind; nevermind; forget it; forget about it; ^none; neither; ^nej; ^na; avbryt; ^stopp; glom det; \
         strunt; strunta i det; ingen av dem; none of them; leave it; lat bli; changed my mind; scratch that; angrat mig; angrar mig; skip it; skip that; not now; no need; dont bother; skit i; skippa; hoppa over; inte nu";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_message_is_read_as_yes_or_no() {
        let yes = "y, yes, ok, okay, confirm, sure, yep, yeah, go ahead, do it, please, please do, ja, japp, jo, visst, absolut, självklart, gör det, kör";
        let no = "n, no, cancel, stop, nope, nah, don't, dont, never mind, nevermind, nej, nä, nää, avbryt, stopp, strunt, glöm det";
        for (words, decided) in [(yes, Reply::Yes), (no, Reply::No)] {
            for text in words.split(", ") {
                assert_eq!(read_reply(text), decided, "{text}");
                assert_eq!(read_reply(&format!(" {} ", text.to_uppercase())), decided, "{text}");
            }
        }
        for text in [
            "yesterday",
            "okay but first",
            "yes and no",
            "",
            "not now",
            "jacka",
            "yes please",
            "nej tack",
            "ja, tack",
        ] {
            assert_eq!(read_reply(text), Reply::Other, "{text}");
        }
    }
}
