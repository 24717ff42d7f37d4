import { AppError } from '@pixmesh/kernel/app-error';

import { Claims } from './caller-claims.ts';

export function encodeClaims(claims: Claims): string {
  return Buffer.from(JSON.stringify(claims)).toString('base64url');
}

/** @throws AppError `UNAUTHORIZED` for what is not the header of this contract; the head of a request bounds it */
export function decodeClaims(header: string): Claims {
  try {
    return Claims.parse(JSON.parse(Buffer.from(header, 'base64url').toString('utf8')));
  } catch (cause) {
    throw new AppError('UNAUTHORIZED', { message: 'claims that cannot be read', cause });
  }
}
