// Addresses of databases as people paste them.
import { expect, test } from "vitest";
import { placeOf, readAddress, type Address } from "./address";

const read = (text: string): Address => readAddress(text) as Address;

test("a password leaves the address, whatever signs it has", () => {
  expect(read("postgresql://ana:p%40ss:w%zz@db.example.com:5432/shop?table=a.b")).toEqual({
    text: "postgresql://ana@db.example.com:5432/shop?table=a.b",
    password: "p%40ss:w%zz",
    isLocal: false,
    saysEncryption: false,
  });
  expect(read("postgres://ana:p%40ss@db/shop").password).toBe("p@ss");
  expect(read("postgres://ana:a@b@db/shop")).toMatchObject({
    text: "postgres://ana@db/shop",
    password: "a@b",
  });
  expect(read("postgres://ana@db/shop").password).toBeNull();
  expect(read("postgres://db/a@b:c")).toMatchObject({ text: "postgres://db/a@b:c" });
});

test("addresses of other programs are understood", () => {
  expect(read(" JDBC:postgresql://DB.example.com/shop ").text).toBe(
    "postgresql://DB.example.com/shop",
  );
  expect(read("postgresql://[::1]:5433/x")).toMatchObject({
    text: "postgresql://[::1]:5433/x",
    isLocal: true,
  });
  expect(read("Snowflake://me:secret@acme/db").text).toBe("snowflake://me@acme/db");
});

test("what cannot be an address has its own reason", () => {
  expect(
    [
      "  ",
      "db.example.com:5432/shop",
      "host=db dbname=shop",
      "postgresql:///shop",
      "postgresql://ana@:5432/shop",
      "postgresql://db/my shop",
    ].map(readAddress),
  ).toEqual(["lacks", "no_scheme", "no_scheme", "no_host", "no_host", "bad"]);
});

test("the encryption and the table are options of the address", () => {
  const remote = read("postgresql://ana@db/shop");
  expect(placeOf(remote, "address", "")).toBe("postgresql://ana@db/shop");
  expect(placeOf(remote, "checked", "public.Order lines")).toBe(
    "postgresql://ana@db/shop?sslmode=verify-full&table=public.Order%20lines",
  );
  expect(placeOf(read("postgresql://db/shop?application_name=x"), "none", "")).toBe(
    "postgresql://db/shop?application_name=x&sslmode=disable",
  );
  // The options of the address count.
  expect(placeOf(read("postgresql://db/shop?sslmode=verify-ca"), "none", "")).toBe(
    "postgresql://db/shop?sslmode=verify-ca",
  );
  expect(placeOf(read("postgresql://db/shop#public.a"), "address", "")).toBe(
    "postgresql://db/shop#public.a",
  );
  expect(placeOf(read("snowflake://acme/db"), "checked", "t")).toBe("snowflake://acme/db?table=t");
});
