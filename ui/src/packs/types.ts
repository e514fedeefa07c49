// The code that a pack may bring for the window: its own views for results that no shape describes.
import type { Component } from "svelte";
import type { MessageKey } from "../i18n/index.svelte";
import type { Approval } from "../platform/generated/Approval";
import type { ShownRows } from "../results/shown";
import type { Entry, ToolResult } from "../state/transcript";

/** The code of a pack in the window. */
export interface PackCode {
  /** The pack's views, by name. No other pack has a view of the same name. */
  views: Record<string, PackView>;
  /** Combines results of a turn. */
  combine?: (entries: readonly Entry[]) => Combined;
}

/** A named view. */
export interface PackView {
  /** Draws a result below its call. Draws nothing if the result cannot be read. */
  component: Component<{ result: ToolResult }>;
  /** Returns the content of the drawn result. */
  shown?: (result: ToolResult) => ShownRows;
  /** How the newest result is shown beside the conversation. Without a panel, it looks as it does below its call. */
  panel?: PackPanel;
}

/** A view beside the conversation. */
export interface PackPanel {
  title: MessageKey;
  show: MessageKey;
  hide: MessageKey;
  icon: Component<{ size?: number }>;
  component: Component<PanelProps>;
  /** Whether the panel is offered before the conversation has such a result. */
  standing: boolean;
  /** Returns the number beside the panel's icon; 0 for none. */
  count: (result: ToolResult | null) => number;
  /** Whether the panel opens by itself if there is room. */
  opens: (result: ToolResult | null) => boolean;
}

/** The values that the content of a panel gets. */
export interface PanelProps {
  /** The newest result, or null before there is one. */
  result: ToolResult | null;
  /** Pending actions whose result would replace the shown result. */
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
  /** The drawings in place of results, by the key of the result's entry. */
  instead: Map<string, Drawing>;
  /** Keys of entries whose result is shown elsewhere. */
  quiet: Set<string>;
  /** The drawings below answers, by the key of the answer. */
  below: Map<string, Drawing>;
}

/** Pairs a component with its values. */
export function drawing<P extends Record<string, unknown>>(
  component: Component<P>,
  props: P,
): Drawing {
  return { component: component as unknown as Drawing["component"], props };
}
