// Addresses of databases as a person types or pastes them. The password leaves the address here, so that it is in no text that is shown.
// Knows no driver. Pure.

/** How a connection is encrypted; `address` if the address says it. */
export type Encryption = "address" | "checked" | "unchecked" | "none";

/** An address without its password. */
export interface Address {
  text: string;
  /** The password that was in the address; null if there was none. */
  password: string | null;
  /** Whether the server is this computer. */
  isLocal: boolean;
  /** Whether the address says how the connection is encrypted. */
  saysEncryption: boolean;
}

export type AddressProblem = "lacks" | "no_scheme" | "no_host" | "bad";

const MODES: Record<Exclude<Encryption, "address">, string> = {
  checked: "verify-full",
  unchecked: "require",
  none: "disable",
};

/** Reads an address. Returns what is wrong with it if it cannot be one. */
export function readAddress(typed: string): Address | AddressProblem {
  // Addresses of Java programs have a word before the scheme.
  const text = typed.trim().replace(/^jdbc:/i, "");
  if (text === "") return "lacks";
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+]*):\/\/(.*)$/is.exec(text) ?? [];
  if (scheme === "") return "no_scheme";
  if (/\s/.test(rest)) return "bad";
  const end = rest.search(/[/?#]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  const tail = end < 0 ? "" : rest.slice(end);
  const at = authority.lastIndexOf("@");
  const [user = "", ...secret] = at < 0 ? [""] : authority.slice(0, at).split(":");
  const place = authority.slice(at + 1);
  const host = place.startsWith("[")
    ? place.slice(0, place.indexOf("]") + 1)
    : place.split(":")[0]!;
  if (host === "") return "no_host";
  return {
    text: `${scheme.toLowerCase()}://${user === "" ? "" : `${user}@`}${place}${tail}`,
    password: secret.length > 0 ? decoded(secret.join(":")) : null,
    isLocal: host === "localhost" || host === "[::1]" || host.startsWith("127."),
    saysEncryption: /[?&]sslmode=/.test(tail),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that encodes nothing belongs to the password.
    return text;
  }
}

/** Returns an address with the chosen encryption and table, as the host reads it. */
export function placeOf(address: Address, encryption: Encryption, table: string): string {
  const [before, fragment] = address.text.split("#", 2) as [string, string?];
  const options: string[] = [];
  if (encryption !== "address" && !address.saysEncryption && isPostgres(address.text))
    options.push(`sslmode=${MODES[encryption]}`);
  if (table !== "") options.push(`table=${encodeURIComponent(table)}`);
  const sign = before.includes("?") ? "&" : "?";
  const place = options.length > 0 ? `${before}${sign}${options.join("&")}` : before;
  return fragment === undefined || table !== "" ? place : `${place}#${fragment}`;
}

/** Whether the driver that ships takes the address. */
export const isPostgres = (address: string): boolean => /^postgres(ql)?:\/\//i.test(address.trim());

/** Whether an address needs a driver that the person has installed. */
export const hasOwnDriver = (address: string): boolean =>
  address.includes("://") && !isPostgres(address.replace(/^\s*jdbc:/i, ""));
