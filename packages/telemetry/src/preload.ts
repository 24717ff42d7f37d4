/**
 * First module of every service: `node --import @pixmesh/telemetry/preload …`. Instrumentations patch
 * libraries as they load, so this has to run before anything else is imported.
 */
import { endAtOnce } from './end-at-once.ts';

// Before the modules of telemetry too: loading takes most of a start.
process.once('SIGTERM', endAtOnce);
const { startTelemetry } = await import('./start-telemetry.ts');
await startTelemetry(process.env['SERVICE_NAME'] ?? 'pixmesh', process.env);
