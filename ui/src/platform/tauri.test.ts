// The URL of a picture in the desktop app contains the shop's whole reference.
import { expect, test, vi } from "vitest";

vi.mock("@tauri-apps/api/core", () => ({
  Channel: class {},
  invoke: () => Promise.resolve(),
  // Returns the URL that Tauri makes on Linux.
  convertFileSrc: (path: string, scheme: string) =>
    `${scheme}://localhost/${encodeURIComponent(path)}`,
}));

import { desktopPlatform } from "./tauri";

test("a picture is requested by its whole reference", () => {
  const asked = (reference: string) =>
    decodeURIComponent(new URL(desktopPlatform("chat").imageUrl(reference)).pathname.slice(1));
  for (const reference of [
    "/img/1001.svg",
    "/img/4711.jpg?w=200",
    "img/2.jpg",
    "https://shop.example.com/img/1.jpg?w=200",
    "//other.example.com/1.jpg",
  ]) {
    expect(asked(reference)).toBe(reference);
  }
  expect(asked("shopimg://localhost/img/1001.svg")).toBe("/img/1001.svg");
});
