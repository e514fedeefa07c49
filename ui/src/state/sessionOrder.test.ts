// The order of the list of conversations.
import { expect, test } from "vitest";
import { insertSession, newestOf } from "./sessionOrder";

const one = (id: string, updated_at: string, pinned = false) => ({ id, updated_at, pinned });
const ids = (list: { id: string }[]): string => list.map(({ id }) => id).join("");

test("pinned conversations stand first, and each group is by the last change", () => {
  const list = [one("p", "1", true), one("c", "3"), one("b", "2")];
  insertSession(list, one("d", "4"));
  expect(ids(list)).toBe("pdcb");
  insertSession(list, one("b", "5"));
  expect(ids(list)).toBe("pbdc");
  insertSession(list, one("c", "3", true));
  expect(ids(list)).toBe("cpbd");
  insertSession(list, one("p", "1"));
  expect(ids(list)).toBe("cbdp");
});

test("the newest conversation may stand below a pinned one", () => {
  expect(newestOf([one("p", "1", true), one("c", "3"), one("b", "2")])?.id).toBe("c");
  expect(newestOf([])).toBeNull();
});
