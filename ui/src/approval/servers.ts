// Returns the name of a server as a person knows it. A server that the user added has a pack of its own, whose name is not shown. Pure.
export function serverName(pack: string, server: string): string {
  return pack === `own-${server}` ? server : `${pack}/${server}`;
}
