import type { ReceivedPix } from './acquirer.ts';

/**
 * Whether a Pix was paid to this key. The acquirer may leave the key out, since it answers for our account only; another
 * key is foreign money (decision 217).
 */
export function isPaidTo({ pixKey }: Pick<ReceivedPix, 'pixKey'>, ownKey: string): boolean {
  return pixKey === null || pixKey === ownKey;
}
