//! Yes and no, in English and Swedish. There are two readings, because they decide different
//! things. `read_reply` decides a change that waits: only a whole message out of a fixed list
//! counts, so that "yes and no" or "okay but first" never signs anything. The phrases also count
//! inside a message; with them the offline model answers questions of its own, and a change still
//! needs its approval.

/// The reply to a question that waits.
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

/// Reads a whole message, in either language.
pub fn read_reply(message: &str) -> Reply {
    let small = message.trim().to_lowercase();
    if YES.contains(&small.as_str()) {
        return Reply::Yes;
    }
    if NO.contains(&small.as_str()) { Reply::No } else { Reply::Other }
}

/// Phrases of a yes, without diacritics, separated by semicolons. `^` stands at the beginning of a
/// message.
pub const YES_PHRASES: &str = "^yes; ^yep; ^yeah; ^sure; ^ok; ^okay; ^go ahead; ^do it; ^correct; ^right; ^exactly; ^please do; ^ja; ^japp; ^jo; ^visst; ^gor det; ^kor; \
         ^precis; ^absolut";

/// Phrases of a no, in the same form.
pub const NO_PHRASES: &str = "^no; ^nope; ^nah; cancel; ^stop; never mind; nevermind; forget it; forget about it; ^none; neither; ^nej; ^na; avbryt; ^stopp; glom det; \
         strunt; strunta i det; ingen av dem; none of them; leave it; lat bli; changed my mind; scratch that; angrat mig; angrar mig; skip it; skip that; not now; no need; dont bother; skit i; skippa; hoppa over; inte nu";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_messages_decide_and_nothing_else() {
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
