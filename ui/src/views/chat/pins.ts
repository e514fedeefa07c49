// The results beside a conversation: the newest result of each place, and views that are offered before they have a result. Pure.
import { standingViews, viewOf } from "../../packs/registry";
import type { PackPanel } from "../../packs/types";
import { placeOf, type Pin, type ToolResult, type Transcript } from "../../state/transcript";

/** A place beside the conversation. */
export interface PinnedPlace {
  place: string;
  /** The newest result; null before there is one. */
  result: ToolResult | null;
  /** The pack's panel for the result; null if the pack has none. */
  panel: PackPanel | null;
}

/** Returns the places of a conversation, the one with the newest result first. */
export function placesOf(state: Transcript | null): PinnedPlace[] {
  const pins = Object.entries(state?.pins ?? {}).sort(([, a], [, b]) => newestFirst(a, b));
  const places: PinnedPlace[] = pins.map(([place, { result }]) => ({
    place,
    result,
    panel: viewOf(result.view)?.panel ?? null,
  }));
  for (const [view, { panel }] of standingViews()) {
    const place = placeOf({ shape: "named", view }, "");
    if (panel && !places.some((known) => known.place === place))
      places.push({ place, result: null, panel });
  }
  return places;
}

const newestFirst = (a: Pin, b: Pin): number => b.seq - a.seq;

/** Returns the title of the call that a pinned result came from, if its entry is known. */
export function titleOf(state: Transcript, { call, tool }: ToolResult): string {
  const entry = state.entries.find((known) => known.kind === "tool" && known.call === call);
  return entry?.kind === "tool" && entry.title !== "" ? entry.title : tool;
}
