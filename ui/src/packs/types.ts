// The code that a pack may bring for the window: views of its own for results that no shape describes.
import type { Component } from "svelte";
import type { MessageKey } from "../i18n/index.svelte";
import type { Approval } from "../platform/generated/Approval";
import type { ShownRows } from "../results/shown";
import type { Entry, ToolResult } from "../state/transcript";

/** The code of a pack in the window. */
export interface PackCode {
  /** Its views, by name. No other pack has a view of the same name. */
  views: Record<string, PackView>;
  /** Combines results of a turn. */
  combine?: (entries: readonly Entry[]) => Combined;
}

/** A named view. */
export interface PackView {
  /** Draws a result below its call; nothing if it cannot be read. */
  component: Component<{ result: ToolResult }>;
  /** The content of the drawn result. */
  shown?: (result: ToolResult) => ShownRows;
  /** How the newest result is shown beside the conversation. Without it, as below its call. */
  panel?: PackPanel;
}

/** A view beside the conversation. */
export interface PackPanel {
  title: MessageKey;
  show: MessageKey;
  hide: MessageKey;
  icon: Component<{ size?: number }>;
  component: Component<PanelProps>;
  /** Whether it is offered before the conversation has such a result. */
  standing: boolean;
  /** The number beside its icon; 0 for none. */
  count: (result: ToolResult | null) => number;
  /** Whether it opens by itself where there is room. */
  opens: (result: ToolResult | null) => boolean;
}

/** The values that the content of a panel gets. */
export interface PanelProps {
  /** The newest result, or null before there is one. */
  result: ToolResult | null;
  /** Pending actions whose result would take its place. */
  waiting: Approval[];
  /** Whether the panel covers the conversation. */
  overlay: boolean;
  /** Moves the focus to the panel. */
  focus: () => void;
}

/** A component with its values. */
export interface Drawing {
  component: Component<Record<string, unknown>>;
  props: Record<string, unknown>;
}

/** Results of a turn that are shown together. */
export interface Combined {
  /** Drawn in place of the result of the entry with this key. */
  instead: Map<string, Drawing>;
  /** Keys of entries whose result is shown elsewhere. */
  quiet: Set<string>;
  /** Drawn below the answer with this key. */
  below: Map<string, Drawing>;
}

/** Pairs a component with its values. */
export function drawing<P extends Record<string, unknown>>(
  component: Component<P>,
  props: P,
): Drawing {
  return { component: component as unknown as Drawing["component"], props };
}
