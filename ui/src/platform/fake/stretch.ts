// Makes the names in what the host says 200 characters long, to see what the layout does with them: in words (`long`)
// or as one word without a place to break (`word`).
const NAMES = new Set([
  "title", "tool_title", "server", "agent", "name", "description", "account_name", "advertiser", "campaign_name", "display_name", "brand",
  "variantName", "manufacturerName", "label", "summary", "model_label", "model", "message", "hint", "folder", "file", "data_dir", "field", "problem", "fix",
  "why", "reason", "pack", "tool", "session_title", "turn", "key_fingerprint", "version", "stock_note",
]);
/** Where these names are keys or identify something, they stay. */
const KEPT = new Set(["arguments", "input_schema", "full_input_schema", "settings", "pattern", "basket_id", "limits", "forced", "usage", "event_id"]);
const WORDS = "Northwind Outdoor Equipment, Camping & Mountaineering Supplies International Holding (Nordics, Baltics and the Rest of Northern Europe), including the former Ridgeway & Sons Trading Company of Aberdeen ";

function longer(text: string, word: boolean): string {
  if (text === "" || text.length >= 200) return text;
  if (!word) return `${text} ${WORDS}`.slice(0, 200).trimEnd();
  return `${text.replaceAll(/\s+/g, "")}${"Unbreakable".repeat(20)}`.slice(0, 200);
}

export function stretch<T>(value: T, word: boolean, name = ""): T {
  if (typeof value === "string") return (NAMES.has(name) ? longer(value, word) : value) as T;
  if (typeof value !== "object" || value === null || KEPT.has(name)) return value;
  if (Array.isArray(value)) return value.map((part: unknown) => stretch(part, word, name)) as T;
  // A turn's id is what its events are matched by; only in audit records is it a text to read.
  const record = "record_type" in value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, key === "turn" && !record ? part : stretch(part, word, key)])) as T;
}
