import { parseBrCode } from '@pixmesh/acquirer/br-code';

import { stepFailed } from './step-failed.ts';

/**
 * The location behind the text of a dynamic BR Code, element 26-25.
 * @throws AppError at `br_code`
 */
export function readLocation(text: string): string {
  const code = parseBrCode(text);
  if (code.kind === 'invalid') throw stepFailed('br_code', code.reason);
  if (code.fields.kind === 'static') {
    throw stepFailed('br_code', 'a static code has no location (26-25)');
  }
  return code.fields.url;
}
