/** Nothing else runs in this process meanwhile. */
export function standStill(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs) continue;
}
