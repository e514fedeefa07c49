// Settings that a person confirms are shown in words. Texts that a server or a person wrote stay unchanged.
import { expect, test } from "vitest";
import { serverName } from "./servers";
import { nameOfSetting, wordOfValue } from "./settingWords";

test("the settings of a server have names", () => {
  expect(nameOfSetting("servers.my-notes")).toBe("Server my-notes");
  expect(nameOfSetting("servers.my-notes.network")).toBe("May use the network");
  expect(nameOfSetting("servers.my-notes.variables.API_URL")).toBe("Variable API_URL");
  expect(nameOfSetting("servers.my-notes.tools.a.b")).toBe("Tool a.b");
  expect(nameOfSetting("packs.far.settings.url")).toBeNull();
  expect(nameOfSetting("servers.my-notes.else")).toBeNull();
});

test("values of choices are shown in words, and texts stay unchanged", () => {
  expect(wordOfValue("servers.notes.network", "true")).toBe("Yes");
  expect(wordOfValue("servers.notes.tools.find", "read_only")).toBe("Reads only");
  expect(wordOfValue("servers.notes.tools.find", "")).toBe("Not sure – always ask");
  expect(wordOfValue("model.provider", "openai_compatible")).toBe("OpenAI-compatible server");
  expect(wordOfValue("servers.notes.variables.DEBUG", "true")).toBe("true");
  expect(wordOfValue("servers.notes.folder", "true")).toBe("true");
});

test("an added server has the name that the person gave it", () => {
  expect(serverName("own-notes", "notes")).toBe("notes");
  expect(serverName("post", "price")).toBe("post/price");
});
