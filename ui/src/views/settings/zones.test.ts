// The list of time zones has the computer's own first, and keeps the zone of the settings.
import { expect, test } from "vitest";
import { zoneOptions } from "./zones";

test("the system comes first, names have spaces, and an unknown zone stays", () => {
  const options = zoneOptions("Mars/Olympus_Mons", "System");
  expect(options[0]).toEqual({ value: "system", label: "System" });
  expect(options).toContainEqual({ value: "America/New_York", label: "America/New York" });
  expect(options).toContainEqual({ value: "Mars/Olympus_Mons", label: "Mars/Olympus Mons" });
  expect(options.filter(({ value }) => value === "UTC")).toHaveLength(1);
  expect(zoneOptions("UTC", "System")).toHaveLength(options.length - 1);
});
