//! Hostile answers: the output contains only elements and attributes of a short list, whatever a
//! model writes.

use proptest::prelude::*;
use render::{Stream, blocks};

const CORPUS: &[&str] = &[
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil>",
    "</p><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<math><mtext></form><form><mglyph><svg><mtext><textarea><path id=\"</textarea><img onerror=alert(1) src=1>\">",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<style>*{background:url(//evil)}</style>",
    "<p style=\"background:url(//evil)\">x",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<object data=javascript:alert(1)>",
    "<base href=//evil>",
    "<meta http-equiv=refresh content='0;url=//evil'>",
    "<form action=//evil><input name=x>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<script>]]>",
    "<?php echo 1 ?>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:msgbox(1))",
    "[x](file:///etc/passwd)",
    "[x](smb://evil/share)",
    "[x](https://good.com\u{202e}moc.live)",
    "[x](<https://a\"onmouseover=alert(1)>)",
    "[x](https://a 'title\" onmouseover=alert(1)')",
    "[x](https://a\"><script>alert(1)</script>)",
    "![x](https://evil/track.png)",
    "![\" onerror=alert(1) x=\"](x)",
    "<https://a\"onclick=alert(1)>",
    "<javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "```<img src=x onerror=alert(1)>\nx\n```",
    "```\"><script>\nx\n```",
    "```js\n</code></pre><script>alert(1)</script>\n```",
    "```html\n<img src=x onerror=alert(1)>\n```",
    "`<img src=x onerror=alert(1)>`",
    "| <img src=x onerror=alert(1)> |\n|---|\n| <script>alert(1)</script> |",
    "# <img src=x onerror=alert(1)>",
    "- <img src=x onerror=alert(1)>",
    "> <script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)",
    "\u{0}<script\u{0}>",
    "<a\u{c}href=javascript:alert(1)>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<template><script>alert(1)</script></template>",
    "$$<script>alert(1)</script>$$",
    "$\\text{<img src=x onerror=alert(1)>}$",
    "\\[\\href{javascript:alert(1)}{x}\\]",
    "$$\\text{</mtext><script>alert(1)</script>}$$",
    "$\\htmlData{onclick=alert(1)}{x} \\class{evil}{y} \\style{background:url(//evil)}{z}$",
    "$x < y > z \\& \"q\" \\color{red} w$",
    "$\\begin{array}{|c|c|}\\hline a & <b> \\\\[9999em] c\\end{array} \\hspace{99999em}$",
    "$\\def\\a{\\a\\a}\\a$",
    "\u{fdd0}0\u{fdd1} $x$",
    "\u{fdd0}0\u{fdd1}",
    "[^1]: <script>\n\n[^1]",
    "99999999999. <b>\n",
];

const TAGS: &[&str] = &[
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
    "math",
    "mfrac",
    "mi",
    "mn",
    "mo",
    "mover",
    "mroot",
    "mrow",
    "mspace",
    "msqrt",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
];

/// Splits the output as a browser would, and asserts that every part is allowed.
fn check(html: &str) {
    let mut rest = html;
    while let Some((text, tail)) = rest.split_once('<') {
        assert!(!text.contains('>'), "text is escaped: {html}");
        let (tag, after) = tail.split_once('>').unwrap_or_else(|| panic!("an open tag: {html}"));
        rest = after;
        let tag = tag.strip_prefix('/').unwrap_or(tag);
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(TAGS.contains(&name), "<{name}> in {html}");
        while !attributes.is_empty() {
            let (attribute, tail) = attributes
                .split_once("=\"")
                .unwrap_or_else(|| panic!("attribute {attributes} in {html}"));
            let (value, tail) = tail.split_once('"').unwrap_or_else(|| panic!("value in {html}"));
            attributes = tail.trim_start();
            match attribute {
                "href" => assert!(
                    ["http://", "https://", "mailto:"]
                        .iter()
                        .any(|s| value.to_ascii_lowercase().starts_with(s)),
                    "{value} in {html}"
                ),
                "class" => assert!(
                    value.split(' ').all(|c| {
                        c == "small"
                            || ["md-", "hl-", "menv-", "mop-", "cell-"]
                                .iter()
                                .any(|begin| c.starts_with(begin))
                    }),
                    "{value}"
                ),
                "display" => assert!(["inline", "block"].contains(&value), "{value}"),
                "mathvariant" => assert_eq!(value, "normal"),
                "stretchy" | "symmetric" | "largeop" | "movablelimits" | "displaystyle" => {
                    assert!(["true", "false"].contains(&value), "{value}")
                }
                "linethickness" | "minsize" | "maxsize" | "width" | "height" | "depth"
                | "scriptlevel" => {
                    let number = value.trim_end_matches(|c: char| c.is_ascii_lowercase());
                    let is_fine = number.parse::<f64>().is_ok_and(|number| number.abs() <= 100.0);
                    assert!(is_fine, "{value}");
                }
                "rel" => assert_eq!(value, "noopener noreferrer"),
                "start" | "tabindex" => {
                    assert!(value.bytes().all(|b| b.is_ascii_digit()), "{value}")
                }
                "data-lang" => assert!(!value.contains(['&', '<', '>']), "{value}"),
                other => panic!("the attribute {other} in {html}"),
            }
        }
    }
    assert!(!rest.contains('>'), "text is escaped: {html}");
}

#[test]
fn a_mail_link_keeps_no_attachment_and_no_hidden_recipient() {
    let text = "[write](mailto:ada@example.com?subject=Hi&attach=/etc/passwd&bcc=eve@example.com&body=x) <mailto:ada@example.com?attachment=y> [x](mailto:a@b.example%0d%0abcc:c@d.example)";
    let html: String = blocks(text).into_iter().map(|block| block.html).collect();
    assert!(
        html.contains("href=\"mailto:ada@example.com?subject=Hi&amp;body=x\"")
            && html.contains("href=\"mailto:ada@example.com\""),
        "{html}"
    );
    for word in ["attach=", "bcc=eve"] {
        assert!(!html.contains(word), "{word} in {html}");
    }
    assert_eq!(html.matches("<a ").count(), 2, "one with a second line is no link: {html}");
    check(&html);
}

fn check_all(text: &str) {
    for block in blocks(text) {
        check(&block.html);
    }
    // Checks every unfinished state as well.
    let mut stream = Stream::new();
    for c in text.chars() {
        stream.push(c.encode_utf8(&mut [0; 4]));
        for block in stream.frame().blocks {
            check(&block.html);
        }
    }
}

#[test]
fn the_corpus_of_hostile_markdown_renders_to_safe_html() {
    for text in CORPUS {
        check_all(text);
        check_all(&format!("Text **before {text} after** text"));
        check_all(&format!("- a\n- b\n\n  {text}\n\n> {text}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn mixtures_of_hostile_markdown_render_to_safe_html(pieces in proptest::collection::vec(proptest::sample::select(CORPUS.to_vec()), 1..4), noise in "[<>\"'`=/\\[\\]()*_ \\n-]{0,20}") {
        let text = format!("{}{noise}{}", pieces.join(" "), pieces[0]);
        for block in blocks(&text) {
            check(&block.html);
        }
    }
}

/// Parts of formulas, in any order.
const TEX: &[&str] = &[
    "x",
    "1",
    "{",
    "}",
    "^",
    "_",
    "&",
    "\\\\",
    " ",
    "<",
    ">",
    "\"",
    "'",
    "\\&",
    "\\ ",
    "~",
    "|",
    "(",
    "]",
    "\\frac",
    "\\sqrt",
    "\\sqrt[3]",
    "\\left(",
    "\\right)",
    "\\left.",
    "\\middle|",
    "\\not",
    "\\sum",
    "\\limits",
    "\\text{<b>}",
    "\\mathbb",
    "\\color{red}",
    "\\hspace{9999em}",
    "\\hline",
    "\\displaystyle",
    "\\operatorname{a}",
    "\\begin{array}{|c|c}",
    "\\end{array}",
    "\\begin{cases}",
    "\\end{cases}",
    "\\begin{align}",
    "\\end{align}",
    "\\begin{matrix}",
    "\\end{matrix}",
    "\\overbrace",
    "\\relax",
    "\\big",
    "%",
    "#1",
    "å",
    "\\nosuch",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn formulas_of_random_parts_render_to_safe_html(parts in proptest::collection::vec(proptest::sample::select(TEX.to_vec()), 1..14)) {
        let tex = parts.concat();
        for block in blocks(&format!("\\({tex}\\)\n\n\\[\n{tex}\n\\]\n\nAfter.")) {
            check(&block.html);
        }
    }
}

#[test]
fn long_formulas_need_little_stack() {
    for part in [
        "{}",
        "\\relax ",
        "x^{",
        "{",
        "\\frac",
        "\\not",
        "\\left(",
        "%\n",
        "\\begin{matrix}",
        "\\sqrt",
    ] {
        let tex = part.repeat(1_990 / part.len());
        for block in blocks(&format!("$$\n{tex}\n$$")) {
            check(&block.html);
        }
    }
}
