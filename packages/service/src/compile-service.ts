import { flushCompileCache } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * `node packages/service/src/compile-service.ts`, while an image is built: imports the service that
 * `SERVICE_NAME` names, without starting it, so that its compiled sources are kept in `NODE_COMPILE_CACHE`.
 */
const SERVICES = path.resolve(import.meta.dirname, '../../../services');
const name = process.env['SERVICE_NAME'] ?? '';

// Loaded only where a collector is named.
await import('@pixmesh/telemetry/traced-sdk');
await import(pathToFileURL(path.join(SERVICES, name, 'src/service.ts')).href);
flushCompileCache();
process.exit();
