// A board as one page that needs nothing else: no script, no request, no file beside it. It has the figures that the window shows. All texts
// are escaped, and a chart is left out if it is more than a picture.
import { formatDateTime, formatNumber, language, t } from "../../../i18n/index.svelte";
import { worded } from "../../../i18n/host";
import type { BoardContent } from "../../../platform/generated/BoardContent";
import type { Tile } from "../../../platform/generated/Tile";
import type { TileFigures } from "../../../platform/generated/TileFigures";
import { cellText, isNumeric, leftColumns, wordsOf } from "../../../results/content";
import { totalsOf } from "../../../results/totals";
import { periodText } from "../filters/periods";
import { filterText, freshText, tileTitle, versionText } from "../words";

/** A tile of the page. */
export interface PageTile {
  tile: Tile;
  /** Null if the tile has no figures. */
  figures: TileFigures | null;
  /** The chart as an SVG, if it is shown as one. */
  svg: string | null;
}

/** The colours of the page. */
export interface PageColours {
  ground: string;
  text: string;
  muted: string;
  grid: string;
}

const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Returns a text as HTML that says the same. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign]!);

/** Elements and attributes that run, load or lead somewhere. A picture needs none of them. */
const NO_PICTURE =
  /<\s*(?:[\w-]+:)?(?:script|foreignobject|image|iframe|object|embed|a|use|style|animate|set|audio|video|link|meta)\b|<!|<\?|\bon\w+\s*=|\b(?:xlink:)?href\s*=|\bstyle\s*=[^>]*url|javascript:|data:/i;

/** A whole tag with quoted values. A picture with another form of tag is refused. */
const TAG = /<\/?[\w:-]+(?:\s+[\w:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*\/?>/g;
const ATTRIBUTE = /\s([\w:-]+)\s*=\s*(?:"[^"]*"|'[^']*')/g;

/** Returns an SVG if it is a picture and nothing else, or null. */
export function pictureOnly(svg: string): string | null {
  const text = svg.trim();
  // A text of the data runs nothing, whatever it says. It stands between tags, or names a part.
  const unnamed = (all: string, name: string): string => (name.startsWith("aria-") ? "" : all);
  const tags = (text.match(TAG) ?? []).join("").replace(ATTRIBUTE, unnamed);
  const isWhole = !text.replace(TAG, "").includes("<");
  const isPicture = /^<svg\b/.test(text) && text.endsWith("</svg>") && isWhole;
  return isPicture && !NO_PICTURE.test(tags) ? text : null;
}

/** A colour from the style sheet. Anything else would end the rule that it stands in. */
const colour = (text: string, otherwise: string): string =>
  /^(?:#[\da-f]{3,8}|[a-z]+|(?:rgb|hsl)a?\([\d\s.,%/]+\))$/i.test(text) ? text : otherwise;

function styleOf({ ground, text, muted, grid }: PageColours): string {
  const line = colour(grid, "#ccc");
  return `body{margin:2rem auto;max-width:75rem;padding:0 1rem;font:15px/1.5 system-ui,sans-serif;background:${colour(ground, "#fff")};color:${colour(text, "#111")}}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin:2rem 0 .25rem}
p{margin:.25rem 0}.muted{color:${colour(muted, "#555")};font-size:.85rem;overflow-wrap:anywhere}
.table{overflow-x:auto}table{border-collapse:collapse;margin:.5rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .75rem;border-bottom:1px solid ${line};text-align:start;unicode-bidi:plaintext}th{font-weight:600}.end{text-align:end}
svg{max-width:100%;height:auto}`;
}

const paragraph = (text: string): string => `<p class="muted">${escaped(text)}</p>`;

function tableOf({ content }: TileFigures): string {
  const { columns, rows } = content;
  const cls = columns.map((column) => (isNumeric(column) ? ' class="end"' : ""));
  const head = columns.map(
    (column, at) => `<th scope="col"${cls[at]!}>${escaped(wordsOf(column.label))}</th>`,
  );
  const body = rows.map((row) => {
    const cells = columns.map(
      (column, at) =>
        `<td${cls[at]!}>${escaped(cellText(row[at] ?? { value: null }, column))}</td>`,
    );
    return `<tr>${cells.join("")}</tr>`;
  });
  const table = `<div class="table"><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}${totalRows(content)}</tbody></table></div>`;
  const cut = t("results.cut", {
    shown: formatNumber(rows.length),
    total: formatNumber(content.total),
  });
  const left = leftColumns(content);
  const lines = [...(content.total > rows.length ? [cut] : []), ...(left === null ? [] : [left])];
  return table + lines.map(paragraph).join("");
}

/** Returns the rows with totals. Their name is in the first column that has no figures. */
function totalRows(content: TileFigures["content"]): string {
  const totals = totalsOf(content);
  const { columns } = content;
  const named = columns.findIndex(({ role }) => role !== "measure");
  const rows = (totals?.rows ?? []).map((row) => {
    const cells = columns.map((column, at) => {
      const cell = row[at] ?? { value: null };
      const isBlank = column.role !== "measure" && cell.value === null;
      const texts = [
        ...(at === named ? [totals?.label ?? ""] : []),
        ...(isBlank ? [] : [cellText(cell, column)]),
      ];
      const cls = isNumeric(column) ? ' class="end"' : "";
      const text = escaped(texts.join(" · "));
      return at === named ? `<th scope="row">${text}</th>` : `<td${cls}>${text}</td>`;
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  return rows.join("");
}

function sectionOf({ tile, figures, svg }: PageTile, now: Date): string {
  const title = `<h2>${escaped(tileTitle(tile, figures?.columns))}</h2>`;
  if (!figures) return `<section>${title}${paragraph(t("boards.page_missing"))}</section>`;
  const { at, unreached, notes, fresh, content, data_version } = figures;
  const record = content.computed?.record;
  const facts = [
    t("boards.page_made", { time: formatDateTime(at) }),
    ...fresh.map((one) => freshText(one, now)),
    ...[...unreached, ...notes].map(worded),
    ...(content.state === "proposed" ? [t("results.proposed")] : []),
    t("boards.page_version", { version: versionText(data_version) }),
    ...(record === undefined ? [] : [t("boards.page_record", { record })]),
  ];
  const picture = svg === null ? "" : (pictureOnly(svg) ?? "");
  return `<section>${title}${picture}${tableOf(figures)}${facts.map(paragraph).join("")}</section>`;
}

/** Returns the page of a board. */
export function pageOf(
  { name, filters, period }: BoardContent,
  tiles: readonly PageTile[],
  colours: PageColours,
  now: Date,
): string {
  const head = [
    t("boards.page_saved", { time: formatDateTime(now) }),
    t("boards.page_period", { period: periodText(period) }),
    ...(filters.length > 0
      ? [t("boards.page_filters", { filters: filters.map(filterText).join(" · ") })]
      : []),
  ];
  return `<!doctype html>
<html lang="${escaped(language())}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${escaped(name)}</title>
<style>${styleOf(colours)}</style>
</head>
<body>
<h1 dir="auto">${escaped(name)}</h1>
${head.map(paragraph).join("\n")}
${tiles.map((tile) => sectionOf(tile, now)).join("\n")}
</body>
</html>
`;
}
