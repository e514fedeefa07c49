// The interface between the UI and its host. Only `tauri.ts` knows Tauri.
import type { CommandMap } from "./generated/commands";
import type { AgentError } from "./generated/AgentError";
import type { Push } from "./generated/Push";

export type CommandName = keyof CommandMap;
export type Params<K extends CommandName> = CommandMap[K]["params"];
export type Response<K extends CommandName> = CommandMap[K]["response"];
export type Unsubscribe = () => void;

export interface Platform {
  /** Which window this page is. */
  readonly window: "chat" | "approval";
  /** Calls a command of the host; rejects with an `AgentError`. */
  call<K extends CommandName>(command: K, params: Params<K>): Promise<Response<K>>;
  /** Subscribes to the pushes of the host. Several listeners share one subscription. */
  onPush(listener: (push: Push) => void): Unsubscribe;
  /** Tells the host that the page has content, so that the window can be shown. */
  ready(): Promise<void>;
  /** Opens the system's file chooser. Returns an empty list if nothing was chosen. */
  openFiles(): Promise<string[]>;
  /** Opens the system's folder chooser. Returns null if nothing was chosen. */
  pickFolder(): Promise<string | null>;
  /** Lets the user choose where a file is saved, and writes it. Returns the path, or null if none was chosen. */
  saveFile(name: string, content: Uint8Array): Promise<string | null>;
  /** Opens a link of an answer outside the app after asking the user. Returns false if the user declined. */
  openLink(url: string): Promise<boolean>;
  /** Returns the address under which a shop's picture is shown. */
  imageUrl(path: string): string;
}

/** Converts an error of the host, or a failure to reach it, to the one type that the UI shows. */
export function asAgentError(cause: unknown): AgentError {
  if (typeof cause === "object" && cause !== null && "code" in cause && "message" in cause) {
    const error = cause as Partial<AgentError>;
    return {
      contract_version: error.contract_version ?? "1.0",
      code: error.code ?? "internal_error",
      message: String(error.message),
      retryable: error.retryable ?? false,
      details: error.details ?? {},
    };
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  return { contract_version: "1.0", code: "internal_error", message, retryable: true, details: {} };
}
