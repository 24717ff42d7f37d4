import { newId } from '@pixmesh/kernel/ids';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { laneOf } from '#lanes/lane-of.ts';

import {
  chooseDeliveries,
  type ChosenDelivery,
  type SubscribedEndpoint,
} from './choose-deliveries.ts';

const URL_TEXT = 'https://shop.example.org/hook';
const ACCOUNT = newId();
const RESOURCE = newId();

function choose(own: string | null, endpoints: readonly SubscribedEndpoint[]): ChosenDelivery[] {
  return chooseDeliveries({
    accountId: ACCOUNT,
    resourceId: RESOURCE,
    own: own === null ? null : { url: own },
    endpoints,
  });
}

function anEndpoint(changes: Partial<SubscribedEndpoint> = {}): SubscribedEndpoint {
  return {
    id: newId(),
    url: URL_TEXT,
    sealedSecret: null,
    wasActive: true,
    isDisabledNow: false,
    ...changes,
  };
}

function forResource(url: string): ChosenDelivery {
  return {
    destinationId: RESOURCE,
    endpointId: null,
    forResourceUrl: false,
    laneId: laneOf(ACCOUNT, url),
    status: 'pending',
  };
}

function forEndpoint(
  { id, url }: SubscribedEndpoint,
  changes: Partial<ChosenDelivery> = {},
): ChosenDelivery {
  return {
    destinationId: id,
    endpointId: id,
    forResourceUrl: false,
    // A pause of the endpoint must not hold what the resource's own URL is to receive.
    laneId: changes.forResourceUrl === true ? laneOf(ACCOUNT, url) : id,
    status: 'pending',
    ...changes,
  };
}

describe('an event', () => {
  test('that has no destination makes nothing', () => {
    expect(choose(null, [])).toEqual([]);
  });

  test('goes to the URL of its resource and to every endpoint: both add up', () => {
    const [one, other] = [anEndpoint({ url: 'https://a.example.org/' }), anEndpoint({ url: 'b' })];
    expect(choose(URL_TEXT, [one, other])).toEqual([
      forEndpoint(one),
      forEndpoint(other),
      forResource(URL_TEXT),
    ]);
  });

  test('goes once to a URL that an active endpoint has as well', () => {
    const endpoint = anEndpoint();
    expect(choose(URL_TEXT, [endpoint])).toEqual([forEndpoint(endpoint, { forResourceUrl: true })]);
  });

  test('goes once to each of several endpoints with the URL of the resource', () => {
    const [one, other] = [anEndpoint(), anEndpoint()];
    expect(choose(URL_TEXT, [one, other])).toEqual([
      forEndpoint(one, { forResourceUrl: true }),
      forEndpoint(other, { forResourceUrl: true }),
    ]);
  });

  test('is skipped for a paused endpoint, which does not stand for the URL of the resource', () => {
    const paused = anEndpoint({ wasActive: false });
    expect(choose(URL_TEXT, [paused])).toEqual([
      forEndpoint(paused, { status: 'skipped' }),
      forResource(URL_TEXT),
    ]);
  });

  test('goes once where of two endpoints with the URL one is paused', () => {
    const [paused, active] = [anEndpoint({ wasActive: false }), anEndpoint()];
    expect(choose(URL_TEXT, [paused, active])).toEqual([
      forEndpoint(paused, { status: 'skipped' }),
      forEndpoint(active, { forResourceUrl: true }),
    ]);
  });

  test.each([
    'https://shop.example.org/hook/',
    'https://SHOP.example.org/hook',
    'https://shop.example.org:443/hook',
    'http://shop.example.org/hook',
    'https://shop.example.org/hook?',
    'https://shop.example.org/hook#',
  ])('goes twice where an endpoint is %s: texts are compared', (url) => {
    const endpoint = anEndpoint({ url });
    expect(choose(URL_TEXT, [endpoint])).toEqual([forEndpoint(endpoint), forResource(URL_TEXT)]);
  });
});

test('however many endpoints there are, each rule holds by itself', () => {
  const urls = fc.constantFrom(
    'https://a.example.org/',
    'https://a.example.org',
    'https://b.example.org/',
  );
  const endpoint = fc.record({
    id: fc.uuid(),
    url: urls,
    sealedSecret: fc.constant(null),
    wasActive: fc.boolean(),
    isDisabledNow: fc.constant(false),
  });
  const endpoints = fc.uniqueArray(endpoint, { selector: ({ id }) => id, maxLength: 8 });
  fc.assert(
    fc.property(fc.option(urls), endpoints, (own, registered) => {
      const chosen = choose(own, registered);
      const keys = chosen.map((delivery) => delivery.destinationId);
      expect(new Set(keys).size).toBe(keys.length);
      // No subscriber is left out, and only a paused one is not sent to.
      const byEndpoint = new Map(chosen.map((delivery) => [delivery.endpointId, delivery]));
      for (const { id, wasActive } of registered) {
        expect(byEndpoint.get(id)?.status).toBe(wasActive ? 'pending' : 'skipped');
      }
      // Who stands in for the resource's URL has exactly its text and is sent to.
      const standIns = registered.filter(({ url, wasActive }) => wasActive && url === own);
      const marked = chosen.filter((delivery) => delivery.forResourceUrl);
      expect(marked.map(({ endpointId }) => endpointId)).toEqual(standIns.map(({ id }) => id));
      // What pauses and ends with an endpoint, and nothing else, is in the endpoint's lane.
      for (const { endpointId, forResourceUrl, laneId } of chosen) {
        const isEndpoints = endpointId !== null && !forResourceUrl;
        expect(laneId).toBe(isEndpoints ? endpointId : laneOf(ACCOUNT, own ?? ''));
      }
      // It has a delivery of its own only where no endpoint stands for it.
      expect(byEndpoint.has(null)).toBe(own !== null && standIns.length === 0);
      expect(byEndpoint.get(null)?.status ?? 'pending').toBe('pending');
    }),
  );
});
