import { expect, test } from "vitest";
import { isToolOff } from "./switches";

test("a switch applies to an id with and without its pack", () => {
  const plain = { id: "cart.add", pack: "shop" };
  const shared = { id: "shop:cart.add", pack: "shop" };
  for (const off of ["cart.add", "shop:cart.add"]) {
    expect([isToolOff([off], plain), isToolOff([off], shared)]).toEqual([true, true]);
  }
  expect([isToolOff(["other:cart.add"], plain), isToolOff(["cart.get"], shared)]).toEqual([
    false,
    false,
  ]);
});
