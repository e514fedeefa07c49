// Switched-off tools. A switch applies to a tool's id with and without its pack.

/** Whether a tool is switched off by one of these ids. */
export function isToolOff(off: readonly string[], tool: { id: string; pack: string }): boolean {
  const own = `${tool.pack}:`;
  const plain = tool.id.startsWith(own) ? tool.id.slice(own.length) : tool.id;
  return off.includes(plain) || off.includes(own + plain);
}
