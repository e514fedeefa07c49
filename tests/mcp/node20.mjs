// The conformance suite names one function of Node's file system that Node 20 does not have. Only a command that the tests do not use
// calls it; should that change, it says so.
import { register } from "node:module";

const shim = `
export * from "node:fs";
export { default } from "node:fs";
import * as fs from "node:fs";
export const globSync = fs.globSync ?? (() => { throw new Error("fs.globSync needs Node 22"); });
`;
const address = `data:text/javascript,${encodeURIComponent(shim)}`;
const hooks = `
export async function resolve(specifier, context, next) {
  const own = (context.parentURL ?? "").includes("@modelcontextprotocol/conformance/");
  return own && specifier === "fs" ? { url: ${JSON.stringify(address)}, shortCircuit: true } : next(specifier, context);
}
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
