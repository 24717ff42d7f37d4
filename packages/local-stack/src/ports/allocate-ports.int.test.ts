import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { allocatePorts } from './allocate-ports.ts';

test('two stacks never share a port', async () => {
  const slots = Array.from({ length: 20 }, (_, index) => `slot-${index}`);
  const blocks = [
    await allocatePorts(slots, { environment: {} }),
    await allocatePorts(slots, { environment: {} }),
  ];
  const ports = blocks.flatMap((block) => slots.map((slot) => block.of(slot)));
  expect(new Set(ports).size).toBe(40);
  for (const block of blocks) await block.release();
});

test('a busy port that is fixed is named together with its variable', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  await expect(
    allocatePorts(['gateway'], { environment: { PIXMESH_GATEWAY_PORT: String(port) } }),
  ).rejects.toThrow(`port ${port} is busy; it is fixed by PIXMESH_GATEWAY_PORT`);
});
