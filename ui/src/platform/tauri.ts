// The host is the desktop app. The only file that imports @tauri-apps/*.
import { Channel, convertFileSrc, invoke } from "@tauri-apps/api/core";
import type { Push } from "./generated/Push";
import type { CommandName, Params, Platform, Response, Unsubscribe } from "./types";
import { asAgentError } from "./types";

async function call<T>(command: string, args: Record<string, unknown>): Promise<T> {
  try {
    return await invoke<T>(command, args);
  } catch (cause) {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- an AgentError is data
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
    // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- this command has no answer
    ready: () => call<void>("window_ready", {}),
    openFiles: (kind) => call<string[]>("pick_files", { kind }),
    pickFolder: () => call<string | null>("pick_folder", {}),
    openLink: (url) => call<boolean>("open_link", { url }),
    // Tauri knows how a custom scheme is written on each system (Linux: shopimg://localhost/...).
    // The whole reference goes along, with query and host: whether it lies on the shop's own server is the host's to say.
    imageUrl: (path) => convertFileSrc(path.replace(/^shopimg:(\/\/localhost)?/, ""), "shopimg"),
  };
}
