import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { renderAll } from './render.ts';

/**
 * `npm run observability`: writes the files of Prometheus, Alertmanager, Grafana and the collector, and the chart's
 * copies of rules and dashboards.
 */
const FOLDER = path.resolve(import.meta.dirname, '..');

for (const [file, text] of renderAll()) {
  const target = path.join(FOLDER, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
  process.stdout.write(`${path.join('deploy/observability', file)}\n`);
}
