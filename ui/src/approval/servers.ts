// The name of a server as a person knows it. The pack of an added server has only the server's name. Pure.
export function serverName(pack: string, server: string): string {
  return pack === `own-${server}` ? server : `${pack}/${server}`;
}
