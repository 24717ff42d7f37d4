/** Host behind every BR Code: reserved for documentation, so nothing ever answers there. */
export const LOCATION_HOST = 'qrcode.pixmesh.example.com';

/** Host and path, as BR Codes and answers of the API name them. */
export function locationOf(accessToken: string): string {
  return `${LOCATION_HOST}/v2/${accessToken}`;
}
