/** Host behind every BR Code: reserved for documentation, so nothing ever answers there. */
export const LOCATION_HOST = 'qrcode.pixmesh.example.com';

/** Apart from the paths of the API: reading it takes no more than the location. */
export const LOCATION_PATH = '/qr/v2';

/** Host and path, as BR Codes and answers of the API name them. */
export function locationOf(accessToken: string): string {
  return `${LOCATION_HOST}${LOCATION_PATH}/${accessToken}`;
}
