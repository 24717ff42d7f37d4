import path from 'node:path';

import type { Alone } from './start-alone.ts';

/** What a person has to know to make the first call. */
export function describeAlone({ simulator, config, certificates }: Alone): string[] {
  const folder = path.dirname(certificates.ca);
  return [
    `API Pix, control API and page   ${simulator.url}`,
    `API Pix with certificates       ${simulator.tlsUrl} (ca.pem, client.pem, client-key.pem in ${folder})`,
    `development receiver            ${simulator.receiverUrl}`,
    `client id, Pix key              ${config.ACQUIRER_CLIENT_ID}, ${config.ACQUIRER_PIX_KEY}`,
    'the walk through it: services/acquirer-simulator/README.md; Ctrl-C ends it, its data stay',
  ];
}
