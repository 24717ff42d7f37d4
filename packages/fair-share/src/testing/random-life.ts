import assert from 'node:assert';

import type { Turns } from '../turns.ts';
import { createWitness, type MayHave } from './witness.ts';

const PLACES = 10;
const ACCOUNTS = 24;
const TICKS_OF_WORK_MAX = 40;
const TICKS_OF_WAIT_MAX = 60;
/** Quiet and crowded stretches in turn, so that lists fill and empty again and again. */
const TICKS_OF_STRETCH = 500;
const ABORTED_SHARE = 0.1;

type Item = { account: string; ticks: number; waits: boolean };

export type Life = {
  arrivals: number;
  /** Numbers from 0 to 1. */
  random: () => number;
  /** What an account may hold, in words of the test. */
  mayHave: MayHave;
  create: (places: number) => Turns<Item>;
};

export type LifeCounts = { served: number; late: number; aborted: number };

/**
 * So many random arrivals in virtual time: accounts that flood, that come now and then, and that leave and come back;
 * work of random length; waits that end by time or by their caller. Each decision is compared with a plain model's, and
 * a witness checks what every such order promises.
 */
export function liveThrough({ arrivals, random, mayHave, create }: Life): LifeCounts {
  const turns = create(PLACES);
  const model = createModel(PLACES, mayHave);
  const witness = createWitness(PLACES, mayHave);
  const counts = { served: 0, late: 0, aborted: 0 };
  const due = new Map<number, (() => void)[]>();
  let now = 0;
  const at = (tick: number, act: () => void): void => {
    const acts = due.get(tick);
    if (acts === undefined) due.set(tick, [act]);
    else acts.push(act);
  };

  for (let arrived = 0; arrived < arrivals || due.size > 0; now += 1) {
    const acts = due.get(now) ?? [];
    due.delete(now);
    for (const act of acts) act();
    const crowd = Math.floor(now / TICKS_OF_STRETCH) % 2 === 0 ? 1.2 : 0.6;
    const coming = Math.min(arrivals - arrived, Math.floor(random() * 2 * crowd));
    for (let one = 0; one < coming; one += 1) arrive(chooseAccount(now, random));
    arrived += coming;
  }
  witness.end();
  return counts;

  function arrive(account: string): void {
    const ticks = 1 + Math.floor(random() * TICKS_OF_WORK_MAX);
    const item: Item = { account, ticks, waits: false };
    const hasPlace = turns.take(account);
    assert.equal(hasPlace, model.take(account), 'a place is taken where the model has one');
    if (hasPlace) return begin(item);
    item.waits = true;
    turns.wait(account, item);
    model.wait(item);
    witness.waits(account);
    at(now + TICKS_OF_WAIT_MAX, () => leave(item, 'late'));
    if (random() < ABORTED_SHARE) {
      at(now + 1 + Math.floor(random() * TICKS_OF_WAIT_MAX), () => leave(item, 'aborted'));
    }
  }

  function begin(item: Item): void {
    item.waits = false;
    counts.served += 1;
    witness.begins(item.account);
    at(now + item.ticks, () => {
      const next = turns.end(item.account);
      const expected = model.end(item.account);
      assert.equal(next.length, expected.length, 'as many places are handed on as in the model');
      witness.ends(item.account);
      for (const [index, one] of next.entries()) {
        assert.equal(one, expected[index], 'a place goes to the item of the model');
        begin(one);
        witness.leaves(one.account);
      }
      witness.rests();
    });
  }

  function leave(item: Item, how: 'late' | 'aborted'): void {
    assert.equal(turns.leave(item.account, item), item.waits, 'what waits can leave, once');
    if (!item.waits) return;
    item.waits = false;
    model.leave(item);
    witness.leaves(item.account);
    counts[how] += 1;
  }
}

/** One account floods, some come in bursts and stay away for long, the others come now and then. */
function chooseAccount(now: number, random: () => number): string {
  const draw = random();
  if (draw < 0.5) return 'flood';
  if (draw < 0.7) return `burst ${Math.floor(now / TICKS_OF_WORK_MAX) % 5}`;
  return `account ${Math.floor(random() * (ACCOUNTS - 6))}`;
}

/** The same order with nothing but lists: of those who may have a place, whose turn or arrival is longest ago. */
function createModel(places: number, mayHave: MayHave) {
  let running: string[] = [];
  let order: string[] = [];
  let items: Item[] = [];
  const mayBegin = (account: string): boolean => {
    const held = running.filter((name) => name === account).length;
    return mayHave(held, places - running.length);
  };
  const drop = (item: Item): void => {
    items = items.filter((other) => other !== item);
    if (!items.some(({ account }) => account === item.account)) {
      order = order.filter((account) => account !== item.account);
    }
  };
  return {
    take: (account: string): boolean => mayBegin(account) && running.push(account) > 0,
    wait: (item: Item): void => {
      if (!order.includes(item.account)) order.push(item.account);
      items.push(item);
    },
    leave: drop,
    end: (ended: string): Item[] => {
      running = running.toSpliced(running.indexOf(ended), 1);
      const begun: Item[] = [];
      for (;;) {
        const account = order.find(mayBegin);
        const next = items.find((item) => item.account === account);
        if (account === undefined || next === undefined) return begun;
        running.push(account);
        begun.push(next);
        drop(next);
        if (order.includes(account)) order = [...order.filter((name) => name !== account), account];
      }
    },
  };
}
