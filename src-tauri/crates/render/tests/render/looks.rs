//! The HTML of each Markdown construct.

use render::{Stream, blocks};

fn html(text: &str) -> Vec<String> {
    let blocks = blocks(text);
    assert!(
        blocks.iter().enumerate().all(|(at, block)| block.index as usize == at),
        "numbered in order"
    );
    blocks.into_iter().map(|block| block.html).collect()
}

/// Renders an unfinished answer of this text.
fn render_live(text: &str) -> String {
    let mut stream = Stream::new();
    stream.push(text);
    stream.frame().blocks.into_iter().map(|block| block.html).collect()
}

#[test]
fn every_kind_of_markdown_block_renders_to_the_expected_html() {
    let text = "# Title\nIntro with *em*, **strong**, ~~del~~ and `code`.\n\n> quoted\n> more\n\n1. one\n2. two\n   - nested\n\n---\n\n```\nplain <b>\n```\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\n    indented\n\nEnd.";
    let expected = [
        "<h3>Title</h3>",
        "<p>Intro with <em>em</em>, <strong>strong</strong>, <del>del</del> and <code>code</code>.</p>",
        "<blockquote><p>quoted<br>more</p></blockquote>",
        "<ol><li>one</li><li>two<ul><li>nested</li></ul></li></ol>",
        "<hr>",
        "<pre class=\"md-code\" tabindex=\"0\"><code>plain &lt;b&gt;\n</code></pre>",
        "<div class=\"md-table\" tabindex=\"0\"><table><thead><tr><th class=\"md-left\">a</th><th class=\"md-right\">b</th></tr></thead><tbody><tr><td class=\"md-left\">1</td><td class=\"md-right\">2</td></tr></tbody></table></div>",
        "<pre class=\"md-code\" tabindex=\"0\"><code>indented\n</code></pre>",
        "<p>End.</p>",
    ];
    assert_eq!(html(text), expected);
}

#[test]
fn underlined_headings_and_a_table_directly_below_text_are_recognised() {
    assert_eq!(html("Title\n===\nText\n---"), ["<h3>Title</h3>", "<h4>Text</h4>"]);
    let got = html("Figures:\n| a |\n|---|\n| 1 |");
    assert_eq!(got[0], "<p>Figures:</p>");
    assert!(got[1].contains("<td>1</td>"), "{got:?}");
}

#[test]
fn a_list_with_blank_lines_and_code_stays_one_block() {
    let got = html("1. first\n\n   ```\n   # no heading\n\n   x\n   ```\n\n2. second\n\nAfter.");
    assert_eq!(got.len(), 2, "{got:?}");
    assert!(got[0].contains("# no heading") && got[0].contains("second"), "{got:?}");
    assert_eq!(
        html("- [x] done\n- [ ] open")[0],
        "<ul><li><span class=\"md-task\">\u{2611}</span> done</li><li><span class=\"md-task\">\u{2610}</span> open</li></ul>"
    );
    assert!(html("3. third\n4. fourth")[0].starts_with("<ol start=\"3\">"));
}

#[test]
fn links_show_the_host_that_they_lead_to() {
    assert_eq!(
        html("[text](https://example.com/a?b=1&c=2)"),
        [
            "<p><a href=\"https://example.com/a?b=1&amp;c=2\" rel=\"noopener noreferrer\">text</a> <span class=\"md-url\">(https://example.com/a?b=1&amp;c=2)</span></p>"
        ]
    );
    assert_eq!(
        html("<https://example.com>"),
        [
            "<p><a href=\"https://example.com\" rel=\"noopener noreferrer\">https://example.com</a></p>"
        ]
    );
    assert_eq!(
        html("[x](file:///etc/passwd) [y](/rel) ![chart](https://example.com/p.png)"),
        ["<p>x y chart</p>"]
    );
}

#[test]
fn code_is_highlighted_when_its_fence_has_closed() {
    let open = render_live("```rust\nfn main() {}\n");
    assert!(!open.contains("hl-") && open.contains("data-lang=\"rust\""), "{open}");
    assert!(html("```rust\nfn main() {}\n```")[0].contains("hl-keyword"));
    assert!(
        html("```rust\nfn main() {}\n")[0].contains("hl-keyword"),
        "a fence that never closed is closed by the end"
    );
}

#[test]
fn html_is_shown_as_text_except_for_line_breaks() {
    assert_eq!(html("a <b>b</b><br>c"), ["<p>a &lt;b&gt;b&lt;/b&gt;<br>c</p>"]);
    assert_eq!(html("<div>x</div>\n\ny"), ["<p>&lt;div&gt;x&lt;/div&gt;\n</p>", "<p>y</p>"]);
}

#[test]
fn single_line_breaks_are_kept() {
    assert_eq!(
        html("Dear Ada,\nthe order has left.\n\n- a\n  b"),
        ["<p>Dear Ada,<br>the order has left.</p>", "<ul><li>a<br>b</li></ul>"]
    );
}

