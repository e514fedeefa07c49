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

/** Returns bytes as text. A list of numbers would take several times the space on the way to the app. */
function base64(bytes: Uint8Array): string {
  let text = "";
  // A call with all bytes at once would have too many arguments.
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
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
    openFiles: () => call<string[]>("pick_files", {}),
    pickFolder: () => call<string | null>("pick_folder", {}),
    saveFile: (name, content) =>
      call<string | null>("save_file", { name, content: base64(content) }),
    openLink: (url) => call<boolean>("open_link", { url }),
    // Tauri knows the form of a custom scheme on each system (Linux: shopimg://localhost/...). The whole reference is sent, with query and
    // host, because the host of this window decides whether it lies on the shop's own server.
    imageUrl: (path) => convertFileSrc(path.replace(/^shopimg:(\/\/localhost)?/, ""), "shopimg"),
  };
}
