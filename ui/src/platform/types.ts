// The seam between the UI and its host: what a host must offer, and nothing about how. Only `tauri.ts` knows Tauri.
import type { CommandMap } from "./generated/commands";
import type { AgentError } from "./generated/AgentError";
import type { ImportTarget } from "./generated/ImportTarget";
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
  /** The page has something to show; the window may appear. */
  ready(): Promise<void>;
  /** The system's chooser for files of one kind, or of any if `kind` is null; an empty list when nothing was chosen. */
  openFiles(kind: ImportTarget | null): Promise<string[]>;
  /** The system's chooser for a folder; null when nothing was chosen. */
  pickFolder(): Promise<string | null>;
  /** Opens a link of an answer outside the app, after asking; false when the user declined. */
  openLink(url: string): Promise<boolean>;
  /** The address under which a shop picture is shown. */
  imageUrl(path: string): string;
}

/** An error of the host, or of reaching it, in the one shape that the UI shows. */
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