#[test]
fn formulas_are_rendered_as_mathml() {
    let got = html("With $x_1$ and \\(y_2\\), **so** $$z$$");
    assert_eq!(got.len(), 1, "{got:?}");
    assert_eq!(got[0].matches("<math display=\"inline\">").count(), 2, "{got:?}");
    assert!(got[0].contains("<msub><mi>x</mi><mn>1</mn></msub>"), "{got:?}");
    assert!(got[0].contains("<strong>so</strong> <math display=\"block\">"), "{got:?}");
    assert!(!got[0].contains(['\u{fdd0}', '\u{fdd1}', '$']), "{got:?}");
}

#[test]
fn a_percent_sign_in_a_formula_does_not_start_a_comment() {
    let table = [
        ("$50%$", "<mn>50</mn><mi>%</mi></math>"),
        ("$50\\%$", "<mn>50</mn><mi>%</mi></math>"),
        ("\\(12% y\\)", "<mn>12</mn><mi>%</mi><mi>y</mi></math>"),
        ("\\(\\text{5% or 6\\%}\\)", "<mtext>5% or 6%</mtext></math>"),
    ];
    for (source, end) in table {
        let got = html(source);
        assert!(got[0].contains(end), "{source}: {got:?}");
    }
    // The second backslash of a line break does not escape the percent sign.
    let lines = html("$$\n\\begin{matrix}1\\\\%2\\end{matrix}\n$$");
    assert!(lines[0].contains("<mtr>") && lines[0].contains("<mi>%</mi><mn>2</mn>"), "{lines:?}");
}

#[test]
fn a_formula_on_several_lines_is_one_block() {
    for (open, close) in [("$$", "$$"), ("\\[", "\\]")] {
        let got = html(&format!("Then:\n{open}\nx\n=\n- y_1\n{close}\nAfter."));
        assert_eq!(
            (got.len(), got[0].as_str(), got[2].as_str()),
            (3, "<p>Then:</p>", "<p>After.</p>")
        );
        assert!(
            got[1].starts_with("<p><math display=\"block\">") && got[1].contains("<mo>=</mo>"),
            "{got:?}"
        );
    }
    let got = html("$$\nnever ends\n\n```\n$$\n```");
    assert!(got[1].starts_with("<pre"), "code after it stays code: {got:?}");
}

#[test]
fn formulas_in_tables_and_lists_keep_their_special_characters() {
    let got = html("| a | b |\n|---|---|\n| $|x|$ | $y$ |");
    assert_eq!(got[0].matches("<td>").count(), 2, "{got:?}");
    assert_eq!(got[0].matches("<math").count(), 2, "{got:?}");
    assert!(html("- $a*b*c$")[0].starts_with("<ul><li><math"));
}

#[test]
fn amounts_and_code_are_not_rendered_as_formulas() {
    assert_eq!(
        html("From $5 to $10, US$ 3, `$x$`"),
        ["<p>From $5 to $10, US$ 3, <code>$x$</code></p>"]
    );
    assert!(html("```\n$x$ \\(y\\)\n```")[0].contains("$x$ \\(y\\)"));
    assert_eq!(
        html("[page](https://example.com/?a=$x$) $5"),
        [
            "<p><a href=\"https://example.com/?a=$x$\" rel=\"noopener noreferrer\">page</a> <span class=\"md-url\">(https://example.com/?a=$x$)</span> $5</p>"
        ]
    );
}

#[test]
fn an_invalid_formula_is_shown_as_its_source() {
    for source in ["$\\frac{a}$", "\\(\\nosuch_{1}\\)", "$\\def\\a{x}\\a$"] {
        assert_eq!(
            html(source),
            [format!("<p><code class=\"md-formula\">{source}</code></p>")],
            "{source}"
        );
    }
}

#[test]
fn unfinished_markdown_is_rendered_without_stray_marks() {
    let table = [
        ("Some **bol", "<p>Some <strong>bol</strong></p>"),
        ("Some **", "<p>Some</p>"),
        ("Run `ls -", "<p>Run <code>ls -</code></p>"),
        ("See [docs](https://exam", "<p>See docs</p>"),
        ("Text\n-", "<p>Text</p>"),
        ("Text\n\n```py", "<p>Text</p>"),
        ("Text\n\n| a | b |\n|--", "<p>Text</p>"),
        ("So $x_1 + y_{", "<p>So $x_1 + y_{</p>"),
        ("$$\nx\n", "<p><code class=\"md-formula\">$$\nx</code></p>"),
        ("Costs $5 and **m", "<p>Costs $5 and <strong>m</strong></p>"),
        ("- one **two", "<ul><li>one <strong>two</strong></li></ul>"),
        ("```\na\n``", "<pre class=\"md-code\" tabindex=\"0\"><code>a\n</code></pre>"),
    ];
    for (text, expected) in table {
        assert_eq!(render_live(text), expected, "{text:?}");
    }
}

#[test]
fn an_empty_text_gives_no_blocks() {
    for text in ["", "\n\n", "   \n\t\n", "\r\n"] {
        assert!(blocks(text).is_empty(), "{text:?}");
    }
}
