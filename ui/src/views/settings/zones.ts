// The time zones that the settings offer: the computer's own, and every zone that the webview knows. Pure.

export interface ZoneOption {
  value: string;
  label: string;
}

/** Returns the zones by name. A zone of the settings file that the webview does not know stays in the list. */
export function zoneOptions(current: string, system: string): ZoneOption[] {
  const known = new Set(["UTC", ...Intl.supportedValuesOf("timeZone")]);
  if (current !== "system") known.add(current);
  const named = [...known]
    .sort()
    .map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }));
  return [{ value: "system", label: system }, ...named];
}
