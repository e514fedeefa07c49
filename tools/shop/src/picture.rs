//! Pictures of products: a simple drawing for each shape in the product's colour. Plain SVG,
//! without text or references.

use crate::catalogue::Shape;

/// Draws a shape in a colour (`#rrggbb`).
pub fn draw(shape: Shape, color: &str) -> String {
    let tone = Tone::of(color);
    let inner = draw_shape(shape, &tone);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 240 240\" role=\"img\">\
<defs><linearGradient id=\"g\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\"><stop offset=\"0\" stop-color=\"#f5f6f8\"/><stop offset=\"1\" stop-color=\"#e4e7ec\"/></linearGradient></defs>\
<rect width=\"240\" height=\"240\" fill=\"url(#g)\"/><ellipse cx=\"120\" cy=\"204\" rx=\"74\" ry=\"7\" fill=\"#1b2430\" opacity=\".10\"/>\
<g stroke-linejoin=\"round\" stroke-linecap=\"round\">{inner}</g></svg>"
    )
}

/// A colour with a darker and a lighter version.
struct Tone {
    base: String,
    dark: String,
    light: String,
}

impl Tone {
    fn of(color: &str) -> Self {
        let channel = |at: usize| {
            color.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(128)
        };
        let rgb = [channel(1), channel(3), channel(5)];
        let mix = |toward: u16, share: u16| {
            let [r, g, b] = rgb.map(|c| (u16::from(c) * (100 - share) + toward * share) / 100);
            format!("#{r:02x}{g:02x}{b:02x}")
        };
        Self { base: mix(0, 0), dark: mix(0, 32), light: mix(255, 38) }
    }
}

fn path(d: &str, fill: &str) -> String {
    format!("<path d=\"{d}\" fill=\"{fill}\"/>")
}

fn line(d: &str, color: &str, width: u32) -> String {
    format!("<path d=\"{d}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>")
}

