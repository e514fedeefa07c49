// How the chat view shows values: products, carts, hidden characters, days.
import { describe, expect, test } from "vitest";
import type { ToolOutcome } from "../../platform/generated/ToolOutcome";
import type { ToolEntry } from "../../state/transcript";
import { clockTime, visible } from "./entries/approvalText";
import { reasonOf, statusOf } from "./entries/toolStatus";
import { lineKeys, readCart, readProducts } from "./results/shop";
import { groupByDay } from "./sessions";

describe("shop results", () => {
  test("products are read whatever form their price has, and nameless ones are left out", () => {
    const { products, total } = readProducts({
      items: [
        { productId: 1, name: "A", price: "1349.00", currency: "SEK", onHand: { value: 3 } },
        {
          productId: "2",
          name: "B",
          price: { value: 5, currency: "EUR" },
          onHand: { value: 0, nextDeliveryDate: "2026-12-03" },
        },
        { productId: 3 },
      ],
      totalCount: 9,
    });
    expect(
      products.map(({ id, price, currency, stock }) => [id, price, currency, stock.pieces]),
    ).toEqual([
      ["1", 1349, "SEK", 3],
      ["2", 5, "EUR", 0],
    ]);
    expect(total).toBe(9);
  });

  test("a cart is read from a change and from a reading of it", () => {
    const cart = {
      currencyCode: "SEK",
      items: [
        {
          lineNo: 1,
          partNo: "A-1",
          name: "A",
          quantity: 2,
          unitPrice: "10.50",
          totalPrice: "21.00",
        },
      ],
      total: "21.00",
    };
    for (const data of [cart, { basketId: 88, basket: cart }]) {
      expect(readCart(data)).toEqual({
        currency: "SEK",
        total: 21,
        lines: [{ partNo: "A-1", name: "A", quantity: 2, unit: 10.5, total: 21, image: null }],
      });
    }
    expect(readCart(null)).toBeNull();
  });

  test("lines with the same part number, or none, are told apart", () => {
    const cart = readCart({
      items: [{ partNo: "A-1" }, { name: "Freight" }, { partNo: "A-1" }, { name: "Fee" }],
    });
    expect(lineKeys(cart?.lines ?? [])).toEqual(["A-1 1", " 1", "A-1 2", " 2"]);
  });
});

test("hidden characters are written as their codes, ordinary ones are left", () => {
  expect(visible("pay\u200bpal \u202etxt")).toBe("pay⟦U+200B⟧pal ⟦U+202E⟧txt");
  expect(visible("Åsa 東京 – 5 €")).toBe("Åsa 東京 – 5 €");
});

test("time left is minutes and seconds, never negative", () => {
  expect([clockTime(599_999), clockTime(61_000), clockTime(-5)]).toEqual(["9:59", "1:01", "0:00"]);
});

test("a call that ended says how; one that waits says so", () => {
  expect(statusOf({ outcome: null, approvalStatus: "pending" }).icon).toBe("wait");
  expect(statusOf({ outcome: "rejected", approvalStatus: "rejected" }).text).toBe(
    "outcome.rejected",
  );
  expect(statusOf({ outcome: null, approvalStatus: null }).icon).toBe("busy");
});

test("a call that did not end well says why in its details, unless that is said below it", () => {
  const error = {
    contract_version: "1.0",
    code: "internal_error" as const,
    message: "Not today.",
    retryable: false,
    details: {},
  };
  const ended = (outcome: ToolOutcome): ToolEntry["result"] => ({
    kind: "tool_result",
    call: "c",
    tool: "cart.addItem",
    outcome,
    summary: "",
    data: null,
    error,
    view: "plain",
    duration_ms: 1,
  });
  const told = (["denied", "limit", "unknown", "rejected", "expired", "cancelled"] as const).map(
    (outcome) => reasonOf({ outcome, result: ended(outcome) }),
  );
  expect(told.map((reason) => reason?.message)).toEqual(Array(6).fill("Not today."));
  expect([
    reasonOf({ outcome: "error", result: ended("error") }),
    reasonOf({ outcome: "ok", result: ended("ok") }),
    reasonOf({ outcome: null, result: null }),
  ]).toEqual([null, null, null]);
});

test("conversations are grouped by local day", () => {
  const now = new Date(2026, 10, 21, 0, 30);
  const at = (date: Date) => ({
    id: String(date),
    title: "",
    created_at: "",
    updated_at: date.toISOString(),
    running: false,
    waiting_approvals: 0,
  });
  const groups = groupByDay(
    [
      at(new Date(2026, 10, 21, 0, 10)),
      at(new Date(2026, 10, 20, 23, 50)),
      at(new Date(2026, 10, 16)),
      at(new Date(2026, 8, 1)),
    ],
    now,
  );
  expect(groups.map(({ label }) => label)).toEqual([
    "sessions.today",
    "sessions.yesterday",
    "sessions.week",
    "sessions.earlier",
  ]);
});
