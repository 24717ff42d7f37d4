import { describe, expect, it } from 'vitest';

import { createTokenSource, type IssuedToken } from './access-token.ts';

function aTokenSource(expiresInSeconds: number) {
  const clock = { nowMs: 0 };
  const route = { isDown: false, asked: 0 };
  const fetched: string[] = [];
  const tokens = createTokenSource({
    now: () => clock.nowMs,
    fetchToken: async (): Promise<IssuedToken> => {
      route.asked += 1;
      if (route.isDown) return { kind: 'none', cause: 'connection' };
      const value = `token-${fetched.length + 1}`;
      fetched.push(value);
      return { kind: 'token', value, expiresInSeconds };
    },
  });
  return { clock, route, fetched, tokens };
}

const ONE = { kind: 'token', value: 'token-1' };
const TWO = { kind: 'token', value: 'token-2' };
const forever = new AbortController().signal;

describe('the token source', () => {
  it('fetches the next token a minute before the end, and nobody waits for it', async () => {
    const { clock, fetched, tokens } = aTokenSource(3600);
    expect(await tokens.get(forever)).toEqual(ONE);
    clock.nowMs = 3_539_999;
    expect(await tokens.get(forever)).toEqual(ONE);
    expect(fetched).toEqual(['token-1']);
    clock.nowMs = 3_540_000;
    expect(await tokens.get(forever)).toEqual(ONE);
    expect(fetched).toEqual(['token-1', 'token-2']);
    expect(await tokens.get(forever)).toEqual(TWO);
  });

  it('uses a token until shortly before its end while no other can be had', async () => {
    const { clock, route, tokens } = aTokenSource(3600);
    await tokens.get(forever);
    route.isDown = true;
    clock.nowMs = 3_594_999;
    expect(await tokens.get(forever)).toEqual(ONE);
    clock.nowMs = 3_595_000;
    expect(await tokens.get(forever)).toEqual({ kind: 'none', cause: 'connection' });
    route.isDown = false;
    expect(await tokens.get(forever)).toEqual(TWO);
  });

  it('asks once a second for the next token while none can be had', async () => {
    const { clock, route, tokens } = aTokenSource(3600);
    await tokens.get(forever);
    route.isDown = true;
    for (clock.nowMs = 3_540_000; clock.nowMs < 3_543_000; clock.nowMs += 100) {
      expect(await tokens.get(forever)).toEqual(ONE);
    }
    expect(route.asked).toBe(1 + 3);
  });

  it('uses a short-lived token for most of its life', async () => {
    const { clock, fetched, tokens } = aTokenSource(10);
    await tokens.get(forever);
    clock.nowMs = 8_999;
    await tokens.get(forever);
    expect(fetched).toEqual(['token-1']);
    clock.nowMs = 9_499;
    expect(await tokens.get(forever)).toEqual(ONE);
    expect(await tokens.get(forever)).toEqual(TWO);
  });

  it('keeps a newer token when a late answer drops the old one', async () => {
    const { fetched, tokens } = aTokenSource(3600);
    await tokens.get(forever);
    tokens.drop('token-1');
    await tokens.get(forever);
    tokens.drop('token-1');
    await tokens.get(forever);
    expect(fetched).toEqual(['token-1', 'token-2']);
  });

  it('lets one caller give up while the others still get the token', async () => {
    const answer = Promise.withResolvers<IssuedToken>();
    const tokens = createTokenSource({ now: () => 0, fetchToken: () => answer.promise });
    const impatient = new AbortController();
    const first = tokens.get(impatient.signal);
    const second = tokens.get(forever);
    impatient.abort();
    expect(await first).toEqual({ kind: 'none', cause: 'timeout' });
    answer.resolve({ kind: 'token', value: 'token-1', expiresInSeconds: 60 });
    expect(await second).toEqual({ kind: 'token', value: 'token-1' });
  });
});