#[expect(clippy::too_many_lines, reason = "a table with one entry per shape")]
fn draw_shape(shape: Shape, t: &Tone) -> String {
    let Tone { base, dark, light } = t;
    match shape {
        Shape::Shoe => [
            path("M34 162 C34 138 38 118 48 104 C62 116 78 112 90 98 C110 122 140 134 176 140 C200 144 208 152 208 170 L208 176 L34 176 Z", base),
            path("M34 172 L210 172 C211 186 206 194 194 194 L48 194 C38 194 34 186 34 172 Z", "#f7f7f5"),
            path("M170 139 C198 143 208 152 208 172 L166 172 C160 160 162 148 170 139 Z", dark),
            path("M48 104 C40 118 36 136 34 160 L62 160 C64 140 62 122 56 110 Z", dark),
            line("M92 112 L106 100 M108 122 L122 110 M126 130 L138 118", "#f7f7f5", 5),
            line("M70 150 C100 164 130 150 150 166", light, 6),
            line("M44 194 L52 202 L60 194 L68 202 L76 194 L84 202 L92 194 L100 202 L108 194 L116 202 L124 194 L132 202 L140 194 L148 202 L156 194 L164 202 L172 194 L180 202 L188 194", "#3a3f47", 4),
        ].concat(),
        Shape::Boot => [
            path("M66 52 L126 48 C126 84 128 104 140 118 C164 124 196 130 204 150 L206 176 L58 176 C54 130 60 90 66 52 Z", base),
            path("M66 52 L126 48 L127 66 L64 70 Z", dark),
            path("M172 128 C194 134 206 146 206 176 L166 176 C160 156 162 140 172 128 Z", dark),
            path("M54 174 L210 174 L208 200 L186 200 L182 192 L110 192 L106 200 L56 200 Z", "#33373e"),
            line("M108 84 L132 78 M110 100 L136 92 M116 116 L144 106", light, 5),
        ].concat(),
        Shape::Jacket => [
            path("M92 44 L148 44 L184 66 L206 150 L180 158 L168 112 L168 200 L72 200 L72 112 L60 158 L34 150 L56 66 Z", base),
            path("M92 44 C96 66 144 66 148 44 L140 34 L100 34 Z", dark),
            line("M120 60 L120 200", light, 4),
            line("M84 150 L104 140 M156 150 L136 140", dark, 5),
            path("M72 186 L168 186 L168 200 L72 200 Z", dark),
        ].concat(),
        Shape::Shirt => [
            path("M94 46 L146 46 L176 60 L204 146 L182 154 L164 108 L164 200 L76 200 L76 108 L58 154 L36 146 L64 60 Z", base),
            path("M98 46 C102 64 138 64 142 46 L150 48 C142 76 98 76 90 48 Z", dark),
            line("M76 112 L84 84 M164 112 L156 84", light, 4),
        ].concat(),
        Shape::Trousers => [
            path("M80 40 L160 40 L172 202 L132 202 L120 96 L108 202 L68 202 Z", base),
            path("M80 40 L160 40 L161 56 L79 56 Z", dark),
            line("M86 70 L98 86 M154 70 L142 86", light, 4),
            line("M120 56 L120 92", dark, 4),
            line("M92 138 L90 196 M148 138 L150 196", dark, 3),
        ].concat(),
        Shape::Backpack => [
            line("M96 48 C96 26 144 26 144 48", dark, 9),
            path("M76 72 C76 46 164 46 164 72 L172 188 C172 202 68 202 68 188 Z", base),
            path("M74 74 C90 62 150 62 166 74 L164 98 C140 106 100 106 76 98 Z", dark),
            path("M86 128 L154 128 C158 128 160 132 160 136 L160 178 C160 188 80 188 80 178 L80 136 C80 132 82 128 86 128 Z", light),
            line("M86 142 L154 142", dark, 4),
            line("M120 98 L120 116", "#f7f7f5", 6),
        ].concat(),
        Shape::Tent => [
            path("M24 198 C60 150 92 92 120 54 C148 92 180 150 216 198 Z", base),
            path("M120 54 C148 92 180 150 216 198 L150 198 C146 150 134 96 120 54 Z", dark),
            path("M120 84 C108 120 96 164 92 198 L140 198 C138 164 130 118 120 84 Z", "#2b2f36"),
            path("M120 84 C112 120 104 164 102 198 L92 198 C96 164 108 120 120 84 Z", light),
            line("M24 198 L12 204 M216 198 L228 204 M120 54 L120 44", "#5b626c", 4),
        ].concat(),
        Shape::SleepingBag => [
            path("M88 46 C88 26 152 26 152 46 C164 90 162 150 146 198 C140 210 100 210 94 198 C78 150 76 90 88 46 Z", base),
            path("M96 52 C98 36 142 36 144 52 C142 74 98 74 96 52 Z", "#2b2f36"),
            line("M84 96 C104 104 136 104 156 96 M83 126 C104 134 136 134 157 126 M87 156 C106 163 134 163 153 156 M92 184 C108 189 132 189 148 184", dark, 4),
            line("M146 74 C152 110 150 150 140 190", light, 4),
        ].concat(),
        Shape::Mat => [
            path("M56 60 L170 60 L170 180 C170 196 150 200 140 194 L56 180 Z", base),
            line("M56 84 L170 84 M56 108 L170 108 M56 132 L170 132 M56 156 L164 160", dark, 4),
            path("M140 196 C116 196 116 160 144 160 C176 160 180 200 146 200 Z", light),
            line("M146 186 C134 186 134 172 146 172 C160 172 160 190 146 190", dark, 4),
        ].concat(),
        Shape::Bottle => [
            path("M104 34 L136 34 L136 54 L104 54 Z", "#3a3f47"),
            path("M100 54 L140 54 C142 66 158 72 158 90 L158 188 C158 204 82 204 82 188 L82 90 C82 72 98 66 100 54 Z", base),
            path("M82 112 L158 112 L158 150 L82 150 Z", dark),
            line("M96 88 L96 186", light, 6),
            line("M112 34 C112 22 128 22 128 34", "#3a3f47", 5),
        ].concat(),
        Shape::Stove => [
            path("M84 150 L156 150 L164 198 L76 198 Z", "#6a727d"),
            path("M96 130 L144 130 L148 150 L92 150 Z", "#4a515b"),
            line("M64 96 L96 96 L108 132 M176 96 L144 96 L132 132 M120 96 L120 130", "#3a3f47", 6),
            path("M120 52 C136 72 134 88 120 94 C106 88 104 72 120 52 Z", "#e07b2f"),
            path("M120 70 C127 80 126 88 120 92 C114 88 113 80 120 70 Z", "#f3c65a"),
            line("M88 168 L152 168", light, 4),
        ].concat(),
        Shape::Pot => [
            path("M58 104 L182 104 L174 186 C173 198 67 198 66 186 Z", "#7d858f"),
            path("M50 92 C50 84 190 84 190 92 L190 104 L50 104 Z", "#565d67"),
            path("M108 76 L132 76 L134 86 L106 86 Z", "#33373e"),
            line("M58 122 L38 122 L38 142 L62 142 M182 122 L202 122 L202 142 L178 142", "#33373e", 7),
            line("M84 118 L88 182", "#aab1ba", 7),
        ].concat(),
        Shape::Lamp => [
            line("M58 128 C40 70 200 70 182 128", base, 16),
            line("M60 134 C90 150 150 150 180 134", dark, 12),
            path("M88 112 L152 112 C160 112 164 118 164 126 L160 168 C158 180 82 180 80 168 L76 126 C76 118 80 112 88 112 Z", "#33373e"),
            "<circle cx=\"120\" cy=\"146\" r=\"22\" fill=\"#f6efcf\"/><circle cx=\"120\" cy=\"146\" r=\"11\" fill=\"#f3c65a\"/>".to_owned(),
        ].concat(),
        Shape::Poles => [
            line("M82 44 L66 196 M158 44 L174 196", base, 7),
            line("M80 66 L76 100 M160 66 L164 100", light, 7),
            line("M84 34 L81 62 M156 34 L159 62", "#2b2f36", 13),
            line("M56 182 L80 186 M184 182 L160 186", dark, 7),
            line("M84 40 C100 52 98 66 84 70 M156 40 C140 52 142 66 156 70", dark, 3),
        ].concat(),
        Shape::Hat => [
            path("M60 150 C60 60 180 60 180 150 Z", base),
            path("M52 146 C80 136 160 136 188 146 L188 184 C160 194 80 194 52 184 Z", dark),
            line("M84 146 L84 184 M108 142 L108 188 M132 142 L132 188 M156 146 L156 184", base, 5),
            line("M92 128 C94 102 102 90 110 84 M120 128 L120 82 M148 128 C146 102 138 90 130 84", light, 4),
            format!("<circle cx=\"120\" cy=\"72\" r=\"15\" fill=\"{light}\"/>"),
        ].concat(),
        Shape::Cap => [
            path("M56 146 C56 74 164 74 168 146 Z", base),
            path("M150 134 C190 134 216 146 214 160 C190 154 160 154 56 154 L56 142 Z", dark),
            line("M112 92 C112 112 112 128 112 146 M76 112 C84 124 86 136 86 146 M146 112 C140 124 138 136 138 146", light, 3),
            format!("<circle cx=\"112\" cy=\"90\" r=\"5\" fill=\"{dark}\"/>"),
        ].concat(),
        Shape::Glove => [
            path("M86 196 L86 128 L60 104 C48 92 62 76 74 86 L92 102 L92 58 C92 44 112 44 112 58 L112 52 C112 38 132 38 132 52 L132 60 C134 46 152 48 152 62 L152 78 C154 66 170 68 170 82 L166 146 L158 196 Z", base),
            path("M86 172 L162 172 L158 200 L86 200 Z", dark),
            line("M112 60 L112 104 M132 62 L132 104 M152 80 L150 108", dark, 3),
            line("M98 128 C116 138 138 138 156 128", light, 4),
        ].concat(),
        Shape::Sock => [
            path("M92 40 L146 40 L146 126 C150 138 176 146 186 164 C194 182 182 198 164 198 C136 198 100 176 94 146 Z", base),
            path("M92 40 L146 40 L146 62 L92 62 Z", dark),
            path("M96 150 C112 140 124 150 122 178 C108 170 98 160 96 150 Z", dark),
            path("M176 152 C192 166 194 192 168 198 C156 186 160 164 176 152 Z", light),
            line("M94 80 L146 80 M94 92 L146 92", light, 4),
        ].concat(),
        Shape::Bag => [
            path("M86 66 L154 66 L164 190 C164 202 76 202 76 190 Z", base),
            path("M82 44 L158 44 L156 68 L84 68 Z", dark),
            line("M86 54 C96 34 144 34 154 54", "#33373e", 6),
            line("M82 104 L158 104", light, 5),
            path("M98 124 L142 124 L142 162 L98 162 Z", light),
        ].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_a_small_safe_picture() {
        for category in crate::catalogue::CATEGORIES {
            let svg = draw(category.shape, "#2b2d31");
            assert!(
                svg.len() < 4096 && svg.starts_with("<svg ") && svg.ends_with("</svg>"),
                "{}",
                category.key
            );
            assert!(!svg.contains("<script") && !svg.contains("href"));
        }
    }
}
