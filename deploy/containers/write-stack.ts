import { writeFileSync } from 'node:fs';

import { openComposeStack } from './compose-stack.ts';

/**
 * `node deploy/containers/write-stack.ts FILE`: what `npm run conformance -- --stack FILE` needs of a compose project.
 */
const OWNER_ONLY = 0o600;

const [file = 'stack.json'] = process.argv.slice(2);
writeFileSync(file, JSON.stringify(await openComposeStack(), null, 2), { mode: OWNER_ONLY });
