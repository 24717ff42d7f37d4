/**
 * First module of every service: `node --import @pixmesh/telemetry/preload …`. Instrumentations patch
 * libraries as they load, so this has to run before anything else is imported.
 */
import { startTelemetry } from './start-telemetry.ts';

await startTelemetry(process.env['SERVICE_NAME'] ?? 'pixmesh', process.env);
