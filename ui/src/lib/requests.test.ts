// A dialog ignores the answers to requests that it stopped.
import { expect, test } from "vitest";
import { Requests } from "./requests";

test("the answer to a stopped or older request is recognised", () => {
  const requests = new Requests();
  const first = requests.begin();
  expect(first()).toBe(false);
  const second = requests.begin();
  expect([first(), second()]).toEqual([true, false]);
  requests.stop();
  expect(second()).toBe(true);
});
