// The actions of the question whether to reject all.
import { expect, test } from "vitest";
import type { Approval } from "../platform/generated/Approval";
import { stillPending } from "./pending.svelte";

const approval = (id: string, hash = "h"): Approval => ({ id, hash }) as Approval;

test("an action that was decided meanwhile is not rejected, and the question ends with the last one", () => {
  const asked = [approval("a"), approval("b"), approval("c")];
  const left = stillPending(asked, [approval("b"), approval("c", "other"), approval("d")]);
  expect(left?.map(({ id }) => id)).toEqual(["b"]);
  expect(stillPending(asked, [approval("d")])).toBe(null);
  expect(stillPending(null, asked)).toBe(null);
});
