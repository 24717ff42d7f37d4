import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { equal, shaped } from '../client/expectations.ts';
import type { HttpClient } from '../client/http-client.ts';
import { Envelope } from '../client/schemas.ts';
import { bodyWith } from './api-client.ts';
import { until } from './until.ts';

/** One request as the development receiver recorded it. */
export type Delivery = {
  method: string;
  headers: Readonly<Record<string, string>>;
  bytes: Buffer;
  envelope: Envelope;
  receivedAtMs: number;
};

/** A place to deliver to that nobody else uses. */
export type Hook = {
  url: string;
  deliveries(): Promise<Delivery[]>;
  /** Waits for exactly these events, in any order. */
  expectEvents(names: readonly string[], limitMs?: number): Promise<Map<string, Delivery>>;
  /** Answers the next requests in this way. */
  behave(behaviour: object): Promise<void>;
};

export type Receiver = {
  hook(): Hook;
  /** The place of an address, its query included. */
  at(url: string): Hook;
};

const REQUESTS_MAX = 1_000;

const Requests = z.object({
  data: z.array(
    z.object({
      method: z.string(),
      headers: z.record(z.string(), z.string()),
      body_base64: z.string(),
      received_at: z.string(),
    }),
  ),
});

/** `control` is the receiver's own address; `hookBase` is the one that the installation delivers to. */
export function createReceiver(
  http: HttpClient,
  { control, hookBase }: { control: string; hookBase: string },
): Receiver {
  const hookAt = (path: string): Hook => createHook(http, { control, hookBase, path });
  return {
    hook: () => hookAt(`/${randomUUID()}`),
    at: (url) => hookAt(url.slice(hookBase.length)),
  };
}

type Place = { control: string; hookBase: string; path: string };

function createHook(http: HttpClient, place: Place): Hook {
  const deliveries = (): Promise<Delivery[]> => readDeliveries(http, place);
  return {
    url: place.hookBase + place.path,
    deliveries,
    expectEvents: (names, limitMs) =>
      until(async () => {
        const byEvent = await deliveries();
        const got = byEvent.map(({ envelope }) => envelope.event);
        equal(got.toSorted(), names.toSorted(), 'the events that were delivered');
        return new Map(byEvent.map((delivery) => [delivery.envelope.event, delivery]));
      }, limitMs),
    behave: async (behaviour) => {
      const answer = await http.send({
        method: 'PUT',
        url: `${place.control}/behaviour${place.path}`,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(behaviour)),
      });
      bodyWith(answer, 200);
    },
  };
}

async function readDeliveries(http: HttpClient, place: Place): Promise<Delivery[]> {
  const query = `path=${encodeURIComponent(place.path)}&limit=${REQUESTS_MAX}`;
  const answer = await http.send({
    method: 'GET',
    url: `${place.control}/requests?${query}`,
    headers: {},
    body: null,
  });
  const { data } = shaped(Requests, bodyWith(answer, 200), 'what the receiver recorded');
  return data.map((request) => {
    const bytes = Buffer.from(request.body_base64, 'base64');
    return {
      method: request.method,
      headers: request.headers,
      bytes,
      envelope: shaped(Envelope, JSON.parse(bytes.toString('utf8')), 'the envelope'),
      receivedAtMs: Date.parse(request.received_at),
    };
  });
}
