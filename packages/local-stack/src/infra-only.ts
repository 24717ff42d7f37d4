import { mkdirSync, writeFileSync } from 'node:fs';
import { startInfra } from './infra/start-infra.ts';
import { createProgress } from './progress.ts';
import { StartupFailure } from './startup-failure.ts';

const home = process.argv[2] ?? '/tmp/pixmesh-dev-infra';
mkdirSync(home, { recursive: true });
try {
  const infra = await startInfra({ home, log: createProgress(), mode: 'processes' });
  writeFileSync(`${home}/urls.json`, JSON.stringify(infra.urls, null, 2));
  console.log(JSON.stringify(infra, null, 2));
  const timer = setInterval(() => undefined, 1e6);
  for (const s of ['SIGINT', 'SIGTERM'] as const)
    process.on(s, () => {
      clearInterval(timer);
      const t = performance.now();
      void infra.stop().then(() => console.log('stopped', performance.now() - t));
    });
} catch (e) {
  if (e instanceof StartupFailure) {
    console.error(e.message, e.logLines.join('\n'));
    process.exitCode = 1;
  } else throw e;
}
