// The host is the desktop app. The only file that imports @tauri-apps/*.
import { Channel, convertFileSrc, invoke } from "@tauri-apps/api/core";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import type { Push } from "./generated/Push";
import type { CommandName, FileDrop, Params, Platform, Response, Unsubscribe } from "./types";
import { asAgentError } from "./types";

async function call<T>(command: string, args: Record<string, unknown>): Promise<T> {
  try {
    return await invoke<T>(command, args);
  } catch (cause) {
    throw asAgentError(cause);
  }
}

/** Whether this page runs inside the desktop app. */
export function inDesktop(): boolean {
  return "__TAURI_INTERNALS__" in globalThis;
}

export function desktopPlatform(kind: Platform["window"]): Platform {
  const listeners = new Set<(push: Push) => void>();
  let subscribed = false;

  function subscribe(): void {
    if (subscribed) return;
    subscribed = true;
    const channel = new Channel<Push>();
    channel.onmessage = (push) => listeners.forEach((listener) => listener(push));
    void call("subscribe", { channel }).catch(() => {
      subscribed = false;
    });
  }

  return {
    window: kind,
    call<K extends CommandName>(command: K, params: Params<K>): Promise<Response<K>> {
      return call<Response<K>>(command, { params });
    },
    onPush(listener): Unsubscribe {
      listeners.add(listener);
      subscribe();
      return () => listeners.delete(listener);
    },
    onFileDrop(listener: (drop: FileDrop) => void): Unsubscribe {
      const stop = getCurrentWebview().onDragDropEvent(({ payload }) => {
        if (payload.type === "drop") listener({ phase: "drop", paths: payload.paths });
        else listener({ phase: payload.type === "leave" ? "leave" : "over" });
      });
      return () => void stop.then((off) => off());
    },
    openFiles: () => call<string[]>("pick_files", {}),
    pickFolder: () => call<string | null>("pick_folder", {}),
    // On Linux a custom scheme is its own origin (shopimg://localhost/...); Tauri knows the form of each system.
    imageUrl: (path) => convertFileSrc(path.replace(/^shopimg:\/\/(localhost)?\/?/, ""), "shopimg").replaceAll("%2F", "/"),
  };
}
